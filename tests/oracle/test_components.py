"""Components of variance: the nested analysis of variance by hand, and shares that simulations find again."""

import math

import numpy as np
import pytest

from textcritic.errors import TextcriticError
from textcritic.inference import Number, variance_components

Z = 1.959964


def run(training, value, error=0.5):
    return training, Number(value, value - Z * error, value + Z * error)


def test_a_balanced_nested_design_by_hand():
    """Trainings (1, 3), (6, 10), (11, 11): squares within 2, 8, 0, between 2 (6^2 + 1 + 5^2) / 2 with mean 7."""
    runs = [run(t, y) for t, pair in enumerate([(1, 3), (6, 10), (11, 11)]) for y in pair]
    documents, drawing, training = variance_components(runs)
    within = (2 + 8 + 0) / 3
    between = 2 * ((2 - 7) ** 2 + (8 - 7) ** 2 + (11 - 7) ** 2) / 2
    expected = 0.25, within - 0.25, (between - within) / 2
    assert (documents.variance, drawing.variance, training.variance) == pytest.approx(expected)
    assert [c.share for c in (documents, drawing, training)] == pytest.approx([v / sum(expected) for v in expected])
    assert [c.number for c in (documents, drawing, training)] == [6, 2, 3]
    assert all(0 <= c.low <= c.share <= c.high <= 1 for c in (documents, drawing, training))


def test_by_ratio_it_is_of_logarithms():
    runs = [run(t, y, 0.1) for t, y in ((1, 1.0), (1, 1.2), (2, 2.0), (2, 2.1))]
    logarithmic = [(t, Number(*(math.exp(v) for v in (n.value, n.low, n.high)))) for t, n in runs]
    for one, other in zip(variance_components(runs), variance_components(logarithmic, by_ratio=True), strict=True):
        assert (other.share, other.low) == pytest.approx((one.share, one.low))


def test_what_there_is_one_of_is_not_estimable():
    """And of documents alone no share can be known; drawing is then in training."""
    documents, drawing, training = variance_components([run(1, 2.0)])
    assert (documents.variance, documents.share, drawing.share, training.share) == (pytest.approx(0.25), *[None] * 3)
    documents, drawing, training = variance_components([run(1, 2.0), run(2, 4.0), run(3, 9.0)], {"classifier": [2.0]})[
        :3
    ]
    assert drawing.variance is None
    assert training.variance == pytest.approx(13 - 0.25)
    assert documents.share + training.share == pytest.approx(1)
    *_, classifier = variance_components([run(1, 2.0), run(2, 4.0)], {"classifier": [1.0, 2.0, 3.0]})
    assert (classifier.number, classifier.variance) == (3, pytest.approx(1))


def test_no_component_is_negative():
    """Draws that differ less than their documents explain, and trainings less than their draws."""
    runs = [run(t, y) for t, pair in enumerate([(4.9, 5.1), (5.0, 5.0)]) for y in pair]
    documents, drawing, training = variance_components(runs)
    assert (documents.share, drawing.share, training.share, drawing.low, training.low) == (1, 0, 0, 0, 0)
    assert documents.high == 1


def test_unbalanced_draws_weigh_as_in_the_analysis_of_variance():
    """Trainings of 3 and 1 draws: n0 = (4 - 10 / 4) / 1 = 1.5."""
    _, drawing, training = variance_components([run(1, 0.0), run(1, 3.0), run(1, 6.0), run(2, 11.0)])
    assert drawing.variance == pytest.approx(9 - 0.25)
    assert training.variance == pytest.approx((3 * 4 + 1 * 36 - 9) / 1.5)


@pytest.mark.parametrize("number", [Number(2.0), Number(None), Number(math.inf, 1.0, math.inf)])
def test_a_draw_without_an_interval_is_refused(number):
    with pytest.raises(TextcriticError, match="has no interval; each draw needs one"):
        variance_components([run(1, 2.0), (2, number)])


def test_a_value_that_has_no_logarithm_is_refused():
    with pytest.raises(TextcriticError, match="has no interval"):
        variance_components([run(1, -2.0)], by_ratio=True)


@pytest.mark.parametrize(("drawing", "training"), [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (2.0, 0.0)])
def test_intervals_of_shares_hold_the_truth(monkeypatch, drawing, training):
    """5 trainings x 3 draws, 300 times: 93% to 98% over 300 studies each (all: docs/results/calibration.md)."""
    monkeypatch.setattr("textcritic.inference.components.DRAWS", 1000)
    truth = np.array([1, drawing**2, training**2]) / (1 + drawing**2 + training**2)
    rng, held = np.random.default_rng(11), np.zeros(3)
    for seed in range(300):
        effects = rng.normal(0, training, 5)
        values = effects[:, None] + rng.normal(0, drawing, (5, 3)) + rng.normal(0, 1, (5, 3))
        found = variance_components([run(t, y, 1.0) for t in range(5) for y in values[t]], seed=seed)
        held += [c.low - 1e-9 <= share <= c.high + 1e-9 for c, share in zip(found, truth, strict=True)]
    assert (held >= 0.92 * 300).all()
