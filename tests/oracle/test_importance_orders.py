"""Orders that texts and repeats share: sums have the means and spreads of orders drawn for each text and repeat."""

import numpy as np
import pytest
from scipy.special import logsumexp

from textcritic.inference.importance import LogWeights, curves
from textcritic.inference.importance import orders as module
from textcritic.inference.importance.orders import ordered_sums

REPEATS = 4000


def weights_of(texts, draws, spread=1.5, seed=1):
    values = np.random.default_rng(seed).normal(-50, spread, (texts, draws))
    return LogWeights(tuple(map(str, range(texts))), values, np.array(float(100 * texts)))


def by_hand(weights, ends, repeats, rng):
    """Instance and corpus level in nats at each end: every text of every repeat has a random order of its own."""
    values, found = weights.log_weights, []
    for _ in range(repeats):
        order = rng.permuted(values, axis=1)
        instance = [logsumexp(order[:, :end], axis=1).sum() for end in ends]
        corpus = [logsumexp(order.sum(axis=0)[:end]) for end in ends]
        found.append([instance, corpus])
    return np.array(found)


@pytest.fixture(scope="module")
def both():
    weights, ends = weights_of(130, 40), [1, 3, 12, 20, 40]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MANY", 1)
        patch.setattr(module, "ROWS", 64)
        shared = np.empty((REPEATS, 2, len(ends)))
        for start in range(0, REPEATS, 50):  # of 50 repeats, 130 texts are three blocks
            found = curves(weights, ends, repeats=50, seed=start)
            levels = [found.instance.perplexities, found.corpus.perplexities]
            logs = [-np.log(level) * weights.total_tokens for level in levels]
            shared[start : start + 50, 0] = logs[0] + 130 * np.log(ends)
            shared[start : start + 50, 1] = logs[1] + np.log(ends)
    return shared, by_hand(weights, ends, REPEATS, np.random.default_rng(9))


@pytest.mark.parametrize("level", [0, 1])
def test_means_and_spreads_are_those_of_orders_of_ones_own(both, level):
    shared, own = (found[:, level] for found in both)
    error = np.sqrt(2 / REPEATS) * own.std(axis=0)
    assert (np.abs(shared.mean(axis=0) - own.mean(axis=0)) <= 4 * error + 1e-9).all()
    ratios = shared.std(axis=0)[:-1] / own.std(axis=0)[:-1]  # at K instance level is the same in each repeat
    assert ratios == pytest.approx(1, abs=0.06)
    if level:
        assert shared[:, -1].std() / own[:, -1].std() == pytest.approx(1, abs=0.06)
        ends = np.quantile(shared, [0.025, 0.975], axis=0), np.quantile(own, [0.025, 0.975], axis=0)
        assert ends[0] == pytest.approx(ends[1], abs=6 * error.max())


def test_repeats_that_share_an_order_are_no_more_alike_than_others(both):
    shared = both[0][:, :, :-1]
    for level in (0, 1):
        for column in shared[:, level].T:
            assert abs(np.corrcoef(column[:-1], column[1:])[0, 1]) < 4 / np.sqrt(REPEATS)


def test_each_draw_of_each_text_is_summed_once(monkeypatch):
    monkeypatch.setattr(module, "MANY", 1)
    weights = weights_of(200, 30)
    weights.log_weights[3, 4] = weights.log_weights[7, :20] = -np.inf
    whole, texts = np.zeros((3, 30)), [0, 0, 0]
    for sums in ordered_sums(weights, [11, 30], 3, 2):
        rows = slice(texts[sums.repeat], texts[sums.repeat] + len(sums.segments))
        both = np.logaddexp(*sums.segments.T)
        assert both == pytest.approx(logsumexp(weights.log_weights[rows], axis=1), rel=1e-12)
        texts[sums.repeat] = rows.stop
        whole[sums.repeat] += sums.places
        assert sums.last is (rows.stop == 200)
    assert texts == [200, 200, 200]


def test_weights_that_are_nothing_beside_the_largest_are_summed_in_logarithms(monkeypatch):
    monkeypatch.setattr(module, "MANY", 1)
    values = np.array([[0.0, -800.0, -801.0, -2000.0]] * 3)
    weights = LogWeights(("a", "b", "c"), values, np.array(9.0))
    for sums in ordered_sums(weights, [1, 2, 4], 40, 1):
        firsts = sums.segments[:, 0]
        assert set(firsts.tolist()) <= {0.0, -800.0, -801.0, -2000.0}
        assert np.isfinite(sums.segments).all()
        everything = np.logaddexp.reduce(sums.segments, axis=1)
        assert everything == pytest.approx(0.0, abs=1e-12)
