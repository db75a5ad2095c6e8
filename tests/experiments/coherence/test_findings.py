"""What is said of coherence at the top of a report."""

import numpy as np
import pandas as pd
import pytest

from textcritic.experiments.coherence.files import DATA_INFERRED
from textcritic.experiments.coherence.rows import PPL
from textcritic.experiments.coherence.words import findings, headline
from textcritic.report.names import Names
from textcritic.report.scorecard import scores_of

NO_TITLES = pd.DataFrame(
    columns=["corpus", "generator", "decoding", "seed", "with_titles", "without_titles", "p_value"]
)


NAMES = Names({"g": "the model"}, frozenset(), frozenset(), several_corpora=False, several_settings=True)


def said(rows, titles=NO_TITLES, names=NAMES):
    """The headline, and all findings."""
    card = scores_of(rows, PPL, names.source, real=[DATA_INFERRED])
    return headline(card), " ".join(f"{found.about} {found.says}" for found in findings(rows, titles, names, card))


@pytest.mark.parametrize(
    ("ppl", "p", "first", "words"),
    [
        (
            2.1,
            0.21,
            "cannot be told from",
            "the model, with titles cannot be told from real text (2.00): 2.10 (1.90–2.30; p = 0.21).",
        ),
        (
            2.2,
            0.03,
            "less like real text",
            "the model, with titles scores higher than real text (2.00): 2.20 (2.00–2.40; p = 0.03).",
        ),
        (1.5, 0.0001, "more strictly", "the model, with titles scores lower than real text. That is not better: it"),
    ],
)
def test_findings_say_what_the_numbers_allow(ppl, p, first, words):
    top, found = said(_rows(ppl, p))
    assert first in top
    assert words in found
    assert ("not better" in found) is (ppl < 2)


def test_findings_with_seeds_that_disagree():
    rows = pd.concat([_rows(2.1, 0.21), _rows(2.6, 0.01).iloc[1:].assign(seed=2)], ignore_index=True)
    top, found = said(rows)
    assert "cannot be told from" in top
    assert "can be told from real text (2.00) under 1 of its 2 seeds: 2.35 (± 0.35; largest p = 0.21)" in found


def test_headlines_count_samples_of_each_verdict():
    names = Names(
        {name: name for name in "abcd"}, frozenset(), frozenset(), several_corpora=False, several_settings=False
    )
    several = {"a": (3.0, 0.001), "b": (1.5, 0.001), "c": (2.1, 0.3), "d": (2.2, None)}
    parts = [_rows(*one).iloc[1:].assign(generator=name) for name, one in several.items()]
    top, found = said(pd.concat([_rows(2, 1).iloc[:1], *parts], ignore_index=True), names=names)
    assert top == (
        "1 of 4 samples order their sections measurably worse than real text, 1 keeps to the usual order more strictly "
        "than it, 1 cannot be told from it and 1 could not be compared with it."
    )
    assert "b scores lower than real text. That is not better" in found
    for verdict, p in (
        ("All 2 samples order their sections measurably worse", 0.001),
        ("None of the 2 samples can", 0.5),
    ):
        both = [_rows(3.0, p).iloc[1:].assign(generator=name) for name in "ab"]
        assert said(pd.concat([_rows(2, 1).iloc[:1], *both], ignore_index=True), names=names)[0].startswith(verdict)


def test_findings_without_a_yardstick_say_so():
    rows = _rows(2.6, None)
    rows.loc[0, ["latent_ppl", "ci_low", "ci_high"]] = [np.inf, np.nan, np.nan]
    rows["infinite_because"] = ["3 steps never occur in the training text", None]
    top, found = said(rows)
    assert top == "The model's section order could not be compared with that of real text."
    assert "Real text has an infinite Latent PPL: 3 steps never occur in the training text." in found
    assert "the model, with titles was not tested against real text (∞): 2.60 (2.40–2.80)." in found
    assert "—" not in found
    assert "lower" not in found
    assert "was not tested against real text (2.00): 2.60" in said(_rows(2.6, None))[1]


def test_an_infinite_value_of_a_sample_has_its_reason():
    rows = _rows(np.inf, None)
    rows["infinite_because"] = [None, "4 steps never occur"]
    assert "The Latent PPL of the model, with titles is infinite: 4 steps never occur." in said(rows)[1]


def test_perplexities_in_two_units_are_not_compared():
    rows = pd.concat([_rows(2.1, 0.2), _rows(2.6, 0.01).iloc[1:].assign(setting="wo-title")], ignore_index=True)
    rows["ppl_body"] = [np.nan, 20.0, 30.0]
    titles = NO_TITLES.copy()
    titles.loc[0] = {"corpus": "c", "generator": "g", "decoding": "d", "seed": 1, "with_titles": 2.1} | {
        "without_titles": 2.6,
        "p_value": 0.001,
    }
    for units, told in ((["tokens", "tokens"], True), (["tokens", "words"], False)):
        rows["ppl_unit"] = [None, *units]
        found = said(rows, titles)[1]
        assert "the training text of the model raises its Latent PPL" in found
        assert ("perplexity on body text rises by 50%" in found) is told


def _rows(ppl, p, low=None, high=None, source="sample"):
    real = {"corpus": "c", "source": "data-inferred", "setting": "", "generator": "data", "decoding": "", "seed": pd.NA}
    real |= {"latent_ppl": 2.0, "ci_low": 1.9, "ci_high": 2.1, "p_value": None, "documents": 50}
    sample = {"corpus": "c", "source": "sample", "setting": "w-title", "generator": "g", "decoding": "d", "seed": 1}
    sample |= {
        "latent_ppl": ppl,
        "ci_low": low or ppl - 0.2,
        "ci_high": high or ppl + 0.2,
        "p_value": p,
        "documents": 50,
    }
    common = {"rejected": 0, "rejected_share": 0.0, "infinite_because": None, "ppl_body": None, "ppl_unit": None}
    return pd.DataFrame([real | common, sample | common])
