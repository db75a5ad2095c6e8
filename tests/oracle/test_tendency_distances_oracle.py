"""Distances of a sample from real text by their definitions, in loops over tokens; plain ones and those with tests."""

from collections import Counter
from itertools import pairwise
from math import comb, isnan

import numpy as np
import pytest
import scipy.stats
from tendency_oracle import (
    counted,
    cumulative_by_hand,
    heaps_by_hand,
    ks_by_hand,
    lags_by_hand,
    lengths_by_hand,
    made_up,
    of_groups,
    recurrence_by_hand,
    segments_of,
    stop_words_by_hand,
    symbols_by_hand,
    tokens_of,
    words_of,
)

from textcritic.critics.tendencies.distances import Pair, distances, plain_distances
from textcritic.plan.entries import Tendencies

RANKS, LEAST = 40, 9
MEASURING = Tendencies(kind="tendencies", ranks=RANKS, resamples=60, least=LEAST)
DIFFERENCES = {
    "rank_difference",
    "types_difference",
    "length_difference",
    "stopwords_difference",
    "symbols_difference",
    "taylor_difference",
    "recurrence_difference",
}
# What the sizes of two sets make of these is taken off: nothing, by hand.
NOTHING = {"rank": 0.0, "taylor_distance": 0.0, "recurrence_distance": 0.0}
VALUES = {"length": lengths_by_hand, "stopwords": stop_words_by_hand, "symbols": symbols_by_hand}


@pytest.fixture(scope="module")
def both():
    """Real text, and a sample with words of its own and of another law; in as many groups, of other sizes."""
    return made_up(300), made_up(150, 2, 15.0, 0.9) + made_up(70, 3, 20.0, prefix="x")


@pytest.fixture(scope="module")
def pair(both):
    return Pair(*map(counted, both))


@pytest.fixture(scope="module")
def plain(pair):
    return plain_distances(pair.real, pair.sample, MEASURING, NOTHING)


@pytest.fixture(scope="module")
def made(pair):
    found, missing = distances(pair, MEASURING)
    assert missing == {}
    return found


def signed(made, name):
    return made[f"{name}_difference"]


def test_both_have_the_same_names_and_values(pair, made, plain):
    assert set(made) == set(plain) | DIFFERENCES
    assert set(plain) & DIFFERENCES == set()
    by_size = {name: made[name].by_size for name in NOTHING}
    assert all(np.any(by_size[name]) for name in NOTHING)
    sized = plain_distances(pair.real, pair.sample, MEASURING, by_size)
    assert {name: made[name].value for name in sized} == pytest.approx(sized, rel=1e-9, abs=1e-12)
    assert set(plain_distances(pair.real, pair.sample, MEASURING, {})) == set(plain) - set(NOTHING)


def test_the_words_of_a_pair_have_one_vocabulary(both, pair):
    """First the words of real text, then the others of the sample; each in the order of its counts."""
    real, sample = map(words_of, both)
    names = [*pair.real.words.to_pylist(), *(word for word in pair.sample.words.to_pylist() if word not in real)]
    assert len(real) < len(names) == len({*real, *sample})
    for texts, counts, totals, matrix in zip(both, (pair.real, pair.sample), pair.totals, pair.matrices, strict=True):
        assert Counter(dict(zip(names, totals.tolist(), strict=True))) == words_of(texts)
        for group, row in enumerate(matrix.toarray().tolist()):
            assert Counter(dict(zip(names, row, strict=True))) == words_of(of_groups(texts, counts, {group}))
    assert [sizes.tolist() for sizes in pair.sizes()] == [[30] * 10, [22] * 10]


def test_words(both, plain, made):
    real, sample = map(words_of, both)
    tokens = [sum(words.values()) for words in (real, sample)]
    names = sorted({*real, *sample})
    gaps = [sample[word] / tokens[1] - real[word] / tokens[0] for word in names]
    assert plain["unigram_max"] == pytest.approx(max(map(abs, gaps)), rel=1e-12)
    assert plain["unigram_half_l1"] == pytest.approx(sum(map(abs, gaps)) / 2, rel=1e-12)
    # Total variation is also what the words that one has more of make up more of it.
    assert plain["unigram_half_l1"] == pytest.approx(sum(gap for gap in gaps if gap > 0), rel=1e-12)
    table = [[words[word] for word in names] for words in (real, sample)]
    peer = scipy.stats.chi2_contingency(table, correction=False).statistic
    assert plain["unigram_chi_square"] == pytest.approx(peer, rel=1e-9)
    # Groups of 2 x 30 and of 3 x 22 documents are exchanged, 5 and 3 of them, in every way; none is as far apart.
    assert made["unigram_half_l1"].p == 1 / comb(8, 3)
    assert len(made["unigram_half_l1"].null) == comb(8, 3)
    assert 0 < made["unigram_half_l1"].by_chance == made["unigram_half_l1"].null.mean() < plain["unigram_half_l1"]


