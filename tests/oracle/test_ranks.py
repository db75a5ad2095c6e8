"""The distance of ranks under exchanges of groups: every split counted out, loops, and p-values under the null."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from scipy.sparse import csr_matrix

from textcritic.critics.tendencies.zipf import by_rank, fit_zipf
from textcritic.critics.tendencies.zipf_distances import rank_distance
from textcritic.errors import TextcriticError
from textcritic.inference import group_jackknife, jackknife_variance, rank_interval, rank_permutation


def groups(number, words, tokens, seed, s=1.0):
    law = np.arange(1, words + 1) ** -float(s)
    return np.random.default_rng(seed).multinomial(tokens, law / law.sum(), size=number)


def distance(one, two, ranks):
    return rank_distance(by_rank(one.sum(axis=0)), by_rank(two.sum(axis=0)), ranks).distance


@pytest.mark.parametrize("ranks", [2, 7, 60])
def test_every_split(ranks):
    one, two = groups(4, 40, 50, 1), groups(3, 40, 50, 2, s=1.3)
    found = rank_permutation(csr_matrix(one), csr_matrix(two), ranks, resamples=35)
    pool = np.concatenate([one, two])
    splits = []
    for chosen in combinations(range(7), 4):
        inside = np.isin(np.arange(7), chosen)
        splits.append(distance(pool[inside], pool[~inside], ranks))
    assert found.exact
    assert found.observed == pytest.approx(distance(one, two, ranks), rel=1e-12)
    assert sorted(found.null) == pytest.approx(sorted(splits), rel=1e-12)
    assert found.p == np.mean(np.array(splits) >= found.observed * (1 - 1e-9))


def test_words_beyond_those_looked_at_first(monkeypatch):
    """With one word for a rank, a set's own frequent words are often not among the most frequent of both."""
    one, two = groups(6, 50, 80, 3), groups(6, 50, 80, 4)[:, ::-1]
    whole = rank_permutation(csr_matrix(one), csr_matrix(two), 10, resamples=100)
    monkeypatch.setattr("textcritic.inference.ranks.SPARE", 1)
    assert rank_permutation(csr_matrix(one), csr_matrix(two), 10, resamples=100).null.tolist() == whole.null.tolist()
    assert whole.observed == pytest.approx(distance(one, two, 10), rel=1e-12)


def test_interval_by_loops():
    one, two = groups(5, 30, 100, 5), groups(4, 30, 100, 6, s=1.4)
    found = rank_interval(csr_matrix(one), csr_matrix(two), 20)
    variance = float(jackknife_variance([distance(np.delete(one, g, axis=0), two, 20) for g in range(5)]))
    variance += float(jackknife_variance([distance(one, np.delete(two, g, axis=0), 20) for g in range(4)]))
    half = scipy.stats.t.ppf(0.975, 3) * np.sqrt(variance)
    assert found.estimate == pytest.approx(distance(one, two, 20), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half), rel=1e-9)


def test_under_the_null_p_is_uniform_and_another_law_is_found():
    values = []
    for seed in range(100):
        both = csr_matrix(groups(20, 80, 200, 100 + seed))
        values.append(rank_permutation(both[:10], both[10:], 40, resamples=59, seed=seed).p)
    assert scipy.stats.kstest(values, "uniform").pvalue > 1e-3
    assert 0.005 < np.mean(np.array(values) <= 0.05) < 0.13
    other = rank_permutation(
        csr_matrix(groups(10, 80, 200, 1)), csr_matrix(groups(10, 80, 200, 2, s=1.3)), 40, resamples=99
    )
    assert other.p == 1 / 100
    assert other.corrected > 2 * other.chance


def test_s_with_its_jackknife():
    counts = groups(20, 60, 2000, 7, s=1.3)
    found = group_jackknife(csr_matrix(counts), lambda some: fit_zipf(by_rank(some), "first", 60).s)
    whole = fit_zipf(by_rank(counts.sum(axis=0)), "first", 60)
    assert found.estimate == whole.s
    assert 0.5 < found.se / whole.standard_error < 2
    assert found.low < 1.3 < found.high


def test_ranks_that_cannot_be_compared():
    one = csr_matrix(groups(3, 5, 10, 1))
    with pytest.raises(TextcriticError, match="the first 0 ranks; give at least 1"):
        rank_permutation(one, one, 0)
    with pytest.raises(TextcriticError, match="sets of 5 and of 4 words"):
        rank_interval(one, one[:, :4])
    with pytest.raises(TextcriticError, match="has no token"):
        rank_permutation(one, csr_matrix((3, 5), dtype=np.int64))
