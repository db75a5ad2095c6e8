"""The energy distance and its tests: closed forms, scipy, and every exchange counted out."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats

from textcritic.errors import TextcriticError
from textcritic.inference import energy_distance, energy_test
from textcritic.runlog import Progress

RNG = np.random.default_rng(11)
ONE, TWO = RNG.dirichlet([0.1, 0.2, 0.3], 40), RNG.dirichlet([0.5, 0.2, 0.3], 25)


def by_loops(one, two):
    def mean(first, second):
        return np.mean([[np.linalg.norm(x - y) for y in second] for x in first])

    return 2 * mean(one, two) - mean(one, one) - mean(two, two)


def without_bias(one, two, paired=False):
    n, m = len(one), len(two)
    across = sum(np.linalg.norm(one[i] - two[j]) for i in range(n) for j in range(m) if not (paired and i == j))
    across /= n * (n - 1) if paired else n * m
    within = [
        sum(np.linalg.norm(x - y) for x in some for y in some) / (len(some) ** 2 - len(some)) for some in (one, two)
    ]
    return 2 * across - sum(within)


def test_it_is_the_mean_of_distances():
    assert energy_distance(ONE, TWO) == pytest.approx(by_loops(ONE, TWO), rel=1e-12)
    assert energy_distance(ONE, ONE) == pytest.approx(0, abs=1e-14)
    assert energy_test(ONE, TWO, resamples=20).corrected == pytest.approx(without_bias(ONE, TWO), rel=1e-10)
    paired = energy_test(ONE[:25], TWO, paired=True, resamples=20)
    assert paired.distance == pytest.approx(by_loops(ONE[:25], TWO), rel=1e-12)
    assert paired.corrected == pytest.approx(without_bias(ONE[:25], TWO, paired=True), rel=1e-10)


def test_in_one_dimension_it_is_that_of_distribution_functions_and_the_square_of_scipys():
    one, two = RNG.normal(0, 1, 60), RNG.exponential(1, 35)
    points = np.sort(np.concatenate([one, two]))
    difference = (one[:, None] <= points).mean(axis=0) - (two[:, None] <= points).mean(axis=0)
    integral = 2 * (difference[:-1] ** 2 * np.diff(points)).sum()
    assert energy_distance(one[:, None], two[:, None]) == pytest.approx(integral, rel=1e-10)
    assert integral == pytest.approx(scipy.stats.energy_distance(one, two) ** 2, rel=1e-10)


def test_every_swap_of_a_few_pairs():
    one, two = ONE[:8], TWO[:8]
    observed = by_loops(one, two)
    swapped = [
        by_loops(np.where(np.array(swap)[:, None], two, one), np.where(np.array(swap)[:, None], one, two))
        for swap in product([False, True], repeat=8)
    ]
    found = energy_test(one, two, paired=True, resamples=128)
    assert found.exact is True
    assert found.splits == 128
    assert found.p == pytest.approx(np.mean(np.array(swapped) >= observed - 1e-12))
    assert not energy_test(one, two, paired=True, resamples=127).exact


def test_every_split_of_a_few_points():
    one, two = ONE[:5], TWO[:4]
    pooled = np.concatenate([one, two])
    observed = by_loops(one, two)
    splits = []
    for chosen in combinations(range(9), 5):
        inside = np.isin(np.arange(9), chosen)
        splits.append(by_loops(pooled[inside], pooled[~inside]))
    found = energy_test(one, two, resamples=126)
    assert (found.exact, found.splits) == (True, 126)
    assert found.p == pytest.approx(np.mean(np.array(splits) >= observed - 1e-12))


@pytest.mark.parametrize("paired", [False, True])
def test_random_exchanges_come_near_to_all_of_them(paired):
    one, two = ONE[:9], ONE[10:19] * 0.7
    every = energy_test(one, two, paired=paired, resamples=60_000)
    some = energy_test(one, two, paired=paired, resamples=250 if paired else 20_000)
    assert every.exact
    assert not some.exact
    assert 0.02 < every.p < 0.98
    assert abs(some.p - every.p) < 4 * np.sqrt(every.p * (1 - every.p) / some.splits) + 1 / some.splits


@pytest.mark.parametrize("paired", [False, True])
def test_under_the_null_p_is_uniform(paired):
    """Pairs share a sentence's own point, about which both scatter alike."""
    rng = np.random.default_rng(3)
    values = []
    for _ in range(300):
        middle = rng.normal(size=(12, 2)) * (3 if paired else 0)
        one, two = (middle + rng.normal(size=(12, 2)) for _ in range(2))
        values.append(energy_test(one, two, paired=paired, resamples=99, seed=int(rng.integers(1 << 30))).p)
    assert scipy.stats.kstest(values, "uniform").pvalue > 1e-3
    assert 0.02 < np.mean(np.array(values) <= 0.05) < 0.09


