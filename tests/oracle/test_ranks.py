"""The distance of ranks under exchanges of groups: every split counted out, loops, and p-values under the null."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from scipy.sparse import csr_matrix

from textcritic.critics.tendencies.zipf import by_rank, fit_zipf
from textcritic.errors import TextcriticError
from textcritic.inference import group_jackknife, rank_interval, rank_permutation


def groups(number, words, tokens, seed, s=1.0):
    law = np.arange(1, words + 1) ** -float(s)
    return np.random.default_rng(seed).multinomial(tokens, law / law.sum(), size=number)


def distance(one, two, ranks):
    first, second = (by_rank(counts.sum(axis=0))[:ranks] for counts in (one, two))
    return scipy.stats.ks_2samp(*(np.repeat(np.arange(len(c)), c) for c in (first, second)), method="asymp").statistic


def curve(counts, ranks):
    """Shares of the tokens of the first ranks up to each of them."""
    first = by_rank(counts.sum(axis=0))[:ranks]
    return np.pad(first.cumsum() / first.sum(), (0, ranks - len(first)), constant_values=1.0)


@pytest.mark.parametrize("ranks", [2, 7, 60])
@pytest.mark.parametrize("sizes", [(4, 3), (4, 4)])
def test_every_split(sizes, ranks):
    """Of sets of different sizes the mean difference of all splits is taken off first."""
    one, two = groups(sizes[0], 40, 50, 1), groups(sizes[1], 40, 50, 2, s=1.3)
    found = rank_permutation(csr_matrix(one), csr_matrix(two), ranks, resamples=70)
    pool = np.concatenate([one, two])
    splits = []
    for chosen in combinations(range(sum(sizes)), sizes[0]):
        inside = np.isin(np.arange(sum(sizes)), chosen)
        splits.append(curve(pool[inside], ranks) - curve(pool[~inside], ranks))
    by_size = np.mean(splits, axis=0)
    assert found.exact
    assert found.by_size == pytest.approx(by_size[: len(found.by_size)], abs=1e-12)
    assert np.abs(by_size).max() > 1e-3 or ranks == 2 or sizes[0] == sizes[1]
    observed = np.abs(curve(one, ranks) - curve(two, ranks) - by_size).max()
    assert found.observed == pytest.approx(observed, rel=1e-9)
    if sizes[0] == sizes[1]:
        assert found.observed == pytest.approx(distance(one, two, ranks), rel=1e-12)
    null = np.abs(np.array(splits) - by_size).max(axis=1)
    assert sorted(found.null) == pytest.approx(sorted(null), rel=1e-9)
    assert found.p == pytest.approx(np.mean(null >= observed * (1 - 1e-9)))


def test_words_beyond_those_looked_at_first(monkeypatch):
    """With one word for a rank, a set's own frequent words are often not among the most frequent of both."""
    one, two = groups(6, 50, 80, 3), groups(6, 50, 80, 4)[:, ::-1]
    whole = rank_permutation(csr_matrix(one), csr_matrix(two), 10, resamples=100)
    monkeypatch.setattr("textcritic.inference.ranks.SPARE", 1)
    assert rank_permutation(csr_matrix(one), csr_matrix(two), 10, resamples=100).null.tolist() == whole.null.tolist()
    assert whole.observed == pytest.approx(distance(one, two, 10), rel=1e-12)


def test_interval_by_loops():
    """95% of the largest moves of the difference of the curves about their mean, with other random numbers."""
    one, two = groups(5, 30, 100, 5), groups(4, 30, 100, 6, s=1.4)
    by_size = np.linspace(0, 0.02, 20)
    found = rank_interval(csr_matrix(one), csr_matrix(two), 20, by_size, resamples=3000)
    rng, moved = np.random.default_rng(2), []
    for counts in (one, two):
        drawn = np.array([curve(counts[rng.integers(0, len(counts), len(counts))], 20) for _ in range(3000)])
        moved.append(drawn - drawn.mean(axis=0))
    reach = np.quantile(np.abs(moved[0] - moved[1]).max(axis=1), 0.95)
    assert found.estimate == pytest.approx(np.abs(curve(one, 20) - curve(two, 20) - by_size).max(), rel=1e-12)
    assert found.high - found.estimate == pytest.approx(reach, rel=0.05)
    assert rank_interval(csr_matrix(one), csr_matrix(two), 20).estimate == pytest.approx(distance(one, two, 20))


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


def test_sets_of_unequal_sizes_are_compared_fairly():
    """A small set has more of its tokens in the first ranks: that is no difference of the sources."""
    values, raw = [], []
    for seed in range(60):
        both = csr_matrix(groups(33, 400, 60, 500 + seed))
        found = rank_permutation(both[:3], both[3:], 40, resamples=59, seed=seed)
        values.append(found.p)
        raw.append(distance(both[:3].toarray(), both[3:].toarray(), 40))
    assert scipy.stats.kstest(values, "uniform").pvalue > 1e-3
    assert np.mean(raw) > 1.3 * found.chance


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


def test_counts_that_32_bits_do_not_hold_exactly():
    """From 2^24 tokens of a word on, single precision would round them."""
    rng = np.random.default_rng(8)
    one, two = (rng.integers(2**24, 2**25, (3, 30)) * 2 + 1 for _ in range(2))
    found = rank_permutation(csr_matrix(one), csr_matrix(two), 30, resamples=20)
    assert found.observed == pytest.approx(np.abs(curve(one, 30) - curve(two, 30)).max(), rel=1e-13)
