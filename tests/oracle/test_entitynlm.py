"""EntityNLM against plain loops over its formulas, and against the sum over all texts and all states."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_entities import MODEL, all_states, all_texts, model, plain_log_joint, states_from
from tiny_latent_training import assert_a_stop_leaves_no_trace

from textcritic.corpora.structured.texts import Mention, Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.entitynlm import EntityNLM, mentions_of, possible

TEXT = Structured("x", ("a", "b", "x", "a", "b"))
GOLD = [
    Structured("1", ("a", "b", "x", "a", "b"), mentions=(Mention(0, 2, "X"), Mention(2, 3, "Y"), Mention(4, 5, "X"))),
    Structured("2", ("b",), mentions=(Mention(0, 1, "Z"),)),
    Structured("3", ("b", "b", "a")),
]


@pytest.mark.parametrize("tied", [False, True])
def test_log_joint_is_that_of_plain_loops(tied):
    entity_nlm = model(tied=tied)
    states = all_states(5)
    log_joint = entity_nlm.log_joint(TEXT, states)
    assert log_joint.dtype == torch.float64
    for row in range(0, len(states), 7):
        assert float(log_joint[row]) == pytest.approx(plain_log_joint(entity_nlm, TEXT, states, row), abs=2e-5)
    assert float(log_joint.max() - log_joint.median()) > 3  # far from uniform


@pytest.mark.parametrize("longest_mention", [1, 2])
def test_all_texts_with_all_states_sum_to_one(longest_mention):
    entity_nlm = model(longest_mention=longest_mention)
    states = all_states(4, longest=longest_mention)
    total = sum(float(entity_nlm.log_joint(text, states).exp().sum()) for text in all_texts(4))
    assert total == pytest.approx(1, abs=1e-5)


def test_states_that_are_not_possible_have_no_probability():
    wrong = {
        "an entity is skipped": [(1, 0), (-1, 0), (-1, 0)],
        "too many entities": [(0, 0), (1, 0), (2, 0), (3, 0)],
        "too long": [(0, 2), (0, 1), (0, 0)],
        "it does not go on": [(0, 1), (-1, 0), (-1, 0)],
        "it goes on as another": [(0, 0), (1, 1), (0, 0)],
        "it does not become less": [(0, 1), (0, 1), (0, 0)],
        "something remains outside": [(-1, 1), (-1, 0), (-1, 0)],
    }
    entity_nlm = model()
    for reason, pairs in wrong.items():
        both = states_from([pairs, [(-1, 0)] * len(pairs)])
        log_joint = entity_nlm.log_joint(Structured("x", ("a",) * len(pairs)), both)
        assert log_joint.isinf().tolist() == [True, False], reason


def test_what_is_possible_is_what_the_definition_enumerates():
    values = [(entity, remaining) for entity in (-1, 0, 1, 2) for remaining in (-1, 0, 1, 2)]
    every = states_from([[one, two, three] for one in values for two in values for three in values])
    can_be = every.select(possible(every, max_entities=2, longest_mention=2))
    expected = all_states(3, entities=2)
    pairs = lambda states: {(*e, *r) for e, r in zip(states.entity.tolist(), states.remaining.tolist(), strict=True)}  # noqa: E731
    assert pairs(can_be) == pairs(expected)
    assert len(can_be) == len(expected) == len(pairs(expected))


def test_loss_of_gold_is_minus_log_joint_however_texts_are_padded():
    entity_nlm = model()
    alone = torch.cat([entity_nlm.log_joint(text, entity_nlm.states_of(text)) for text in GOLD])
    assert torch.allclose(-entity_nlm.losses(GOLD).detach(), alone, atol=1e-5)


def test_states_together_are_as_one_at_a_time():
    entity_nlm = model()
    states = all_states(5).select(torch.arange(0, 400, 40))
    together = entity_nlm.log_joint(TEXT, states)
    alone = torch.cat([entity_nlm.log_joint(TEXT, states.select(torch.tensor([row]))) for row in range(len(states))])
    assert torch.allclose(together, alone, atol=1e-5)


def test_gradients_are_those_of_the_plain_formula():
    """With gradients, embeddings are kept; without, they are changed in place: both are compared with a difference."""
    entity_nlm = model()
    loss = entity_nlm.losses(GOLD[:1]).sum()
    loss.backward()
    with torch.no_grad():
        for name in ("entities.value.weight", "entities.gate.weight", "entities.distance", "entities.first"):
            weights = dict(entity_nlm.named_parameters())[name]
            direction = torch.randn(weights.shape, generator=torch.Generator().manual_seed(1))
            slope = float((weights.grad * direction).sum())
            values = []
            for step in (0.01, -0.01):
                weights.add_(step * direction)
                values.append(-plain_log_joint(entity_nlm, GOLD[0], entity_nlm.states_of(GOLD[0]), 0))
                weights.sub_(step * direction)
            assert slope == pytest.approx((values[0] - values[1]) / 0.02, rel=0.02, abs=1e-3), name


def test_samples_have_the_probabilities_of_the_model():
    entity_nlm = model()
    count = 20_000
    samples = entity_nlm.sample(count, 2, torch.Generator().manual_seed(1))
    shares = {}
    for sample in samples:
        shares[sample.tokens, sample.mentions] = shares.get((sample.tokens, sample.mentions), 0) + 1 / count
    states = all_states(2)
    expected = {}
    for text in all_texts(2):
        for row, p in enumerate(entity_nlm.log_joint(text, states).exp().tolist()):
            key = text.tokens, mentions_of(states, row)  # two states can be cut to the same mentions
            expected[key] = expected.get(key, 0) + p
    assert sum(expected.values()) == pytest.approx(1, abs=1e-5)
    for key, p in expected.items():
        assert abs(shares.get(key, 0) - p) < 5 * np.sqrt(p * (1 - p) / count) + 1e-4, key


def test_mentions_are_read_back():
    states = model().states_of(GOLD[0])
    assert mentions_of(states, 0) == (Mention(0, 2, "0"), Mention(2, 3, "1"), Mention(4, 5, "0"))
    assert states.remaining.tolist() == [[1, 0, 0, 0, 0]]


def test_noise_makes_the_joint_probability_random_and_is_off_by_default():
    quiet, noisy = model(), model(noise=0.1)
    states = model().states_of(GOLD[0])
    assert quiet.log_joint(GOLD[0], states) == quiet.log_joint(GOLD[0], states)
    assert noisy.log_joint(GOLD[0], states) != noisy.log_joint(GOLD[0], states)


def test_words_left_out_of_t():
    assert model(uncounted=["b"]).counted(TEXT) == 3
    assert model().counted(TEXT) == 5


@pytest.mark.parametrize(
    ("mentions", "message"),
    [
        ((Mention(1, 4, "X"),), "x: the mention of tokens 1 to 4 has 3 tokens, the model's longest_mention is 2"),
        (tuple(Mention(n, n + 1, f"{n}") for n in range(4)), "x: 4 entities, the model's max_entities is 3"),
    ],
)
def test_texts_beyond_the_limits(mentions, message):
    with pytest.raises(TextcriticError, match=message):
        model().losses([replace(TEXT, mentions=mentions)])


def test_a_training_goes_on_where_it_stopped(tmp_path, monkeypatch):
    texts = [replace(text, id=str(n)) for n, text in enumerate(GOLD * 5)]
    assert_a_stop_leaves_no_trace(EntityNLM, MODEL, texts, tmp_path, monkeypatch)
