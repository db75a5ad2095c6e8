"""Single against double precision on long sequences, with probabilities down to 1e-30: nothing may underflow."""

import numpy as np
import pytest
import torch
from hsmm_posterior import segment_posterior, viterbi
from tiny_hsmm import flat

from textcritic.generators.hsmm import (
    HSMM,
    Lattice,
    Lexicon,
    expected_counts,
    log_marginal,
    log_marginal_of_logs,
)

LEAST = 1e-29  # of a transition; times the probability of going on it is above the floor of fp32
TOKENS, SEQUENCES, LONGEST = 400, 6, 4


def extreme(shape, rng):
    """Most entries are far below the greatest, by up to 30 powers of ten."""
    return 10.0 ** (-30 * rng.random(shape) ** 0.3)


def nearly_deterministic(states, rng):
    table = np.full((states, states), LEAST)
    table[np.arange(states), rng.permutation(states)] = 1
    return table


def adversarial(seed, states=7):
    """A model and a batch: random tokens, which no state likes, and tokens of the first symbol only."""
    rng = np.random.default_rng(seed)
    sequences = rng.integers(0, 2, (SEQUENCES, TOKENS))
    sequences[0] = 0
    sequences[1, : TOKENS // 2] = 1
    tokens, offsets = flat(sequences.tolist())
    lexicon = Lexicon.count(tokens, offsets, 2, LONGEST)
    emission = extreme((len(lexicon), states), rng) * (rng.random((len(lexicon), states)) < 0.7)
    if seed % 2:
        emission[:, 0] = 0  # this state can only be where the others are not: it emits one rare segment
        emission[-1, 0] = 1
    transition = nearly_deterministic(states, rng) if seed % 3 else extreme((states, states), rng).clip(LEAST)
    initial = extreme(states, rng).clip(LEAST)
    end = rng.uniform(0.001, 0.8, states)
    tables = [emission / emission.sum(0), transition / transition.sum(1, keepdims=True), initial / initial.sum(), end]
    single = HSMM(lexicon, *(torch.from_numpy(table).float() for table in tables))
    return single, Lattice.build(lexicon.rows(tokens, offsets), offsets)


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("seed", range(6))  # which kind of model: by its remainders by 2 and by 3
def test_single_equals_double_precision(seed, end):
    single, lattice = adversarial(seed)
    double = single.to(dtype=torch.float64)
    expected = log_marginal(double, lattice, end)
    assert expected.isfinite().all()
    assert float(expected.min()) < -300  # many times below the least fp32 number
    torch.testing.assert_close(log_marginal(single, lattice, end), expected, rtol=1e-6, atol=1e-4)

    counts, exact = expected_counts(single, lattice, end), expected_counts(double, lattice, end)
    for name in ("emission", "transition", "initial", "end", "proceed"):
        found = getattr(counts, name).double()
        assert found.isfinite().all()
        torch.testing.assert_close(found, getattr(exact, name), rtol=1e-3, atol=1e-3)
    assert float(counts.initial.sum()) == pytest.approx(SEQUENCES, rel=1e-5)
    lengths = torch.from_numpy(single.lexicon.lengths).double()
    assert float(lengths @ counts.emission.double().sum(1)) == pytest.approx(SEQUENCES * TOKENS, rel=1e-5)

    arcs = segment_posterior(single, lattice, end)
    torch.testing.assert_close(arcs.double(), segment_posterior(double, lattice, end), rtol=1e-3, atol=1e-4)
    best, reference = viterbi(single, lattice, end), viterbi(double, lattice, end)
    np.testing.assert_allclose(best.log_prob, reference.log_prob, rtol=1e-6)
    assert (best.log_prob <= expected.numpy() + 1e-3).all()


def test_the_likely_path_through_unlikely_places():
    """Of two paths one is ahead by 1e-25 until the last segment, which only the other's state emits."""
    emission = np.full((6, 4), 0.0)
    # Rows: 0, 1, 00, 01, 10, 11. States 0 and 1 stay; 0 emits zeros gladly, 1 hardly, and only 1 emits a one.
    emission[0] = [1.0, 1e-8, 0.0, 0.0]
    emission[1] = [0.0, 1.0, 0.0, 0.0]
    emission[5] = [0.0, 0.0, 1.0, 1.0]
    tokens, offsets = flat([[0, 0, 0, 1, 1], [0, 0, 1, 0, 0]])
    lexicon = Lexicon.count(np.array([0, 0, 1, 1, 0]), np.array([0, 5]), 2, 2)
    transition = np.full((4, 4), LEAST) + np.eye(4)
    lattice = Lattice.build(lexicon.rows(tokens, offsets), offsets)
    tables = [torch.from_numpy(table).float() for table in (emission, transition, np.full(4, 0.25), np.full(4, 0.5))]
    single = HSMM(lexicon, *tables)
    expected = log_marginal(single.to(dtype=torch.float64), lattice)
    torch.testing.assert_close(log_marginal(single, lattice), expected, rtol=1e-6, atol=1e-6)
    counts, exact = (expected_counts(model, lattice) for model in (single, single.to(dtype=torch.float64)))
    torch.testing.assert_close(counts.emission.double(), exact.emission, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(counts.transition, exact.transition, rtol=1e-5, atol=1e-7)


def test_gradient_of_a_long_sequence():
    single, lattice = adversarial(2)
    gradients = []
    for model in (single, single.to(dtype=torch.float64)):
        logs = [table.log().requires_grad_() for table in (model.emission, model.transition, model.initial)]
        log_marginal_of_logs(lattice, *logs).sum().backward()
        gradients.append([log.grad.double() for log in logs])
    for mine, exact in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, exact, rtol=1e-3, atol=1e-3)