def test_pairs_show_what_is_hidden_by_what_they_have_in_common():
    rng = np.random.default_rng(4)
    middle = 10 * rng.normal(size=(60, 2))
    one, two = middle + 0.1 * rng.normal(size=(60, 2)), middle + 0.3 + 0.1 * rng.normal(size=(60, 2))
    assert energy_test(one, two, paired=True, resamples=999).p == 1 / 1000
    assert energy_test(one, two, resamples=999).p > 0.5


def test_far_apart():
    found = energy_test(ONE, ONE[:30] + 2, resamples=999)
    assert found.p == 1 / 1000
    assert 0 < found.low < found.corrected < found.high


@pytest.mark.parametrize("paired", [False, True])
def test_the_interval_holds_the_true_distance(paired):
    """Normals in one dimension, one moved by d: 2 E|X - Y| - 2 E|X - X'|, with E|N(d, 2)| folded."""
    moved, number = 0.8, 150
    folded = scipy.stats.foldnorm(moved / np.sqrt(2), scale=np.sqrt(2)).mean()
    truth = 2 * folded - 2 * 2 / np.sqrt(np.pi)
    rng = np.random.default_rng(8)
    held, corrected = 0, []
    for _ in range(number):
        common = rng.normal(size=(60, 1)) if paired else np.zeros((60, 1))
        noise = np.sqrt(0.5) if paired else 1.0
        scale = np.sqrt(0.5)
        one, two = (scale * common + noise * rng.normal(size=(60, 1)) for _ in range(2))
        found = energy_test(one, two + moved, paired=paired, resamples=200, seed=int(rng.integers(1 << 30)))
        held += found.low <= truth <= found.high
        corrected.append(found.corrected)
    assert scipy.stats.binom.cdf(held, number, 0.95) > 1e-3, held
    error = np.std(corrected) / np.sqrt(number)
    assert abs(np.mean(corrected) - truth) < 4 * error, "corrected has no bias"


def test_blocks_change_nothing(monkeypatch):
    whole = energy_test(ONE, TWO, resamples=50)
    monkeypatch.setattr("textcritic.inference.energy.BLOCK", 100)
    parts = energy_test(ONE, TWO, resamples=50)
    assert parts.p == whole.p
    assert (parts.distance, parts.low, parts.high) == pytest.approx((whole.distance, whole.low, whole.high), rel=1e-9)


@pytest.mark.parametrize("paired", [False, True])
def test_fewer_resamples_at_a_time_do_not_change_the_test(paired, monkeypatch):
    """Nor the interval of pairs; of two sets the draws of both take turns, so that it is another one."""
    two = ONE + 0.1 if paired else TWO
    whole = energy_test(ONE, two, paired, resamples=50)
    monkeypatch.setattr("textcritic.inference.energy.LABELS", 7 * 40)
    parts = energy_test(ONE, two, paired, resamples=50)
    assert parts.p == whole.p
    if paired:
        assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), rel=1e-9)


@pytest.mark.parametrize("points", [40, 4])
@pytest.mark.parametrize("paired", [False, True])
def test_the_progress_ends_with_all_that_was_announced(paired, points, monkeypatch):
    counted = []

    class Counted(Progress):
        def advance(self, by=1, note=""):
            super().advance(by, note)
            counted.append((self.done, self.total))

    monkeypatch.setattr("textcritic.inference.energy.Progress", Counted)
    energy_test(ONE[:points], ONE[:points] + 0.1 if paired else TWO[:points], paired, resamples=100)
    assert len(counted) > 1
    assert counted[-1][0] == counted[-1][1]


@pytest.mark.parametrize(
    ("one", "two", "options", "says"),
    [
        (ONE, TWO[:, :2], {}, "points of 3 and of 2 coordinates"),
        (ONE, TWO, {"paired": True}, "40 and 25 points cannot be paired"),
        (ONE[:1], TWO, {}, "1 and 25 points; give at least 2 in each set"),
        (ONE, TWO * np.nan, {}, "infinite or missing"),
        (ONE, TWO, {"resamples": 0}, "0 resamples at level 0.95"),
        (ONE, TWO, {"level": 1.0}, "a level inside"),
    ],
)
def test_sets_that_cannot_be_compared(one, two, options, says):
    with pytest.raises(TextcriticError, match=says):
        energy_test(one, two, **options)
