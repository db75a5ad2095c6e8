"""Statistics of detectors: closed forms and enumeration on small sets, and calibration at unequal sizes."""

import math
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import (
    Trials,
    bootstrap_interval,
    mcnemar_test,
    paired_permutation_test,
    ranking_interval,
    ratio_of_sums,
    standardised_share,
    unit_sums,
)

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import calibration_detectors as calibration


def judged(seed, documents=12, same=0.4):
    rng = np.random.default_rng(seed)
    first = rng.random(documents) < 0.6
    return first, np.where(rng.random(documents) < same, first, rng.random(documents) < 0.4)


@pytest.mark.parametrize("seed", range(5))
def test_mcnemar_is_the_binomial_test_and_the_test_of_all_exchanges(seed):
    first, second = judged(seed)
    found = mcnemar_test(first, second)
    alone = int((first & ~second).sum()), int((second & ~first).sum())
    assert (found.first_alone, found.second_alone) == alone
    assert found.p == pytest.approx(stats.binomtest(alone[0], sum(alone)).pvalue if sum(alone) else 1, abs=1e-12)
    differences = first.astype(int) - second.astype(int)
    signs = np.array(list(product((1, -1), repeat=len(first))))
    assert found.p == pytest.approx((np.abs(signs @ differences) >= abs(differences.sum())).mean(), abs=1e-12)


def test_mcnemar_where_documents_belong_together_exchanges_groups():
    first = np.array([1, 1, 1, 1, 1, 1, 0, 1], bool)
    second = np.array([0, 0, 0, 0, 0, 1, 1, 0], bool)
    groups = ["a", "a", "a", "b", "b", None, None, "b"]
    found = mcnemar_test(first, second, groups)
    sums = np.array([3, 3, 0, -1])  # a, b, and two documents that are alone
    signs = np.array(list(product((1, -1), repeat=4)))
    assert found.p == pytest.approx((np.abs(signs @ sums) >= sums.sum()).mean(), abs=1e-12)
    assert found.p > mcnemar_test(first, second).p


def test_mcnemar_of_judges_that_agree_says_nothing():
    assert mcnemar_test([True, False], [True, False]).p == 1
    with pytest.raises(TextcriticError, match="give the same ones twice"):
        mcnemar_test([True], [True, False])
    with pytest.raises(TextcriticError, match="give the same ones twice"):
        mcnemar_test([], [])


def test_the_exchange_test_of_f1_is_that_of_all_exchanges_of_whole_groups():
    """F1 is a ratio of sums: (2 hits, 2 hits + false + missed) of each document."""
    rng = np.random.default_rng(3)
    parts = [np.column_stack([2 * hits, 2 * hits + rng.integers(0, 3, 9)]) for hits in rng.integers(0, 2, (2, 9))]
    groups = ["a", "b", "a", "c", "c", None, "d", None, "e"]
    one, two = (unit_sums(part, groups) for part in parts)
    assert len(one) == 7
    found = paired_permutation_test(one, two, ratio_of_sums, 1000)
    differences = []
    for swapped in product((False, True), repeat=7):
        chosen = np.array(swapped)[:, None]
        first, second = np.where(chosen, two, one).sum(axis=0), np.where(chosen, one, two).sum(axis=0)
        differences.append(first[0] / first[1] - second[0] / second[1])
    assert found.exact
    assert found.p == np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12)


def ranked(seed, items=40, levels=6):
    rng = np.random.default_rng(seed)
    return rng.integers(0, levels, items) / levels, rng.random(items) < 0.3, np.arange(items) // 2


@pytest.mark.parametrize("seed", range(4))
def test_auc_and_average_precision_are_what_their_definitions_say(seed):
    scores, positive, unit = ranked(seed)
    pairs = [(p > n) + (p == n) / 2 for p in scores[positive] for n in scores[~positive]]
    auc = ranking_interval(scores, positive, unit)
    assert auc.estimate == pytest.approx(np.mean(pairs), abs=1e-12)
    assert auc.estimate == pytest.approx(
        stats.mannwhitneyu(scores[positive], scores[~positive]).statistic / len(pairs), abs=1e-12
    )
    precisions = [positive[scores >= score].mean() for score in scores[positive]]
    found = ranking_interval(scores, positive, unit, "average_precision")
    assert found.estimate == pytest.approx(np.mean(precisions), abs=1e-12)
    for interval in (auc, found):
        assert 0 < interval.low < interval.estimate < interval.high < 1
    assert ranking_interval(1 - scores, positive, unit).estimate == pytest.approx(1 - auc.estimate, abs=1e-12)


def test_the_interval_of_auc_is_that_of_resamples_sorted_one_by_one():
    scores, positive, unit = ranked(7, items=80)
    rng, logits = np.random.default_rng(1), []
    for weights in rng.multinomial(40, np.full(40, 1 / 40), 500):
        items = np.repeat(np.arange(80), weights[unit])
        up, down = scores[items][positive[items]], scores[items][~positive[items]]
        share = ((up[:, None] > down).mean() + (up[:, None] >= down).mean()) / 2
        logits.append(math.log(share / (1 - share)))
    found = ranking_interval(scores, positive, unit, resamples=500)
    middle = math.log(found.estimate / (1 - found.estimate))
    half = stats.t.ppf(0.975, 39) * np.std(logits, ddof=1)
    expected = [1 / (1 + math.exp(-end)) for end in (middle - half, middle + half)]
    assert [found.low, found.high] == pytest.approx(expected, abs=1e-9)


