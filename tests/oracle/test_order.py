"""The order of sentences against enumeration, double loops, refits, and a process whose order is known."""

import os
import subprocess
import sys
from dataclasses import fields, replace
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from textcritic.critics.order.arrangements import Arranged, arranged
from textcritic.critics.order.critic import (
    PERMUTATIONS,
    UNIT,
    OrderCritic,
    evidence_of_orders,
    shape_of,
    weakest_pairs,
)
from textcritic.critics.order.features import RELATIONS, Vocabulary
from textcritic.critics.order.own import own_evidence, own_order
from textcritic.critics.order.refit import OrderRefit, weights_of
from textcritic.critics.order.sentences import MOST, Sentences, sentences_of
from textcritic.inference.clusters import unit_of
from textcritic.inference.crossfit import OUT, PARTNER, SAMPLE, CrossOptions, cross_fit

STORY = (
    "Ann Smith was born in 1901 in a house.",
    "She left the house in 1920 for an island.",
    "The island (a rock) had a church and 40 people.",
    "“Smith is gone”, they said, and Ann Smith never wrote.",
    "It rained.",
    "In 1950 Bob Lee found a letter by Smith.",
    "The letter was long, and he read it twice.",
)


def story(*order: int) -> list[str]:
    return [" ".join(STORY[n] for n in order)]


