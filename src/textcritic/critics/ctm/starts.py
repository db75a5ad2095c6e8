"""Fits from several starts: the one of the highest bound is kept, the others say how far a number depends on the start.

EM ends in a local optimum. Every start has its own draw of documents and runs until it has converged. So the fits
differ by chance alone, and the spread of a number over them shows how much another seed would change it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.train import Fit, fit_ctm
from textcritic.plan.entries import Ctm
from textcritic.runlog import log
from textcritic.values import JsonObject


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Fits of the same documents from several starts.

    Attributes:
        fits: [S], the highest bound first.
        seeds: [S], those of their starts.
    """

    fits: tuple[Fit, ...]
    seeds: tuple[int, ...]

    @property
    def best(self) -> Fit:
        """The fit that is kept."""
        return self.fits[0]

    @property
    def others(self) -> tuple[CTM, ...]:
        """The models of the other starts, the highest bound first."""
        return tuple(fit.critic for fit in self.fits[1:])

    @property
    def seconds(self) -> float:
        """Time that all of them took."""
        return sum(fit.seconds for fit in self.fits)

    def record(self) -> list[JsonObject]:
        """One entry a start: `seed`, `bound` (nats, the last), `iterations`, `converged`, `seconds`."""
        return [
            {
                "seed": seed,
                "bound": float(fit.bounds[-1]),
                "iterations": len(fit.bounds),
                "converged": bool(fit.converged),
                "seconds": float(fit.seconds),
            }
            for seed, fit in zip(self.seeds, self.fits, strict=True)
        ]


def fit_starts(
    counts: csr_matrix,
    entry: Ctm,
    *,
    state: Path | None = None,
    workers: int = 1,
) -> Fits:
    """Fit from several starts, one after the other, each as `train.fit_ctm` does until it has converged.

    Args:
        counts: [documents, words], whole numbers.
        entry: how each is fitted, and S, their number; the seeds of the starts come from its seed.
        state: a folder, in which each start has its own; what a killed fit had finished is not done again. None:
            nothing is kept.
        workers: threads. The result does not depend on their number.

    Raises:
        TextcriticError: as `train.fit_ctm`.
    """
    fits: list[tuple[Fit, int]] = []
    for number in range(entry.starts):
        seed = seed_of_start(entry.seed, number)
        folder = None if state is None else state / f"start{number + 1}"
        fit = fit_ctm(counts, entry.changed(seed=seed), state=folder, workers=workers)
        log.info("start %d of %d: bound %s nats", number + 1, entry.starts, f"{fit.bounds[-1]:,.0f}")
        fits.append((fit, seed))
        if folder is not None and fit.converged:
            for path in folder.glob("posteriors-*"):  # no longer needed, and large
                path.unlink()
    best_first = sorted(fits, key=lambda pair: -pair[0].bounds[-1])
    return Fits(tuple(fit for fit, _ in best_first), tuple(seed for _, seed in best_first))


def seed_of_start(seed: int, number: int) -> int:
    """The seed of a start, by its number from 0; no two starts of small seeds have the same."""
    return int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
