"""Annealing of trees, from the CRF's distribution q to an RNNG's posterior, for `benchmarks/annealing.py`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.rnng.crf import CRF
from textcritic.generators.latent.rnng.model import RNNG
from textcritic.inference.statistics import Array


@dataclass(frozen=True)
class TreeChains:
    """K trees of each of N texts.

    Attributes:
        trees: of each text, int8 [K, 2n - 1].
        log_ratio: log p(x, z) - log q(z | x), in nats [N, K].
    """

    trees: tuple[torch.Tensor, ...]
    log_ratio: Array


class TreeAnnealing:
    """What `annealing` needs of an RNNG and its CRF, for some texts.

    A move proposes a new tree drawn from q for each chain. With respect to q^(1 - b) p^b it is accepted with
    probability min(1, (w' / w)^b), where w = p(x, z) / q(z | x): the independence sampler of Metropolis and Hastings
    (Tierney 1994, section 2.3.3), which is reversible. A move costs as much as one more sample of importance sampling.

    Args:
        model: p(x, z).
        proposal: q(z | x).
        texts: N of them.
        temperature: of q, in the moves too.
    """

    kernel = "independent Metropolis from the CRF"

    def __init__(self, model: RNNG, proposal: CRF, texts: Sequence[Structured], temperature: float = 1.0) -> None:
        self.model, self.proposal, self.texts, self.temperature = model, proposal, texts, temperature

    def begin(self, chains: int, rng: np.random.Generator) -> TreeChains:
        """K = `chains` draws from q for each text."""
        random = torch.Generator().manual_seed(int(rng.integers(2**62)))
        drawn = [self.proposal.draw(text, chains, self.temperature, random) for text in self.texts]
        return self._chains(*zip(*drawn, strict=True))

    def own(self, chains: int) -> TreeChains:
        """The tree that each text has, K times: if the model drew both, an exact draw from the posterior."""
        trees = [self.model.states_of(text) for text in self.texts]
        log_q = [self.proposal.log_q(*pair, self.temperature) for pair in zip(self.texts, trees, strict=True)]
        once = self._chains(trees, log_q)
        return TreeChains(tuple(t.repeat(chains, 1) for t in once.trees), np.repeat(once.log_ratio, chains, axis=1))

    def log_ratio(self, states: TreeChains) -> Array:
        """Log p(x, z) - log q(z | x) in nats [N, K]."""
        return states.log_ratio

    def move(self, states: TreeChains, power: float, rng: np.random.Generator) -> TreeChains:
        """One move of each chain, see the class."""
        new = self.begin(states.log_ratio.shape[1], rng)
        accepted = np.log(rng.random(new.log_ratio.shape)) < power * (new.log_ratio - states.log_ratio)
        trees = tuple(
            torch.where(torch.from_numpy(rows)[:, None], one, other)
            for rows, one, other in zip(accepted, new.trees, states.trees, strict=True)
        )
        return TreeChains(trees, np.where(accepted, new.log_ratio, states.log_ratio))

    def _chains(self, trees: Sequence[torch.Tensor], log_q: Sequence[torch.Tensor]) -> TreeChains:
        log_p = self.model.log_joints(self.texts, trees)
        ratios = [(p - q).numpy() for p, q in zip(log_p, log_q, strict=True)]
        return TreeChains(tuple(trees), np.stack(ratios))
