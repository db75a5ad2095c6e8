"""The recursions of the hidden semi-Markov model against the enumeration of all segmentations and states, in fp64."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hsmm_posterior import segment_posterior, viterbi
from tiny_hsmm import enumerate_all, lattice_of, random_model, row_numbers, segmentations

from textcritic.generators.hsmm import (
    HSMM,
    Counts,
    expected_counts,
    log_marginal,
    log_marginal_of_logs,
)

SEQUENCES = [[0, 1, 2, 1, 0, 0], [2], [1, 1, 1, 0], [0, 0, 2, 2, 1], [2, 1], [1, 2, 0, 1, 2, 2]]
CASES = pytest.mark.parametrize(
    ("seed", "holes", "end"),
    [(seed, holes, end) for seed in range(3) for holes in (False, True) for end in (False, True)],
)
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@CASES
def test_likelihood_and_counts(seed, holes, end):
    model = random_model(seed, holes=holes)
    exact = [enumerate_all(model, sequence, end) for sequence in SEQUENCES]
    lattice = lattice_of(model, SEQUENCES)
    likelihood = [one["log_marginal"] for one in exact]
    np.testing.assert_allclose(seen(log_marginal(model, lattice, end)), likelihood, **CLOSE)
    counts = expected_counts(model, lattice, end)
    np.testing.assert_allclose(seen(counts.log_marginal), likelihood, **CLOSE)
    for name in ("emission", "transition", "initial", "end"):
        np.testing.assert_allclose(getattr(counts, name).numpy(), sum(one[name] for one in exact), **CLOSE)
    np.testing.assert_allclose(counts.proceed, counts.transition.sum(1), **CLOSE)
    possible = sum(np.isfinite(likelihood))
    assert 0 < possible <= len(SEQUENCES)
    assert float(counts.initial.sum()) == pytest.approx(possible)
    assert holes or possible == len(SEQUENCES)


@CASES
def test_posteriors_of_segments(seed, holes, end):
    model = random_model(seed, holes=holes)
    lattice = lattice_of(model, SEQUENCES)
    arcs, states = segment_posterior(model, lattice, end, states=True)
    assert torch.equal(segment_posterior(model, lattice, end), arcs)
    exact = [enumerate_all(model, sequence, end) for sequence in SEQUENCES]
    found = set()
    columns = lattice.sequence[lattice.start], lattice.position[lattice.start], lattice.position[lattice.end]
    for arc, key in enumerate(zip(*(c.tolist() for c in columns), lattice.rows[lattice.row].tolist(), strict=True)):
        sequence, segment = key[0], key[1:]
        found.add(key)
        assert float(arcs[arc]) == pytest.approx(exact[sequence]["arcs"][segment], abs=1e-9)
        joint = [exact[sequence]["states"][segment, state] for state in range(model.states)]
        np.testing.assert_allclose(states[arc], joint, **CLOSE)
    # The lattice has the segments of all segmentations, and no others.
    numbers = row_numbers(model.lexicon)
    everything = {
        (i, *segment)
        for i, sequence in enumerate(SEQUENCES)
        for path in segmentations(numbers, sequence)
        for segment in path
    }
    assert found == everything


@CASES
def test_viterbi(seed, holes, end):
    model = random_model(seed, holes=holes)
    best = viterbi(model, lattice_of(model, SEQUENCES), end)
    for i, sequence in enumerate(SEQUENCES):
        probability, segments, states = enumerate_all(model, sequence, end)["best"]
        own = slice(best.offsets[i], best.offsets[i + 1])
        columns = best.starts[own], best.stops[own], best.rows[own]
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == segments
        assert tuple(best.states[own].tolist()) == states
        assert np.exp(best.log_prob[i]) == pytest.approx(probability, rel=1e-9, abs=0)


@pytest.mark.parametrize("sharpness", [0.3, 2.0, 8.0])
def test_viterbi_of_many_states(sharpness):
    """The score of the best path, position by position, and that of the path that was found."""
    model = random_model(1, vocabulary=2, longest=3, states=50, sharpness=sharpness)
    sequence = np.random.default_rng(0).integers(0, 2, 30).tolist()
    best = viterbi(model, lattice_of(model, [sequence]))
    numbers = row_numbers(model.lexicon)
    emission, transition, initial = (t.log().numpy() for t in (model.emission, model.transition, model.initial))
    begin, finish = {0: initial}, {}
    for t in range(1, len(sequence) + 1):
        segments = [(s, numbers[tuple(sequence[s:t])]) for s in range(max(0, t - 3), t)]
        finish[t] = np.max([begin[s] + emission[row] for s, row in segments], axis=0)
        begin[t] = (finish[t][:, None] + transition).max(axis=0)
    assert best.log_prob[0] == pytest.approx(finish[len(sequence)].max(), abs=1e-9)
    assert best.starts.tolist() == [0, *best.stops[:-1].tolist()]
    found = initial[best.states[0]] + emission[best.rows, best.states].sum()
    found += transition[best.states[:-1], best.states[1:]].sum()
    assert best.log_prob[0] == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("end", [False, True])
def test_gradient(end):
    """Of a weighted sum of log-likelihoods, against autograd through the enumeration."""
    model = random_model(5, states=2)
    sequences = SEQUENCES[:4]
    weights = torch.tensor([0.7, -1.3, 2.0, 0.1], dtype=torch.float64)
    tables = [t.log() for t in (model.emission, model.transition, model.initial, model.end, 1 - model.end)]

    def ours(emission, transition, initial, ends, proceed):
        if not end:
            return log_marginal_of_logs(lattice_of(model, sequences), emission, transition, initial)
        rows = transition + proceed[:, None]
        return log_marginal_of_logs(lattice_of(model, sequences), emission, rows, initial, ends)

    def enumerated(emission, transition, initial, ends, proceed):
        numbers, values = row_numbers(model.lexicon), []
        for sequence in sequences:
            terms = []
            for segments in segmentations(numbers, sequence):
                for states in product(range(model.states), repeat=len(segments)):
                    term = initial[states[0]] + sum(emission[s[2], k] for s, k in zip(segments, states, strict=True))
                    for before, state in pairwise(states):
                        term = term + transition[before, state] + (proceed[before] if end else 0)
                    terms.append(term + (ends[states[-1]] if end else 0))
            values.append(torch.stack(terms).logsumexp(0))
        return torch.stack(values)

    results = []
    for function in (ours, enumerated):
        leaves = [table.clone().requires_grad_() for table in tables]
        values = function(*leaves)
        (values * weights).sum().backward()
        results.append((values, [torch.zeros_like(x) if x.grad is None else x.grad for x in leaves]))
    (ours_values, ours_grads), (values, grads) = results
    torch.testing.assert_close(ours_values, values, rtol=1e-9, atol=1e-9)
    for mine, other in zip(ours_grads, grads, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-9)


def test_counts_accumulate_over_batches():
    model = random_model(2)
    together = expected_counts(model, lattice_of(model, SEQUENCES))
    counts = Counts.zeros(model)
    for sequence in SEQUENCES:
        added = expected_counts(model, lattice_of(model, [sequence]), into=counts)
        assert added.emission is counts.emission
    for name in ("emission", "transition", "initial", "end", "proceed"):
        np.testing.assert_allclose(getattr(counts, name), getattr(together, name), **CLOSE)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_sequence_does_not_depend_on_its_batch(dtype):
    model = random_model(3, holes=True).to(dtype=dtype)
    sequences = [np.random.default_rng(i).integers(0, 3, 1 + 7 * i).tolist() for i in range(9)]
    together = log_marginal(model, lattice_of(model, sequences), end=True)
    assert together.isfinite().any()
    alone = torch.cat([log_marginal(model, lattice_of(model, [sequence]), end=True) for sequence in sequences])
    tolerance = 1e-12 if dtype == torch.float64 else 1e-6
    torch.testing.assert_close(together, alone, rtol=tolerance, atol=tolerance)


def test_all_strings_have_probability_one():
    """State 0 never ends and leads to state 1, which always ends: no string is longer than two segments."""
    model = random_model(7, vocabulary=2, longest=3, states=2)
    model = HSMM(
        lexicon=model.lexicon,
        emission=model.emission,
        transition=torch.tensor([[0.0, 1.0], [0.5, 0.5]], dtype=torch.float64),
        initial=model.initial,
        end=torch.tensor([0.0, 1.0], dtype=torch.float64),
    )
    strings = [list(string) for length in range(1, 7) for string in product(range(2), repeat=length)]
    assert float(log_marginal(model, lattice_of(model, strings), end=True).exp().sum()) == pytest.approx(1, abs=1e-12)


def test_strings_up_to_a_length_have_the_probability_of_such_lengths():
    model = random_model(8, vocabulary=2, longest=2, states=3)
    longest = 9
    strings = [list(string) for length in range(1, longest + 1) for string in product(range(2), repeat=length)]
    ours = float(log_marginal(model, lattice_of(model, strings), end=True).exp().sum())
    lengths = model.lexicon.lengths
    by_length = [model.emission.numpy()[lengths == n].sum(axis=0) for n in (1, 2)]
    begin = {0: model.initial.numpy()}
    expected = 0.0
    for t in range(1, longest + 1):
        finish = sum(begin[t - n] * by_length[n - 1] for n in (1, 2) if t - n in begin)
        expected += float(finish @ model.end.numpy())
        begin[t] = (finish * (1 - model.end.numpy())) @ model.transition.numpy()
    assert 0.5 < expected < 1
    assert ours == pytest.approx(expected, abs=1e-12)


def test_a_row_that_no_state_emits_is_no_segment():
    """As if it were not in the lexicon, and the sequences that need it have no probability."""
    model = random_model(4)
    keep = np.ones(len(model.lexicon), bool)
    keep[[0, 5, 9]] = False
    model.emission[torch.from_numpy(~keep)] = 0
    smaller = HSMM(
        model.lexicon.select(keep), model.emission[torch.from_numpy(keep)], model.transition, model.initial, model.end
    )
    sequences = [*SEQUENCES, [0], [0, 0]]
    value = seen(log_marginal(model, lattice_of(model, sequences)))
    np.testing.assert_allclose(value, seen(log_marginal(smaller, lattice_of(smaller, sequences))), **CLOSE)
    assert np.isinf(value).any()
    counts, fewer = (expected_counts(m, lattice_of(m, sequences)) for m in (model, smaller))
    np.testing.assert_allclose(counts.emission.numpy()[keep], fewer.emission, **CLOSE)
    assert float(counts.emission[torch.from_numpy(~keep)].abs().sum()) == 0
    best, other = (viterbi(m, lattice_of(m, sequences)) for m in (model, smaller))
    np.testing.assert_allclose(best.log_prob, other.log_prob, **CLOSE)
    np.testing.assert_array_equal(best.offsets, other.offsets)
    np.testing.assert_array_equal(best.states, other.states)


def test_a_transition_of_zero_counts_as_the_floor():
    model = random_model(6, states=2)
    model.emission[3:] = 0  # single tokens, each from one state
    model.emission[:3] = torch.tensor([[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]])
    model.transition[:] = torch.eye(2)
    likelihood = log_marginal(model, lattice_of(model, [[0, 0], [0, 1]]))
    initial = float(model.initial[0])
    assert likelihood.exp().tolist() == pytest.approx([initial, initial * 0.5e-100], rel=1e-9, abs=0)
    likelihood = log_marginal(model.to(dtype=torch.float32), lattice_of(model, [[0, 0], [0, 1]]))
    assert likelihood.exp().tolist() == pytest.approx([initial, initial * 0.5e-30], rel=1e-6, abs=0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_model_that_never_ends_gives_no_sequence_any_probability(dtype):
    model = random_model(6).to(dtype=dtype)
    model = replace(model, end=torch.zeros_like(model.end))
    lattice = lattice_of(model, SEQUENCES)
    assert log_marginal(model, lattice).isfinite().all()
    assert log_marginal(model, lattice, end=True).tolist() == [-np.inf] * len(SEQUENCES)
    counts = expected_counts(model, lattice, end=True)
    assert all(float(getattr(counts, name).abs().sum()) == 0 for name in ("emission", "transition", "initial", "end"))
    assert float(segment_posterior(model, lattice, end=True).abs().sum()) == 0
    best = viterbi(model, lattice, end=True)
    assert best.log_prob.tolist() == [-np.inf] * len(SEQUENCES)
    assert best.offsets.tolist() == [0] * (len(SEQUENCES) + 1)
    tables = (model.emission, model.transition, model.initial, model.end)
    assert log_marginal_of_logs(lattice, *(table.log() for table in tables)).tolist() == [-np.inf] * len(SEQUENCES)


def test_first_states_and_ends_of_zero_count_as_the_floor_too():
    model = random_model(6, states=2)
    model.emission[:] = 0
    model.emission[:2] = torch.eye(2)
    model = replace(model, initial=torch.tensor([1.0, 0.0]).double(), end=torch.tensor([0.0, 0.5]).double())
    likelihood = log_marginal(model, lattice_of(model, [[0], [1]]), end=True)
    assert likelihood.exp().tolist() == pytest.approx([1e-100, 0.5e-100], rel=1e-9, abs=0)


def test_gradients_of_gradients_are_refused():
    model = random_model(0)
    logs = model.emission.log().requires_grad_()
    value = log_marginal_of_logs(lattice_of(model, SEQUENCES), logs, model.transition.log(), model.initial.log())
    (gradient,) = torch.autograd.grad(value.square().sum(), logs, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_only_unparsable_sequences():
    model = random_model(0)
    longer = model.lexicon.lengths > 1
    emission = model.emission[torch.from_numpy(longer)]
    model = HSMM(model.lexicon.select(longer), emission, model.transition, model.initial, model.end)
    lattice = lattice_of(model, [[0], [1]])
    assert lattice.parsable.tolist() == [False, False]
    assert log_marginal(model, lattice).tolist() == [-np.inf, -np.inf]
    assert float(expected_counts(model, lattice).emission.sum()) == 0
    assert viterbi(model, lattice).offsets.tolist() == [0, 0, 0]
    assert len(segment_posterior(model, lattice)) == 0


def seen(values):
    return values.numpy()
