"""Tests of a million documents against what one would write without histograms and groups, as ratios of one run.

A loop shuffles the documents of both sets as numpy arrays, then computes the statistic; it runs for a few of the
resamples, and its time for one stands for all. Nothing is asserted about time but the ratio. Run with
`python -m pytest benchmarks/test_bench_inference.py -s`.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix
from timing import cpu_seconds

from textcritic.inference import Histogram, chi_square, group_permutation, half_l1, ks_test, max_difference, mean_test

DOCUMENTS, RESAMPLES = 1_000_000, 1000
LEAST = 5  # times as fast as the loop
WORDS, GROUPS, ENTRIES = 1_500_000, 100, 4_000_000


def report(capsys, what, loop, ours):
    with capsys.disabled():
        print(f"\n{what}: loops {loop:.0f} s, textcritic {ours:.2f} s, ratio {loop / ours:.0f}x")
    assert loop / ours > LEAST


def documents(seed):
    """Lengths as of Wikipedia's lines, about 57 tokens on average, and stop words of each."""
    rng = np.random.default_rng(seed)
    lengths = rng.negative_binomial(1.3, 1.3 / 57, DOCUMENTS) + 1
    return lengths, rng.binomial(lengths, rng.beta(8, 20, DOCUMENTS))


@pytest.mark.parametrize("test", [ks_test, mean_test])
@pytest.mark.parametrize("quantity", ["length", "stop words"])
def test_one_dimension(capsys, test, quantity):
    sets = [documents(seed) for seed in (1, 2)]

    def ours():
        if quantity == "length":
            return test(*(Histogram.of(lengths) for lengths, _ in sets), resamples=RESAMPLES)
        return test(*(Histogram.of_ratios(some, lengths) for lengths, some in sets), resamples=RESAMPLES)

    taken, _ = cpu_seconds(ours)
    pooled = np.concatenate([lengths * 1.0 if quantity == "length" else some / lengths for lengths, some in sets])
    rng = np.random.default_rng(3)

    def loop():
        rng.shuffle(pooled)
        one, two = pooled[:DOCUMENTS], pooled[DOCUMENTS:]
        return stats.ks_2samp(one, two, method="asymp") if test is ks_test else one.mean() - two.mean()

    once, _ = cpu_seconds(loop)
    report(capsys, f"{test.__name__} of {quantity}, {DOCUMENTS:,} documents in each set", once * RESAMPLES, taken)


def test_words(capsys):
    """All three distances, 1,000 splits, 100 groups in each set; the loop adds the groups up in a dense array."""

    def groups(seed):
        rng = np.random.default_rng(seed)
        tokens = int(1.9 * ENTRIES)
        words = (np.exp(rng.random(tokens) * np.log(WORDS))).astype(np.int64) - 1
        rare = rng.random(tokens) < 0.06
        words[rare] = rng.integers(0, WORDS, rare.sum())
        entries = np.ones(tokens, np.int64), (rng.integers(0, GROUPS, tokens), words)
        matrix = csr_matrix(entries, shape=(GROUPS, WORDS))
        matrix.sum_duplicates()
        return matrix

    one, two = groups(1), groups(2)
    taken, found = cpu_seconds(lambda: group_permutation(one, two, resamples=RESAMPLES))
    rng = np.random.default_rng(3)

    def loop():
        chosen = rng.permutation(2 * GROUPS)
        inside, outside = np.zeros((2, 2, GROUPS))
        inside.ravel()[chosen[:GROUPS]], outside.ravel()[chosen[GROUPS:]] = 1, 1
        sums = [own[0] @ one + own[1] @ two for own in (inside, outside)]
        return [float(distance(*sums)) for distance in (max_difference, half_l1, chi_square)]

    once, values = cpu_seconds(lambda: [loop() for _ in range(3)])
    for test, drawn in zip(found.values(), np.array(values).T, strict=True):
        assert test.null.min() * 0.99 < drawn.mean() < test.null.max() * 1.01
    with capsys.disabled():
        print(f"\n{one.nnz + two.nnz:,} entries of {WORDS:,} words")
    report(capsys, f"distances of words, {RESAMPLES:,} splits", once / 3 * RESAMPLES, taken)
