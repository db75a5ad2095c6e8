"""Texts that a model draws and their exact states, against the enumeration of all states."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
import torch
from tiny_entities import all_states as entity_states
from tiny_entities import model as entity_model
from tiny_hsmm import lattice_of, random_model
from tiny_kglm import all_states as link_states
from tiny_kglm import toy_model, write_toy
from tree_oracle import all_trees, crf, rnng

from textcritic.corpora.structured.texts import Structured, write_structured
from textcritic.errors import TextcriticError
from textcritic.generators.hsmm import log_marginal
from textcritic.generators.hsmm.text import Text
from textcritic.generators.hsmm.weigh import Quality, Sequences, weigh_own_paths
from textcritic.generators.latent import own
from textcritic.generators.latent.own import own_texts, weigh_own
from textcritic.generators.latent.weigh import Draws, Weighed
from textcritic.inference.importance import ExactWeights, LogWeights, gap, log_likelihoods

LENGTHS = [Structured(str(n), ("a",) * n) for n in (1, 2, 3)]


def own_of(model, count):
    return own_texts(model, LENGTHS, count, torch.Generator().manual_seed(1))


def close_to_one(ratios, error=0.1):
    spread = np.std(ratios) / np.sqrt(len(ratios))
    assert spread < error
    assert abs(np.mean(ratios) - 1) < 4 * spread + 1e-9


def flatter_over_posterior(model, pairs, states_of):
    """q(z | x) / p(z | x), where q is in proportion to the root of p: 1 in the mean over exact draws."""
    ratios, known = [], {}
    for one, drawn in pairs:
        if one.tokens not in known:
            every = model.log_joint(one, states_of(len(one.tokens)))
            known[one.tokens] = every.logsumexp(0), (every / 2).logsumexp(0)
        log_p, log_roots = known[one.tokens]
        ratios.append(float((log_p - log_roots - model.log_joint(one, drawn)[0] / 2).exp()))
    return np.array(ratios)


def test_mentions_that_go_on_behind_the_text_are_kept():
    model = entity_model(longest_mention=2)
    pairs = own_of(model, 1_500)
    assert {len(one.tokens) for one, _ in pairs} == {1, 2, 3}
    close_to_one(flatter_over_posterior(model, pairs, lambda tokens: entity_states(tokens, longest=2)))
    behind = [states for _, states in pairs if int(states.remaining[0, -1])]
    assert len(behind) > 25
    assert model.sample(5, 2, torch.Generator().manual_seed(3)) == [
        one for one, _ in model.sample_with_states(5, 2, torch.Generator().manual_seed(3))
    ]


def test_links_are_read_back_as_they_were_drawn(tmp_path):
    model = toy_model(write_toy(tmp_path))
    close_to_one(flatter_over_posterior(model, own_of(model, 1_000), link_states))


@pytest.mark.parametrize("end", ["stop", "length"])
def test_trees_are_draws_from_the_posterior(end):
    pairs = own_of(rnng(end), 800)
    longest = max(len(one.tokens) for one, _ in pairs)
    assert longest < own.LONGER * 3 if end == "stop" else longest == 3
    some = [pair for pair in pairs if len(pair[0].tokens) < 8]
    close_to_one(flatter_over_posterior(rnng(end), some, all_trees))


def test_models_that_do_not_draw_by_their_own_probability_are_refused(tmp_path):
    released = toy_model(write_toy(tmp_path), as_released=True)
    for model in (rnng("as_released"), released, entity_model(noise=1e-4)):
        with pytest.raises(TextcriticError, match=r"so it does not draw by its own log p"):
            own_of(model, 3)


def test_texts_that_do_not_end_are_left_out(monkeypatch):
    endless = rnng("stop")
    with torch.no_grad():
        endless.choices.bias[1] = -50.0
    with pytest.raises(TextcriticError, match="0 of 60 texts that the model drew end within 12 tokens"):
        own_of(endless, 3)


def test_both_files_are_of_the_same_texts_and_bound_log_p(tmp_path):
    write_structured(tmp_path / "test.parquet", LENGTHS, "made up")
    model, proposal = rnng(), crf()
    for name, one in (("model", model), ("proposal", proposal)):
        (tmp_path / name).mkdir()
        one.save(tmp_path / name)
    weighed = Weighed(texts=tmp_path / "test.parquet", model=tmp_path / "model", proposal=tmp_path / "proposal")
    outs = tmp_path / "forward.npz", tmp_path / "exact.npz"
    weigh_own(weighed, Draws(200, 1.3, 1), 30, outs, threads=1)
    forward, exact = LogWeights.read(outs[0]), ExactWeights.read(outs[1])
    assert (forward.ids[:2], forward.draws, exact.draws) == (("own-1", "own-2"), 200, 1)
    found = gap(forward, exact, 99)
    assert abs(found.nats.estimate) < 0.01
    assert found.states == 0
    assert not list(tmp_path.glob("*.partial.npz"))
    again = tmp_path / "again.npz", tmp_path / "again-exact.npz"
    weigh_own(weighed, Draws(200, 1.3, 1), 30, again, threads=1)
    assert np.array_equal(LogWeights.read(again[0]).log_weights, forward.log_weights)
    assert np.array_equal(ExactWeights.read(again[1]).log_weights, exact.log_weights)


@dataclass(frozen=True)
class Small(Sequences):
    """A model in memory, whose sequences are too."""

    def load(self):
        return random_model(1), Text(np.zeros(12, np.int64), np.array([0, 5, 12])), ("a", "b")


@pytest.mark.parametrize(
    "quality", [Quality("tempered", 1.0), Quality("tempered", 1.6), Quality("blind", 0.0), Quality("withheld", 1)]
)
def test_paths_of_a_semi_markov_model(quality, tmp_path, monkeypatch):
    texts = []
    build = Text.part
    monkeypatch.setattr(Text, "part", lambda self, *ends: texts.append(build(self, *ends)) or texts[-1])
    weigh_own_paths(Small("", "", ""), quality, (300, 1, 400), (tmp_path / "f.npz", tmp_path / "e.npz"))
    forward, exact = LogWeights.read(tmp_path / "f.npz"), ExactWeights.read(tmp_path / "e.npz")
    assert set(forward.tokens) == {5, 7}
    rows = [part.tokens[first:end].tolist() for part in texts for first, end in pairwise(part.offsets)]
    log_p = log_marginal(random_model(1), lattice_of(random_model(1), rows)).numpy()
    found = gap(forward, exact, 99)
    if quality.name == "withheld":
        assert found.sign == "missed"
        assert found.states > 10
        # What is left of the mass is what the posterior of the other texts says.
        assert (log_likelihoods(forward) <= log_p + 1e-9).all()
        return
    close_to_one(np.exp(log_likelihoods(forward) - log_p))
    close_to_one(np.exp(log_p - exact.log_weights[:, 0]), error=0.2)
    if quality == Quality("tempered", 1.0):
        assert (found.sign, found.nats.estimate) == ("none", 0)
