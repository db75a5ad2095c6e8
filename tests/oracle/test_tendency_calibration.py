"""Tests, verdicts and intervals of tendencies where both sides are of one population, and where they are apart.

In short; `benchmarks/calibration_tendencies.py` does the same with hundreds of repetitions and real documents.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from textcritic.critics.tendencies.distances import Pair, distances
from textcritic.critics.tendencies.verdicts import TENDENCIES
from textcritic.plan.entries import Tendencies

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from tendency_calibration import Population, distance_rates, estimate_rates, one_size_rates

OPTIONS = Tendencies(kind="tendencies", ranks=300, resamples=39, least=8)
WORDS = np.array(["the", "of", ".", ",", *(f"w{number}" for number in range(300))])
REPETITIONS = 40
NAMES = ("unigram_max", "rank")


def texts(number, seed, burst=0.15):
    """Documents of Zipf's law whose tokens recur within them; a larger share of them makes text more bursty."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, len(WORDS) + 1) ** -1.0
    made = []
    for _ in range(number):
        length = 10 + rng.poisson(60 * rng.choice([0.4, 1.0, 1.6]))
        tokens = rng.choice(len(WORDS), length, p=shares / shares.sum())
        for place in np.flatnonzero(rng.random(length) < burst)[1:]:
            tokens[place] = tokens[rng.integers(max(0, place - 30), place)]
        made.append(" ".join(WORDS[tokens]))
    return made


@pytest.fixture(scope="module")
def population():
    return Population(texts(900, 1), Tendencies(kind="tendencies", window=20))


def at_most(hits, number, share):
    """Whether so many hits of a number come, but once in 10,000 times, of a share of no more than this."""
    return scipy.stats.binom.sf(hits - 1, number, share) > 1e-4


@pytest.mark.parametrize("sizes", [(30, 30), (25, 200), (200, 25)])
def test_of_one_population(population, sizes):
    """At unequal sizes too: Taylor's exponent and ranks depend on how much text there is."""
    rates = {one.name: one for one in distance_rates(population.pairs(sizes, REPETITIONS, seed=2), OPTIONS)}
    assert {tendency.distance for tendency in TENDENCIES} <= set(rates)
    for name, one in rates.items():
        assert one.measured == REPETITIONS, name
        if not np.isnan(one.significant):
            assert at_most(round(one.significant * REPETITIONS), REPETITIONS, 0.05), name
        if not np.isnan(one.covered):
            assert at_most(round((1 - one.covered) * REPETITIONS), REPETITIONS, 0.07), name


def test_of_one_population_whose_groups_have_topics_of_their_own():
    """Groups of five are exchanged with as many of single documents; with more of these p would be too small."""
    rng, units = np.random.default_rng(5), np.repeat(np.arange(330), 5)
    made = []
    for _ in range(330):
        shares = rng.gamma(0.1, 1, len(WORDS)) / np.arange(3, len(WORDS) + 3)
        made += [" ".join(rng.choice(WORDS, 20 + rng.poisson(30), p=shares / shares.sum())) for _ in range(5)]
    grouped = Population(made, Tendencies(kind="tendencies", window=20))
    pairs = list(grouped.pairs_with_units(units, (300, 20), REPETITIONS, seed=6))
    whole = [(one, replace(real, unit=np.arange(len(real.unit), dtype=np.int32))) for one, real in pairs]
    found, wrong = ([sum(hits) for hits in zip(*map(_significant, some), strict=True)] for some in (pairs, whole))
    assert all(at_most(hits, REPETITIONS, 0.05) for hits in found), found
    assert not at_most(max(wrong), REPETITIONS, 0.05), "all groups exchanged are wrong, and this test sees it"
    assert [one.value for one in _measured(pairs[0])] == [one.value for one in _measured(whole[0])]


def _measured(pair):
    one, real = pair
    found = distances(Pair(real, one), OPTIONS, NAMES)[0]
    return [found[name] for name in NAMES]


def _significant(pair):
    return [one.p < 0.05 for one in _measured(pair)]


def test_estimates_and_their_differences_at_one_size(population):
    rates = estimate_rates((one for one, _ in population.pairs((40, 1), 15, seed=3)), OPTIONS)
    rates += one_size_rates(population.pairs((30, 150), 4, seed=4), OPTIONS)
    assert {"types", "s", "taylor", "recurrence", "heaps_beta"} <= {one.name for one in rates}
    for one in rates:
        missed = 0 if np.isnan(one.covered) else round((1 - one.covered) * one.measured)
        assert at_most(missed, one.measured, 0.07), one


def test_at_a_distance_of_just_the_margin_keeps_is_seldom_said():
    """The shares of one word differ by the margin, 0.01, which 2,000 documents of 60 tokens would show."""
    margin = next(tendency.margin for tendency in TENDENCIES if tendency.name == "unigrams")
    rng, kept, covered = np.random.default_rng(5), 0, 0
    for seed in range(REPETITIONS):
        both = []
        for share in (0.06, 0.06 + margin):
            drawn = rng.random((500, 60)) < share
            both.append(Population([" ".join(np.where(row, "the", "a")) for row in drawn]).draw(np.arange(500)))
        options = OPTIONS.changed(ranks=50, seed=seed)
        found = distances(Pair(*both), options, NAMES[:1])[0]["unigram_max"]
        kept += found.p >= 0.05 and found.high < margin
        covered += found.low <= margin <= found.high
    assert at_most(kept, REPETITIONS, 0.05)
    assert at_most(REPETITIONS - covered, REPETITIONS, 0.07)


def test_bursts_and_shuffled_words_are_noticed(population):
    """Words that come in bursts; and documents whose words are shuffled, which change pairs of words alone."""
    real = population.draw(np.arange(400))
    bursty = Population(texts(400, 6, burst=0.6), Tendencies(kind="tendencies", window=20)).draw(np.arange(400))
    found = distances(Pair(real, bursty), OPTIONS)[0]
    assert found["taylor_difference"].low > 0
    assert found["recurrence_distance"].p == found["taylor_distance"].p == 1 / 40
    rng, phrases = np.random.default_rng(7), ["in the end", "a lot of", "as well as", "one by one"]
    said = [" and ".join(rng.choice(phrases, 12)) for _ in range(200)]
    shuffled = [" ".join(rng.permutation(text.split())) for text in said]
    pair = Pair(*(Population(some).draw(np.arange(200)) for some in (said, shuffled)))
    found = distances(pair, OPTIONS)[0]
    assert found["bigram_max"].p == 1 / 40
    assert found["unigram_max"].p > 0.05
