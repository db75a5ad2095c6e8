"""KGLM and KglmDisc on toys, against enumeration and against their formulas in plain Python."""

import math

import numpy as np
import pytest
import torch
from tiny_kglm import all_states, all_texts, plain_log_joint, toy_model, toy_proposal, write_toy

from textcritic.corpora.structured.links import Knowledge
from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.kglm import Links, LinkSteps
from textcritic.generators.latent.kglm.states import CONTINUE
from textcritic.inference.sequential import particle_filter

TEXT = Structured("toy", ("x", "z", "x", "y"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def model(folder):
    return toy_model(folder)


@pytest.fixture(scope="module")
def states():
    return all_states(4)


@pytest.fixture(scope="module")
def log_p(model, states):
    return float(model.log_joint(TEXT, states).logsumexp(0))


@pytest.mark.parametrize("tokens", [1, 2, 3])
def test_the_joint_probabilities_of_all_texts_and_states_sum_to_one(model, tokens):
    states = all_states(tokens)
    total = sum(float(model.log_joint(text, states).exp().sum()) for text in all_texts(tokens))
    assert total == pytest.approx(1, abs=1e-12)


def test_the_released_charge_at_every_token_of_a_mention_leaves_less_than_one(folder, model):
    """Exactly: each related or continued token costs the new-entity softmax of its entity too."""
    released = toy_model(folder, as_released=True)
    total = sum(float(released.log_joint(text, all_states(2)).exp().sum()) for text in all_texts(2))
    assert total < 0.9
    states = Links(torch.tensor([[1, CONTINUE]]), torch.tensor([[0, 0]]))
    text = Structured("toy", ("x", "y"))
    again = Links(torch.tensor([[1, 1]]), torch.tensor([[0, 0]]))
    types = [model.log_joint_tokens(text, one)[0, 1] for one in (states, again)]
    charged = released.log_joint_tokens(text, states)[0, 1]
    # The second token as a new mention costs the same softmax, and another type.
    head = model.reader(model.words.embedding(torch.tensor([[3, 1]])), torch.tensor([2]))[1][0, 1]
    logits = model.choices.kinds(head).detach()
    assert float(charged - types[0]) == pytest.approx(float(types[1] - types[0] - logits[1] + logits[3]))


def test_the_joint_probability_is_that_of_the_formulas_in_plain_python(folder, model, states):
    knowledge = Knowledge.read(folder)
    found = model.log_joint(TEXT, states)
    for row in range(0, len(states), 7):
        plain = plain_log_joint(model, knowledge, TEXT, states.types[row].tolist(), states.entities[row].tolist())
        assert float(found[row]) == pytest.approx(plain, abs=1e-9)
    assert torch.isfinite(found).any()
    assert torch.isinf(found).any()


def test_a_word_that_the_vocabulary_lacks_is_copied_as_unknown(folder, model):
    """`z` of an alias of A and any other unknown word are one event."""
    states = all_states(2)
    known, other = (model.log_joint(Structured("toy", words), states) for words in (("z", "x"), ("other", "x")))
    assert torch.equal(known, other)


@pytest.mark.parametrize("reads", ["prefix", "next", "document"])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_proposal_is_normalised_and_has_the_support_of_the_model(folder, states, model, reads, temperature):
    log_q = toy_proposal(folder, reads=reads).log_q(TEXT, states, temperature)
    assert float(log_q.exp().sum()) == pytest.approx(1, abs=1e-12)
    assert torch.equal(torch.isfinite(log_q), torch.isfinite(model.log_joint(TEXT, states)))


@pytest.mark.parametrize(("reads", "temperature"), [("prefix", 1.0), ("next", 2.0), ("document", 1.0)])
def test_the_estimate_is_unbiased(folder, model, log_p, reads, temperature):
    proposal = toy_proposal(folder, reads=reads)
    states, log_q = proposal.draw(TEXT, 250_000, temperature, torch.Generator().manual_seed(5))
    ratios = (model.log_joint(TEXT, states) - log_q - log_p).exp()
    error = float(ratios.std()) / math.sqrt(len(ratios))
    assert error < 0.005
    assert abs(float(ratios.mean()) - 1) < 3 * error


def test_draws_occur_as_often_as_their_probability_says(folder, states):
    proposal = toy_proposal(folder)
    drawn, _ = proposal.draw(TEXT, 100_000, 1.0, torch.Generator().manual_seed(7))
    log_q = proposal.log_q(TEXT, states, 1.0)
    code = lambda links: ((links.types * 4 + links.entities + 1) * 16 ** torch.arange(4)).sum(1)  # noqa: E731
    likely = log_q.topk(40).indices
    for row in likely:
        expected = float(log_q[row].exp())
        share = float((code(drawn) == code(states)[row]).double().mean())
        assert share == pytest.approx(expected, abs=4.5 * math.sqrt(expected / 100_000))


def test_log_estimates_are_below_the_truth_in_the_mean(folder, model, log_p):
    states, log_q = toy_proposal(folder).draw(TEXT, 20_000, 1.0, torch.Generator().manual_seed(3))
    weights = (model.log_joint(TEXT, states) - log_q).view(-1, 10)
    estimates = weights.logsumexp(1) - math.log(10)
    assert float(estimates.mean()) < log_p - 3 * float(estimates.std()) / math.sqrt(len(estimates))


@pytest.mark.parametrize("width", [1, 5, 60])
def test_a_beam_is_distinct_and_never_above_the_truth(folder, model, log_p, width):
    found = toy_proposal(folder).best(TEXT, width)
    assert len(found) == width
    assert len(set(map(tuple, torch.cat([found.types, found.entities], 1).tolist()))) == width
    assert float(model.log_joint(TEXT, found).logsumexp(0)) < log_p


def test_a_beam_that_holds_all_states_gives_the_truth_parallel_edges_counted_once(folder, model, states, log_p):
    proposal = toy_proposal(folder)
    found = proposal.best(TEXT, 10_000)
    log_q = proposal.log_q(TEXT, states, 1.0)
    assert len(found) == int(torch.isfinite(log_q).sum())
    assert float(model.log_joint(TEXT, found).logsumexp(0)) == pytest.approx(log_p, abs=1e-12)
    # The beam's own scores are q's: the order is that of q.
    assert torch.allclose(proposal.log_q(TEXT, found, 1.0), log_q[torch.isfinite(log_q)].sort(descending=True).values)


def test_a_narrow_beam_of_one_token_has_the_likeliest_states(folder):
    proposal, text, states = toy_proposal(folder), Structured("toy", ("y",)), all_states(1)
    log_q = proposal.log_q(text, states, 1.0)
    assert torch.allclose(proposal.log_q(text, proposal.best(text, 3), 1.0), log_q.topk(3).values)


def test_drawn_texts_have_the_probability_of_the_model(folder, model):
    """Sequences of two words and their states, as often as exp(log_joint) says."""
    drawn = model.sample(6_000, 2, torch.Generator().manual_seed(1))
    states = all_states(2)
    counts: dict[tuple, int] = {}
    for text in drawn:
        links = model.states_of(text)
        words = tuple(model.vocabulary.encode(text.tokens).tolist())
        key = (words, tuple(links.types[0].tolist()), tuple(links.entities[0].tolist()))
        counts[key] = counts.get(key, 0) + 1
    worst, checked = 0.0, 0
    for text in all_texts(2):
        words = tuple(model.vocabulary.encode(text.tokens).tolist())
        for row, p in enumerate(model.log_joint(text, states).exp().tolist()):
            key = (words, tuple(states.types[row].tolist()), tuple(states.entities[row].tolist()))
            if p > 0.004:
                worst = max(worst, abs(counts.get(key, 0) / len(drawn) - p) / math.sqrt(p / len(drawn)))
                checked += 1
    assert checked > 12
    assert worst < 4.5


def test_steps_of_the_particle_filter_sum_to_the_weights(folder, model):
    proposal, texts = toy_proposal(folder), [TEXT, Structured("short", ("y", "x"))]
    steps = LinkSteps(model, proposal, texts, 1.5)
    rng, particles, total = np.random.default_rng(1), steps.begin(50), np.zeros((2, 50))
    for step in range(steps.steps):
        particles, increments = steps.propose(step, particles, rng)
        total += increments
    for row, text in enumerate(texts):
        weights = model.log_joint(text, particles[row]) - proposal.log_q(text, particles[row], 1.5)
        assert np.allclose(total[row], weights.numpy(), rtol=0, atol=1e-10)


def test_the_particle_filter_is_unbiased(folder, model, log_p):
    steps = LinkSteps(model, toy_proposal(folder, reads="prefix"), [TEXT] * 50)
    found = particle_filter(steps, 1500, np.random.default_rng(2), threshold=0.7)
    assert found.resampled.any()
    ratios = np.exp(found.log_p_hat - log_p)
    error = ratios.std() / math.sqrt(len(ratios))
    assert error < 0.01
    assert abs(ratios.mean() - 1) < 3 * error
