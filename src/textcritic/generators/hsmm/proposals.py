"""Proposals of known quality for a hidden semi-Markov model: how importance sampling errs can be seen on them.

Each is made from the model's own tables, is normalised, and has an exact log q, see `posterior.Proposal`. In the words
of the paper on latent language models (section 3), all but `without_peeking` peek: they read tokens that the model has
not yet been asked for.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.posterior import Graph, Proposal, posterior
from textcritic.generators.hsmm.recursion import VALUES_AT_ONCE, Tables

NOISE, NOISE_SEED = 1.0, 1  # nats, of the proposal `noisy`
LEAST = 1e-30  # smallest weight relative to the largest, so that no weight is zero


def tempered(tables: Tables, temperature: float) -> Tables:
    """Every potential to the power 1 / temperature: above 1 flatter than the posterior, below 1 sharper.

    With `posterior` it is the global q^(1/tau) renormalised over all paths, as in RNNG's code, not a local softmax.

    Raises:
        TextcriticError: the temperature is not a positive number.
    """
    if not 0 < temperature < np.inf:
        raise TextcriticError(f"temperature: {temperature} is not possible; give a positive number, e.g. 1.1")
    power = 1 / temperature
    small = (tables.transition, tables.initial, tables.final)
    transition, initial, final = ((table**power).clamp_min(tables.floor) for table in small)
    return Tables(tables.emission**power, tables.log_top * power, transition, initial, final)


def flattened(tables: Tables, share: float, rows: int) -> Tables:
    """Every probability mixed with the uniform one: (1 - share) p + share / number of outcomes.

    Args:
        tables: of K states.
        share: of the uniform distribution.
        rows: of the lexicon, R.

    Raises:
        TextcriticError: the share is not in [0, 1].
    """
    _check_share(share)
    emission = tables.emission * tables.log_top.exp()[:, None]
    states = len(tables.initial)
    return Tables.of_probabilities(
        (1 - share) * emission + share / rows,
        (1 - share) * tables.transition + share / states,
        (1 - share) * tables.initial + share / states,
        tables.final,
    )


def noisy(tables: Tables, deviation: float, seed: int) -> Tables:
    """Every potential times exp(normal noise), to imitate a proposal that was learnt and is somewhat wrong.

    Args:
        tables: of K states.
        deviation: standard deviation of the noise, in nats.
        seed: of the noise.

    Raises:
        TextcriticError: a negative deviation.
    """
    if not 0 <= deviation < np.inf:
        raise TextcriticError(f"deviation: {deviation} is not possible; give 0 or a positive number of nats")
    rng = np.random.default_rng(seed)
    emission, transition, initial = (
        table * torch.from_numpy(np.exp(deviation * rng.standard_normal(table.shape)))
        for table in (tables.emission * tables.log_top.exp()[:, None], tables.transition, tables.initial)
    )
    # The passes need transitions of at most one; a constant factor changes the normaliser, not the proposal.
    return Tables.of_probabilities(emission, transition / transition.max(), initial / initial.max(), tables.final)


def withheld(tables: Tables, states: int, floor: float = 0.0) -> Tables:
    """For each segment only the states that emit it most keep their probability.

    With `floor` 0, what the posterior gives to other states is out of q's support: p-hat estimates less than p(x), by
    exactly the share that `posterior` of these tables has of the whole, and no weight shows it.

    Args:
        tables: of K states.
        states: how many keep it; ties are kept too.
        floor: what the other probabilities are multiplied by.

    Raises:
        TextcriticError: `states` is not in 1 ... K, or the floor not in [0, 1].
    """
    if not 1 <= states <= len(tables.initial):
        raise TextcriticError(f"states: {states} is not possible; keep 1 to {len(tables.initial)} of a segment")
    _check_share(floor)
    least = tables.emission.topk(states, dim=1).values[:, -1:]
    emission = torch.where(tables.emission >= least, tables.emission, tables.emission * floor)
    return replace(tables, emission=emission)


@torch.no_grad()
def segment_by_segment(tables: Tables, graph: Graph) -> Proposal:
    """A proposal that reads one segment ahead: q(state, segment) is transition times emission, normalised at each.

    As a filter of a latent language model that peeks at the next token, it does not know the rest of the text.

    Args:
        tables: the model's own, K states.
        graph: of B sequences.
    """
    tables = replace(tables, emission=tables.emission.clamp_min(LEAST))
    lattice = graph.lattice
    top = torch.full(lattice.sequence.shape, -torch.inf, dtype=torch.float64)
    top.scatter_reduce_(0, lattice.start, tables.log_top[lattice.row], "amax")
    worth = tables.emission.new_zeros(len(lattice.sequence), len(tables.initial))
    step = max(1, VALUES_AT_ONCE["cpu"] // len(tables.initial))
    for first in range(0, len(lattice.row), step):
        start, row = lattice.start[first : first + step], lattice.row[first : first + step]
        share = (tables.log_top[row] - top[start]).exp().clamp_min(LEAST)
        worth.index_add_(0, start, tables.emission[row] * share[:, None])
    behind = np.broadcast_to(1.0, worth.shape)
    return Proposal(graph, tables, worth.numpy(), behind, np.zeros(len(worth)))


def without_peeking(model: HSMM, tables: Tables, graph: Graph) -> Proposal:
    """A proposal that does not read what a segment says: the state is the model's next one, the length its own.

    Lengths at which the text cannot be cut are left out, as else hardly any path would reach the end (the paper: "a
    non-peeking variant generates invalid parse trees").

    Args:
        model: K states, whose lengths these are.
        tables: of it.
        graph: of B sequences.
    """
    of_row = torch.from_numpy(model.lexicon.lengths)
    lengths = torch.zeros(model.lexicon.longest, model.states, dtype=torch.float64)
    lengths.index_add_(0, of_row - 1, model.emission.double())
    emission = lengths[of_row[graph.lattice.rows] - 1].clamp_min(LEAST)
    blind = replace(tables, emission=emission, log_top=torch.zeros_like(tables.log_top))
    everything = np.broadcast_to(1.0, (len(graph.position), model.states))
    return Proposal(graph, blind, everything, everything, np.zeros(len(graph.position)))


def make_proposal(name: str, value: float, model: HSMM, tables: Tables, graph: Graph) -> Proposal:
    """A proposal by its name and its one number.

    Args:
        name: `tempered` (temperature), `noisy` (temperature; the noise is `NOISE` nats), `flattened` (share),
            `withheld` (states), `floored` (states, the others times a thousandth), `segment` or `blind` (no number:
            give 0).
        value: the number.
        model: the language model.
        tables: its own, see `recursion.tables_of`.
        graph: of B sequences.

    Raises:
        TextcriticError: an unknown name, or a number out of range.
    """
    makers: dict[str, Callable[[], Proposal]] = {
        "tempered": lambda: posterior(tempered(tables, value), graph),
        "noisy": lambda: posterior(tempered(noisy(tables, NOISE, NOISE_SEED), value), graph),
        "flattened": lambda: posterior(flattened(tables, value, len(model.lexicon)), graph),
        "withheld": lambda: posterior(withheld(tables, int(value)), graph),
        "floored": lambda: posterior(withheld(tables, int(value), 1e-3), graph),
        "segment": lambda: segment_by_segment(tables, graph),
        "blind": lambda: without_peeking(model, tables, graph),
    }
    if name not in makers:
        raise TextcriticError(f"proposal: {name!r} is unknown; give one of {', '.join(makers)}")
    return makers[name]()


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise TextcriticError(f"share: {share} is not possible; give a number from 0 to 1")
