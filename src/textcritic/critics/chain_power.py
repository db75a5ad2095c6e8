"""Power of the test of section order: how often it notices that the sections of real documents are out of order."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.power import power_table
from textcritic.critics.scores import document_columns
from textcritic.critics.scoring import score_chains
from textcritic.critics.transitions import TransitionCritic
from textcritic.inference import PowerOptions, power_rows

VERSIONS = 10
"""Versions of each document with different sections out of order; each repetition draws one."""

Ints = npt.NDArray[np.int64]


def chain_power(critic: TransitionCritic, scores: pa.Table, options: PowerOptions) -> pa.Table:
    """How often a permutation test of log Latent PPL notices documents whose sections are out of order.

    Faults: "swapped", two neighbouring sections at random are exchanged; "shuffled", all sections are in random order.
    A document of one section stays as it is, and so does one that gets its own order by chance. Documents are drawn
    one by one, whatever their groups.

    Args:
        critic: the one that gave the scores.
        scores: of real text, see `scores.SCORES_SCHEMA`.
        options: what is tried; `shares` of the documents have the fault.

    Returns:
        Table of schema `POWER_SCHEMA`. No rows where there are too few documents, or a step has probability 0.

    Raises:
        TextcriticError: no repetitions, or every document was rejected.
    """
    rng = np.random.default_rng(options.seed)
    plain = document_columns(scores)
    some = options.some(len(plain), rng)
    chains = scores.filter(pc.invert(scores["rejected"]))["chain"].take(pa.array(some)).combine_chunks()
    lengths = pc.list_value_length(chains).to_numpy().astype(np.int64)
    rows = []
    if options.tried() and options.sizes(len(some)):
        for kind, fault in FAULTS.items():
            faulty = np.stack([_scored(critic, reordered(chains, fault(lengths, rng))) for _ in range(VERSIONS)])
            if np.isfinite(plain[some]).all() and np.isfinite(faulty).all():
                rows += [{"kind": kind, **row} for row in power_rows(plain[some], faulty, options)]
    return power_table(rows)


def swapped(lengths: Ints, rng: np.random.Generator) -> Ints:
    """The order in which two random neighbours of each document are exchanged: indices of all sections, [sections].

    Args:
        lengths: sections of each document.
        rng: of the choice.
    """
    order = np.arange(lengths.sum())
    first = (np.cumsum(lengths) - lengths + rng.integers(0, np.maximum(lengths - 1, 1)))[lengths > 1]
    order[first], order[first + 1] = first + 1, first
    return order


def shuffled(lengths: Ints, rng: np.random.Generator) -> Ints:
    """A random order of the sections of each document; arguments and result as of `swapped`."""
    document = np.repeat(np.arange(len(lengths)), lengths)
    return np.lexsort((rng.random(len(document)), document))


FAULTS: Mapping[str, Callable[[Ints, np.random.Generator], Ints]] = {"swapped": swapped, "shuffled": shuffled}


def reordered(chains: pa.ListArray, order: Ints) -> pa.ListArray:
    """The same documents with their sections in another order."""
    return pa.ListArray.from_arrays(chains.offsets, chains.values.take(pa.array(order)))


def _scored(critic: TransitionCritic, chains: pa.ListArray) -> npt.NDArray[np.float64]:
    """(nats, steps) of each document, [documents, 2]; 0 where no step between known titles is left."""
    scores = score_chains(critic, [""] * len(chains), chains)
    columns = [scores["nll"].to_numpy(), scores["steps"].to_numpy()]
    return np.where(scores["rejected"].to_numpy()[:, None], 0.0, np.column_stack(columns))
