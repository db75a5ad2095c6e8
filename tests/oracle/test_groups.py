"""Exchanging and leaving out groups of documents: by enumeration, against scipy, and over repetitions."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError
from textcritic.inference import (
    chi_square,
    group_jackknife,
    group_permutation,
    groups,
    half_l1,
    largest_difference_interval,
    max_difference,
)

BY_NAME = {"max_difference": max_difference, "half_l1": half_l1, "chi_square": chi_square}
RNG = np.random.default_rng(12)
ZIPF = 1 / np.arange(1, 301)
ZIPF /= ZIPF.sum()


def counts(number, documents, rng, words=ZIPF, repeats=0.3, tokens=20):
    """Groups of documents of `tokens` tokens each; tokens are repeated, so that they are not independent."""
    drawn = rng.choice(len(words), (number, documents, tokens), p=words)
    again = rng.random(drawn.shape) < repeats
    drawn = np.where(again, drawn[..., :1], drawn)
    cells = np.bincount((drawn + len(words) * np.arange(number)[:, None, None]).ravel(), minlength=number * len(words))
    return csr_matrix(cells.reshape(number, len(words)))


def distances(one, two):
    return {name: float(distance(one, two)) for name, distance in BY_NAME.items()}


def total(matrix, rows=slice(None)):
    return np.asarray(matrix.toarray()[rows].sum(axis=0))


@pytest.mark.parametrize("chunk", [500_000, 2000])
def test_every_split_of_a_few_groups(monkeypatch, chunk):
    monkeypatch.setattr(groups, "CHUNK", chunk)
    first, second = counts(4, 5, RNG), counts(5, 5, RNG, repeats=0.5)
    pooled = np.concatenate([first.toarray(), second.toarray()])
    values = []
    for chosen in combinations(range(9), 4):
        inside = np.isin(np.arange(9), chosen)
        values.append(distances(pooled[inside].sum(axis=0), pooled[~inside].sum(axis=0)))
    observed = distances(total(first), total(second))
    found = group_permutation(first, second)
    assert list(found) == list(BY_NAME)
    for name, test in found.items():
        null = np.array([value[name] for value in values])
        assert (test.exact, len(test.null), test.groups) == (True, 126, (4, 5))
        assert test.observed == pytest.approx(observed[name], rel=1e-10)
        assert np.sort(test.null) == pytest.approx(np.sort(null), rel=1e-10)
        assert test.p == pytest.approx(np.mean(null >= observed[name] * (1 - 1e-9)))
        assert test.chance == pytest.approx(null.mean(), rel=1e-10)
        assert test.corrected == pytest.approx(observed[name] - null.mean(), abs=1e-10)


def test_the_mirror_of_a_split_is_as_far_apart():
    """Whichever half is called the first: p is a multiple of 2 / 20, whatever the last bits of a sum are."""
    for _ in range(20):
        for test in group_permutation(counts(3, 4, RNG), counts(3, 4, RNG)).values():
            assert test.p * 10 == pytest.approx(round(test.p * 10), abs=1e-12)


def test_random_splits_come_near_to_all_of_them():
    first, second = counts(7, 5, RNG), counts(6, 5, RNG, repeats=0.33)
    every, some = (group_permutation(first, second, resamples=resamples) for resamples in (1716, 1715))
    for name, exact in every.items():
        splits = len(some[name].null)
        assert (exact.exact, some[name].exact, splits) == (True, False, 200 if some[name].p > 0.1 else 1715)
        assert abs(some[name].p - exact.p) < 5 * math.sqrt(exact.p * (1 - exact.p) / splits) + 1 / splits
        error = exact.null.std() / math.sqrt(splits)
        assert abs(some[name].chance - exact.chance) < 5 * error


def test_p_is_that_of_scipys_permutation_test():
    first, second = counts(10, 3, RNG), counts(12, 3, RNG, repeats=0.36)
    pooled = np.concatenate([first.toarray(), second.toarray()])

    def statistic(one, two, axis):
        return half_l1(pooled[one.astype(int)].sum(axis=-2), pooled[two.astype(int)].sum(axis=-2))

    rows = np.arange(10.0), np.arange(10.0, 22)
    rng = np.random.default_rng(2)
    expected = stats.permutation_test(
        rows, statistic, vectorized=True, n_resamples=4000, alternative="greater", rng=rng, batch=500
    )
    found = group_permutation(first, second, resamples=4000)["half_l1"]
    assert found.observed == pytest.approx(expected.statistic, rel=1e-10)
    p = expected.pvalue
    assert 0.003 < p < 0.997
    assert abs(found.p - p) < 5 * math.sqrt(2 * p * (1 - p) / 4000)


def rejected(sizes, documents, repetitions=300, given=True):
    """Share of repetitions under the null whose p is at most 0.1, by distance."""
    rng = np.random.default_rng(21)
    hits = dict.fromkeys(BY_NAME, 0)
    each = tuple(np.full(number, size) for number, size in zip(sizes, documents, strict=True))
    for seed in range(repetitions):
        one, two = (counts(number, size, rng) for number, size in zip(sizes, documents, strict=True))
        for name, test in group_permutation(one, two, each if given else None, resamples=99, seed=seed).items():
            hits[name] += test.p <= 0.1
    return {name: hit / repetitions for name, hit in hits.items()}


@pytest.mark.parametrize(("sizes", "documents"), [((12, 8), (4, 4)), ((10, 10), (4, 8)), ((20, 8), (2, 6))])
def test_the_level_is_kept(sizes, documents):
    """Groups of equal size, and of sizes that can be made equal, within 4 standard errors."""
    for share in rejected(sizes, documents).values():
        assert abs(share - 0.1) < 4 * math.sqrt(0.09 / 300)


def test_to_exchange_groups_of_unequal_size_as_they_are_would_be_wrong():
    """20 groups of 2 documents against 8 of 6: a split mixes the sizes, and is less uneven than the sets are."""
    shares = rejected((20, 8), (2, 6), given=False)
    assert abs(shares["half_l1"] - 0.1) > 4 * math.sqrt(0.09 / 300)


def test_sets_that_differ_are_told_apart():
    other = (ZIPF + ZIPF[::-1]) / 2
    found = group_permutation(counts(20, 10, RNG), counts(20, 10, RNG, words=other), resamples=999)
    assert [test.p for test in found.values()] == [0.001] * 3
    assert all(test.corrected > 0 for test in found.values())
    same = counts(8, 3, RNG)
    alike = group_permutation(same, same, resamples=99)
    assert [(test.observed, test.p) for test in alike.values()] == [(pytest.approx(0, abs=1e-12), 1)] * 3


def test_the_reach_of_an_interval_is_that_of_resampled_groups():
    """By loops, with other random numbers: 95% of the largest moves of a difference of frequencies."""
    first, second = counts(6, 5, RNG), counts(9, 5, RNG, repeats=0.5)
    found = largest_difference_interval(first, second, resamples=4000)
    whole = [total(one) / total(one).sum() for one in (first, second)]
    rng, moves = np.random.default_rng(3), []
    for _ in range(4000):
        drawn = [total(one, rng.integers(0, one.shape[0], one.shape[0])) for one in (first, second)]
        moved = [one / one.sum() - shares for one, shares in zip(drawn, whole, strict=True)]
        moves.append(np.abs(moved[0] - moved[1]).max())
    assert found.estimate == pytest.approx(float(max_difference(total(first), total(second))), rel=1e-12)
    assert found.high - found.estimate == pytest.approx(np.quantile(moves, 0.95), rel=0.05)
    assert found.low == pytest.approx(max(0, 2 * found.estimate - found.high), abs=1e-12)


def test_a_set_of_one_group_has_no_jackknife():
    assert math.isnan(group_jackknife(np.array([[3.0]]), lambda sums: sums[0]).se)


def test_the_jackknife_of_a_mean_is_the_textbooks():
    values = RNG.normal(3, 2, 25)
    pairs = np.column_stack([values, np.ones(25)])
    right = group_jackknife(pairs, lambda sums: sums[0] / sums[1])
    assert (right.estimate, right.se) == pytest.approx((values.mean(), stats.sem(values)), rel=1e-10)
    expected = stats.t.interval(0.95, 24, values.mean(), stats.sem(values))
    assert (right.low, right.high) == pytest.approx(expected, rel=1e-10)


def test_the_jackknife_of_sparse_and_dense_sums_together():
    matrix, tokens = counts(7, 5, RNG), RNG.integers(50, 90, 7)
    found = group_jackknife((matrix, tokens), lambda words, number: (words > 0).sum() / number)
    dense = group_jackknife((matrix.toarray(), tokens), lambda words, number: (words > 0).sum() / number)
    assert found == dense
    without = [(total(matrix, np.arange(7) != g) > 0).sum() / (tokens.sum() - tokens[g]) for g in range(7)]
    assert found.se == pytest.approx(math.sqrt(6 / 7 * np.sum((without - np.mean(without)) ** 2)), rel=1e-10)


def test_intervals_hold_the_truth():
    """Frequencies far apart, and of one law; the interval of the largest difference is simultaneous, so wide."""
    rng, held = np.random.default_rng(4), {"apart": 0, "alike": 0, "entropy": 0}
    other = ZIPF[np.r_[1, 0, 2:300]]
    truth = abs(ZIPF - other).max()
    rate = -(ZIPF[:50] * np.log(ZIPF[:50])).sum()

    def part_of_entropy(sums):
        shares = sums[:50] / sums.sum()
        return -(shares * np.log(np.maximum(shares, 1e-300))).sum()

    for _ in range(250):
        one, two = counts(20, 15, rng, repeats=0.1), counts(20, 15, rng, words=other, repeats=0.1)
        found = largest_difference_interval(one, two, 200)
        held["apart"] += found.low <= truth <= found.high
        held["alike"] += largest_difference_interval(one, counts(20, 15, rng, repeats=0.1), 200).low == 0
        found = group_jackknife(one, part_of_entropy)
        held["entropy"] += found.low <= rate <= found.high
    for name, number in held.items():
        assert 0.905 < number / 250 <= (0.985 if name == "entropy" else 1), name


def test_what_remains_of_unequal_sizes_is_taken_out():
    """Groups of 11 and of 10 documents, exchanged as they are: p is near 0.5 on average, and the level near 0.1."""
    sizes, documents = (12, 5), (11, 10)
    rng, values = np.random.default_rng(17), {True: [], False: []}
    for seed in range(120):
        one, two = (counts(number, size, rng) for number, size in zip(sizes, documents, strict=True))
        each = np.full(12, 11), np.full(5, 10)
        for known, p in values.items():
            test = group_permutation(one, two, each if known else None, resamples=999, seed=seed)["half_l1"]
            assert test.groups == sizes
            p.append(test.p)
    error = math.sqrt(1 / 12 / 120)
    assert abs(np.mean(values[True]) - 0.5) < 3 * error
    assert np.mean(values[False]) < 0.5 - 3.5 * error


@pytest.mark.parametrize("resamples", [99, 10_000])
def test_the_result_depends_on_the_seed_alone(resamples):
    first, second = counts(6, 3, RNG), counts(6, 3, RNG)
    sizes = np.full(6, 3), np.full(6, 3)
    one, again, other = (
        group_permutation(first, second, sizes, resamples=resamples, seed=seed)["half_l1"].null for seed in (1, 1, 2)
    )
    assert np.array_equal(one, again)
    assert np.array_equal(one, other) == (resamples == 10_000)  # all splits, whatever the seed


SOME = csr_matrix(np.array([[1, 2], [3, 0], [1, 1]]))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: group_permutation(SOME, SOME[:, :1]), "sets of 2 and of 1 words"),
        (lambda: largest_difference_interval(SOME[:, :1], SOME), "sets of 1 and of 2 words"),
        (lambda: largest_difference_interval(SOME, 0 * SOME), "has no token"),
        (lambda: group_permutation(SOME, SOME, resamples=0), "0 resamples"),
        (lambda: group_permutation(SOME, -SOME), "a count is negative"),
        (lambda: group_permutation(SOME, 0 * SOME), "has no token"),
        (lambda: largest_difference_interval(SOME, SOME, level=1.0), "at level 1.0"),
        (lambda: group_jackknife((SOME, np.ones(2)), lambda *_: 0.0), r"\[2, 3\] groups"),
        (lambda: group_jackknife(np.ones((0, 2)), lambda _: 0.0), r"\[0\] groups"),
        (lambda: group_jackknife(np.array(3.0), lambda _: 0.0), r"\[0\] groups"),
        (lambda: group_jackknife(SOME, lambda _: 0.0, level=0.0), "at level 0.0"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(TextcriticError, match=says):
        call()
