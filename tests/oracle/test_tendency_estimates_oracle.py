"""Estimates of a set of documents against loops over their tokens, statsmodels, mpmath and scipy."""

from math import isnan, sqrt

import numpy as np
import pytest
import scipy.stats
from bootstrap_oracle import studentised
from tendency_oracle import (
    OPTIONS,
    chao1_by_hand,
    counted,
    heaps_by_hand,
    lags_by_hand,
    lengths_by_hand,
    made_up,
    of_groups,
    recurrence_by_hand,
    stop_words_by_hand,
    symbols_by_hand,
    taylor_by_hand,
    words_of,
    zipf_by_hand,
)

from textcritic.critics.tendencies.estimates import as_json, estimates, histogram_of
from textcritic.plan.entries import Tendencies

MEASURING = Tendencies(kind="tendencies", ranks=40, resamples=200, seed=3)
EXPONENTS = ("s", "s_infinite_of_first", "s_observed", "s_first")
NAMES = (
    *(*EXPONENTS, "heaps_beta", "heaps_alpha", "heaps_bigram_beta"),
    *(
        "heaps_bigram_alpha",
        "types",
        "types_chao1",
        "length_mean",
        "stopwords_mean",
        "symbols_mean",
        "taylor",
        "recurrence",
    ),
)


@pytest.fixture(scope="module")
def texts():
    return made_up()


@pytest.fixture(scope="module")
def counts(texts):
    return counted(texts)


@pytest.fixture(scope="module")
def made(counts):
    found, missing = estimates(counts, MEASURING)
    assert missing == {}
    assert set(found) == set(NAMES)
    return found


def ends(estimate):
    return estimate.low, estimate.high


def jackknife(texts, counts, statistic):
    """The 95% interval of a statistic of texts, from its values without each group."""
    groups = range(OPTIONS.groups)
    values = [statistic(of_groups(texts, counts, set(groups) - {group})) for group in groups]
    mean = sum(values) / len(values)
    variance = (len(values) - 1) / len(values) * sum((value - mean) ** 2 for value in values)
    half = scipy.stats.t.ppf(0.975, len(values) - 1) * sqrt(variance)
    return statistic(texts) - half, statistic(texts) + half


@pytest.mark.parametrize(
    ("name", "support"),
    [
        ("s", "infinite"),
        ("s_infinite_of_first", "infinite-of-first"),
        ("s_observed", "observed"),
        ("s_first", "first"),
    ],
)
def test_zipf(made, texts, counts, name, support):
    def s(some):
        return zipf_by_hand(words_of(some), support, 40)

    assert made[name].value == pytest.approx(s(texts), abs=1e-9)
    assert ends(made[name]) == pytest.approx(jackknife(texts, counts, s), abs=1e-8)


@pytest.mark.parametrize(("prefix", "size"), [("heaps", 1), ("heaps_bigram", 2)])
def test_heaps(made, texts, counts, prefix, size):
    alpha, beta = made[f"{prefix}_alpha"], made[f"{prefix}_beta"]
    assert (np.log(alpha.value), beta.value) == pytest.approx(tuple(heaps_by_hand(texts, size).params), abs=1e-9)
    for place, found in enumerate((tuple(np.log(ends(alpha))), ends(beta))):
        assert found == pytest.approx(
            jackknife(texts, counts, lambda some, at=place: heaps_by_hand(some, size).params[at]), abs=1e-6
        )


def test_vocabulary(made, texts):
    words = words_of(texts)
    assert (made["types"].value, made["types_chao1"].value) == (len(words), chao1_by_hand(words))
    assert chao1_by_hand(words) > len(words)
    assert all(isnan(end) for end in ends(made["types_chao1"]))


@pytest.mark.parametrize(
    ("name", "values"),
    [("length", lengths_by_hand), ("stopwords", stop_words_by_hand), ("symbols", symbols_by_hand)],
)
def test_means(made, texts, counts, name, values):
    each = values(texts)
    assert {0, 1} < set(lengths_by_hand(texts))
    assert len(each) == len(texts) - (0 if name == "length" else lengths_by_hand(texts).count(0))
    found = made[f"{name}_mean"]
    assert found.value == pytest.approx(sum(each) / len(each), rel=1e-12)
    peer = studentised([(value, 1) for value in each], resamples=200, seed=MEASURING.seed)
    assert ends(found) == pytest.approx(peer, rel=1e-7)
    histogram = histogram_of(counts, name)
    assert histogram.values.tolist() == sorted(set(each))
    assert histogram.counts.tolist() == [each.count(value) for value in sorted(set(each))]


def test_taylor(made, texts, counts):
    assert made["taylor"].value == pytest.approx(taylor_by_hand(texts), abs=1e-9)
    assert ends(made["taylor"]) == pytest.approx(jackknife(texts, counts, taylor_by_hand), abs=1e-9)


def test_recurrence(made, texts, counts):
    lags = lags_by_hand(texts)
    assert 2 <= len(lags) < 4  # some lag has too few pairs

    def excess(some):
        return recurrence_by_hand(some, lags)

    assert made["recurrence"].value == pytest.approx(excess(texts), abs=1e-12)
    # On the log scale, where a half-width is that of the ratio of probabilities over the ratio.
    ratio = 1 + excess(texts)
    half = (jackknife(texts, counts, excess)[1] - excess(texts)) / ratio
    assert ends(made["recurrence"]) == pytest.approx((ratio * np.exp(-half) - 1, ratio * np.exp(half) - 1), abs=1e-9)


def test_values_alone_are_the_same(made, counts):
    found, missing = estimates(counts, MEASURING, intervals=False)
    assert missing == {}
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {name: one.value for name, one in made.items()}, rel=1e-12
    )
    assert isnan(found["s"].low)
    assert isnan(found["recurrence"].high)


def test_json_has_none_where_there_is_no_number(made):
    said = as_json(made)
    assert said["types_chao1"] == {"value": made["types_chao1"].value, "low": None, "high": None}
    assert said["s"] == {"value": made["s"].value, "low": made["s"].low, "high": made["s"].high}


def test_what_cannot_be_estimated_is_missing_for_a_reason():
    every = {
        "no token": (["", " "], OPTIONS, set(NAMES)),
        "one word": (["a"] * 9 + ["a a"] * 9, OPTIONS, {*EXPONENTS, "taylor", "recurrence"}),
        "one length": (["a b c"] * 9, OPTIONS, {"taylor", "recurrence"}),
        "no list": (made_up(60), OPTIONS.changed(stop_words="none"), {"stopwords_mean"}),
    }
    of_one_length = {f"heaps{kind}_{name}" for kind in ("", "_bigram") for name in ("alpha", "beta")}
    # Bigrams: of one word all documents of two tokens have one length.
    more = {"one length": of_one_length, "one word": {"heaps_bigram_alpha", "heaps_bigram_beta"}}
    says = {"no token": "none of the 2 documents", "one word": "all tokens are one word"}
    for what, (texts, options, absent) in every.items():
        found, missing = estimates(counted(texts, options), MEASURING)
        assert set(missing) == absent | more.get(what, set()), what
        assert set(found) == set(NAMES) - set(missing), what
        assert says.get(what, "") in missing.get("s", "")
    assert "`stop_words: none`" in missing["stopwords_mean"]


def test_text_in_which_no_word_recurs_has_no_interval_of_recurrence():
    """At the distances that count: every word comes twice, next to itself."""
    found = estimates(counted([" ".join(f"w{n} w{n}" for n in range(60))] * 30), MEASURING)[0]["recurrence"]
    assert found.value == -1
    assert isnan(found.low)
    assert isnan(found.high)
