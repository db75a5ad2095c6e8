"""The scores of a report's front page: read from rows, written, read back, and what they say of real text."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.inference import DIFFERENT, SAME, UNCLEAR, Number, strength
from textcritic.measures.card_file import card_to_json, read_card, scores_from_json
from textcritic.measures.labels import labelled
from textcritic.measures.score import HIGHER, LOWER, NOT_SCORED, NOT_TESTED, REAL, Measure, Score, scores_of
from textcritic.plan.sources import KEYS, RUN

PPL = Measure(name="Latent PPL", value="latent_ppl", by_ratio=True)
DATA = ("docs", "data", "", "data", "", pd.NA, pd.NA)


def name(row, *, corpus, seed):
    assert (corpus, seed) == (False, False)
    return row["generator"]


def rows_of(*rows):
    columns = (*KEYS, "latent_ppl", "ci_low", "ci_high", "p_value", "documents", "rejected", "infinite_because")
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys((*RUN, "documents", "rejected"), "Int64"))


def sample(generator, *values, seed=1, corpus="docs"):
    return (corpus, "sample", "w-title", generator, "plain", seed, 1, *values)


NEAR = {"real": Number(4.0, 3.9, 4.1), "number": Number(4.1, 4.0, 4.2), "p": 0.001, "margin": 0.4}


def score(**said):
    plain = {"corpus": "docs", "generator": "gpt2", "label": "GPT-2", "measure": "Latent PPL", "section": "x"}
    return Score(**(plain | NEAR | said))


def test_scores_of_a_control_are_marked_in_the_context_that_names_it():
    rows = rows_of(DATA, *(sample(generator, 4.2, 4.0, 4.4, 0.3, 500, 0, None) for generator in ("other", "gpt2")))
    with labelled({}, ["other"]):
        assert [score.control for score in scores_of(rows, PPL, name)] == [False, True, False]
    assert not any(score.control for score in scores_of(rows, PPL, name))
    assert scores_from_json({"card": card_to_json([score(control=True, out_of=4)])}, "x") == (
        score(control=True, out_of=4),
    )


def test_a_score_is_what_stands_in_its_row():
    rows = rows_of(
        sample("gpt2", 15.0, 12.7, 17.9, 0.0001, 594, 6, None, seed=3),
        sample("ngram", math.inf, None, None, None, 600, 0, "a step never occurs"),
        sample("untrained", None, None, None, None, 0, 600, None),
        (*DATA, 3.64, 3.33, 3.98, None, 1200, 0, None),
        ("docs", "data-gold", "", "data", "", pd.NA, pd.NA, 3.5, 3.4, 3.6, None, 1200, 0, None),
    )
    real, gpt2, ngram, untrained = scores_of(rows, PPL, name, "coherence-values")
    assert real == Score(
        corpus="docs",
        label="data",
        measure="Latent PPL",
        key="latent_ppl",
        section="coherence-values",
        number=Number(3.64, 3.33, 3.98),
        n=1200,
        by_ratio=True,
    )
    assert (gpt2.setting, gpt2.generator, gpt2.decoding, gpt2.seed) == ("w-title", "gpt2", "plain", 3)
    assert (gpt2.number, gpt2.n, gpt2.left_out, gpt2.p) == (Number(15.0, 12.7, 17.9), 594, 6, 0.0001)
    assert gpt2.real == ngram.real == untrained.real == real.number
    assert (ngram.number, ngram.because) == (Number(math.inf), "a step never occurs")
    assert [s.verdict for s in (real, gpt2, ngram, untrained)] == [REAL, DIFFERENT, DIFFERENT, NOT_SCORED]
    assert [s.way for s in (real, gpt2, ngram, untrained)] == ["", HIGHER, HIGHER, ""]


def test_each_sample_is_compared_with_the_real_text_of_its_corpus():
    rows = rows_of(
        (*DATA, 4.0, 3.9, 4.1, None, 100, 0, None),
        sample("gpt2", 5.0, 4.8, 5.2, 0.01, 100, 0, None),
        ("wiki", "data", "", "data", "", pd.NA, 6.0, 5.9, 6.1, None, 100, 0, None),
        sample("gpt2", 5.0, 4.8, 5.2, 0.01, 100, 0, None, corpus="wiki"),
        sample("gpt2", 5.0, 4.8, 5.2, 0.01, 100, 0, None, corpus="none"),
    )
    scores = [s for s in scores_of(rows, PPL, name) if not s.is_real]
    assert [(s.corpus, s.way, s.verdict) for s in scores] == [
        ("docs", HIGHER, DIFFERENT),
        ("wiki", LOWER, DIFFERENT),
        ("none", "", NOT_TESTED),
    ]


def test_samples_are_compared_with_the_last_kind_of_real_text_that_is_named():
    rows = rows_of(
        sample("gpt2", 5.0, 4.8, 5.2, 0.01, 100, 0, None),
        ("docs", "exact", "", "data", "", pd.NA, pd.NA, 4.5, None, None, None, None, 0, None),
        (*DATA, 6.0, 5.9, 6.1, None, 100, 0, None),
        ("docs", "other", "", "data", "", pd.NA, pd.NA, 1.0, 0.9, 1.1, None, 100, 0, None),
    )
    for real, way in ((("exact", "data"), LOWER), (("data", "exact"), HIGHER)):
        *shown, gpt2 = scores_of(rows, PPL, name, real=real)
        assert [one.number.value for one in shown] == [4.5, 6.0]
        assert (gpt2.real.value, gpt2.way) == ({"exact": 4.5, "data": 6.0}[real[-1]], way)


def test_a_distance_is_of_real_text_0_by_definition():
    rows = rows_of(
        (*DATA, None, None, None, None, 100, 0, None), sample("gpt2", 0.4, 0.3, 0.5, 0.001, 100, 0, None)
    ).drop(columns=["infinite_because", "rejected"])
    measure = Measure(name="Apart", section="x", value="latent_ppl", of_real=0.0)
    real, gpt2 = scores_of(rows, measure, name)
    assert real.number == gpt2.real == Number(0.0)
    assert gpt2.strength == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("measure", "real", "margin"),
    [
        (PPL, (4.0, 3.9, 4.1), 0.1),  # a ratio of 1.1
        (replace(PPL, by_ratio=False), (4.0, 3.9, 4.1), 0.4),
        (replace(PPL, by_ratio=False, margin=0.2), (-4.0, -4.1, -3.9), 0.8),
        (replace(PPL, by_ratio=False, of_real=0.0), (None, None, None), 0.1),
        (PPL, (4.0, None, None), None),
        (PPL, (math.inf, None, None), None),
    ],
)
def test_the_margin_is_in_the_unit_of_the_value(measure, real, margin):
    rows = rows_of((*DATA, *real, None, 100, 0, None), sample("gpt2", 5.0, 4.8, 5.2, 0.2, 100, 0, None))
    _, gpt2 = scores_of(rows, measure, name)
    assert gpt2.margin == (margin and pytest.approx(margin))


def test_real_text_of_too_few_documents_has_no_margin_but_an_exact_value_has():
    for documents, margin in ((19, None), (None, 0.1)):
        rows = rows_of(
            (*DATA, 4.0, None, None, None, documents, 0, None), sample("gpt2", 4.05, 4.0, 4.1, 0.2, 100, 0, None)
        )
        _, gpt2 = scores_of(rows, PPL, name)
        assert (gpt2.margin, gpt2.verdict) == (margin, SAME if margin else UNCLEAR)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"p": 0.0499}, DIFFERENT),
        ({"p": 0.05}, SAME),
        ({"p": 0.05, "margin": 0.2}, UNCLEAR),
        ({"p": 0.05, "margin": 0.1, "by_ratio": True}, SAME),
        ({"p": 0.05, "margin": 0.03, "by_ratio": True}, UNCLEAR),
        ({"p": 0.05, "margin": None}, UNCLEAR),
        ({"p": 0.05, "number": Number(4.1), "n": 19}, UNCLEAR),
        ({"p": 0.05, "number": Number(4.1), "n": None}, SAME),
        ({"p": 0.05, "real": Number(4.0)}, SAME),
        ({"p": 0.05, "number": Number(5.0, 4.8, 5.2)}, UNCLEAR),
        ({"p": None}, NOT_TESTED),
        ({"real": None}, NOT_TESTED),
        ({"real": Number(math.inf)}, NOT_TESTED),
        ({"real": Number(math.inf), "number": Number(math.inf), "p": None}, NOT_TESTED),
        ({"number": Number(math.inf), "p": None}, DIFFERENT),
        ({"number": Number(None), "p": None}, NOT_SCORED),
        ({"generator": "data"}, REAL),
    ],
)
def test_verdicts(said, verdict):
    assert score(**said).verdict == verdict
    assert (score(**said).strength > 0) is (verdict == DIFFERENT)


def test_strength_is_the_distance_in_half_widths_of_the_interval_of_the_difference():
    """With symmetric intervals of two normal means: the z-value of their difference over that of 95%."""
    z = stats.norm.ppf(0.975)
    first, second, errors = 7.0, 5.0, (0.3, 0.4)
    numbers = [Number(m, m - z * e, m + z * e) for m, e in zip((first, second), errors, strict=True)]
    expected = (first - second) / math.hypot(*errors) / z
    assert strength(*numbers) == pytest.approx(expected)
    assert strength(*numbers[::-1]) == pytest.approx(expected)
    logs = [Number(*np.exp([n.value, n.low, n.high])) for n in numbers]
    assert strength(*logs, by_ratio=True) == pytest.approx(expected)


def test_strength_looks_at_the_sides_that_face_each_other():
    assert strength(Number(5.0, 4.0, 50.0), Number(3.0, -9.0, 3.0)) == pytest.approx(2.0)
    assert strength(Number(3.0, -9.0, 4.0), Number(5.0, 5.0, 50.0)) == pytest.approx(2.0)


def test_strength_without_intervals():
    assert strength(Number(5.0), Number(3.0)) == math.inf
    assert strength(Number(3.0), Number(3.0)) == 0
    assert strength(Number(None), Number(3.0)) == 0
    assert strength(Number(math.inf), Number(3.0, 2.0, 4.0), by_ratio=True) == math.inf


def test_a_card_survives_the_way_to_the_disk(tmp_path):
    scores = (
        score(),
        score(number=Number(math.inf), p=None, because="why", seed=2),
        score(generator="data", real=None),
    )
    said = card_to_json(scores)
    assert [entry["verdict"] for entry in said] == [DIFFERENT, DIFFERENT, REAL]
    for experiment, card in (("b", said), ("a", [])):
        (tmp_path / experiment).mkdir()
        write_json(tmp_path / experiment / "section.json", {"title": "T", "lines": [], "card": card})
    write_json(tmp_path / "manifest.json", {"experiments": ["b", "a"]})
    read = read_card(tmp_path)
    assert list(read) == ["b", "a"]
    assert read == {"b": scores, "a": ()}


@pytest.mark.parametrize("card", [[{}], [1], 5, [{"number": {"value": "many"}, "real": None}]])
def test_a_damaged_card_is_one_line(tmp_path, card):
    (tmp_path / "one").mkdir()
    (tmp_path / "one/section.json").write_text(json.dumps({"title": "T", "lines": [], "card": card}))
    write_json(tmp_path / "manifest.json", {"experiments": ["one"]})
    with pytest.raises(TextcriticError, match=r"section\.json: no card in it .*; delete it and rerun its rule"):
        read_card(tmp_path)


@pytest.mark.parametrize(("name", "said"), [("one/section.json", []), ("one/section.json", {}), ("manifest.json", [])])
def test_a_file_that_is_something_else_is_one_line(tmp_path, name, said):
    (tmp_path / "one").mkdir()
    write_json(tmp_path / "one/section.json", {"title": "T", "lines": []})
    assert read_card(tmp_path) == {"one": ()}
    write_json(tmp_path / name, said)
    with pytest.raises(
        TextcriticError, match=rf"{re.escape(str(tmp_path / name))}: lacks [a-z, ]+; delete it and rerun"
    ):
        read_card(tmp_path)
