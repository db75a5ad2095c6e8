"""Log-likelihood and gradient of the hidden semi-Markov model, against dense semi-Markov potentials.

    pytest benchmarks/test_bench_hsmm.py -s

The dense way needs a table of [sequences, tokens, D, K, K] for each batch. Two implementations of it are measured on
the same model and sequences: torch-struct's SemiMarkovCRF from PyPI, which merges intervals in log(tokens) rounds, and
a plain recursion over positions, which does less work. Making the table, with its gradient, is timed apart. All
segments of the sequences are in the lexicon, so nothing is saved by leaving any out.
"""

import time

import numpy as np
import pytest
import torch
from timing import fastest
from torch_struct import SemiMarkovCRF

from textcritic.generators.hsmm import HSMM, Counts, Lattice, Lexicon, expected_counts, log_marginal_of_logs

LONGEST, VOCABULARY = 11, 4
# CPU time of one thread, so that other work on the machine does not count.
pytestmark = [
    pytest.mark.benchmark(timer=time.process_time, disable_gc=True),
    pytest.mark.usefixtures("one_thread"),
]


def batch(states, tokens, sequences):
    """Logarithms of a random model's tables, and a lattice with every segment of random sequences."""
    rng = np.random.default_rng(0)
    symbols = rng.integers(0, VOCABULARY, tokens * sequences)
    offsets = np.arange(sequences + 1) * tokens
    lexicon = Lexicon.count(symbols, offsets, VOCABULARY, LONGEST)
    rows = lexicon.rows(symbols, offsets)
    generator = torch.Generator().manual_seed(0)
    emission = torch.randn(len(lexicon), states, generator=generator).log_softmax(0)
    transition = torch.randn(states, states, generator=generator).log_softmax(1)
    initial = torch.randn(states, generator=generator).log_softmax(0)
    return [emission, transition, initial], Lattice.build(rows, offsets), rows.reshape(sequences, tokens, LONGEST)


def factored(tables, lattice):
    leaves = [table.clone().requires_grad_() for table in tables]
    values = log_marginal_of_logs(lattice, *leaves)
    values.sum().backward()
    return values.detach(), [leaf.grad for leaf in leaves]


def potentials(tables, rows):
    """Edges [sequences, border, tokens of the segment, state, state before], 0 tokens being no segment."""
    emission, transition, initial = tables
    sequences, tokens, longest = rows.shape
    edges = torch.full((sequences, tokens, longest + 1, len(initial), len(initial)), -1e5)
    for n in range(1, longest + 1):
        row = torch.from_numpy(rows[:, n - 1 :, n - 1].astype(np.int64))
        edges[:, : tokens - n + 1, n] = emission[row][..., None] + transition.T
        first = torch.full_like(transition, -1e5)  # before the first segment is one state, which emitted nothing
        first[:, 0] = initial
        edges[:, 0, n] = emission[row[:, 0]][..., None] + first
    return edges


def torch_struct(edges):
    tokens = torch.full((len(edges),), edges.shape[1] + 1)
    return SemiMarkovCRF(edges, lengths=tokens).partition


def plain(edges):
    """One logsumexp over lengths and states before, for each position."""
    sequences, tokens, longest = edges.shape[0], edges.shape[1], edges.shape[2] - 1
    pieces = [of_border.unbind(1) for of_border in edges.unbind(1)]
    reached = [torch.zeros(sequences, edges.shape[-1])]
    for t in range(1, tokens + 1):
        ways = [reached[t - n][:, None] + pieces[t - n][n] for n in range(1, min(t, longest) + 1)]
        reached.append(torch.cat(ways, dim=2).logsumexp(2))
    return reached[-1].logsumexp(1)


def dense(partition, tables, rows):
    """Values, gradients, and the seconds of the table, the partition function, and the two gradients."""
    leaves = [table.clone().requires_grad_() for table in tables]
    times = [time.process_time()]
    edges = potentials(leaves, rows)
    times.append(time.process_time())
    cut = edges.detach().requires_grad_()
    values = partition(cut)
    values.sum().backward()
    times.append(time.process_time())
    edges.backward(cut.grad)
    times.append(time.process_time())
    table, middle, back = np.diff(times)
    return values.detach(), [leaf.grad for leaf in leaves], middle, table + back