def test_rankings_without_a_number_or_an_interval():
    scores, positive, unit = ranked(1)
    assert math.isnan(ranking_interval(scores, np.zeros(40, bool), unit).estimate)
    few = ranking_interval(scores, positive, np.arange(40) % 19)
    assert (few.low, few.reason) == (None, "no interval of fewer than 20")
    perfect = ranking_interval(positive.astype(float), positive, unit)
    assert (perfect.estimate, perfect.low) == (1, None)
    for values, of, message in (
        (scores[:3], "auc", "give a finite score, a truth and a unit for each"),
        (np.where(positive, np.nan, scores), "auc", "give a finite score"),
        (scores, "f1", "no number 'f1'; there are auc and average_precision"),
    ):
        with pytest.raises(TextcriticError, match=message):
            ranking_interval(values, positive, unit, of)


def trials(hits, strata, groups=None):
    return Trials(np.array(hits, bool), np.array(strata, np.int64), groups)


def test_a_share_at_the_lengths_of_another_set_is_the_weighted_mean_of_the_lengths():
    ours = trials([1, 0, 0, 0, 1, 1, 1, 1, 0], [3, 3, 3, 3, 5, 5, 5, 8, 8])
    real = trials([0, 1, 0, 1, 0, 1, 1], [3, 3, 5, 5, 5, 6, 6])
    found = standardised_share(ours, real, 100)
    assert found.interval.estimate == pytest.approx((2 * 1 / 4 + 3 * 3 / 3) / 5)
    assert found.standard == pytest.approx((2 * 1 / 2 + 3 * 1 / 3) / 5)
    assert (found.left_out, found.lacking) == (2, (6,))
    assert found.interval.low is None  # of so few documents
    assert standardised_share(ours, trials([1], [4])) is None
    with pytest.raises(TextcriticError, match="give one for each"):
        standardised_share(trials([1, 0], [3]), real)


def test_its_p_is_that_of_all_ways_to_deal_the_documents_of_each_length():
    ours, real = trials([1, 1, 0, 1, 0], [3, 3, 3, 4, 4]), trials([0, 0, 1, 0, 0, 0], [3, 3, 4, 4, 4, 4])
    weights, differences = {3: 2 / 6, 4: 4 / 6}, {}
    for length, weight in weights.items():
        pooled = np.concatenate([ours.hits[ours.strata == length], real.hits[real.strata == length]])
        n = int((ours.strata == length).sum())
        deals = [deal for deal in product((0, 1), repeat=len(pooled)) if sum(deal) == n]
        masks = np.array(deals, bool)
        each = [weight * (pooled[mask].mean() - pooled[~mask].mean()) for mask in masks]
        differences[length] = each
    every = np.add.outer(differences[3], differences[4]).ravel()
    observed = (2 / 6) * (2 / 3 - 0) + (4 / 6) * (1 / 2 - 1 / 4)
    expected = (np.abs(every) >= observed - 1e-12).mean()
    found = standardised_share(ours, real, 40_000)
    assert found.p == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / 40_000))


def test_lengths_alone_are_no_difference():
    """Long documents are flagged more often, in both sets: plain shares differ, those at equal lengths do not."""
    rng = np.random.default_rng(5)
    lengths = [rng.choice([3, 8], 600, p=share) for share in ((0.8, 0.2), (0.2, 0.8))]
    short, long = (trials(rng.random(600) < np.where(strata == 8, 0.7, 0.2), strata) for strata in lengths)
    assert long.hits.mean() - short.hits.mean() > 0.2
    found = standardised_share(short, long, 2000)
    assert found.p > 0.05
    assert found.interval.low < found.standard < found.interval.high


def test_where_documents_belong_together_groups_are_the_units():
    rng = np.random.default_rng(8)
    strata, groups = rng.integers(3, 5, 400), [f"g{n // 10}" for n in range(400)]
    hits = np.repeat(rng.random(40) < 0.5, 10)  # documents of a group are all alike
    other = trials(rng.random(400) < 0.5, rng.integers(3, 5, 400))
    alone, together = (standardised_share(trials(hits, strata, named), other, 2000) for named in (None, groups))
    assert alone.interval.estimate == pytest.approx(together.interval.estimate, abs=1e-12)
    width = [one.interval.high - one.interval.low for one in (alone, together)]
    assert 2 < width[1] / width[0] < 4.5
    assert together.p > alone.p


@pytest.mark.parametrize("groups", [False, True], ids=["documents", "groups"])
def test_nothing_differs(groups):
    """A short version of benchmarks/calibration_detectors.py."""
    repetitions = 120
    above = 4 * (0.05 * 0.95 / repetitions) ** 0.5
    found = calibration.rates((60, 200), groups, repetitions, resamples=199)
    assert all(rate < 0.05 + above for name, rate in found.items() if name.startswith("p "))
    assert all(rate > 0.95 - above for name, rate in found.items() if name.startswith("held "))
    assert len(found) == 7


def test_f1_by_bootstrap_is_the_ratio_of_sums():
    rng = np.random.default_rng(2)
    hits = rng.integers(0, 2, 60)
    parts = np.column_stack([2 * hits, 2 * hits + rng.integers(0, 2, 60)])
    assert bootstrap_interval(parts, ratio_of_sums, 200).estimate == parts[:, 0].sum() / parts[:, 1].sum()
