"""What is said of coherence at the top of a report."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from textcritic.experiments.coherence.audit import CORRECTION
from textcritic.experiments.coherence.files import DATA_GOLD, DATA_INFERRED
from textcritic.experiments.coherence.rows import PPL
from textcritic.experiments.coherence.words import findings, warnings
from textcritic.inference import Number, trainings_p
from textcritic.measures.card import scorecard
from textcritic.measures.names import Names
from textcritic.measures.score import scores_of
from textcritic.measures.sentences import headline_of

NO_TITLES = pd.DataFrame(
    columns=["corpus", "generator", "decoding", "seed", "draw", "with_titles", "without_titles", "p_value"]
)


AUDIT = pd.DataFrame(columns=["corpus", "source", "switch", "latent_ppl"])
NAMES = Names({"g": "the model"}, frozenset(), frozenset(), several_corpora=False, several_settings=True)


def said(rows, titles=NO_TITLES, names=NAMES):
    """The headline, and all findings."""
    card = scores_of(rows, PPL, names.source, real=[DATA_INFERRED])
    found = findings(rows, titles, names, card)
    top, _ = headline_of(scorecard({"one": card}, {"one": ""}), "one")
    return top, " ".join(f"{one.about} {one.says}" for one in found)


@pytest.mark.parametrize(
    ("ppl", "p", "first", "words"),
    [
        (
            2.1,
            0.21,
            "the model, with titles may or may not differ from real text (2.00) by “Latent PPL”: 2.10 (",
            "the model, with titles may or may not differ from real text (2.00): 2.10 (1.90–2.30; p = 0.21; a "
            "difference of 17% would be noticed in 80% of cases).",
        ),
        (
            2.2,
            0.03,
            "the model, with titles scores higher than real text (2.00) by “Latent PPL”: 2.20, 1.1 times as much "
            "(2.00–2.40; p = 0.03).",
            "the model, with titles scores higher than real text (2.00): 2.20, 1.1 times as much "
            "(2.00–2.40; p = 0.03).",
        ),
        (
            1.5,
            0.0001,
            "the model, with titles scores lower than real text (2.00) by “Latent PPL”: 1.50, 25% less (",
            "the model, with titles has a lower Latent PPL than real text. That is not better: it repeats the "
            "commonest orders more than real text does.",
        ),
    ],
)
def test_findings_say_what_the_numbers_allow(ppl, p, first, words):
    top, found = said(_rows(ppl, p))
    assert first in top
    assert words in found
    assert ("not better" in found) is (ppl < 2)


def _real(inferred, gold):
    """Rows of real text alone, by inferred titles and by its own."""
    values = {DATA_INFERRED: inferred} | ({} if gold is None else {DATA_GOLD: gold})
    same = _rows(2.0, 0.5).iloc[0].to_dict()
    return pd.DataFrame([same | {"source": source, "latent_ppl": value} for source, value in values.items()])


@pytest.mark.parametrize(
    ("inferred", "gold", "warned"),
    [
        *[(2.5, 2.0, False), (2.51, 2.0, True), (1.6, 2.0, False), (1.59, 2.0, True), (328.0, 1.51, True)],
        *[(np.inf, 2.0, True), (np.inf, np.inf, False), (328.0, None, False)],
    ],
)
def test_titles_that_change_real_text_by_more_than_a_quarter_have_a_warning(inferred, gold, warned):
    rows = _real(inferred, gold)
    said_of = warnings(rows, {rows["corpus"].iloc[0]: 0.53}, AUDIT)
    assert len(said_of) == warned
    assert not warned or "right on 53% of the test sections" in said_of[0]


@pytest.mark.parametrize(("corrected", "advised"), [(1.2, False), (1.3, True), (2.6, False)])
def test_a_warning_advises_a_correction_that_is_right_on_real_text(corrected, advised):
    rows = _real(328.0, 1.51)
    corpus = rows["corpus"].iloc[0]
    row = {"corpus": corpus, "source": DATA_GOLD, "switch": CORRECTION, "latent_ppl": corrected}
    (words,) = warnings(rows, {corpus: 0.53}, pd.DataFrame([row]))
    assert ("Use the values that are corrected" in words) is advised
    assert ("Give the titles of the samples" in words) is not advised


def test_findings_within_the_margin():
    rows = _rows(2.02, 0.6, 1.98, 2.06)
    rows.loc[0, ["ci_low", "ci_high"]] = [1.97, 2.03]
    top, found = said(rows)
    assert top.startswith("the model, with titles is the same as real text (2.00) by “Latent PPL” within the margin: ")
    assert "the model, with titles is the same as real text (2.00) within the margin: 2.02" in found


def test_findings_with_trainings_that_disagree():
    """Each of the two differs from real text; two trainings of 2.1 and 2.6 do not say so of the recipe."""
    rows = pd.concat([_rows(2.1, 0.01), _rows(2.6, 0.01).iloc[1:].assign(seed=2)], ignore_index=True)
    top, found = said(rows)
    assert top.startswith("the model, with titles may or may not differ from real text (2.00) by “Latent PPL”: 2.34 (")
    values = [2.1, 2.6]
    low, high = np.exp(stats.ttest_1samp(np.log(values), 0).confidence_interval())
    p = trainings_p(values, Number(2.0, 1.9, 2.1), by_ratio=True)
    assert f"may or may not differ from real text (2.00): 2.34 ({low:.2f}–{high:.2f}; p = {p:.2f}; " in found


def test_a_value_that_rests_on_the_smoothing_says_so():
    smoothing = {"smoothing": 0.03, "smoothing_less": 0.01, "latent_ppl_less": [2.05, 1204.0]}
    smoothing |= {"smoothing_more": 0.1, "latent_ppl_more": [1.95, 402.0]}
    _, found = said(_rows(671.0, 0.001).assign(**smoothing))
    assert (
        "The Latent PPL of the model, with titles rests on the smoothing: 671 with 0.03 added to every count, 1,204 "
        "with 0.01 and 402 with 0.1." in found
    )
    assert found.count("rests on the smoothing") == 1
    assert "smoothing" not in said(_rows(671.0, 0.001).assign(**smoothing, latent_ppl=[2.0, 1150.0]).iloc[:1])[1]


def test_headlines_count_samples_of_each_verdict():
    names = Names(
        {name: name for name in "abcd"}, frozenset(), frozenset(), several_corpora=False, several_settings=False
    )
    several = {"a": (3.0, 0.001), "b": (1.5, 0.001), "c": (2.1, 0.3), "d": (2.2, None)}
    parts = [_rows(*one).iloc[1:].assign(generator=name) for name, one in several.items()]
    top, found = said(pd.concat([_rows(2, 1).iloc[:1], *parts], ignore_index=True), names=names)
    assert top == (
        "Of 4 samples, c is nearest to real text by “Latent PPL” (2.10 against 2.00, 5.0% more), but d may be as near; "
        "compared with real text, 2 (b; a) differ, 1 (c) may or may not differ, 1 (d) was not tested."
    )
    assert "b has a lower Latent PPL than real text. That is not better" in found
    for verdict, p in (("both differ", 0.001), ("both may or may not differ", 0.5)):
        both = [_rows(3.0, p).iloc[1:].assign(generator=name) for name in "ab"]
        assert said(pd.concat([_rows(2, 1).iloc[:1], *both], ignore_index=True), names=names)[0].endswith(
            f"; compared with real text, {verdict}."
        )


@pytest.mark.parametrize(
    ("ppl", "p", "says"),
    [
        (10.0, 0.001, "10.0 against 2.00, 5.0 times as much"),
        (1.0, 0.001, "1.00 against 2.00, 50% less"),
        (2.02, 0.4, "2.02 against 2.00"),
    ],
)
def test_the_headline_names_the_nearest_sample_and_says_how_far_it_is(ppl, p, says):
    names = Names({"a": "a", "b": "b"}, frozenset(), frozenset(), several_corpora=False, several_settings=False)
    parts = [_rows(*one).iloc[1:].assign(generator=name) for name, one in {"b": (99.0, 0.001), "a": (ppl, p)}.items()]
    rows = pd.concat([_rows(2, 1).iloc[:1], *parts], ignore_index=True)
    rows["ci_low"], rows["ci_high"] = rows["latent_ppl"] * 0.99, rows["latent_ppl"] * 1.01
    assert f"Of 2 samples, a is nearest to real text by “Latent PPL” ({says});" in said(rows, names=names)[0]


def test_findings_without_a_yardstick_say_so():
    rows = _rows(2.6, None)
    rows.loc[0, ["latent_ppl", "ci_low", "ci_high"]] = [np.inf, np.nan, np.nan]
    rows["infinite_because"] = ["3 steps never occur in the training text", None]
    top, found = said(rows)
    assert top.startswith("the model, with titles was not tested against real text (∞) by “Latent PPL”: 2.60")
    assert "Latent PPL of real text is infinite: 3 steps never occur in the training text." in found
    assert "the model, with titles was not tested against real text (∞): 2.60 (2.40–2.80)." in found
    assert "—" not in found
    assert "lower" not in found
    assert "was not tested against real text (2.00): 2.60" in said(_rows(2.6, None))[1]


def test_an_infinite_value_of_a_sample_has_its_reason():
    rows = _rows(np.inf, None)
    rows["infinite_because"] = [None, "4 steps never occur"]
    assert "Latent PPL of the model, with titles is infinite: 4 steps never occur." in said(rows)[1]


def test_perplexities_in_two_units_are_not_compared():
    rows = pd.concat([_rows(2.1, 0.2), _rows(2.6, 0.01).iloc[1:].assign(setting="wo-title")], ignore_index=True)
    rows["ppl_body"] = [np.nan, 20.0, 30.0]
    titles = NO_TITLES.copy()
    titles.loc[0] = {"corpus": "c", "generator": "g", "decoding": "d", "seed": 1, "draw": 1, "with_titles": 2.1} | {
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
    real["draw"] = pd.NA
    real |= {"latent_ppl": 2.0, "ci_low": 1.9, "ci_high": 2.1, "p_value": None, "documents": 50}
    sample = {"corpus": "c", "source": "sample", "setting": "w-title", "generator": "g", "decoding": "d", "seed": 1}
    sample |= {
        "draw": 1,
        "latent_ppl": ppl,
        "ci_low": low or ppl - 0.2,
        "ci_high": high or ppl + 0.2,
        "p_value": p,
        "documents": 50,
    }
    common = {"rejected": 0, "rejected_share": 0.0, "infinite_because": None, "ppl_infinite_because": None}
    common |= {"ppl_body": None, "ppl_unit": None}
    common |= dict.fromkeys(("smoothing", "smoothing_less", "latent_ppl_less", "smoothing_more", "latent_ppl_more"))
    return pd.DataFrame([real | common, sample | common])