# The dense ways hold up to 3 GB at these sizes.
@pytest.mark.parametrize(
    ("name", "partition", "states", "tokens", "sequences"),
    [
        ("torch-struct's SemiMarkovCRF", torch_struct, 16, 60, 1),
        ("torch-struct's SemiMarkovCRF", torch_struct, 8, 60, 4),
        ("a plain dense recursion", plain, 128, 60, 8),
        ("a plain dense recursion", plain, 256, 60, 2),
    ],
)
def test_dense_potentials(benchmark, capsys, name, partition, states, tokens, sequences):
    tables, lattice, rows = batch(states, tokens, sequences)
    values, gradients = benchmark.pedantic(factored, (tables, lattice), rounds=5, warmup_rounds=1)
    ours = benchmark.stats.stats.median
    expected, exact, middle, table = dense(partition, tables, rows)
    torch.testing.assert_close(values.float(), expected, rtol=0, atol=1e-4 * tokens)
    for mine, other in zip(gradients, exact, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-3)
    benchmark.extra_info |= {"ratio": middle / ours, "ratio with the table": (middle + table) / ours}
    with capsys.disabled():
        print(
            f"\nK = {states}, D = {LONGEST}, {tokens} tokens, {sequences} sequences: {ours * 1e3:.1f} ms, "
            f"{ours / tokens / sequences * 1e6:.0f} us a token; {name}: {middle:.2f} s, ratio {middle / ours:.0f}; "
            f"its table {table:.2f} s, ratio with it {(middle + table) / ours:.0f}"
        )


@pytest.mark.parametrize("states", [100, 400])
def test_cost_is_linear(benchmark, capsys, states):
    def seconds_a_token(tokens, sequences):
        tables, lattice, _ = batch(states, tokens, sequences)
        best = fastest(lambda: factored(tables, lattice), 3)
        return best / tokens / sequences

    once = benchmark.pedantic(seconds_a_token, (100, 8), rounds=1, iterations=1)
    longer, more = seconds_a_token(400, 8), seconds_a_token(100, 32)
    benchmark.extra_info |= {"4 T": longer / once, "4 B": more / once}
    with capsys.disabled():
        print(
            f"\nK = {states}: {once * 1e6:.0f} us a token of 8 sequences of 100 tokens; "
            f"of 400 tokens x {longer / once:.2f}; of 32 sequences x {more / once:.2f}"
        )


@pytest.mark.parametrize(("states", "sequences"), [(100, 512), (800, 64)])
def test_expected_counts_of_certain_segmentations(benchmark, capsys, states, sequences):
    """The paper's process, 50 of 10,000 segments of 4 to 11 tokens that end in a delimiter, once the lexicon is pruned.

    The share of matrix products is what the same number of products alone takes.
    """
    rng = np.random.default_rng(0)
    lengths = rng.integers(4, 12, 10_000)
    segments = [np.append(rng.integers(1, 53, n - 1), 0) for n in lengths]
    flat, offsets = np.concatenate(segments), np.concatenate([[0], np.cumsum(lengths)])
    lexicon = Lexicon.count(flat, offsets, 53, LONGEST)
    keep = np.zeros(len(lexicon), bool)
    keep[lexicon.rows(flat, offsets)[offsets[1:] - 1, lengths - 1]] = True
    lexicon = lexicon.select(keep)
    generator = torch.Generator().manual_seed(0)
    tables = [
        torch.randn(shape, generator=generator) for shape in [(len(lexicon), states), (states, states), (states,)]
    ]
    emission, transition, initial = (table.softmax(dim) for table, dim in zip(tables, (0, 1, 0), strict=True))
    model = HSMM(lexicon, emission, transition, initial, torch.full_like(initial, 0.02))
    sequence = [np.concatenate([segments[i] for i in rng.integers(0, len(segments), 50)]) for _ in range(sequences)]
    offsets = np.concatenate([[0], np.cumsum([len(tokens) for tokens in sequence])])
    lattice = Lattice.build(lexicon.rows(np.concatenate(sequence), offsets), offsets)
    counts = Counts.zeros(model)
    benchmark.pedantic(lambda: expected_counts(model, lattice, into=counts), rounds=5, warmup_rounds=1)
    ours = benchmark.stats.stats.median
    level = torch.rand(sequences, states)
    products = 3 * 50 * fastest(lambda: level @ transition, 20)
    benchmark.extra_info |= {"sequences_per_second": sequences / ours, "matrix products": products / ours}
    with capsys.disabled():
        print(
            f"\nexpected counts, K = {states}, batch {sequences}: {sequences / ours:,.0f} sequences/s; "
            f"{products / ours:.0%} is matrix products"
        )
