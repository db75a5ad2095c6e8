"""Samples that share prompts are compared by pairs: against a jackknife made by hand, and simulated studies."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import textcritic
from textcritic.inference import Number, documents_apart, exp_ratio_of_sums, nearness, ratio_of_sums, share_interval
from textcritic.inference.jackknife import GROUPS, document_groups, shared_groups
from textcritic.inference.statistics import Array
from textcritic.measures.measure import Measure, Resampling, Scored
from textcritic.measures.memory import REAL, rows_in_memory, scores_in_memory
from textcritic.measures.score import Score

PPL = Measure(name="PPL", value="ppl", statistic=exp_ratio_of_sums, p="", by_ratio=True)


def answers(rng: np.random.Generator, prompts: Array, higher: float) -> Array:
    """(NLL, steps) of an answer to each prompt; a hard prompt is hard for all models."""
    steps = rng.integers(5, 15, len(prompts)).astype(float)
    return np.column_stack([steps * (1.5 + higher + prompts + rng.normal(0, 0.2, len(prompts))), steps])


def study(seed: int, prompts: int, higher: float = 0.0, keys: bool = True) -> tuple[Score, Score, Score]:
    """Scores of real text and of two models that answer the same prompts, in another order."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 0.4, prompts)
    sets = [np.column_stack([np.full(60, 9.0), np.full(60, 10.0)]), answers(rng, hard, 0.0), answers(rng, hard, higher)]
    sets[0][:, 0] += rng.normal(0, 1, 60)
    order = rng.permutation(prompts)
    names = [None, [f"{n}" for n in range(prompts)], [f"{n}" for n in order]] if keys else [None] * 3
    sets[2] = sets[2][order]
    scored = {
        label: Scored({"ppl": columns}, len(columns), groups=groups)
        for label, columns, groups in zip((REAL, "a", "b"), sets, names, strict=True)
    }
    real, one, other = scores_in_memory(rows_in_memory(scored, [PPL], Resampling(200, seed)), [PPL])
    return real, one, other


def test_the_interval_is_students_over_prompts_left_out_of_both() -> None:
    rng = np.random.default_rng(5)
    hard = rng.normal(0, 0.4, 70)
    sets = [answers(rng, hard, higher) for higher in (0.0, 0.1)]
    names = [f"prompt {n}" for n in range(70)]
    scored = {REAL: Scored({"ppl": sets[0]}, 70)} | {
        label: Scored({"ppl": columns}, 70, groups=names) for label, columns in zip("ab", sets, strict=True)
    }
    _, one, other = scores_in_memory(rows_in_memory(scored, [PPL], Resampling(200, 1)), [PPL])
    found = nearness(one.number, other.number, Number(1.0), by_ratio=True)
    assert found is not None
    # By hand: names in order, dealt into twenty groups, of which each is left out of both sets.
    places = dict(zip(sorted(names), document_groups(70, GROUPS, 1), strict=True))
    left_out = np.array([places[name] for name in names])
    without = []
    for group in range(GROUPS):
        a, b = (columns[left_out != group].sum(axis=0) for columns in sets)
        without.append(a[0] / a[1] - b[0] / b[1])
    error = math.sqrt((GROUPS - 1) * np.var(without))
    difference = np.divide(*sets[0].sum(axis=0)) - np.divide(*sets[1].sum(axis=0))
    assert found.difference == pytest.approx(difference, rel=1e-12)
    half = stats.t.ppf(0.975, GROUPS - 1) * error
    assert (found.low, found.high) == pytest.approx((difference - half, difference + half), rel=1e-6)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(difference) / error, GROUPS - 1), rel=1e-6)


def test_shares_in_percent_have_errors_in_percent() -> None:
    """By pairs and as strangers, in percent and as shares of 1: a hundred times the same, but for p."""
    rng = np.random.default_rng(9)
    hits = [np.column_stack([rng.random(60) < share, np.ones(60)]).astype(float) for share in (0.5, 0.3, 0.4)]
    names = [f"{n}" for n in range(60)]
    found = []
    for whole in (100, 1):
        measure = Measure(name="Share", value="share", statistic=ratio_of_sums, p="", whole=whole)
        scored = {
            label: Scored({"share": columns}, 60, groups=None if label == REAL else names)
            for label, columns in zip((REAL, "a", "b"), hits, strict=True)
        }
        _, one, other = scores_in_memory(rows_in_memory(scored, [measure], Resampling(200, 1)), [measure])
        near = one.nearer_than(other)
        assert near is not None
        found.append((near.difference, near.low, near.high, near.p, near.narrower))
    percent, share = found
    assert percent[:3] == pytest.approx([100 * number for number in share[:3]], rel=1e-8)
    assert percent[3:] == pytest.approx(share[3:], rel=1e-8)


