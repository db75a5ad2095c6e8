"""Cross-fitting against critics that are fitted one by one, and the test that exchanges labels against enumeration."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from mention_oracle import synthetic

import textcritic
from textcritic.api.crossed_recitation import TOO_RARE, crossed_recitation
from textcritic.critics import TransitionCritic, document_columns, score_chains
from textcritic.critics.chains import Chains
from textcritic.critics.mentions import MentionChains, MentionCritic, score_mentions
from textcritic.critics.mentions.refit import MentionRefit
from textcritic.critics.recitation import MAIN_LENGTH, index_articles, score_texts
from textcritic.critics.recitation.refit import RecitationRefit
from textcritic.critics.recitation.scoring import counts_of
from textcritic.critics.refits import TransitionRefit
from textcritic.errors import TextcriticError
from textcritic.inference.crossfit import (
    OUT,
    PARTNER,
    SAMPLE,
    THINNINGS,
    CrossOptions,
    cross_fit,
    deal,
    sample_weights,
)
from textcritic.measures.crossed import read_crossed, with_crossed, write_crossed
from textcritic.measures.measure import Estimate, Scored
from textcritic.plan.entries import Recitation

REAL, DRAWN = 40, 30
PARTS = np.array([*[n % 5 for n in range(REAL)], *[SAMPLE] * DRAWN])
PARTS[:3] = PARTS[REAL : REAL + 2] = OUT
PARTS[REAL + 2 : REAL + 9] = PARTNER - np.arange(7) % 5  # of pairs: one critic alone may judge them


def by_hand(documents, one_fit):
    """Sums over real documents, each under the critic of the other parts, and the mean over critics of the sample's."""
    real, sample = np.zeros(2), np.zeros(2)
    for part in range(5):
        train = [d for d, of in zip(documents, PARTS, strict=True) if of >= 0 and of != part]
        for total, wanted, weight in ((real, part, 1), (sample, SAMPLE, 1 / 5), (sample, PARTNER - part, 1)):
            total += weight * one_fit(train, [d for d, of in zip(documents, PARTS, strict=True) if of == wanted])
    return real, sample


def ids(documents):
    return [str(number) for number in range(len(documents))]


def titles(seed, documents):
    rng = np.random.default_rng(seed)
    return [[f"t{title}" for title in rng.zipf(1.6, rng.integers(1, 6)).clip(max=30)] for _ in range(documents)]


@pytest.mark.parametrize("minimum", [1, 3])
def test_transitions_are_those_of_critics_fitted_one_by_one(minimum):
    chains = titles(3, REAL + DRAWN)
    lost = 0

    def one_fit(train, judged):
        nonlocal lost
        every = [title for chain in train for title in chain]
        known = {title for title in every if every.count(title) >= minimum}
        critic = TransitionCritic.fit([c for c in train if known >= set(c)], titles=sorted(known), grid=[0.3])
        kept = [chain for chain in judged if known >= set(chain)]
        lost += len(judged) - len(kept)
        return document_columns(score_chains(critic, ids(kept), kept)).sum(axis=0) if kept else np.zeros(2)

    refit = TransitionRefit(Chains.of(chains), [0.3], minimum)
    for found, expected in zip(refit.sums(PARTS), by_hand(chains, one_fit), strict=True):
        assert found == pytest.approx(expected, rel=1e-12)
    judged = refit.judged(PARTS)
    single = (PARTS >= 0) | (PARTS <= PARTNER)
    assert lost == round((1 - judged[single]).sum() + 5 * (1 - judged[PARTS == SAMPLE]).sum()) > 0
    outside = next(n for n in range(REAL) if PARTS[n] >= 0 and not judged[n])
    assert refit.why(outside, PARTS).removeprefix("unknown title: ") in chains[outside]


def test_the_smoothing_is_chosen_over_the_parts_that_a_critic_is_fitted_on():
    chains = titles(5, REAL + DRAWN)
    grid, total = (0.01, 0.3, 3.0), 0.0
    refits = {delta: TransitionRefit(Chains.of(chains), [delta]) for delta in grid}
    for part in range(5):
        others = np.where(part == PARTS, OUT, PARTS)
        known = {title for chain, of in zip(chains, others, strict=True) if of >= 0 for title in chain}
        held_out = {}
        for delta in grid:
            nll = 0.0
            for number in set(range(5)) - {part}:
                train = [c for c, of in zip(chains, others, strict=True) if of >= 0 and of != number]
                critic = TransitionCritic.fit(train, titles=sorted(known), grid=[delta])
                judged = [c for c, of in zip(chains, others, strict=True) if of == number]
                nll += document_columns(score_chains(critic, ids(judged), judged))[:, 0].sum()
            held_out[delta] = nll
        best = min(grid, key=lambda delta: held_out[delta])
        alone = np.where((PARTS >= 0) & (part != PARTS), OUT, PARTS)  # this part alone is judged
        everything = refits[best].sums(PARTS)[0][0] - _without(refits[best], part)
        assert alone.max() == part
        total += everything
    assert TransitionRefit(Chains.of(chains), grid).sums(PARTS)[0][0] == pytest.approx(total, rel=1e-10)


