"""EntityDisc: it is normalised, its draws have its probabilities, and with it the estimate of p(x) is unbiased."""

import numpy as np
import pytest
import torch
from tiny_entities import PROPOSAL, WORDS, all_states, model, proposal, states_from
from tiny_latent_training import assert_a_stop_leaves_no_trace

from textcritic.corpora.structured.texts import Mention, Structured
from textcritic.generators.latent.entitynlm import EntityDisc, EntityStates, states_of_texts

READS = ["prefix", "next", "document"]
TEXT = Structured("x", ("a", "b", "x", "a"))
GOLD = [
    Structured("1", ("a", "b", "x", "a", "b"), mentions=(Mention(0, 2, "X"), Mention(2, 3, "Y"), Mention(4, 5, "X"))),
    Structured("2", ("b",), mentions=(Mention(0, 1, "Z"),)),
    Structured("3", ("b", "b", "a")),
]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("reads", READS)
def test_it_is_normalised_over_all_states(reads, temperature):
    q = proposal(1.0, reads=reads)
    log_q = q.log_q(TEXT, all_states(4), temperature)
    assert float(log_q.exp().sum()) == pytest.approx(1, abs=1e-5)
    assert log_q.dtype == torch.float64


@pytest.mark.parametrize("reads", READS)
def test_it_sees_as_much_of_the_text_as_it_says(reads):
    """The probability of states of the first two tokens, when the second, or the third, is another word."""
    q = proposal(1.0, reads=reads)
    states = all_states(2)

    def begins(words):
        """The probability of each pair of first states, with all that can follow."""
        follow = all_states(4)
        probability = q.log_q(Structured("x", words), follow, 1.0).exp()
        return torch.stack(
            [
                probability[
                    (follow.entity[:, :2] == states.entity[row]).all(1)
                    & (follow.remaining[:, :2] == states.remaining[row]).all(1)
                ].sum()
                for row in range(len(states))
            ]
        )

    text, second, third = begins(("a", "b", "b", "a")), begins(("a", "a", "b", "a")), begins(("a", "b", "a", "a"))
    assert torch.allclose(text, second, atol=1e-6) == (reads == "prefix")
    assert torch.allclose(text, third, atol=1e-6) == (reads != "document")


@pytest.mark.parametrize("as_released", [False, True])
@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_draws_have_the_probability_that_comes_with_them(temperature, as_released):
    q = proposal(1.0, as_released=as_released)
    count = 40_000
    states, log_q = q.draw(TEXT, count, temperature, torch.Generator().manual_seed(1))
    assert torch.allclose(log_q, q.log_q(TEXT, states, temperature), atol=1e-5)
    every = all_states(4)
    expected = q.log_q(TEXT, every, temperature).exp().numpy()
    rows = {key: row for row, key in enumerate(keys(every))}
    counts = np.bincount([rows[key] for key in keys(states)], minlength=len(expected))
    spread = np.sqrt(expected * (1 - expected) / count)
    assert (np.abs(counts / count - expected) < 5 * spread + 1e-4).all()


