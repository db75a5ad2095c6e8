"""Critics of the order of sentences fitted anew on any documents of a set: what cross-fitting asks for."""

import numpy as np

from textcritic.critics.order.critic import UNIT
from textcritic.critics.order.sentences import Floats, Ints
from textcritic.inference.crossfit import PARTNER, SAMPLE, Parts
from textcritic.inference.statistics import Array


class OrderRefit:
    """Real documents and those of a sample, put together, whose labels and orders decide nothing of A.

    The mean of a critic's documents is a sum, so all critics of a deal are one product of matrices.

    Args:
        found: features [documents, features], see `arrangements.Arranged`.
        counted: sentences of each document.
        shape: A, of all of them.
    """

    def __init__(self, found: Floats, counted: Ints, shape: Floats) -> None:
        root = np.linalg.cholesky(shape)
        white = np.linalg.solve(root, found.T).T
        if len(white) < white.shape[1]:  # the same products in as many dimensions as there are documents
            white = np.linalg.qr(white.T).R.T
        self._columns = np.column_stack([white, counted])

    def sums(self, parts: Parts) -> tuple[Array, Array]:
        """(Evidence in nats times `UNIT`, sentences) of real documents, and of the sample; see `inference.Refit`."""
        of_real, partners, critics, used = self._sides(parts)
        strangers = self._columns[parts == SAMPLE].sum(axis=0)
        alone = strangers[:-1] @ critics[used].mean(axis=0) if used.any() else np.nan
        sides = [(of_real[:, :-1] * critics).sum(), alone + (partners[:, :-1] * critics).sum()]
        sizes = [of_real[:, -1].sum(), strangers[-1] + partners[:, -1].sum()]
        real, sample = (np.array([UNIT * side, size]) for side, size in zip(sides, sizes, strict=True))
        return real, sample

    def _sides(self, parts: Parts) -> tuple[Array, Array, Array, np.ndarray]:
        """Sums [parts, columns] of real documents and of their partners; critics [parts, features]; which there are."""
        number = np.arange(int(parts.max(initial=-1)) + 1)[:, None]
        of_real = (parts == number).astype(np.float64) @ self._columns
        of_partners = (parts == PARTNER - number).astype(np.float64) @ self._columns
        others = of_real.sum(axis=0) - of_real
        critics = np.divide(others[:, :-1], others[:, -1:], out=np.zeros_like(others[:, :-1]), where=others[:, -1:] > 0)
        return of_real, of_partners, critics, np.isin(number[:, 0], parts)


def weights_of(found: Floats, counted: Ints, shape: Floats, parts: Parts) -> Floats:
    """The weights of features that the critics of each part have, see `OrderCritic.weights`: [parts, features]."""
    real = np.flatnonzero(parts >= 0)
    sums, sizes = (np.zeros((int(parts.max()) + 1, of)) for of in (found.shape[1], 1))
    np.add.at(sums, parts[real], found[real])
    np.add.at(sizes, parts[real], counted[real, None])
    weights: Floats = UNIT * np.linalg.solve(shape, ((sums.sum(axis=0) - sums) / (sizes.sum() - sizes)).T).T
    return weights