def test_intervals_reach_as_far_as_chance(made):
    """At least; those that grow with every rare word have none. Beyond chance, what is noticed is 1.43 times as far."""
    assert all(isnan(made[name].low) for name in ("unigram_half_l1", "unigram_chi_square"))
    for name in ("unigram_max", "bigram_max", "rank", "heaps", "length_ks", "taylor_distance"):
        one = made[name]
        significant = np.quantile(one.null, 0.95, method="higher")
        assert min(one.high, 1) >= min(1, one.value + significant) - 1e-12, name
        assert one.noticed == pytest.approx(min(1, 1.43 * significant)), name
        assert one.by_chance == pytest.approx(one.null.mean()), name
        assert (one.low == 0) if one.p >= 0.05 else (one.low >= 0), name


def test_pairs_of_words(both, plain):
    """Kinds of bigrams: of so few words hardly any two share one."""
    real, sample = (Counter(pair for tokens in tokens_of(texts) for pair in pairwise(tokens)) for texts in both)
    gaps = [sample[pair] / sample.total() - real[pair] / real.total() for pair in {*real, *sample}]
    assert plain["bigram_max"] == pytest.approx(max(map(abs, gaps)), rel=0.05)


def test_ranks(both, plain, made):
    real, sample = (cumulative_by_hand(words_of(texts), RANKS) for texts in both)
    gaps = [one - other for one, other in zip(sample, real, strict=True)]
    farthest = max(gaps, key=abs)
    assert plain["rank"] == pytest.approx(abs(farthest), rel=1e-12)
    rest = np.array(gaps) - np.pad(made["rank"].by_size, (0, RANKS - len(made["rank"].by_size)))
    assert made["rank_difference"].value == pytest.approx(max(rest, key=abs), rel=1e-9)
    assert made["rank"].low <= made["rank"].value == pytest.approx(max(abs(rest)), rel=1e-9)


@pytest.mark.parametrize("name", VALUES)
def test_lengths_and_shares(both, plain, made, name):
    real, sample = map(VALUES[name], both)
    assert plain[f"{name}_ks"] == pytest.approx(ks_by_hand(sample, real), abs=1e-12)
    assert plain[f"{name}_ks"] == pytest.approx(scipy.stats.ks_2samp(sample, real).statistic, abs=1e-12)
    gap = sum(sample) / len(sample) - sum(real) / len(real)
    assert signed(made, name).value == pytest.approx(gap, rel=1e-9)
    assert signed(made, name).low < gap < signed(made, name).high
    # As printed the test is one-sided: as the mean of stop words is lower, nothing is significant.
    assert signed(made, name).p_as_printed == (1 if gap < 0 else pytest.approx(signed(made, name).p, abs=1 / 60))
    assert len(signed(made, name).null) == 60


def classes_by_hand(real, sample):
    """First and last lengths; a class begins where the last one ended, or as near its end as 1.2 times allows."""
    classes, begin = [], 1
    for last in range(1, max(real + sample) + 1):
        while last > 1.2 * begin and begin < last:
            begin += 1
        if min(sum(begin <= length <= last for length in lengths) for lengths in (real, sample)) >= LEAST:
            classes.append((begin, last))
            begin = last + 1
    return classes


def test_types_at_equal_length(both, plain, made):
    """In each class what Heaps' law of both expects of each document is taken off first."""
    real, sample = ([(len(tokens), len(set(tokens))) for tokens in tokens_of(texts) if tokens] for texts in both)
    log_alpha, beta = heaps_by_hand(both[0] + both[1]).params
    classes = classes_by_hand(*([length for length, _ in documents] for documents in (real, sample)))
    assert any(first < last for first, last in classes)
    weights, apart, relative, middles = [], [], [], []
    for first, last in classes:
        lengths, rest = [], []
        for documents in (real, sample):
            inside = [(length, types) for length, types in documents if first <= length <= last]
            lengths.append([length for length, _ in inside])
            rest.append([types - np.exp(log_alpha) * length**beta for length, types in inside])
        middles.append(np.mean(lengths[0] + lengths[1]))
        expected = np.exp(log_alpha) * middles[-1] ** beta
        weights.append(len(rest[0]))
        apart.append(ks_by_hand(*(np.round(some, 9).tolist() for some in rest)))
        relative.append((np.mean(rest[1]) - np.mean(rest[0])) / (np.mean(rest[0]) + expected))
    assert plain["heaps"] == pytest.approx(np.average(apart, weights=weights), abs=1e-9)
    assert made["types_difference"].value == pytest.approx(np.average(relative, weights=weights), rel=1e-6)
    assert made["heaps"].by_length.lengths == pytest.approx(middles)
    assert made["heaps"].by_length.distances == pytest.approx(apart, abs=1e-9)