def keys(states: EntityStates):
    return [(*e, *r) for e, r in zip(states.entity.tolist(), states.remaining.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("reads", "temperature", "seed"), [("prefix", 1.0, 2), ("next", 2.0, 10), ("document", 1.1, 6)]
)
def test_the_estimate_is_unbiased(reads, temperature, seed):
    ratio, error = estimate(model(), proposal(0.8, seed, reads=reads), temperature, 200_000)
    assert error < 0.005
    assert abs(ratio - 1) < 3 * error


def test_the_released_sampler_is_biased():
    """The first token, and each one after a token that chose to be outside, is outside, with no factor for it."""
    ratio, error = estimate(model(), proposal(as_released=True), 1.0, 100_000)
    assert abs(ratio - 1) > 5 * error


def estimate(p, q, temperature, count):
    """p-hat / p, p by enumeration, and the standard error of this ratio."""
    log_p = p.log_joint(TEXT, all_states(4)).logsumexp(0)
    states, log_q = q.draw(TEXT, count, temperature, torch.Generator().manual_seed(3))
    weights = (p.log_joint(TEXT, states) - log_q - log_p).exp().numpy()
    # E[log p-hat] <= log p: means over ten draws each.
    logs = np.log(weights.reshape(-1, 10).mean(1))
    if not q.as_released:
        assert logs.mean() < 3 * logs.std() / np.sqrt(len(logs))
    return weights.mean(), weights.std() / np.sqrt(count)


def test_what_the_released_sampler_draws_by_hand():
    q = proposal(1.0, as_released=True)
    draws, _ = q.draw(TEXT, 2000, 1.0, torch.Generator().manual_seed(1))
    assert (draws.entity[:, 0] == -1).all()  # facts: 0 of 2,000 draws begin with a mention
    outside = draws.entity == -1
    # Token 0 is forced, so 1 is free; if that chose to be outside, 2 is forced and 3 free; else 2 is free or goes on.
    expected = torch.stack([torch.ones(2000, dtype=torch.bool), torch.zeros(2000, dtype=torch.bool), outside[:, 1]], 1)
    assert (draws.forced[:, :3] == expected).all()
    assert (draws.forced[:, 3] == (outside[:, 2] & ~draws.forced[:, 2])).all()
    assert (outside | ~draws.forced).all()
    begins = states_from([[(0, 0), (-1, 0), (-1, 0), (-1, 0)]])
    assert q.log_q(TEXT, begins, 1.0).isinf().all()
    assert proposal(1.0).log_q(TEXT, begins, 1.0).isfinite().all()


def test_factors_of_types_that_the_released_fault_drops():
    """p of a state with forced tokens is p without it, divided by the probability of staying outside there."""
    p = model()
    right = states_from([[(-1, 0), (-1, 0), (-1, 0), (0, 0)]])
    forced = torch.tensor([[True, False, True, False]])
    hidden = p.reader(WORDS.encode(TEXT.tokens)[None])[0]
    outside = p.entities.types(hidden).detach().log_softmax(1)[[0, 2], 0].sum()
    dropped = p.log_joint(TEXT, EntityStates(right.entity, right.remaining, forced))
    assert float(dropped) == pytest.approx(float(p.log_joint(TEXT, right) - outside), abs=1e-5)


@pytest.mark.parametrize("reads", READS)
def test_a_wide_beam_is_everything_and_sums_to_p(reads):
    q, p = proposal(1.0, reads=reads), model()
    states = q.best(TEXT, 10_000)
    every = all_states(4)
    assert sorted(keys(states)) == sorted(keys(every))
    log_q = q.log_q(TEXT, states, 1.0)
    assert (log_q.diff() <= 1e-6).all()  # the likeliest first
    assert float(p.log_joint(TEXT, states).logsumexp(0)) == pytest.approx(
        float(p.log_joint(TEXT, every).logsumexp(0)), abs=1e-5
    )


def test_narrow_beams_are_distinct_possible_and_never_above_p():
    q, p = proposal(1.0), model()
    log_p = float(p.log_joint(TEXT, all_states(4)).logsumexp(0))
    bounds = []
    for width in (1, 2, 5, 20, 50):
        states = q.best(TEXT, width)
        assert len(set(keys(states))) == len(states) == width
        log_joint = p.log_joint(TEXT, states)
        assert log_joint.isfinite().all()
        bounds.append(float(log_joint.logsumexp(0)))
        assert bounds[-1] <= log_p
    assert bounds[-1] > bounds[0]


def test_a_beam_of_one_token_is_the_best_of_all():
    q = proposal(1.0)
    text = Structured("x", ("a",))
    every = all_states(1)
    order = q.log_q(text, every, 1.0).argsort(descending=True)
    assert keys(q.best(text, 2)) == keys(every.select(order[:2]))


@pytest.mark.parametrize("reads", READS)
def test_loss_of_gold_is_minus_log_q_however_texts_are_padded(reads):
    q = proposal(1.0, reads=reads)
    alone = torch.cat([q.log_q(text, states_of_texts([text], 3, 2), 1.0) for text in GOLD])
    assert torch.allclose(-q.losses(GOLD).detach(), alone, atol=1e-5)


def test_a_training_goes_on_where_it_stopped(tmp_path, monkeypatch):
    texts = [Structured(str(n), text.tokens, mentions=text.mentions) for n, text in enumerate(GOLD * 5)]
    assert_a_stop_leaves_no_trace(EntityDisc, {**PROPOSAL, "reads": "document"}, texts, tmp_path, monkeypatch)


def test_at_a_very_high_temperature_every_choice_is_uniform():
    """Each softmax is divided by the temperature: of types, of entities with the new one, and of lengths."""
    states = all_states(4)
    log_q = proposal(2.0).log_q(Structured("x", ("a", "b", "x", "a")), states, 1e7)
    for entities, left, found in zip(states.entity.tolist(), states.remaining.tolist(), log_q.tolist(), strict=True):
        expected, known = 0.0, 0
        for token, entity in enumerate(entities):
            if token and left[token - 1]:
                continue
            expected -= np.log(2)
            if entity >= 0:
                expected -= np.log(min(known + 1, 3)) + np.log(2)  # of at most 3 entities, and of 2 lengths
                known = max(known, entity + 1)
        assert found == pytest.approx(expected, abs=1e-4)
