"""Verdicts on tendencies: by p, by the end of the interval and the margin, and in words."""

import pandas as pd
import pytest

from textcritic.critics.tendencies.verdicts import TENDENCIES, verdict_of, verdicts
from textcritic.experiments.tendencies.words import by_chance_alone, sentence


@pytest.mark.parametrize(
    ("value", "high", "p", "word"),
    [
        (0.02, 0.09, 0.05, "keeps"),
        (0.02, 0.09, 0.049, "differs"),
        (0.02, 0.10, 0.5, "unclear"),
        (0.2, 0.3, 0.04, "differs"),
        (0.2, 0.3, 0.06, "unclear"),
        (0.02, None, 0.5, "unclear"),
        (0.02, 0.09, None, "unclear"),
        (0.0, 0.0, 1.0, "keeps"),
        (None, None, None, "not measured"),
    ],
)
def test_a_verdict_by_p_then_by_the_interval(value, high, p, word):
    assert verdict_of(value, high, p, 0.1) == word


def statistics(real_recurrence=None, **distances):
    keys = ("value", "low", "high", "p_value", "by_chance", "noticed")
    given = {name: dict(zip(keys, numbers, strict=True)) for name, numbers in distances.items()}
    sized = {} if real_recurrence is None else {"recurrence": {"real": real_recurrence}}
    missing = {"taylor_distance": "too few segments"}
    return {"distances": given, "missing": missing, "one_size": {"estimates": sized}}


def test_a_verdict_for_each_tendency_with_its_direction_or_the_reason():
    given = statistics(
        length_ks=(0.4, 0.3, 0.5, 0.001, 0.1, 0.2),
        length_difference=(-12.0, None, None, 0.001, None, None),
        stopwords_ks=(0.03, 0.0, 0.08, 0.9, 0.04, 0.09),
        symbols_ks=(0.3, None, None, None, None, None),
        rank=(0.02, None, None, 0.3, 0.02, 0.1),
    )
    found = {one.tendency: one for one in verdicts(given)}
    assert list(found) == [tendency.name for tendency in TENDENCIES]
    length = found["length"]
    assert (length.verdict, length.way, length.low, length.times) == ("differs", "shorter", 0.3, 4.0)
    assert (found["stopwords"].verdict, found["stopwords"].way, found["stopwords"].noticed) == ("keeps", "", 0.09)
    assert (found["symbols"].verdict, found["symbols"].why) == (
        "unclear",
        "there is too little text for a test",
    )
    assert found["rank-frequency"].why == "there are fewer than 20 documents, too few for an interval"
    assert {found["length"].why, found["stopwords"].why} == {""}
    assert (found["burstiness"].verdict, found["burstiness"].why) == ("not measured", "too few segments")
    # Holm over the three that were tested: 3 x 0.001, 2 x 0.3, 0.9.
    adjusted = [found[name].p_adjusted for name in ("length", "rank-frequency", "stopwords", "symbols")]
    assert adjusted == [pytest.approx(0.003), pytest.approx(0.6), pytest.approx(0.9), None]
    assert sentence(length) == "Its documents are shorter (4.0 times what chance gives, p = 0.001, adjusted p = 0.003)."


@pytest.mark.parametrize(("real", "verdict", "margin"), [(0.1, "unclear", 0.1), (1.5, "keeps", 0.3)])
def test_the_margin_of_recurrence_is_a_share_of_that_of_real_text(real, verdict, margin):
    given = statistics(real, recurrence_distance=(0.05, 0.0, 0.2, 0.5, 0.05, 0.1))
    found = verdicts(given)[-1]
    assert (found.tendency, found.verdict, found.margin) == ("recurrence", verdict, pytest.approx(margin))


def test_a_sentence_from_a_table():
    """A table has NaN where a number is missing; a difference below the margin is said to be."""
    row = {
        "tendency": "unigrams",
        "times": float("nan"),
        "p_value": 0.01,
        "p_adjusted": 0.09,
        "way": "",
        "margin": 0.01,
    }
    for high, more in ((float("nan"), ""), (0.009, ", less than the margin of 0.01")):
        said = sentence(pd.DataFrame([row | {"high": high, "margin": 0.01}]).iloc[0].to_dict())
        assert said == f"It uses some words much more or less often than people do (p = 0.01, adjusted p = 0.09{more})."


def test_how_many_chance_marks():
    assert by_chance_alone(9).startswith("If nothing differs, 0.45 of 9 tests find a difference by chance, on average.")
