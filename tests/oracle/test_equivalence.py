"""The difference of two numbers from their intervals: by its formula, and in simulations where the truth is known."""

import math

import numpy as np
import pytest
from scipy import stats

from textcritic.inference import DIFFERENT, MARGIN, SAME, UNCLEAR, Gap, Number, gap, limit_of, verdict

Z = stats.norm.ppf(0.975)


def mover(first, second):
    """Zou and Donner 2008, equation 4: (L, U) of `first - second` from (estimate, lower, upper) of each."""
    (a, low_a, high_a), (b, low_b, high_b) = first, second
    return (
        a - b - math.sqrt((a - low_a) ** 2 + (high_b - b) ** 2),
        a - b + math.sqrt((high_a - a) ** 2 + (b - low_b) ** 2),
    )


@pytest.mark.parametrize(("first", "second"), [((5.0, 4.0, 7.0), (3.0, 2.5, 3.1)), ((1.0, 0.2, 1.1), (4.0, 3.0, 9.0))])
def test_the_interval_of_a_difference_is_that_of_the_formula(first, second):
    found = gap(Number(*first), Number(*second))
    assert (found.low, found.high) == pytest.approx(mover(first, second), rel=1e-12)
    assert (found.difference, found.by_ratio) == (pytest.approx(first[0] - second[0]), False)
    ratio = gap(Number(*first), Number(*second), by_ratio=True)
    logs = np.log(first), np.log(second)
    assert (ratio.low, ratio.high) == pytest.approx(mover(*logs), rel=1e-12)
    assert (ratio.difference, ratio.by_ratio) == (pytest.approx(math.log(first[0] / second[0])), True)
    back = gap(Number(*second), Number(*first))
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low), rel=1e-12)


def test_a_number_without_an_interval_is_exact():
    assert gap(Number(5.0, 4.0, 7.0), Number(3.0)) == Gap(2.0, 1.0, 4.0)
    assert gap(Number(5.0), Number(3.0)) == Gap(2.0, 2.0, 2.0)


@pytest.mark.parametrize("value", [Number(None), Number(math.inf), Number(-math.inf), Number(math.nan)])
def test_no_difference_of_what_is_missing_or_infinite(value):
    other = Number(3.0, 2.0, 4.0)
    assert gap(value, other) is gap(other, value) is gap(value, other, by_ratio=True) is None


def test_only_positive_numbers_have_a_ratio():
    other = Number(3.0, 2.0, 4.0)
    for value in (Number(0.0, 0.0, 1.0), Number(0.5, -0.1, 1.0), Number(-1.0, -2.0, -0.5)):
        assert gap(value, other, by_ratio=True) is None
        assert gap(value, other) is not None


def means(rng, truth, sd, n, runs):
    """Means of `runs` sets of `n` documents, with Student's interval: (estimate, low, high), each [runs]."""
    drawn = rng.normal(truth, sd, (runs, n))
    estimate, error = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(n)
    width = stats.t.ppf(0.975, n - 1) * error
    return estimate, estimate - width, estimate + width


def gaps(rng, difference, sizes, sds=(1.0, 1.0), runs=4000, by_ratio=False):
    """As samples of a model and of real text give them; by ratio the numbers are exponents of the means."""
    sets = [means(rng, truth, sd, n, runs) for truth, sd, n in zip((difference, 0.0), sds, sizes, strict=True)]
    if by_ratio:
        sets = [[np.exp(part) for part in one] for one in sets]
    return [
        gap(Number(*map(float, one)), Number(*map(float, two)), by_ratio)
        for one, two in zip(zip(*sets[0], strict=True), zip(*sets[1], strict=True), strict=True)
    ]


def share(marks):
    return float(np.mean(list(marks)))


@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize("sds", [(1.0, 1.0), (0.3, 1.0), (1.0, 0.3)])
@pytest.mark.parametrize("sizes", [(50, 50), (100, 1000), (1000, 100), (20, 20)])
def test_the_interval_covers_the_difference(sizes, sds, by_ratio):
    """In 95% of 4,000 runs; their standard error is 0.35%."""
    found = gaps(np.random.default_rng(1), 0.7, sizes, sds, by_ratio=by_ratio)
    assert 0.94 < share(one.low <= 0.7 <= one.high for one in found) < 0.97


