"""Agreement against nltk, published worked examples and hand-made cases."""

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask

from textcritic.inference.agreement import (
    ALL_ALIKE,
    FEW_ITEMS,
    NO_OVERLAP,
    ac1_error,
    answer_counts,
    gwet_ac1,
    krippendorff_alpha,
)

# Krippendorff's example (2011; also Gwet 2014): four observers, twelve units, gaps.
EXAMPLE = {"A": "123321412...", "B": "1233224125.3", "C": ".3332342251.", "D": "12332441251."}
ANSWERS = [(who, unit, mark) for who, row in EXAMPLE.items() for unit, mark in enumerate(row) if mark != "."]


def drawn(seed, items=60, annotators=4, kinds=3, gaps=0.3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(kinds, size=items)
    return [
        (who, item, str(truth[item] if rng.random() < 0.6 else rng.integers(kinds)))
        for who in range(annotators)
        for item in range(items)
        if rng.random() > gaps
    ]


def test_the_worked_example():
    counts = answer_counts(ANSWERS)
    assert krippendorff_alpha(counts).value == pytest.approx(0.743421, abs=5e-7)
    assert gwet_ac1(counts).value == pytest.approx(0.775444, abs=5e-7)
    assert ac1_error(counts) == pytest.approx(0.14295, abs=5e-6)
    assert krippendorff_alpha(counts).reason == FEW_ITEMS


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_nltk(seed):
    answers = drawn(seed)
    several = {item for item in range(60) if sum(i == item for _, i, _ in answers) > 1}
    kept = [answer for answer in answers if answer[1] in several]
    assert krippendorff_alpha(answer_counts(answers)).value == pytest.approx(AnnotationTask(data=kept).alpha())


def test_ac1_of_two_annotators_without_gaps_is_gwet_s_formula():
    """Gwet 2008, equation 3: chance agreement 2 p (1 - p), p the mean share of yes."""
    table = {(True, True): 40, (True, False): 5, (False, True): 3, (False, False): 2}
    answers, item = [], 0
    for (one, two), number in table.items():
        for _ in range(number):
            answers += [("a", item, one), ("b", item, two)]
            item += 1
    p = (45 + 43) / 100
    chance = 2 * p * (1 - p)
    expected = (42 / 50 - chance) / (1 - chance)
    assert gwet_ac1(answer_counts(answers, [True, False])).value == pytest.approx(expected)


def test_where_nearly_all_say_yes_they_differ():
    counts = np.array([[2, 0]] * 118 + [[1, 1]] * 7)
    assert krippendorff_alpha(counts).value == pytest.approx(-0.025, abs=5e-4)
    assert gwet_ac1(counts).value == pytest.approx(0.941, abs=5e-4)


def test_intervals_hold_the_value_and_shrink_with_items():
    small, large = (answer_counts(drawn(1, items=items)) for items in (60, 600))
    for measure in (krippendorff_alpha, gwet_ac1):
        one, many = measure(small), measure(large)
        assert one.low < one.value < one.high
        assert many.high - many.low < 0.5 * (one.high - one.low)


@pytest.mark.parametrize("measure", [krippendorff_alpha, gwet_ac1])
def test_intervals_cover_the_value_of_many_items(measure):
    """Nominal 95%; 200 repetitions."""
    truth = measure(answer_counts(drawn(0, items=4000), ["0", "1", "2"])).value
    found = [measure(answer_counts(drawn(seed + 1, items=50), ["0", "1", "2"])) for seed in range(200)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.9 <= covered <= 0.99


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([("a", 1, "x"), ("a", 2, "y")], NO_OVERLAP),
        ([("a", 1, "x"), ("b", 2, "y")], NO_OVERLAP),
        ([], NO_OVERLAP),
    ],
)
def test_without_overlap_both_are_undefined(answers, reason):
    for measure in (krippendorff_alpha, gwet_ac1):
        found = measure(answer_counts(answers, ["x", "y"]))
        assert (found.value, found.low, found.reason) == (None, None, reason)


def test_all_answers_alike():
    """Alpha is undefined; AC1 is 1 where another answer was possible, and undefined where none was."""
    answers = [(who, item, "x") for who in "ab" for item in range(30)]
    assert krippendorff_alpha(answer_counts(answers, ["x", "y"])).reason == ALL_ALIKE
    assert gwet_ac1(answer_counts(answers, ["x", "y"])).value == 1
    assert gwet_ac1(answer_counts(answers)).reason == ALL_ALIKE
