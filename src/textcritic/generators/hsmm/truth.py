"""Importance sampling of a hidden semi-Markov model against its exact log p(x): weights, and curves of perplexity."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.posterior import Floats, Graph, log_potential, posterior
from textcritic.generators.hsmm.proposals import make_proposal
from textcritic.generators.hsmm.recursion import Tables, tables_of
from textcritic.generators.hsmm.text import Text
from textcritic.inference.importance import LogWeights, curves, mixture_weights
from textcritic.inference.importance.estimates import perplexity
from textcritic.runlog import Progress
from textcritic.values import Row

BLOCK = 20  # sequences whose lattice is in memory at a time
AT_ONCE = 100  # paths of each


@dataclass(frozen=True)
class Weighed:
    """K paths of each of N sequences from each of M proposals.

    Attributes:
        proposals: name and number of each, see `proposals.make_proposal`.
        log_p: log joint of each path in nats [N, M, K].
        log_q: log-probability of each path under every proposal, [N, M, K, M]: the second axis is the proposal that the
            path was drawn from, the last axis the proposal that gives the probability. NaN under other proposals, if
            these were not asked for or one of the two is not globally normalised.
        reached: log of the share of the posterior that a proposal can reach at all, [N, M]: 0 except for `withheld`.
        exact: log p(x) in nats [N].
        tokens: how many tokens each sequence has [N].
    """

    proposals: tuple[tuple[str, float], ...]
    log_p: Floats
    log_q: Floats
    reached: Floats
    exact: Floats
    tokens: Floats

    @property
    def exact_perplexity(self) -> float:
        """Of all sequences."""
        return perplexity(float(self.exact.sum()), float(self.tokens.sum()))

    def weights(self, proposal: int) -> LogWeights:
        """Of the draws from one proposal, [N, K]."""
        return LogWeights.of(self.log_p[:, proposal], self.log_q[:, proposal, :, proposal], self.tokens)

    def mixture(self, proposals: Sequence[int]) -> LogWeights:
        """Of the draws from several, weighed as draws from their mixture, [N, K * proposals]."""
        some = list(proposals)
        log_p, log_q = self.log_p[:, some], self.log_q[:, some][..., some]
        texts, count, draws = log_p.shape
        ids = tuple(map(str, range(texts)))
        joined = log_q.reshape(texts, count * draws, count)
        return mixture_weights(log_p.reshape(texts, -1), joined, [draws] * count, self.tokens, ids)

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file holds."""
        names, values = zip(*self.proposals, strict=True)
        arrays = {key: getattr(self, key) for key in ("log_p", "log_q", "reached", "exact", "tokens")}
        return {"names": np.array(names), "values": np.array(values, np.float64), **arrays}


def weigh(
    model: HSMM, text: Text, proposals: Sequence[tuple[str, float]], draws: int, seed: int, across: bool = False
) -> Weighed:
    """Draw paths of sequences from proposals and weigh them; the ends of sequences are not modelled, as published.

    Args:
        model: K states; taken in float64.
        text: N sequences.
        proposals: name and number of each, see `proposals.make_proposal`.
        draws: K, paths of each sequence from each proposal.
        seed: of `numpy.random.default_rng`.
        across: whether each path's log q under the other proposals is computed too, which `Weighed.mixture` needs.

    Raises:
        TextcriticError: no proposal or draw, an unknown proposal, or a sequence that the model cannot make.
    """
    if not proposals or draws < 1:
        raise TextcriticError(f"{len(proposals)} proposals, {draws} draws; give at least 1 of both")
    model, rng = model.to(dtype=torch.float64), np.random.default_rng(seed)
    parts = [
        _weigh_block(model, tables, graph, (proposals, draws, across), rng)
        for tables, graph in blocks(model, text, "importance weights")
    ]
    log_p, log_q, reached, exact = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Weighed(tuple(proposals), log_p, log_q, reached, exact, np.diff(text.offsets).astype(np.float64))


def blocks(model: HSMM, text: Text, what: str) -> Iterator[tuple[Tables, Graph]]:
    """The tables and the graph of some sequences at a time, with progress."""
    progress = Progress(what, len(text), "sequences")
    for first in range(0, len(text), BLOCK):
        tables, graph = tables_and_graph(model, text.part(first, first + BLOCK))
        yield tables, graph
        progress.advance(len(graph.begins))


def tables_and_graph(model: HSMM, text: Text) -> tuple[Tables, Graph]:
    """The model's own tables and all paths of some sequences; raises as `posterior.Graph`."""
    lattice = Lattice.build(model.lexicon.rows(text.tokens, text.offsets), text.offsets)
    return tables_of(model, lattice, end=False), Graph(lattice)


def curve_rows(
    weights: Mapping[float, LogWeights], exact: float, draws: Sequence[int], repeats: int = 100
) -> list[Row]:
    """What a picture of perplexity against K shows, a row for each temperature, level and K.

    Args:
        weights: by temperature.
        exact: perplexity.
        draws: numbers K.
        repeats: random sub-samples of K draws.

    Returns:
        `temperature`, `level` (instance or corpus), `draws`, `mean` of the repeats' perplexities, `low` and `high` (the
        middle 95% of them lie between), `exact`.
    """
    rows: list[Row] = []
    for temperature, of_temperature in weights.items():
        both = curves(of_temperature, draws, repeats)
        for level, curve in (("instance", both.instance), ("corpus", both.corpus)):
            for count, band in zip(curve.draws.tolist(), curve.bands, strict=True):
                numbers = {key: value for key, value in asdict(band).items() if key != "repeats"}
                rows.append({"temperature": temperature, "level": level, "draws": count, **numbers, "exact": exact})
    return rows


def _weigh_block(
    model: HSMM,
    tables: Tables,
    graph: Graph,
    asked: tuple[Sequence[tuple[str, float]], int, bool],
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats, Floats]:
    """`log_p`, `log_q`, `reached` and `exact` of a block."""
    specs, draws, across = asked
    exact = posterior(tables, graph).log_normaliser
    assert exact is not None
    proposals = [make_proposal(name, value, model, tables, graph) for name, value in specs]
    log_p = np.empty((len(exact), len(proposals), draws))
    log_q = np.full((*log_p.shape, len(proposals)), np.nan)
    reached = np.zeros((len(exact), len(proposals)))
    for number, proposal in enumerate(proposals):
        if specs[number][0] == "withheld" and proposal.log_normaliser is not None:
            reached[:, number] = proposal.log_normaliser - exact
        for first in range(0, draws, AT_ONCE):
            some = slice(first, min(first + AT_ONCE, draws))
            paths, log_q[:, number, some, number] = proposal.draw(some.stop - first, rng)
            log_p[:, number, some] = log_potential(tables, graph, paths)
            for other, under in enumerate(proposals if across and proposal.log_normaliser is not None else ()):
                if other != number and under.log_normaliser is not None:
                    log_q[:, number, some, other] = under.log_q(paths)
    return log_p, log_q, reached, exact
