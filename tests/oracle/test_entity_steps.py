"""EntityNLM token by token: the increments of each particle add up to log p(x, z) - log q(z | x)."""

import numpy as np
import pytest
import torch
from tiny_entities import all_states, model, proposal

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.entitynlm import EntityStates, EntitySteps

TEXT = Structured("x", ("a", "b", "x", "a", "b"))


def run(steps, count, ancestors=None):
    """All steps; after the third, particles may be selected. States [K, n], increments [K, n]."""
    rng = np.random.default_rng(1)
    particles = steps.begin(count)
    entity, remaining, increments = [np.zeros((count, 0))] * 3
    for step in range(steps.steps):
        particles, increment = steps.propose(step, particles, rng)
        assert increment.shape == (1, count)
        entity = np.column_stack([entity, particles[1].entity])
        remaining = np.column_stack([remaining, particles[1].remaining])
        increments = np.column_stack([increments, increment[0]])
        if step == 2 and ancestors is not None:
            particles = steps.select(particles, ancestors[None])
            entity, remaining, increments = entity[ancestors], remaining[ancestors], increments[ancestors]
    return EntityStates(torch.tensor(entity).long(), torch.tensor(remaining).long()), increments


@pytest.mark.parametrize("ancestors", [None, np.arange(50) // 3 * 2])
@pytest.mark.parametrize("reads", ["prefix", "next", "document"])
def test_increments_add_up_to_the_log_weight(reads, ancestors):
    p, q = model(), proposal(1.0, reads=reads)
    states, increments = run(EntitySteps(p, q, TEXT, 1.5), 50, ancestors)
    expected = p.log_joint(TEXT, states) - q.log_q(TEXT, states, 1.5)
    assert np.allclose(increments.sum(1), expected.numpy(), atol=2e-5)
    assert len({tuple(row) for row in states.entity.tolist()}) > 5


def test_without_selection_it_is_importance_sampling():
    p, q = model(), proposal(0.8, 10)
    _, increments = run(EntitySteps(p, q, TEXT), 100_000)
    log_p = float(p.log_joint(TEXT, all_states(5)).logsumexp(0))
    weights = np.exp(increments.sum(1) - log_p)
    assert abs(weights.mean() - 1) < 3 * weights.std() / np.sqrt(len(weights))
    assert weights.std() / np.sqrt(len(weights)) < 0.005
