"""Covariances of compositions and what is inferred of them, against documents that are laid out one by one."""

import numpy as np
import pytest

from textcritic.inference import aggregated_covariance, corrected_covariance_distance, covariance_test

PARTS = 5


def compositions(documents, seed, mean):
    """Means and variances of coefficients far from 0, the last part's fixed at 0."""
    rng = np.random.default_rng(seed)
    root = np.random.default_rng(9).normal(size=(PARTS, PARTS))
    means = mean + rng.normal(size=(documents, PARTS)) @ root.T * (1 + seed / 10)
    variances = rng.gamma(1.0, 0.7, (documents, PARTS))
    means[:, -1] = variances[:, -1] = 0
    return means, variances


def laid_out(means, variances):
    """`x x' + diag(variance)` of each document in log-ratios to the geometric mean, x from the set's mean."""
    centring = np.eye(PARTS) - 1 / PARTS
    middle = sum(means) / len(means)
    return [
        centring @ (np.outer(mean - middle, mean - middle) + np.diag(variance)) @ centring
        for mean, variance in zip(means, variances, strict=True)
    ]


def average(matrices):
    return sum(matrices) / len(matrices)


def squared_error(matrices):
    """The sum over entries of the squared standard error of their average."""
    return sum(np.var([one[k, m] for one in matrices], ddof=1) for k in range(PARTS) for m in range(PARTS)) / len(
        matrices
    )


def size(matrix):
    return float((matrix**2).sum())


def by_hand(first, second):
    """Plain and corrected relative distance of two sets, each means and variances."""
    one, two = laid_out(*first), laid_out(*second)
    apart, noise = size(average(one) - average(two)), (squared_error(one), squared_error(two))
    plain = np.sqrt(apart / size(average(two)))
    return plain, np.sqrt(max(apart - sum(noise), 0) / (size(average(two)) - noise[1]))


SIZES = pytest.mark.parametrize("sizes", [(12, 30), (30, 12)])


def two_sets(sizes):
    return compositions(sizes[0], 1, 4.0), compositions(sizes[1], 2, -7.0)


def test_the_aggregated_covariance_divides_by_the_documents_and_is_about_their_mean():
    means, variances = compositions(9, 3, 100.0)
    rows = [mean - sum(means) / 9 for mean in means]
    plain = sum(np.outer(row, row) for row in rows) / 9
    np.testing.assert_allclose(aggregated_covariance(means), plain, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        aggregated_covariance(means, variances), plain + np.diag(sum(variances) / 9), rtol=1e-9, atol=1e-9
    )


@SIZES
def test_both_distances_are_those_of_documents_laid_out(sizes):
    first, second = two_sets(sizes)
    plain, corrected = by_hand(first, second)
    assert corrected < 0.98 * plain  # or the correction would show in no digit
    found = covariance_test(first[0], second[0], (first[1], second[1]), resamples=3)
    assert found.distance == pytest.approx(plain, rel=1e-9)
    assert found.corrected == pytest.approx(corrected, rel=1e-9)
    alone = corrected_covariance_distance(first[0], second[0], (first[1], second[1]))
    assert alone == pytest.approx(corrected, rel=1e-9)


@pytest.mark.parametrize("at_a_time", [1, 10_000_000])
@pytest.mark.parametrize("sizes", [(20, 31), (31, 23)])
def test_the_interval_is_that_of_documents_drawn_again(monkeypatch, sizes, at_a_time):
    """Quantiles of the corrected squares of resamples, moved from the plain to the corrected square."""
    monkeypatch.setattr("textcritic.inference.bootstrap.CHUNK_DRAWS", at_a_time)
    first, second = two_sets(sizes)
    found = covariance_test(first[0], second[0], (first[1], second[1]), resamples=40, seed=6, level=0.8)
    rng = np.random.default_rng(6).spawn(2)[0]
    plain, corrected = by_hand(first, second)
    squares = []
    for _ in range(40):
        drawn = []
        for means, variances in (first, second):
            rows = rng.integers(0, len(means), len(means))
            drawn.append((means[rows], variances[rows]))
        # The noise is that of documents about the mean of the whole set, which `squares` are about.
        squares.append(resampled(first, second, drawn))
    ends = np.quantile(squares, [0.1, 0.9]) + corrected**2 - plain**2
    np.testing.assert_allclose([found.low, found.high], np.sqrt(np.clip(ends, 0, None)), rtol=1e-9)


def resampled(first, second, drawn):
    """The corrected square of resamples, each document's matrix about the mean of the set it was drawn from."""
    centring, averages, noise = np.eye(PARTS) - 1 / PARTS, [], []
    for (means, _), (some, variances) in zip((first, second), drawn, strict=True):
        rows = (some - means.mean(0)) @ centring
        singles = [
            np.outer(row, row) + centring @ np.diag(v) @ centring for row, v in zip(rows, variances, strict=True)
        ]
        shift = rows.mean(0)
        averages.append(average(singles) - np.outer(shift, shift))
        noise.append((np.mean([size(one) for one in singles]) - size(averages[-1])) / (len(singles) - 1))
    apart = size(averages[0] - averages[1])
    return (apart - sum(noise)) / (size(averages[1]) - noise[1])


@SIZES
def test_sets_of_chance_are_exchanges_of_centred_documents(sizes):
    """Of whichever size the first set is, the reference of the ratio is the second."""
    first, second = two_sets(sizes)
    found = covariance_test(first[0], second[0], (first[1], second[1]), resamples=30, seed=6)
    rng = np.random.default_rng(6).spawn(2)[1]
    means = np.concatenate([rows[0] - rows[0].mean(0) for rows in (first, second)])
    variances = np.concatenate([first[1], second[1]])
    distances = []
    for _ in range(30):
        smaller = np.isin(np.arange(42), rng.choice(42, 12, replace=False, shuffle=False))
        sides = (smaller, ~smaller) if sizes[0] == 12 else (~smaller, smaller)
        distances.append(by_hand(*((means[side], variances[side]) for side in sides))[0])
    assert found.by_chance == pytest.approx(np.mean(distances), rel=1e-9)
    assert found.p == (1 + sum(d >= found.distance for d in distances)) / 31


@pytest.mark.parametrize("sizes", [(19, 30), (30, 19)])
def test_fewer_than_twenty_documents_have_no_interval(sizes):
    first, second = two_sets(sizes)
    found = covariance_test(first[0], second[0], (first[1], second[1]), resamples=9)
    assert (found.low, found.high) == (None, None)
    assert 0 < found.p <= 1
