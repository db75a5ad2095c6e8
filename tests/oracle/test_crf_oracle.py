"""The CRF over trees against enumeration and against torch-struct's."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from tree_oracle import all_trees, crf, spans, text

from textcritic.errors import TextcriticError
from textcritic.generators.latent.rnng.charts import Chart, best_trees

TREE = (0, 0, 0, 1, 1)
SENTENCE = ("a", "b", "<unk>", "a", "b", "b", "a")


def scores_of(n, seed=0, scale=1.5):
    return torch.randn(n, n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * scale


def tree_score(scores, tree):
    return sum(float(scores[start, end]) for start, end in spans(tree))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_q_is_that_of_all_trees_scored_and_normalised(n, temperature):
    proposal, sentence = crf(), text(SENTENCE[:n])
    scores = proposal.span_scores([sentence])[0].detach()
    by_hand = torch.tensor([tree_score(scores, tree) for tree in all_trees(n).tolist()]).double() / temperature
    log_q = proposal.log_q(sentence, all_trees(n), temperature)
    torch.testing.assert_close(log_q, by_hand.log_softmax(0), rtol=0, atol=1e-6)
    assert n < 5 or float(log_q.std()) * temperature > 0.2


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_draws_have_these_probabilities(temperature):
    proposal, sentence, count = crf(), text(SENTENCE[:6]), 40_000
    trees, log_q = proposal.draw(sentence, count, temperature, torch.Generator().manual_seed(1))
    assert trees.dtype == torch.int8
    torch.testing.assert_close(proposal.log_q(sentence, trees, temperature), log_q, rtol=0, atol=1e-9)
    counts = Counter(map(tuple, trees.tolist()))
    expected = proposal.log_q(sentence, all_trees(6), temperature).exp().numpy() * count
    found = np.array([counts[tuple(tree)] for tree in all_trees(6).tolist()])
    assert found.sum() == count
    common = expected > 10
    chi_squared = float(((found - expected)[common] ** 2 / expected[common]).sum())
    freedom = common.sum() - 1
    assert chi_squared < freedom + 4 * math.sqrt(2 * freedom)


def test_draws_depend_on_the_generator_alone():
    proposal = crf()
    draws = [proposal.draw(text(SENTENCE), 50, 1.0, torch.Generator().manual_seed(s))[0] for s in (1, 1, 2)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


@pytest.mark.parametrize("count", [1, 2, 10, 131, 132, 500])
def test_the_k_best_trees_are_those_of_an_enumeration(count):
    scores, trees = scores_of(7), all_trees(7)
    best = torch.from_numpy(best_trees(scores, count))
    assert len(best) == min(count, 132)
    assert len(set(map(tuple, best.tolist()))) == len(best)
    expected = sorted((tree_score(scores, tree) for tree in trees.tolist()), reverse=True)
    np.testing.assert_allclose([tree_score(scores, tree) for tree in best.tolist()], expected[: len(best)], atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*arg_constraints:UserWarning")
def test_torch_struct_has_the_same_sums_marginals_and_best_trees():
    torch_struct = pytest.importorskip("torch_struct")
    for n in (2, 6, 15):
        scores = scores_of(n, seed=n).triu(1).requires_grad_()  # no scores of single words, which it would add
        theirs = torch_struct.TreeCRF(scores[None, :, :, None])
        ours = Chart.of(scores[None]).log_partition(torch.tensor([n]))
        torch.testing.assert_close(ours, theirs.partition, rtol=1e-10, atol=1e-9)
        (gradient,) = torch.autograd.grad(ours.sum(), scores)
        torch.testing.assert_close(gradient.triu(1), theirs.marginals[0, :, :, 0].triu(1), rtol=0, atol=1e-9)
        k = 1 if n == 2 else 5
        parts = theirs.topk(k)[:, 0, :, :, 0].detach()
        spans_of = [{(s, e) for s, e in part.nonzero().tolist() if s < e} for part in parts]
        best = best_trees(scores.detach(), k)
        assert [set(spans(tree)) for tree in best.tolist()] == spans_of


def test_a_loss_is_that_of_the_text_alone_and_minus_log_q():
    proposal = crf()
    texts = [text(SENTENCE[:n], all_trees(n)[-1].tolist()) for n in (7, 1, 4, 2, 6)]
    together = proposal.losses(texts)
    for one, loss in zip(texts, together, strict=True):
        torch.testing.assert_close(proposal.losses([one]), loss[None], rtol=0, atol=1e-9)
        tree = torch.tensor([one.actions], dtype=torch.int8)
        torch.testing.assert_close(proposal.log_q(one, tree, 1.0), -loss[None].detach(), rtol=0, atol=1e-9)


def test_gradients_of_a_loss():
    proposal, one = crf(), text(SENTENCE[:5], all_trees(5)[3].tolist())
    parameter = proposal.ends.bias
    (gradient,) = torch.autograd.grad(proposal.losses([one]).sum(), parameter)
    for at in range(3):
        ends = []
        for step in (1e-5, -1e-5):
            with torch.no_grad():
                parameter[at] += step
                ends.append(float(proposal.losses([one])))
                parameter[at] -= step
        assert float(gradient[at]) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-7)


def test_saved_and_read_again(tmp_path):
    proposal = crf().float()
    proposal.save(tmp_path)
    again = type(proposal).load(tmp_path)
    one = text(SENTENCE)
    assert torch.equal(again.log_q(one, all_trees(7), 2.0), proposal.log_q(one, all_trees(7), 2.0))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: crf().losses([text("ab")]), "x: has no tree"),
        (lambda: crf(longest=2).losses([text("aba", TREE, "y")]), "y: has 3 words; the proposal reads at most 2"),
        (lambda: crf().log_q(text("aba"), all_trees(2), 1.0), "x: trees of 3 actions do not fit 3 words"),
    ],
)  # fmt: skip
def test_bad_input(act, message):
    with pytest.raises(TextcriticError, match=message):
        act()


def test_a_span_s_score_is_of_the_differences_at_its_ends():
    """Kim et al. 2019, section 3.2: f_j - f_(i-1) and b_i - b_(j+1), of words and places, read from either side."""
    proposal, sentence = crf(), text(SENTENCE[:5])
    numbers = [proposal.begin, *proposal.vocabulary.encode(sentence.tokens).tolist(), proposal.finish]
    vectors = proposal.words(torch.tensor(numbers)) + proposal.positions(torch.arange(7))
    ahead, behind = proposal.reader(vectors[None])[0][0].chunk(2, 1)
    found = proposal.span_scores([sentence])[0]
    for first in range(5):
        for last in range(first + 1, 5):
            i, j = first + 1, last + 1  # places with the beginning of the sentence at 0
            differences = torch.cat([ahead[j] - ahead[i - 1], behind[i] - behind[j + 1]])
            expected = proposal.score(proposal.ends(differences).relu())
            assert found[first, last].item() == pytest.approx(expected.item(), abs=1e-9)
