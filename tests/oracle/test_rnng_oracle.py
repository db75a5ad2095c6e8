"""RNNG against its restatement on lists, against all texts and trees, and its likelihood estimated by the CRF."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from tree_oracle import WORDS, all_trees, crf, plain_log_joint, rnng, spans, text, walk

from textcritic.errors import TextcriticError
from textcritic.generators.latent.rnng.model import Composition
from textcritic.generators.latent.rnng.stacks import Sharing, Steps

ENDS = ["stop", "length", "as_released"]
NO_TREES = torch.tensor([[0, 0, 0, 1, 1], [0, 1, 0, 0, 1]])  # the second one is not
SENTENCE = ("a", "b", "<unk>", "a", "b", "b")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("tied", [True, False])
def test_scores_of_all_trees_are_those_of_the_restatement(end, tied):
    model = rnng(end, tied=tied)
    if not tied:
        torch.nn.init.normal_(model.written)
    for n in (1, 2, 3, 6):
        words = SENTENCE[:n]
        scores = model.log_joint(text(words), all_trees(n))
        assert scores.dtype == torch.float64
        with torch.no_grad():
            expected = torch.tensor([float(plain_log_joint(model, words, tree)) for tree in all_trees(n).tolist()])
        torch.testing.assert_close(scores, expected.double(), rtol=0, atol=2e-6)
        assert n < 6 or float(scores.std()) > 0.2  # trees differ, else this would show little


def test_clamped_actions_as_released():
    model = rnng("as_released")
    torch.nn.init.zeros_(model.choices.weight)
    model.choices.bias.data[0] = 40.0  # REDUCE is certain, but for the clamp
    words = rnng("length")
    words.load_state_dict(model.state_dict())
    trees = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 1, 0, 1]], dtype=torch.int8)
    differences = (model.log_joint(text("aba"), trees) - words.log_joint(text("aba"), trees)).tolist()
    # (a (b a)): a SHIFT that only the clamp allows, log 1e-7 for -40, and two REDUCEs. ((a b) a): two REDUCEs.
    assert differences[0] == pytest.approx(math.log(1e-7) + 40, abs=1e-6)
    assert differences[1] == pytest.approx(2 * math.log(1 - 1e-7), abs=1e-12)


def test_with_the_length_given_all_texts_and_trees_sum_to_one():
    model = rnng("length")
    for n in (1, 2, 4):
        texts = [text(words) for words in itertools.product(WORDS.words, repeat=n)]
        scores = model.log_joints(texts, [all_trees(n)] * len(texts))
        assert float(torch.cat(scores).exp().sum()) == pytest.approx(1, abs=1e-9)


def test_with_an_end_all_that_can_be_written_sums_to_one():
    model = rnng("stop")
    done, rest = walk(model, 3)
    assert sum(math.exp(log_p) for *_, log_p in done) + rest == pytest.approx(1, abs=1e-9)
    assert 0.01 < rest < 0.9
    assert len(done) == 3 + 9 + 2 * 27
    for words, actions, log_p in done:
        tree = torch.tensor([actions], dtype=torch.int8)
        assert float(model.log_joint(text(words), tree)) == pytest.approx(log_p, abs=1e-9)


def test_as_released_sums_to_less_than_one():
    model = rnng("as_released")
    texts = [text(words) for words in itertools.product(WORDS.words, repeat=3)]
    total = float(torch.cat(model.log_joints(texts, [all_trees(3)] * len(texts))).exp().sum())
    assert 0.01 < total < 0.95


@pytest.mark.parametrize("end", ENDS)
def test_gradients_are_those_of_the_restatement(end):
    model, tree = rnng(end), (0, 0, 0, 1, 0, 0, 1, 1, 1)
    words = SENTENCE[:5]
    names, parameters = zip(*model.named_parameters(), strict=True)
    ours = torch.autograd.grad(model.losses([text(words, tree)]).sum(), parameters)
    expected = torch.autograd.grad(-plain_log_joint(model, words, tree), parameters)
    for name, one, other in zip(names, ours, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-8, msg=name)
    assert all(float(gradient.abs().max()) > 0 for gradient in ours)


def test_a_loss_is_that_of_the_text_alone_and_the_negative_joint():
    model = rnng()
    trees = {n: all_trees(n) for n in (1, 3, 5, 6)}
    texts = [text(SENTENCE[:n], tree.tolist()) for n, some in trees.items() for tree in some[::5]]
    together = model.losses(texts)
    for one, loss in zip(texts, together, strict=True):
        torch.testing.assert_close(model.losses([one]), loss[None], rtol=0, atol=1e-9)
        torch.testing.assert_close(model.log_joint(one, model.states_of(one)), -loss[None].detach(), rtol=0, atol=1e-9)


def test_passes_in_pieces_give_the_same(monkeypatch):
    model = rnng()
    texts, states = [text(SENTENCE), text("ab"), text(SENTENCE[:5])], [all_trees(6), all_trees(2), all_trees(5)]
    whole = model.log_joints(texts, states)
    monkeypatch.setattr("textcritic.generators.latent.rnng.model.STEPS_AT_ONCE", 40)
    monkeypatch.setattr("textcritic.generators.latent.rnng.model.ROWS_AT_ONCE", 3)
    for one, other in zip(model.log_joints(texts, states), whole, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_what_trees_share_is_computed_once():
    n = 7
    actions = all_trees(n).numpy().astype(np.int64)
    steps = Steps.of(actions, np.full(len(actions), n))
    sharing = Sharing.of(steps, np.zeros(len(actions), np.int64))
    subtrees = sum(len(left) for left, _ in sharing.subtrees)
    # Of each span of k words, as many as there are binary trees over k.
    assert subtrees == sum((n - k + 1) * len(all_trees(k)) for k in range(2, n + 1))
    prefixes = {tuple(row[: step + 1]) for row in actions.tolist() for step in range(2 * n - 1)}
    assert sum(len(below) for below, _ in sharing.stacks) == len(prefixes)
    rows = zip(steps.start, steps.end, actions, strict=True)
    reduces = [{(s, e) for s, e, a in zip(*row, strict=True) if a} for row in rows]
    assert reduces == [set(spans(tree)) for tree in actions.tolist()]


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_the_estimate_is_unbiased_and_its_log_below(temperature):
    model, proposal, sentence = rnng(), crf(), text(SENTENCE)
    log_p = float(model.log_joint(sentence, all_trees(6)).logsumexp(0))
    trees, log_q = proposal.draw(sentence, 60_000, temperature, torch.Generator().manual_seed(3))
    log_weights = model.log_joint(sentence, trees) - log_q - log_p
    ratios = log_weights.exp()
    error = float(ratios.std()) / len(ratios) ** 0.5
    assert error < 0.005
    assert float(ratios.mean()) == pytest.approx(1, abs=3 * error)
    assert float(ratios.std()) > 0.1
    logs = log_weights.view(-1, 5).logsumexp(1) - math.log(5)
    assert float(logs.mean()) < -3 * float(logs.std()) / len(logs) ** 0.5


def test_the_k_best_trees_never_have_more_than_the_likelihood():
    model, proposal = rnng(), crf()
    for words in (SENTENCE, SENTENCE[::-1]):
        log_p = float(model.log_joint(text(words), all_trees(6)).logsumexp(0))
        beams = [
            float(model.log_joint(text(words), proposal.best(text(words), k)).logsumexp(0)) for k in (1, 5, 41, 99)
        ]
        assert beams == sorted(beams)
        assert beams[2] < log_p
        assert beams[3] == pytest.approx(log_p, abs=1e-9)


def test_drawn_texts_have_the_model_s_probabilities():
    model, count = rnng(), 8_000
    drawn = model.sample(count, 12, torch.Generator().manual_seed(5))
    counts = Counter((one.tokens, one.actions) for one in drawn)
    done, _ = walk(model, 3)
    expected = np.array([math.exp(log_p) * count for *_, log_p in done])
    found = np.array([counts[words, actions] for words, actions, _ in done])
    common = expected > 20
    assert common.sum() > 10
    assert np.abs((found - expected) / np.sqrt(expected))[common].max() < 4
    assert max(len(one.tokens) for one in drawn) <= 12
    assert [one.id for one in drawn[:2]] == ["rnng-0", "rnng-1"]


@pytest.mark.parametrize("end", ["length", "as_released"])
def test_without_an_end_all_drawn_texts_are_as_long(end):
    drawn = rnng(end).sample(40, 7, torch.Generator().manual_seed(5))
    assert {len(one.tokens) for one in drawn} == {7}
    assert len({one.actions for one in drawn}) > 5
    again = rnng(end).sample(40, 7, torch.Generator().manual_seed(5))
    assert drawn == again


def test_saved_and_read_again(tmp_path):
    for tied in (True, False):
        model = rnng(tied=tied).float()
        model.save(tmp_path)
        again = type(model).load(tmp_path)
        assert torch.equal(again.log_joint(text(SENTENCE), all_trees(6)), model.log_joint(text(SENTENCE), all_trees(6)))


def test_what_is_counted():
    assert rnng().counted(text("aab")) == 3
    assert rnng(count_end=True).counted(text("aab")) == 4


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: rnng().losses([text("ab")]), "x: has no tree"),
        (lambda: rnng().log_joint(text("ab"), all_trees(3)), "x: trees of 5 actions do not fit 2 words"),
        (
            lambda: rnng().log_joint(text("aba"), torch.tensor([[0, 0, 0, 1, 1], [0, 1, 0, 0, 1]])),
            "tree 1: its actions",
        ),
        (lambda: rnng().log_joint(text("aba"), torch.tensor([[0, 0, 0, 0, 1]])), "tree 0: its actions"),
        (lambda: rnng("length", count_end=True), "model.count_end: with end length no end is predicted"),
    ],
)
def test_bad_input(act, message):
    with pytest.raises(TextcriticError, match=message):
        act()


def test_the_cell_of_a_subtree_keeps_of_each_part_what_its_own_gate_lets_through():
    """Tai et al. 2015, equations 9 to 14, with two children: gates by their order in the table of weights."""
    width, rng = 3, torch.Generator().manual_seed(1)
    cell = Composition(width)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=rng))
    left, right = (torch.randn(4, 2, width, generator=rng) for _ in range(2))
    both = torch.cat([left[:, 0], right[:, 0]], 1)
    gates = [
        both @ part.T + bias for part, bias in zip(cell.gates.weight.chunk(5), cell.gates.bias.chunk(5), strict=True)
    ]
    read, of_left, of_right, write = (gate.sigmoid() for gate in gates[:4])
    inside = read * gates[4].tanh() + of_left * left[:, 1] + of_right * right[:, 1]
    found = cell(left, right)
    assert torch.allclose(found[:, 1], inside, atol=1e-6)
    assert torch.allclose(found[:, 0], write * inside.tanh(), atol=1e-6)
