"""All paths of small sequences as arrays, and a test of draws against exact probabilities."""

import numpy as np
from scipy.stats import chi2
from tiny_hsmm import lattice_of, paths

from textcritic.generators.hsmm import HSMM
from textcritic.generators.hsmm.posterior import NONE, Graph, Paths
from textcritic.generators.hsmm.recursion import Tables, tables_of


def block_of(model: HSMM, sequences: list[list[int]]) -> tuple[Tables, Graph]:
    lattice = lattice_of(model, sequences)
    return tables_of(model, lattice, end=False), Graph(lattice)


def all_paths(model: HSMM, graph: Graph, sequence: list[int]) -> tuple[Paths, np.ndarray]:
    """Every path of the one sequence of a graph, and its joint probability."""
    rows = graph.lattice.rows.tolist()
    borders = zip(graph.position[graph.start], graph.position[graph.end], graph.row, strict=True)
    arc_of = {(int(a), int(b), rows[row]): arc for arc, (a, b, row) in enumerate(borders)}
    every = list(paths(model, sequence, end=False))
    arcs, states = (np.full((1, len(every), len(sequence)), NONE) for _ in range(2))
    for number, (segments, of_segments, _) in enumerate(every):
        for segment, state in zip(segments, of_segments, strict=True):
            arcs[0, number, segment[0]] = arc_of[segment]
            states[0, number, segment[0]] = state
    return Paths(arcs, states), np.array([probability for _, _, probability in every])


def key_of(found: Paths) -> list[bytes]:
    """Of each path of the first sequence."""
    return [a.tobytes() + s.tobytes() for a, s in zip(found.arcs[0], found.states[0], strict=True)]


def fits(counts: np.ndarray, shares: np.ndarray) -> float:
    """p of Pearson's chi-square test; cells of fewer than 5 expected are put together."""
    expected = shares * counts.sum()
    assert counts[expected == 0].sum() == 0
    few = expected < 5
    pooled = np.append(counts[~few], counts[few].sum()), np.append(expected[~few], expected[few].sum())
    observed, wanted = (part[pooled[1] > 0] for part in pooled)
    return float(chi2.sf(((observed - wanted) ** 2 / wanted).sum(), len(wanted) - 1))
