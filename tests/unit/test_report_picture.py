"""The picture of a scorecard: which measures and sources it has, and its numbers in words."""

import re

import pytest

from textcritic.inference import Number
from textcritic.measures.card import scorecard
from textcritic.measures.score import Score
from textcritic.report.picture import picture

REAL = Number(4.0, 3.9, 4.1)


def score(generator, value, measure="Latent PPL", **said):
    number = Number(value) if value is None else Number(value, value - 0.5, value + 0.5)
    of = {"corpus": "docs", "label": generator, "generator": generator, "measure": measure, "section": measure}
    numbers = {"number": number, "p": 0.01, "real": REAL, "margin": 0.4, "n": 500}
    if generator == "data":
        numbers, of["label"] = {"number": REAL}, "real text"
    return Score(**of, **(numbers | said))


def drawn(*scores):
    (block,) = scorecard({"one": scores}, {"one": "One"})
    return str(picture(block, "p"))


def test_the_first_measure_is_large_and_the_others_are_small():
    scores = [score(name, value, measure) for measure in "ABC" for name, value in (("data", 0.0), ("m", 5.0))]
    text = drawn(*scores)
    assert text.count("<svg") == 4, "both in a wide and a narrow form"
    wide, narrow, small, small_narrow = re.findall(r'aria-label="([^"]*)"', text)
    assert wide == narrow == "A with 95% intervals: real text 4.00 (3.90–4.10), m 5.00 (4.50–5.50)."
    assert small == small_narrow
    assert small.startswith("B with 95% intervals: ")
    assert "C with 95% intervals: " in small
    assert drawn(*scores[:2]).count("<svg") == 2


def test_what_real_text_has_not_and_what_has_no_value_is_not_drawn():
    count = score("m", 2.0, "Count", compared=False, real=None)
    assert drawn(count) == ""
    assert drawn(score("data", 0.0), score("m", None)) == ""
    text = drawn(score("data", 0.0), score("m", 5.0), score("gone", None), count)
    assert text.count("<svg") == 2
    assert "gone" not in text


@pytest.mark.parametrize("n", [1, 13])
def test_names_of_sixty_characters_fit_beside_each_other(n):
    """Each text of the narrow form ends before its width, at the size that it is drawn in."""
    name = "samples-of-a-model-with-a-very-long-name-of-step-{:04d}.jsonl"
    text = drawn(score("data", 0.0), *(score(name.format(k), 5.0 + k) for k in range(n)))
    narrow = text.partition('class="narrow"')[2]
    assert name.format(0) in narrow, "the whole name is in the words"
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", narrow)
    labels = [words for words in shown if "…" in words]
    assert len(labels) == n
    notes = [words for words in shown if "p = " in words]
    assert all(len(label) + len(note) < 44 for label, note in zip(labels, notes, strict=True))