def test_taylors_exponent(pair, both, plain, made):
    """Over words that are expected ten times or more in the segments of the smaller set, and vary in both."""
    segments = [segments_of(texts) for texts in both]
    numbers = [len(one) for one in segments]
    totals = sum((sum(one, Counter()) for one in segments), Counter())
    chosen = [word for word, total in totals.items() if total * min(numbers) >= 10 * sum(numbers)]
    points = [{word: [segment[word] for segment in one] for word in chosen} for one in segments]
    used = [word for word in chosen if all(np.var(one[word]) > 0 for one in points)]
    assert 10 < len(used) < len(totals) / 2
    slopes = [np.polyfit(*(np.log([f(one[word]) for word in used]) for f in (np.mean, np.std)), 1)[0] for one in points]
    gap = slopes[1] - slopes[0]
    assert plain["taylor_distance"] == pytest.approx(abs(gap), abs=1e-9)
    assert signed(made, "taylor").value == pytest.approx(gap - made["taylor_distance"].by_size, abs=1e-9)


def test_recurrence_at_the_lags_that_both_have(both, plain, made):
    real, sample = both
    lags = [lag for lag in lags_by_hand(real) if lag in lags_by_hand(sample)]
    assert 0 < len(lags) < len(lags_by_hand(real))
    gap = recurrence_by_hand(sample, lags) - recurrence_by_hand(real, lags)
    assert plain["recurrence_distance"] == pytest.approx(abs(gap), abs=1e-9)
    assert signed(made, "recurrence").value == pytest.approx(gap - made["recurrence_distance"].by_size, abs=1e-9)


def test_ends_of_an_absolute_difference(pair):
    """Those of the difference without their sign; the lower is 0 where the difference may be."""
    seen = set()
    bursty = counted(made_up(300, 4, spread=5))
    for one in (pair, Pair(pair.real, bursty), Pair(bursty, pair.real)):
        found = distances(one, MEASURING)[0]
        for name in ("taylor", "recurrence"):
            low, high = signed(found, name).low, signed(found, name).high
            inside = [abs(value) for value in np.linspace(low, high, 100_001)]
            distance = found[f"{name}_distance"]
            assert (distance.low, distance.high) == pytest.approx((min(inside), max(inside)), abs=(high - low) / 1e5)
            assert distance.p == signed(found, name).p
            seen.add((low > 0) - (high < 0))
    assert seen == {-1, 0, 1}


def test_exchanging_both_changes_the_signs_alone(pair, plain, made):
    """But for types, whose weights are those of real text."""
    other = plain_distances(pair.sample, pair.real, MEASURING, NOTHING)
    assert all(other[name] == pytest.approx(plain[name], rel=1e-9) for name in set(plain) - {"heaps"})
    found = distances(Pair(pair.sample, pair.real), MEASURING)[0]
    # What sizes make of a difference is a mean over other random exchanges.
    for name in ("length_difference", "stopwords_difference", "symbols_difference"):
        assert found[name].value == pytest.approx(-made[name].value, rel=1e-9), name
    assert found["rank_difference"].value * made["rank_difference"].value < 0
    assert found["types_difference"].value * made["types_difference"].value < 0


def test_no_distance_of_a_text_from_itself(pair):
    plain = plain_distances(pair.real, pair.real, MEASURING, NOTHING)
    assert set(plain.values()) == {0.0}
    found = distances(Pair(pair.real, pair.real), MEASURING)[0]
    assert {one.value for one in found.values()} == {0.0}
    assert all(one.p > 0.9 for one in found.values() if not isnan(one.p))


def test_what_cannot_be_measured_is_missing_for_a_reason(pair):
    short = counted(["a b", "a"] * 30)
    found, missing = distances(Pair(pair.real, short), MEASURING)
    plain = plain_distances(pair.real, short, MEASURING, NOTHING)
    assert set(found) - DIFFERENCES == set(plain)
    assert {"taylor_distance", "recurrence_distance", "recurrence_difference"} <= set(missing)
    assert missing["taylor_distance"].startswith("Taylor's law: 0 segments")
    assert set(found) | set(missing) == set(distances(pair, MEASURING)[0])
    assert plain_distances(pair.real, counted([""]), MEASURING, NOTHING) == {}
    assert set(distances(Pair(pair.real, counted([""])), MEASURING)[1].values()) == {
        "none of the 1 documents has a token; nothing is measured"
    }