@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize("sizes", [(50, 50), (100, 1000), (1000, 100), (4000, 4000)])
@pytest.mark.parametrize("side", [1, -1])
def test_the_same_is_said_in_at_most_5_percent_at_a_difference_of_just_the_margin(sizes, side, by_ratio):
    """Two one-sided tests of 2.5% each: of many documents it is said in 2.5%, of few in fewer."""
    margin = 0.1
    true = side * (math.log1p(margin) if by_ratio else margin)
    runs = 1000 if max(sizes) > 1000 else 4000
    found = gaps(np.random.default_rng(2), true, sizes, (0.5, 0.5), runs, by_ratio)
    said = share(one.within(margin) for one in found)
    assert said < 0.04
    assert said > 0.01 or max(sizes) < 4000


def test_of_two_alike_populations_the_same_is_said_the_more_often_the_more_documents_there_are():
    """With a standard deviation of half of the mean, as Latent NLL of documents has it."""
    shares = []
    for n in (50, 500, 2000):
        found = gaps(np.random.default_rng(3), 0.0, (n, n), (0.5, 0.5), 1000)
        shares.append(share(verdict(None, one, 0.1) == SAME for one in found))
    assert shares[0] < 0.05 < 0.7 < shares[1] < 0.9 < 0.999 <= shares[2]


@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize("sizes", [(50, 50), (100, 1000), (1000, 100)])
def test_a_noticeable_difference_is_noticed_in_80_percent(sizes, by_ratio):
    rng = np.random.default_rng(4)
    least = float(np.mean([one.noticeable for one in gaps(rng, 0.0, sizes, runs=500, by_ratio=by_ratio)]))
    true = math.log1p(least) if by_ratio else least
    found = gaps(rng, true, sizes, by_ratio=by_ratio)
    # 4,000 runs have a standard error of 0.6%; Student's t of 49 degrees of freedom is a little above the normal's.
    assert share(one.low > 0 for one in found) == pytest.approx(0.8, abs=0.025)


def test_what_is_noticeable_by_its_formula():
    assert Gap(5.0, 4.0, 6.0).noticeable == pytest.approx((Z + stats.norm.ppf(0.8)) / Z, rel=1e-6)
    assert Gap(5.0, 4.0, 6.0, True).noticeable == pytest.approx(math.exp((Z + stats.norm.ppf(0.8)) / Z) - 1, rel=1e-6)


@pytest.mark.parametrize(
    ("low", "high", "by_ratio", "margin", "within"),
    [
        (-0.09, 0.09, False, 0.1, True),
        (-0.1, 0.09, False, 0.1, False),
        (-0.09, 0.1, False, 0.1, False),
        (0.02, 0.09, False, 0.1, True),
        (-math.log(1.09), math.log(1.09), True, 0.1, True),
        (-math.log(1.09), 0.1, True, 0.1, False),  # 0.1 is a ratio of 1.105
        (-0.0954, 0.0, True, 0.1, False),  # and -log(1.1) one of 1 / 1.1
    ],
)
def test_the_whole_interval_lies_inside_the_margin(low, high, by_ratio, margin, within):
    assert Gap((low + high) / 2, low, high, by_ratio).within(margin) is within


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ({"real": 4.0}, 0.4),
        ({"real": -4.0}, 0.4),
        ({"real": 4.0, "by_ratio": True}, 0.1),
        ({"real": 0.0, "absolute": True}, 0.1),
        ({"real": 4.0, "absolute": True}, 0.1),
        ({"real": 0.0}, 0.0),
    ],
)
def test_a_margin_in_the_unit_of_a_gap(said, limit):
    assert limit_of(MARGIN, **said) == pytest.approx(limit, abs=0)


@pytest.mark.parametrize(
    ("p", "apart", "limit", "says"),
    [
        (0.0499, Gap(0.0, -0.01, 0.01), 0.1, DIFFERENT),  # a difference that is seen, though within the margin
        (0.05, Gap(0.0, -0.01, 0.01), 0.1, SAME),
        (None, Gap(0.0, -0.01, 0.01), 0.1, SAME),
        (0.05, Gap(0.0, -0.2, 0.01), 0.1, UNCLEAR),
        (0.9, None, 0.1, UNCLEAR),
        (0.9, Gap(0.0, -0.01, 0.01), None, UNCLEAR),
        (0.9, Gap(0.0, 0.0, 0.0), 0.0, UNCLEAR),
        (0.01, None, None, DIFFERENT),
    ],
)
def test_the_verdict(p, apart, limit, says):
    assert verdict(p, apart, limit) == says