def _without(refit, part):
    """NLL of all parts but one under their critics: a document of that part stays in the fits, and is not judged."""
    total = 0.0
    for number in set(range(5)) - {part}:
        judged, log_probs = refit._fitted(PARTS, number)
        counts = refit._steps @ (judged & (number == PARTS)).astype(float)
        total -= counts[counts > 0] @ log_probs[counts > 0]
    return total


@pytest.mark.parametrize("discount", ["kneser-ney", "as_released", "modified"])
@pytest.mark.parametrize("order", [1, 4])
def test_mentions_are_those_of_critics_fitted_one_by_one(order, discount):
    chains = [chain for chain in synthetic(4, 90) if chain][: REAL + DRAWN]

    def one_fit(train, judged):
        critic = MentionCritic.fit(MentionChains.of(train), order, discount)
        return document_columns(score_mentions(critic, ids(judged), MentionChains.of(judged))).sum(axis=0)

    both = [MentionChains.of(some) for some in (chains[:REAL], chains[REAL:])]
    refit = MentionRefit(MentionChains.joined(both), order, discount)
    for found, expected in zip(refit.sums(PARTS), by_hand(chains, one_fit), strict=True):
        assert found == pytest.approx(expected, rel=1e-12)


def texts(seed, documents, shared=0.2):
    """Words at random, with passages that several documents have."""
    rng = np.random.default_rng(seed)
    passages = [" ".join(f"w{word}" for word in rng.integers(0, 99, 18)) for _ in range(20)]
    return [
        " ".join(
            passages[rng.integers(20)] if rng.random() < shared else " ".join(f"w{w}" for w in rng.integers(0, 99, 18))
            for _ in range(rng.integers(0, 6))
        )
        for _ in range(documents)
    ]


def test_recitation_is_that_of_indices_made_one_by_one():
    documents, entry = texts(1, REAL + DRAWN), Recitation(kind="recitation")

    def one_fit(train, judged):
        index = index_articles([(pa.array(ids(train)), pa.array(train))], entry)
        return counts_of(score_texts(index, pa.array(ids(judged)), pa.array(judged)), MAIN_LENGTH).sum(axis=0)

    refit = RecitationRefit(pa.array(documents), entry)
    found = refit.sums(PARTS)
    for sums, expected in zip(found, by_hand(documents, one_fit), strict=True):
        assert sums == pytest.approx(expected, rel=1e-12)
    assert found[0][0] > 0
    each = refit.found(PARTS)
    assert [each[PARTS >= 0].sum(), each[PARTS < 0].sum()] == pytest.approx([found[0][0], found[1][0]])


def test_a_share_that_rests_on_few_documents_has_no_interval():
    rng = np.random.default_rng(2)
    sets = {"real": pa.array(texts(1, 80, 0.0)), "m": pa.array(texts(2, 60, 0.0))}
    copy = [*sets["m"].to_pylist()[:-2], *(sets["real"][n].as_py() for n in (2, 3))]
    groups = dict.fromkeys(sets)
    entry, how = Recitation(kind="recitation"), CrossOptions(parts=5, exchanges=49)
    found = crossed_recitation(sets | {"m": pa.array(copy)}, groups, entry, how)
    assert found["m"].estimates["recited"].reason == TOO_RARE
    assert found["m"].estimates["recited"].value > 0
    many = [sets["real"][int(n)].as_py() for n in rng.integers(0, 80, 60)]
    one = crossed_recitation(sets | {"m": pa.array(many)}, groups, entry, how)["m"]
    estimate = one.estimates["recited"]
    assert estimate.p == 1 / 50
    assert estimate.low < estimate.value < estimate.high <= 1
    assert one.documents + sum(one.reasons.values()) == 60


class Means:
    """A toy: real documents are compared with the mean of the other parts, a sample with the mean over all parts."""

    def __init__(self, values):
        self.values, self.seen = np.asarray(values, float), []

    def sums(self, parts):
        self.seen.append(parts.copy())
        real, sample = np.zeros(2), np.zeros(2)
        numbers = np.unique(parts[parts >= 0])
        for part in numbers:
            centre = self.values[(parts >= 0) & (parts != part)].mean()
            inside = self.values[parts == part]
            real += np.abs(inside - centre).sum(), len(inside)
            weights = sample_weights(parts, part, len(numbers))
            sample += weights @ np.abs(self.values - centre), weights.sum()
        return real, sample


