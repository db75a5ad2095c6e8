"""The critic of mentions against plain dictionaries, brute-force relabelling and nltk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mention_oracle import AsReleased, KneserNey, synthetic, windows
from nltk.lm import KneserNeyInterpolated

from textcritic.critics.mentions import BOS, MentionChains, MentionCritic, count_windows
from textcritic.critics.mentions.model import FALLBACK
from textcritic.plan.checks.critics import DISCOUNTS

token = st.one_of(
    st.just("."), st.tuples(st.sampled_from(["he", "a:b", "MALE"]), st.integers(-2, 2)).map("{0[0]}:{0[1]}".format)
)
documents = st.lists(st.lists(token, max_size=9), min_size=1, max_size=6).filter(any)


@settings(max_examples=60, deadline=None)
@given(real=documents, text=documents, order=st.integers(1, 6))
def test_as_released_equals_the_formula(real, text, order):
    critic = MentionCritic.fit(MentionChains.of(real), order, "as_released")
    expected = AsReleased(real, order).log_prob(text)
    np.testing.assert_allclose(critic.log_prob(MentionChains.of(text)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 5, 9])
def test_as_released_equals_the_formula_on_chains_like_real_ones(order):
    real, text = synthetic(1, 400), synthetic(2, 60, symbols=("he", "it", "FEMALE", "She"))
    critic = MentionCritic.fit(MentionChains.of(real), order, "as_released", chunk=997)
    expected = AsReleased(real, order).log_prob(text)
    np.testing.assert_allclose(critic.log_prob(MentionChains.of(text), chunk=101), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 5, 9])
def test_windows_equal_those_relabelled_one_at_a_time(order):
    text = [*synthetic(3, 50), [], ["."], []]
    counted = count_windows(MentionChains.of(text), order, chunk=64)
    found = dict(zip(map(tuple, counted.tokens()), counted.counts.tolist(), strict=True))
    expected = {}
    for chain in text:
        for window in windows(chain, order):
            expected[window] = expected.get(window, 0) + 1
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(real=documents, text=documents, order=st.integers(1, 5), modified=st.booleans())
def test_kneser_ney_equals_its_definition(real, text, order, modified):
    critic = MentionCritic.fit(MentionChains.of(real), order, "modified" if modified else "kneser-ney")
    expected = KneserNey(real, order, modified).log_prob(text)
    np.testing.assert_allclose(critic.log_prob(MentionChains.of(text)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("modified", [False, True])
def test_kneser_ney_equals_its_definition_on_chains_like_real_ones(modified):
    real, text = synthetic(1, 1500), synthetic(2, 60, symbols=("he", "it", "FEMALE", "She"))
    critic = MentionCritic.fit(MentionChains.of(real), 5, "modified" if modified else "kneser-ney")
    plain = KneserNey(real, 5, modified)
    np.testing.assert_allclose(critic.discounts, plain.discounts, rtol=1e-12)
    # The counts of counts of the higher orders are what the estimate needs; unigrams are too few for it.
    assert (critic.discounts[2:] != FALLBACK).all()
    np.testing.assert_allclose(critic.log_prob(MentionChains.of(text)), plain.log_prob(text), rtol=1e-12, atol=1e-12)


def kneser_ney(real, order, discount):
    """nltk's model, given the n-grams of every order as they are defined here: ends of relabelled windows."""
    every = [window for chain in real for window in windows(chain, order)]
    model = KneserNeyInterpolated(order, discount=discount)
    model.fit(
        [[window[-k:] for window in every for k in range(1, order + 1)]],
        vocabulary_text=[token for window in every for token in window],
    )
    return model


@pytest.mark.parametrize("order", [2, 3, 5])
def test_kneser_ney_equals_that_of_nltk_where_its_unigrams_are_not_discounted(order):
    real, text = synthetic(4, 60), synthetic(5, 12)
    model = kneser_ney(real, order, 0.3)
    given_discounts = np.full((order, 3), 0.3)
    given_discounts[0] = 0.0
    critic = MentionCritic(count_windows(MentionChains.of(real), order), "kneser-ney", given_discounts)
    found = critic.log_prob(MentionChains.of(text))
    every = [window for chain in text for window in windows(chain, order)]
    expected = [model.score(window[-1], window[:-1]) for window in every]
    seen = np.array(expected) > 0
    assert seen.sum() > 100
    np.testing.assert_allclose(np.exp(found[seen]), np.array(expected)[seen], rtol=1e-12)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("order", [1, 2, 5, 9])
def test_probabilities_sum_to_one_after_every_context(discount, order):
    counted = count_windows(MentionChains.of(synthetic(6, 40)), order)
    critic = MentionCritic(counted, discount)
    alphabet = counted.alphabet
    vocabulary = np.unique(counted.items[:, -1])
    contexts = np.unique(counted.items[:, :-1], axis=0)
    contexts = np.concatenate([contexts, contexts[:50, ::-1], np.full((1, order - 1), alphabet.size - 1, np.int32)])
    unseen = [] if discount == "as_released" else [alphabet.size - 1]  # any token of the unknown symbol
    targets = np.concatenate([vocabulary, unseen]).astype(np.int32)
    grid = np.column_stack([np.repeat(contexts, len(targets), axis=0), np.tile(targets, len(contexts))])
    total = np.exp(critic.window_log_prob(grid)).reshape(len(contexts), -1).sum(axis=1)
    np.testing.assert_allclose(total, 1, rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(text=documents, scale=st.sampled_from([1, -1, 10**12]), discount=st.sampled_from(DISCOUNTS))
def test_names_of_entities_and_size_of_chunks_change_nothing(text, scale, discount):
    chains = MentionChains.of(text)
    renamed = np.where(chains.entities >= 0, (chains.entities + 2) * scale, -1)
    other = MentionChains(chains.symbols, chains.codes, renamed, chains.offsets)
    one = MentionCritic.fit(chains, 4, discount).log_prob(chains)
    two = MentionCritic.fit(other, 4, discount, chunk=2).log_prob(other, chunk=3)
    np.testing.assert_array_equal(one, two)


def test_a_token_takes_the_label_of_its_entity_inside_the_window_alone():
    text = MentionChains.of([["MALE:9", "FEMALE:4", "he:9", ".", "she:4"]])
    assert sorted(count_windows(text, 3).tokens()) == sorted(
        [
            [BOS, BOS, "MALE:0"],
            [BOS, "MALE:0", "FEMALE:1"],
            ["MALE:0", "FEMALE:1", "he:0"],
            ["FEMALE:0", "he:1", "."],
            ["he:0", ".", "she:1"],
        ]
    )