def reordered(sentences: Sentences, orders: np.ndarray) -> Sentences:
    """A document for each order of the sentences of one: [orders, sentences]."""
    rows, (number, size) = orders.ravel(), orders.shape
    changed = {
        one.name: getattr(sentences, one.name)[rows]
        for one in fields(sentences)
        if one.name in ("words", "numbers", "year", "first", "pronoun", "of_person", "of_thing")
    }
    passages = len(sentences.length)
    return replace(
        sentences,
        document=np.repeat(np.arange(number), passages),
        length=np.tile(sentences.length, number),
        number=np.tile(np.arange(size), number),
        marks={name: mark[rows] for name, mark in sentences.marks.items()},
        total=np.full(number, size),
        **changed,
    )


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_mean_and_covariance_are_those_of_all_orders(n: int) -> None:
    one = sentences_of([story(*range(n))])
    vocabulary = Vocabulary.of(sentences_of([story(*range(7)), story(2, 1, 0)]))
    every = arranged(reordered(one, np.array(list(permutations(range(n))))), vocabulary)
    chance = arranged(one, vocabulary)
    np.testing.assert_allclose(every.found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(every.found.T @ every.found / len(every.found), chance.covariance, atol=1e-12)
    assert (np.diag(chance.covariance) > 1e-3).sum() > 20  # not of nothing
    np.testing.assert_array_equal(every.found[0], chance.found[0])


def test_first_and_last_are_of_the_document_and_orders_stay_in_passages() -> None:
    sections = [*story(0, 1, 2), *story(3, 5, 6), *story(4)]  # a section of one sentence has no order
    one = sentences_of([sections])
    assert one.length.tolist() == [3, 3]
    assert one.number.tolist() == [0, 1, 2, 3, 4, 5]
    assert one.total.tolist() == [7]
    vocabulary = Vocabulary.of(one)
    halves = list(permutations(range(3)))
    orders = np.array([[*first, *(3 + np.array(last))] for first, last in product(halves, halves)])
    every, chance = arranged(reordered(one, orders), vocabulary), arranged(one, vocabulary)
    np.testing.assert_allclose(every.found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(every.found.T @ every.found / 36, chance.covariance, atol=1e-12)
    size = vocabulary.size
    apart = vocabulary.unary(one)
    np.testing.assert_allclose(chance.found[0, :size], apart[0] - apart[:3].mean(axis=0), atol=1e-15)
    np.testing.assert_allclose(chance.found[0, size : 2 * size], apart[5] - apart[3:].mean(axis=0), atol=1e-15)


def test_relations_of_a_story() -> None:
    one = arranged(of := sentences_of([story(*range(7))]), Vocabulary.of(of))
    said = dict(zip(zip(*(of.tolist() for of in one.pairs), strict=True), one.related, strict=True))

    def holds(relation: str, first: int, second: int) -> bool:
        return bool(said[first, second][RELATIONS.index(relation)])

    assert holds("a later year", 0, 1)
    assert not holds("a later year", 1, 0)
    assert not holds("a later year", 2, 1)
    assert holds("an earlier year", 5, 1)
    same = arranged(of := sentences_of([["It began in 1950. It ended in 1950."]]), Vocabulary.of(of)).related
    assert not same[:, [RELATIONS.index(name) for name in ("a later year", "an earlier year")]].any()
    assert holds("a name, then a pronoun first", 0, 1)
    assert not holds("a name, then a pronoun first", 1, 0)
    assert holds("a full name, then he or she", 0, 1)
    assert not holds("a full name, then he or she", 2, 1)
    assert holds("a word behind a, then behind the", 0, 1)  # a house, the house
    assert holds("a word behind the, then behind a", 1, 0)
    assert holds("a full name, then a part of it", 0, 5)
    assert holds("a part of a name, then all of it", 5, 0)
    assert holds("shared names", 0, 3)
    assert not holds("shared names", 0, 2)


def test_orders_of_a_document_are_the_documents_in_these_orders() -> None:
    one = sentences_of([story(*range(5)), story(6, 5, 4, 3, 2)])
    vocabulary = Vocabulary.of(one)
    weights = np.random.default_rng(2).normal(size=len(arranged(one, vocabulary).found[0]))
    found = evidence_of_orders(one, arranged(one, vocabulary), weights, seed=3)
    orders = np.tile(np.arange(5), (PERMUTATIONS, 2, 1))
    orders = np.random.default_rng(3).permuted(orders, axis=-1)
    for document in range(2):
        alone = one.take(np.array([document]))
        rows = np.concatenate([np.arange(5)[None], orders[:, document]])
        expected = arranged(reordered(alone, rows), vocabulary).found @ weights
        np.testing.assert_allclose(found[:, document] - found[0, document], expected - expected[0], atol=1e-12)


def test_the_weakest_pair_is_that_of_a_loop() -> None:
    one = sentences_of([story(*range(7)), ["Nothing."], [*story(4), *story(3, 5, 1)]])
    found = arranged(one, Vocabulary.of(one))
    for weights in np.random.default_rng(4).normal(size=(8, found.found.shape[1])):
        _weakest_are_those_of_a_loop(one, found, weights)


def _weakest_are_those_of_a_loop(one: Sentences, found: Arranged, weights: np.ndarray) -> None:
    numbers, by = weakest_pairs(one, found, weights)
    of_next = weights[-2 * len(RELATIONS) : -len(RELATIONS)]
    value = {(a, b): r @ of_next for a, b, r in zip(*(of.tolist() for of in found.pairs), found.related, strict=True)}
    for document, rows in ((0, range(7)), (2, range(7, 10))):
        mean = np.mean([value[a, b] for a in rows for b in rows if a != b])
        lowest = min(rows[:-1], key=lambda n: value[n, n + 1])
        assert numbers[document] == one.number[lowest]
        assert by[document] == pytest.approx(value[lowest, lowest + 1] - mean, abs=1e-12)
    assert numbers[1] == -1
    assert np.isnan(by[1])
    assert numbers[2] > 0  # the sentence of its own section counts


GROUPS = ["a", None, "b", "a", None, "b", None, "c", None, None, *[None] * 15]


def made(documents: int = 25, features: int = 4, seed: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(features, features))
    counted = rng.integers(2, 9, documents)
    return rng.normal(size=(documents, features)) + 0.3, counted, root @ root.T + np.eye(features)


def test_own_order_is_that_of_loops_and_its_interval_of_refits() -> None:
    found, counted, shape = made()
    units, inverse = unit_of(GROUPS, 25), np.linalg.inv(shape)
    own = own_evidence(found, counted, shape, GROUPS)

    def looped(kept: list[int]) -> float:
        pairs = [(i, j) for i in kept for j in kept if units[i] != units[j]]
        top = sum(found[i] @ inverse @ found[j] for i, j in pairs)
        return float(UNIT * top / sum(counted[i] * counted[j] for i, j in pairs))

    every = list(range(25))
    value, low, high = own_order(own, counted, GROUPS)
    assert value == pytest.approx(looped(every), rel=1e-12)
    others = [sum(int(counted[j]) for j in every if units[j] != units[i]) for i in every]
    alone = [UNIT * found[i] @ inverse @ sum(found[j] for j in every if units[j] != units[i]) for i in every]
    np.testing.assert_allclose(own, np.array(alone) / others, rtol=1e-12)
    number = units.max() + 1
    without = np.array([looped([i for i in every if units[i] != unit]) for unit in range(number)])
    spread = (number - 1) / number * ((without - without.mean()) ** 2).sum()
    assert low is not None
    assert high is not None
    from scipy.stats import t

    np.testing.assert_allclose([low, high], value + np.array([-1, 1]) * t.ppf(0.975, number - 1) * np.sqrt(spread))


@pytest.mark.parametrize("documents", [25, 3])  # more and fewer than features
def test_sums_are_those_of_critics_fitted_one_by_one(documents: int) -> None:
    found, counted, shape = made(documents)
    parts = np.array([0, 1, SAMPLE, 1, PARTNER, PARTNER - 1, OUT, 2, SAMPLE, 2] * 3)[:documents]
    refit = OrderRefit(found, counted, shape)
    real, sample = refit.sums(parts)
    critics = {}
    for part in np.unique(parts[parts >= 0]).tolist():
        others = (parts >= 0) & (parts != part)
        critics[part] = np.linalg.inv(shape) @ found[others].sum(axis=0) / counted[others].sum()
    expected = [sum(found[i] @ critics[p] for i, p in enumerate(parts) if p >= 0)]
    mean = sum(critics.values()) / len(critics)
    of = [mean if p == SAMPLE else critics[PARTNER - p] if p <= PARTNER else 0 * mean for p in parts]
    is_sample = (parts == SAMPLE) | (parts <= PARTNER)
    expected.append(sum(found[i] @ of[i] for i in np.flatnonzero(is_sample)))
    np.testing.assert_allclose([real[0], sample[0]], UNIT * np.array(expected), rtol=1e-10)
    assert (real[1], sample[1]) == (counted[parts >= 0].sum(), counted[is_sample].sum())
    weights = weights_of(found, counted, shape, parts)
    for part, critic in critics.items():
        np.testing.assert_allclose(weights[part], UNIT * critic, rtol=1e-10)


def test_the_exchange_test_keeps_its_level() -> None:
    rng, level = np.random.default_rng(6), 0
    for run in range(60):
        found = rng.normal(size=(40, 3)) + 0.4
        refit = OrderRefit(found, rng.integers(2, 9, 40), np.eye(3))
        fit = cross_fit(refit, (None, None), (28, 12), CrossOptions(parts=4, exchanges=19, seed=run))
        level += fit.p is not None and fit.p <= 0.05
    assert level <= 9  # of 60 at 5%: P(more) = 0.001


TYPES = ("Red stones roll.", "Green leaves fall.", "Blue birds sing.")
MOVES = np.array([[0.1, 0.8, 0.1], [0.2, 0.1, 0.7], [0.5, 0.3, 0.2]])
START = np.array([0.6, 0.3, 0.1])


def chance_of(chain: tuple[int, ...]) -> float:
    return float(START[chain[0]] * np.prod([MOVES[a, b] for a, b in pairwise(chain)]))


def test_the_critic_of_a_known_process_goes_to_the_exact_one() -> None:
    chains = list(product(range(3), repeat=4))
    chances = np.array([chance_of(chain) for chain in chains])
    every = sentences_of([[" ".join(TYPES[n] for n in chain)] for chain in chains])
    vocabulary = Vocabulary.of(every)
    each = [arranged(every.take(np.array([n])), vocabulary) for n in range(len(chains))]
    mean = sum(p * one.found[0] for p, one in zip(chances, each, strict=True)) / 4
    covariance = sum(p * one.covariance for p, one in zip(chances, each, strict=True)) / 4
    exact = OrderCritic(vocabulary, shape_of(replace(each[0], covariance=covariance * 4)), mean)
    rng, apart = np.random.default_rng(7), []
    for documents in (30, 300, 3000):
        drawn = arranged(every.take(np.arange(len(chains))), vocabulary)
        number = rng.multinomial(documents, chances)
        found = number @ drawn.found / documents / 4
        of = sum(k * one.covariance for k, one in zip(number, each, strict=True)) / documents
        fitted = OrderCritic(vocabulary, shape_of(replace(each[0], covariance=of)), found)
        apart.append(np.linalg.norm(fitted.weights - exact.weights) / np.linalg.norm(exact.weights))
    assert apart[2] < apart[1] < apart[0]
    assert apart[2] < 0.1
    # What it says of the orders of a document goes with what the process says, as far as features see the types.
    evidence = np.array([one.found[0] @ exact.weights for one in each])
    mixed = [n for n, chain in enumerate(chains) if sorted(chain) == [0, 0, 1, 2]]
    assert np.corrcoef(evidence[mixed], np.log(chances[mixed]))[0, 1] > 0.5


def test_neither_labels_nor_orders_decide_what_is_counted() -> None:
    documents = [story(*order) for order in ((0, 1, 2, 3), (4, 5, 6), (6, 5, 0, 1, 2))]
    one, turned = sentences_of(documents), sentences_of(documents[::-1])
    assert Vocabulary.of(one).rarity == pytest.approx(Vocabulary.of(turned).rarity)
    assert set(Vocabulary.of(one).keys) == set(Vocabulary.of(turned).keys)
    vocabulary = Vocabulary.of(one)
    shapes = [shape_of(arranged(of, vocabulary)) for of in (one, turned)]
    np.testing.assert_allclose(shapes[0], shapes[1], atol=1e-12)
    shuffled = sentences_of([story(*order) for order in ((3, 1, 0, 2), (6, 4, 5), (1, 0, 6, 2, 5))])
    np.testing.assert_allclose(shape_of(arranged(shuffled, vocabulary)), shapes[0], atol=1e-12)


def test_a_fit_is_the_same_to_the_last_digit_in_every_process() -> None:
    """In two processes with other hash seeds, in which sets of words have other orders."""
    code = (
        "from textcritic.critics.order.critic import OrderCritic;"
        "from textcritic.critics.order.sentences import sentences_of;"
        f"critic = OrderCritic.fit(sentences_of({[story(*range(7)), story(*range(6, -1, -1))]!r}));"
        "print(critic.vocabulary, critic.weights.tobytes().hex())"
    )
    fits = set()
    for seed in ("7", "8"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        fits.add(done.stdout)
    assert len(fits) == 1
    assert "house" in fits.pop()


def test_a_long_document_is_passages_of_ten() -> None:
    one = sentences_of([[" ".join(f"It was day {n}." for n in range(23))]])
    assert one.length.tolist() == [8, 8, 7]
    assert one.length.max() <= MOST
    assert one.number.tolist() == list(range(23))