def test_the_p_value_is_the_share_of_exchanges():
    """With as many parts as real documents the dealing does not matter: all choices of the labels can be tried."""
    values = [0.1, 0.5, 0.4, 0.2, 3.0, 2.9, 3.3]
    refit = Means(values)

    def difference(real):
        parts = np.full(7, SAMPLE)
        parts[list(real)] = range(4)
        one, two = (sums[0] / sums[1] for sums in refit.sums(parts))
        return abs(one - two)

    every = [difference(real) for real in combinations(range(7), 4)]
    share = np.mean([one >= difference(range(4)) - 1e-12 for one in every])
    found = cross_fit(refit, (None, None), (4, 3), CrossOptions(parts=4, exchanges=9999, reached=10**9))
    assert found.p == pytest.approx(share, abs=3 * math.sqrt(share * (1 - share) / 9999))
    assert found.exchanges == 9999
    ended = cross_fit(refit, (None, None), (4, 3), CrossOptions(parts=4, reached=20))
    assert ended.p == 20 / ended.exchanges
    assert ended.exchanges < 999


def test_labels_that_are_drawn_at_random_are_rejected_as_often_as_they_should_be():
    p_values = []
    for study in range(300):
        values = np.random.default_rng(study).exponential(size=45)
        p_values.append(
            cross_fit(Means(values), (None, None), (15, 30), CrossOptions(parts=5, exchanges=99, seed=study)).p
        )
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.085  # 99.7% of binomial counts at a level of 5%
    assert 0.40 <= np.mean(np.array(p_values) < 0.5) <= 0.60


def test_groups_stay_together_in_parts_and_in_exchanges():
    groups = [[f"{side}{n // 3}" for n in range(30)] for side in "ab"]
    refit = Means(np.arange(60.0))
    cross_fit(refit, (groups[0], groups[1]), (30, 30), CrossOptions(parts=5, exchanges=30, reached=10**9))
    for parts in refit.seen:
        assert all(len(set(parts[n : n + 3])) == 1 for n in range(0, 60, 3))
    assert {int((parts >= 0).sum()) for parts in refit.seen[-30:]} == {30}


def test_pairs_are_swapped_and_never_judged_by_a_critic_of_their_partner():
    names = [f"prompt {n}" for n in range(30)]
    several = [*names, *names[:10]]  # ten prompts have two answers
    refit = Means(np.random.default_rng(4).normal(size=70))
    options = CrossOptions(parts=5, exchanges=40, reached=10**9)
    found = cross_fit(refit, (names, several), (30, 40), options)
    assert found.pairs == 30
    keys = np.array([*names, *several])
    swapped = 0
    for parts in refit.seen:
        for name in names:
            of = parts[keys == name]
            if OUT in of:  # one of the groups that the jackknife leaves out
                assert set(of) == {OUT}
                continue
            real, sample = of[of >= 0], of[of < 0]
            assert len(set(real)) == 1
            assert set(sample) == {PARTNER - real[0]}
            swapped += parts[names.index(name)] < 0
    assert 0.35 < swapped / (40 * 30) < 0.65
    strangers = cross_fit(refit, (names, several), (30, 40), replace(options, paired=False))
    assert strangers.pairs == 0


def test_pairs_that_do_not_differ_are_rejected_as_often_as_they_should_be():
    """What a prompt makes of both its texts is large beside what differs between them."""
    names = [str(n) for n in range(25)]
    p_values, narrower = [], []
    for study in range(300):
        rng = np.random.default_rng(study)
        prompt = rng.normal(size=25)
        values = np.concatenate([prompt, prompt]) + 0.2 * rng.normal(size=50)
        found = cross_fit(Means(values), (names, names), (25, 25), CrossOptions(parts=5, exchanges=99, seed=study))
        p_values.append(found.p)
        narrower.append(found.narrower)
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.085
    assert np.median(narrower) < 0.6


def test_where_one_side_has_groups_one_document_of_each_is_drawn():
    groups = [f"g{n // 3}" for n in range(60)]
    refit = Means(np.random.default_rng(1).normal(size=90))
    found = cross_fit(refit, (groups, None), (60, 30), CrossOptions(parts=5, exchanges=19, reached=10**9))
    assert found.exchanges == THINNINGS * 19
    drawn = [parts for parts in refit.seen if (parts == OUT).sum() == 40]
    assert len(drawn) == THINNINGS * 20
    assert all((parts[n : n + 3] != OUT).sum() == 1 for parts in drawn for n in range(0, 60, 3))
    assert 0 < found.p <= 1


