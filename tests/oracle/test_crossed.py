"""Shares with two crossed clusters: against statsmodels, limits that are known, and simulated coverage."""

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from textcritic.errors import TextcriticError
from textcritic.inference.annotation_plan import (
    Design,
    _annotator_of,
    _answers,
    _p_values,
    articles_for_power,
    articles_for_width,
    half_width,
    log_odds,
    simulated_power,
    standard_error,
)
from textcritic.inference.crossed import Crossed, share, share_difference


def answers(seed, articles=60, annotators=8, each=3, odds=1.0, people=None, spreads=(1.5, 0.5), start=0):
    rng = np.random.default_rng(seed)
    people = rng.normal(0, spreads[1], annotators) if people is None else people
    texts = rng.normal(0, spreads[0], articles)
    who = np.concatenate([rng.permutation(annotators)[:each] for _ in range(articles)])
    what = np.repeat(np.arange(articles), each)
    p = 1 / (1 + np.exp(-(odds + texts[what] + people[who])))
    return Crossed((rng.random(len(p)) < p).astype(float), who.tolist(), (what + start).tolist())


def test_the_variance_is_that_of_cameron_gelbach_and_miller():
    """Of a regression on a constant, by statsmodels."""
    import statsmodels.api as sm

    said = answers(1)
    fit = sm.OLS(said.values, np.ones(len(said.values))).fit()
    groups = np.column_stack([said.annotators, said.articles])
    both = cov_cluster_2groups(fit, groups, use_correction=False)
    of_each = [float(np.ravel(part)[0]) for part in both]
    people, texts, pairs = 8, 60, len(said.values)
    by_people, by_texts = of_each[1] * people / (people - 1), of_each[2] * texts / (texts - 1)
    expected = by_texts + by_people - (of_each[1] + of_each[2] - of_each[0]) * pairs / (pairs - 1)
    found = share(said)
    # Satterthwaite's degrees of freedom are between those of both, and so is the width.
    half = (found.high - found.low) / 2
    from scipy.stats import t

    assert t.ppf(0.975, texts) * np.sqrt(expected) <= half <= t.ppf(0.975, people - 1) * np.sqrt(expected)


def test_few_annotators_speak_for_themselves_alone():
    few, many = share(answers(2, annotators=5)), share(answers(2, annotators=5), least_annotators=5)
    assert few.of_these
    assert not many.of_these
    assert few.high - few.low < many.high - many.low
    assert not share_difference(answers(2, annotators=5), answers(3, annotators=5)).of_these


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (answers(1, articles=19), "no interval of fewer than 20 articles"),
        (Crossed(np.ones(40), ["a", "b"] * 20, list(range(40))), "no interval, as all answers are alike"),
    ],
)
def test_where_there_is_no_interval_the_reason_is_said(said, reason):
    found = share(said)
    assert (found.low, found.high, found.reason) == (None, None, reason)


def test_answers_without_annotators_are_refused():
    with pytest.raises(TextcriticError, match="2 answers of 1 annotators"):
        share(Crossed(np.ones(2), ["a"], ["x", "y"]))


@pytest.mark.parametrize("annotators", [3, 8])
def test_intervals_cover(annotators):
    """Of a difference for other annotators; of a share for other annotators where they are enough, else for these."""
    design, hits = Design(annotators=annotators), []
    odds = [log_odds(design, value) for value in (0.7, 0.85)]
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    for seed in range(300):
        people = np.random.default_rng([seed, 9]).normal(0, 0.5, annotators)
        sides = [answers([seed, k], 80, annotators, 3, middle, people, start=100 * k) for k, middle in enumerate(odds)]
        gap, one = share_difference(*sides), share(sides[0])
        own = (weights @ (1 / (1 + np.exp(-(odds[0] + 1.5 * nodes[:, None] + people))))).mean() / weights.sum()
        truth = own if one.of_these else 0.7
        hits.append([gap.low <= -0.15 <= gap.high, one.low <= truth <= one.high])
    assert (np.mean(hits, axis=0) >= 0.915).all()
    assert (np.mean(hits, axis=0) <= 0.995).all()


