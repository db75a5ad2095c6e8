"""Cheaper ways to the same numbers: log sums in pieces, splits by coins, and the first two words of a look-up."""

import numpy as np
import pytest
from scipy.special import logsumexp

from textcritic.critics.recitation.suffixes import NOWHERE, Suffixes, _Search, suffix_array
from textcritic.inference import permutation
from textcritic.inference.importance.estimates import PIECE, _log_sum_exp, log_sum_exp
from textcritic.inference.permutation import MANY_COINS, _random_splits, _tossed_splits


@pytest.mark.parametrize("shape", [(700, 300), (3, PIECE + 1), (1, 2), (PIECE + 1, 1)])
def test_a_sum_in_pieces_has_the_same_bits(shape):
    values = np.random.default_rng(1).normal(-60, 30, shape)
    values[0, 0] = -np.inf
    assert np.array_equal(log_sum_exp(values, 1), _log_sum_exp(values, 1))
    assert log_sum_exp(values, 1) == pytest.approx(logsumexp(values, axis=1), rel=1e-14)


def test_each_subset_is_tossed_as_often():
    """Of six documents all 20 subsets of three: chi-squared with 19 degrees of freedom, below its 99.9% quantile."""
    pooled = 2.0 ** np.arange(6)[:, None]
    drawn = _tossed_splits(pooled, 3, 20_000, np.random.default_rng(1))[:, 0].astype(int)
    subsets, counts = np.unique(drawn, return_counts=True)
    assert len(subsets) == 20
    assert {bin(subset).count("1") for subset in subsets.tolist()} == {3}
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8


@pytest.mark.parametrize("size", [MANY_COINS // 2, round(0.495 * MANY_COINS)])
def test_sums_of_tossed_subsets_have_the_moments_of_drawn_ones(size, monkeypatch):
    """Mean and variance of the sum of a subset without replacement are known."""
    pooled = np.random.default_rng(2).gamma(2, 1, (MANY_COINS, 1))
    monkeypatch.setattr(permutation, "_tossed_splits", lambda *given: (used.append(1), _tossed_splits(*given))[1])
    used: list[int] = []
    sums = np.concatenate([*_random_splits(pooled, size, 4000, np.random.default_rng(3))])[:, 0]
    assert used
    share = size / MANY_COINS
    deviation = np.sqrt(MANY_COINS * share * (1 - share) * pooled.var(ddof=1))
    assert abs(sums.mean() - size * pooled.mean()) < 4 * deviation / np.sqrt(4000)
    assert sums.std() == pytest.approx(deviation, rel=4 / np.sqrt(2 * 4000))


def test_the_first_two_words_are_found_as_by_bisection():
    rng = np.random.default_rng(4)
    documents = [rng.integers(1, 9, rng.integers(0, 12)).astype(np.int32) for _ in range(60)]
    tokens = np.concatenate([np.append(document, np.int32(0)) for document in documents])
    suffixes = Suffixes(tokens, suffix_array(tokens))
    texts = rng.choice(np.array([NOWHERE, *range(1, 12)], np.int32), 400)
    search = _Search(suffixes, texts, np.array([150, 0, 250]))
    for _ in range(2):
        inside = search.left[search.at] > search.depth
        at, low, high = search.at[inside], search.low[inside], search.high[inside]
        words = texts[at + search.depth].astype(np.int64)
        begin = search._first(low, high, words)
        end = search._first(begin, high, words + 1)
        found = search._stretches(at, low, high)
        assert np.array_equal(found[1] - found[0], end - begin)
        some = begin < end
        assert some.any()
        assert not some.all()
        assert np.array_equal(found[0][some], begin[some])
        search.deepen()