def test_drawings_that_cannot_change_the_median_are_not_made():
    groups = [f"g{n // 3}" for n in range(60)]
    apart = np.concatenate([np.random.default_rng(1).normal(size=60), np.random.default_rng(2).normal(9, size=30)])
    found = cross_fit(Means(apart), (groups, None), (60, 30), CrossOptions(parts=5, exchanges=19))
    assert found.p == 2 * 1 / 20
    assert found.exchanges == (THINNINGS // 2 + 1) * 19


def test_the_interval_is_students_over_twenty_groups_left_out():
    values = np.random.default_rng(3).exponential(size=70)
    refit = Means(values)
    found = cross_fit(refit, (None, None), (40, 30), CrossOptions(parts=5, exchanges=1))
    without = [parts for parts in refit.seen if 0 < (parts == OUT).sum() < 10]
    assert len(without) == 20
    assert np.concatenate([np.flatnonzero(parts == OUT) for parts in without]).tolist() != list(range(70))
    assert sorted(n for parts in without for n in np.flatnonzero(parts == OUT)) == list(range(70))
    each = np.array([[sums[0] / sums[1] for sums in Means(values).sums(parts)] for parts in without])
    error = np.sqrt(19 / 20 * ((each - each.mean(axis=0)) ** 2).sum(axis=0))
    for side, se in zip((found.real, found.sample), error, strict=True):
        assert side.high - side.value == pytest.approx(2.093024 * se, rel=1e-6)  # Student's t, 19 degrees
        assert side.value - side.low == pytest.approx(2.093024 * se, rel=1e-6)
    rare = cross_fit(refit, (None, None), (40, 30), CrossOptions(parts=5, exchanges=1, rare=True)).real
    for end in (rare.low, rare.high):
        width = found.real.high - found.real.value
        assert (found.real.value - end) ** 2 == pytest.approx(width**2 * end / found.real.value, rel=1e-9)
    few = cross_fit(refit, (None, None), (15, 55), CrossOptions(parts=5, exchanges=1))
    assert few.real.low is None
    assert few.real.reason == "no interval of fewer than 20"
    assert few.sample.low < few.sample.value


def test_parts_are_of_about_one_size_and_another_order_deals_anew():
    units = np.arange(23)
    real = np.ones(23, bool)
    dealt = deal(units, real, np.random.default_rng(1).permutation(23), 5)
    assert set(np.bincount(dealt)) <= {4, 5}
    assert not np.array_equal(dealt, deal(units, real, np.random.default_rng(2).permutation(23), 5))
    assert sorted(deal(units[:3], real[:3], np.arange(3), 5)) == [0, 1, 2]  # fewer units than parts


def test_what_was_found_survives_the_way_to_a_file(tmp_path):
    estimate = Estimate(math.inf, None, 2.5, 0.05, reason="why")
    scored = Scored({}, 3, {"empty": 2}, {"steps": 7}, ["a", "a", None], {"latent_ppl": estimate})
    write_crossed(tmp_path / "found.json", {"a/b.parquet": scored})
    read = read_crossed(tmp_path / "found.json")["a/b.parquet"]
    assert read == replace(scored, groups=None, more={"steps": 7, "groups": 2})
    there = with_crossed(Scored({"x": 1}, 9, {"other": 1}, {"words": 5, "steps": 1}), read)
    assert (there.data, there.documents, there.more) == ({"x": 1}, 3, {"words": 5, "steps": 7, "groups": 2})
    assert with_crossed(scored, None) is scored
    assert read_crossed(None) == {}


@pytest.mark.parametrize(
    ("count", "options", "line"),
    [
        (4, {"parts": 6}, "parts: 6, and reference has 4 documents; give at most 4"),
        (4, {"parts": 1}, "parts: 1 is not a whole number from 2 upwards"),
        (
            4,
            {"parts": 2, "held_out": 0.5},
            "parts: real documents are divided into parts without `held_out` and `test`",
        ),
        (1, {}, "reference: 1 document; one part is for fitting and the other for comparison"),
    ],
)
def test_bad_input_is_one_line(count, options, line):
    with pytest.raises(TextcriticError) as error:
        textcritic.criticise([["a", "b"]] * count, {"m": [["a"]] * 3}, resamples=20, **options)
    assert str(error.value).startswith(line)


def test_real_documents_of_one_group_cannot_be_dealt():
    real = [{"mentions": [".", "he:1"], "group": "one"}] * 4
    with pytest.raises(TextcriticError, match="all 4 are of one group; give more groups, or other real documents"):
        textcritic.coreference(real, real[:2])