@pytest.mark.parametrize(("articles", "each"), [(100, 1), (100, 3), (40, 5)])
def test_the_planned_error_is_that_of_simulated_answers(articles, each):
    design = Design(articles, each, 8)
    odds = log_odds(design, 0.7)
    means = [answers([seed, articles], articles, 8, each, odds).values.mean() for seed in range(1500)]
    assert np.mean(means) == pytest.approx(0.7, abs=0.006)
    assert np.std(means) == pytest.approx(standard_error(design, 0.7), rel=0.08)


def test_independent_answers_need_as_many_as_the_textbook_says():
    """n = (z + z')^2 (p (1 - p) + q (1 - q)) / (p - q)^2."""
    alone = Design(annotators=10**6, between_articles=0, between_annotators=0)
    for p, q, expected in ((0.71, 0.88, 85), (0.50, 0.66, 146), (0.70, 0.80, 291), (0.66, 0.71, 1351)):
        assert articles_for_power(alone, p, q) == pytest.approx(expected, rel=0.05)
    few = simulated_power(Design(100, 1, 100, between_articles=0, between_annotators=0), 0.66, 0.71)
    assert few.power == pytest.approx(0.12, abs=0.015)


@pytest.mark.parametrize(
    "design", [Design(30), Design(25, 3, 5), Design(40, annotators=2), Design(9), Design(12, annotators=99)]
)
def test_the_power_is_of_the_test_that_is_made(design):
    """Study by study by the test of two systems' shares; 9 articles of each are too few for one."""
    rng = np.random.default_rng(1)
    people = rng.normal(0, 0.5, (8, min(design.annotators, design.articles * design.answers)))
    sides = [_answers(design, middle, people, rng) for middle in (0.5, 1.5)]
    who = _annotator_of(design).ravel().tolist()
    what = np.repeat(np.arange(design.articles), design.answers).tolist()
    for study, p in enumerate(_p_values(design, *sides)):
        one, two = (
            Crossed(side[study].ravel(), who, [(number, text) for text in what]) for number, side in enumerate(sides)
        )
        expected = share_difference(one, two).p
        assert p == pytest.approx(1.0 if expected is None else expected, rel=1e-12)


@pytest.mark.parametrize(("first", "second", "design"), [(0.71, 0.88, Design()), (0.71, 0.88, Design(annotators=4))])
def test_the_promised_power_is_got(first, second, design):
    planned = replace(design, articles=articles_for_power(design, first, second))
    got = simulated_power(planned, first, second, 10_000, seed=5)
    assert got.power == pytest.approx(0.8, abs=0.02)
    assert got.low < got.power < got.high
    fewer = replace(planned, articles=round(0.8 * planned.articles))
    assert simulated_power(fewer, first, second, 10_000, seed=5).high < 0.78


def test_annotators_set_a_floor():
    assert articles_for_width(Design(annotators=3), 0.7, 0.05) is None
    needed = articles_for_width(Design(annotators=20), 0.7, 0.08)
    assert half_width(Design(needed, annotators=20), 0.7) <= 0.08 < half_width(Design(needed - 1, annotators=20), 0.7)
    assert Design(100, 3, minutes=6).hours == 30


@pytest.mark.parametrize(
    "make",
    [
        lambda: Design(articles=1),
        lambda: Design(answers=9, annotators=8),
        lambda: Design(minutes=0),
        lambda: half_width(Design(), 1.0),
        lambda: articles_for_width(Design(), 0.7, 0),
        lambda: articles_for_power(Design(), 0.7, 0.7),
    ],
)
def test_plans_that_make_no_sense_are_refused(make):
    with pytest.raises(TextcriticError, match=r"^plan: "):
        make()