def test_where_prompts_are_hard_for_both_pairs_are_narrower() -> None:
    """The prompt's part of the variance cancels, but where answers are of unequal length: in closed form."""
    narrower = []
    for seed in range(40):
        _, one, other = study(seed, 200)
        found = nearness(one.number, other.number, Number(1.0), by_ratio=True)
        assert found is not None
        assert found.narrower is not None
        narrower.append(found.narrower)
    # A document counts steps * (prompt + noise) in units of the mean steps, of which the variance is 8.25 / 9.5**2.
    spread, prompt, noise = 8.25 / 9.5**2, 0.16, 0.04
    alone = 2 * (1 + spread) * (prompt + noise)
    by_pairs = 2 * (spread * prompt + (1 + spread) * noise)
    t = stats.t.ppf(0.975, GROUPS - 1) / stats.norm.ppf(0.975)
    assert float(np.median(narrower)) == pytest.approx(t * math.sqrt(by_pairs / alone), abs=0.03)


def test_models_that_do_not_differ_are_told_apart_as_often_as_they_should_be() -> None:
    hits = 0
    for seed in range(200):
        _, one, other = study(seed, 40)
        found = one.nearer_than(other)
        assert found is not None
        hits += found.p < 0.05
    low, high = share_interval(hits, 200)
    assert low <= 0.05 <= high


def test_samples_without_keys_are_compared_as_before() -> None:
    """Keys alone change nothing but the comparison of samples."""
    keyed, plain = study(3, 50), study(3, 50, keys=False)
    for one, other in zip(keyed, plain, strict=True):
        assert (one.value, one.low, one.high, one.p) == (other.value, other.low, other.high, other.p)
        assert other.number.without == ()
    found, before = keyed[1].nearer_than(keyed[2]), plain[1].nearer_than(plain[2])
    assert found is not None
    assert before is not None
    assert found.difference == pytest.approx(before.difference)
    assert before.narrower is None
    assert found.narrower == pytest.approx((found.high - found.low) / (before.high - before.low))


def test_documents_that_tell_two_apart_are_fewer_by_pairs() -> None:
    keyed, plain = study(11, 60, 0.15), study(11, 60, 0.15, keys=False)
    needed = []
    for _, one, other in (keyed, plain):
        number = documents_apart(one.number, other.number, Number(1.0), (60, 60, None), by_ratio=True)
        assert number is not None
        needed.append(number)
    assert needed[0] < 0.5 * needed[1]


def test_groups_that_one_set_alone_has_are_not_shared() -> None:
    shared = shared_groups([["a", "b", None], ["b", "c", "a"], ["d", "d"]])
    assert set(shared) == {"a", "b"}
    assert set(shared_groups([["x"] * 3, [None]])) == set()


def test_an_answer_that_is_the_same_is_as_near() -> None:
    one = Number(2.0, 1.5, 2.5, tuple(np.linspace(1.9, 2.1, GROUPS)))
    found = nearness(one, one, Number(1.0))
    assert found is not None
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


@pytest.mark.parametrize("options", [{}, {"held_out": 0.4}])
def test_chains_by_pairs_and_as_strangers(options: dict[str, float]) -> None:
    """From documents with `doc_id` and `prompt` to what is said; --unpaired compares as before."""
    rng = np.random.default_rng(2)
    titles = ["a", "b", "c", "d"]
    # Nothing differs, so that the exchanges end soon.
    base = [sorted(rng.choice(titles, 3, replace=False)) for _ in range(100)]
    real, base = [{"chain": chain[: int(rng.integers(1, 4))]} for chain in base[:60]], base[60:]
    drawn = {
        label: [{"chain": chain[: int(rng.integers(1, 4))], "pair": number} for number, chain in enumerate(base)]
        for label in "xy"
    }
    found = textcritic.criticise(real, drawn, **options)
    near = found.compare("x", "y")["latent_ppl"]
    assert near.narrower is not None
    assert near.narrower < 1
    assert "compared with each other by pairs" in str(found)
    bare = {label: [{"chain": one["chain"]} for one in some] for label, some in drawn.items()}
    plain = textcritic.criticise(real, bare, **options)
    columns = ["source", "measure", "value", "p"]  # other documents are left out together for the intervals
    pd.testing.assert_frame_equal(found.table[columns], plain.table[columns])
    assert plain.compare("x", "y")["latent_ppl"].narrower is None
    assert "by pairs" not in str(plain)
    if not options:
        strangers = textcritic.criticise(real, drawn, unpaired=True)
        assert strangers.compare("x", "y") == plain.compare("x", "y")
