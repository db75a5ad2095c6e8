"""Verdicts on tendencies: by the farthest second draw and by p, and in words."""

import pandas as pd
import pytest

from textcritic.critics.tendencies.verdicts import TENDENCIES, sentence, verdict_of, verdicts


@pytest.mark.parametrize(
    ("value", "p", "most", "word"),
    [
        (0.2, 0.001, 0.2, "keeps"),
        (0.2, 0.001, 0.19, "differs"),
        (0.2, 0.05, 0.19, "unclear"),
        (0.2, None, 0.19, "unclear"),
        (0.2, 0.05, None, "keeps"),
        (0.2, 0.049, None, "differs"),
        (0.2, None, None, "unclear"),
        (0.0, 1.0, 0.0, "keeps"),
        (None, None, 0.1, "not measured"),
    ],
)
def test_a_verdict_needs_a_distance_beyond_all_draws_and_a_small_p(value, p, most, word):
    assert verdict_of(value, p, most) == word


def statistics(**distances):
    keys = ("value", "low", "high", "p_value", "floor", "floor_most")
    given = {name: dict(zip(keys, numbers, strict=True)) for name, numbers in distances.items()}
    return {"distances": given, "missing": {"taylor_distance": "too few segments"}}


def test_a_verdict_for_each_tendency_with_its_direction_or_the_reason():
    given = statistics(
        length_ks=(0.4, 0.3, 0.5, 0.001, 0.1, 0.2),
        length_difference=(-12.0, None, None, 0.001, None, None),
        stopwords_ks=(0.1, None, None, 0.9, None, None),
        symbols_ks=(0.3, None, None, None, 0.1, 0.2),
    )
    found = {one.tendency: one for one in verdicts(given)}
    assert list(found) == [tendency.name for tendency in TENDENCIES]
    length = found["length"]
    assert (length.verdict, length.way, length.low, length.times) == ("differs", "shorter", 0.3, 4.0)
    assert (found["stopwords"].verdict, found["stopwords"].times, found["stopwords"].way) == ("keeps", None, "")
    assert (found["symbols"].verdict, found["symbols"].why) == ("unclear", "there is too little text for a test")
    assert {found["length"].why, found["stopwords"].why} == {""}
    assert (found["burstiness"].verdict, found["burstiness"].why) == ("not measured", "too few segments")
    assert sentence(length) == "Its documents are shorter (4.0 times a second draw, p = 0.001)."


def test_a_sentence_without_second_draws_from_a_table():
    """A table has NaN where a number is missing."""
    row = pd.DataFrame([{"tendency": "unigrams", "times": float("nan"), "p_value": 0.01, "way": ""}]).iloc[0].to_dict()
    assert sentence(row) == "It uses some words much more or less often than people do (p = 0.01)."
