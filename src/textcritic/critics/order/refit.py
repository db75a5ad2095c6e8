"""Critics of the order of sentences, refitted on any documents of a set; used for cross-fitting."""

import numpy as np

from textcritic.critics.order.critic import UNIT
from textcritic.critics.order.sentences import Floats, Ints
from textcritic.inference.crossfit import PARTNER, SAMPLE, Parts
from textcritic.inference.statistics import Array


class OrderRefit:
    """Real documents and those of a sample together; A does not depend on their labels or orders.

    The mean of a critic's documents is a sum, so all critics of a deal are computed with one product of matrices.

    Args:
        features: [documents, features], see `arrangements.Arranged`.
        counted: sentences of each document.
        shape: A, of all of them.
    """

    def __init__(self, features: Floats, counted: Ints, shape: Floats) -> None:
        root = np.linalg.cholesky(shape)
        white = np.linalg.solve(root, features.T).T
        if len(white) < white.shape[1]:  # the same products in as many dimensions as there are documents
            white = np.linalg.qr(white.T).R.T
        self._columns = np.column_stack([white, counted])

    def sums(self, parts: Parts) -> tuple[Array, Array]:
        """(Evidence in nats times `UNIT`, sentences) of real documents, and of the sample; see `inference.Refit`."""
        number = np.arange(int(parts.max(initial=-1)) + 1)
        strangers, *of_real = self._sums(parts, np.append(SAMPLE, number))
        real = np.array(of_real).reshape(len(number), -1)
        others = real.sum(axis=0) - real
        known = others[:, -1:] > 0
        critics = np.divide(others[:, :-1], others[:, -1:], out=np.zeros_like(others[:, :-1]), where=known)
        used = real[:, -1] > 0
        alone = strangers[:-1] @ critics[used].mean(axis=0) if used.any() else np.nan
        evidence, sizes = [(real[:, :-1] * critics).sum(), alone], [real[:, -1].sum(), strangers[-1]]
        if (parts <= PARTNER).any():
            partners = self._sums(parts, PARTNER - number)
            evidence[1] += (partners[:, :-1] * critics).sum()
            sizes[1] += partners[:, -1].sum()
        of_sides: Array = np.column_stack([UNIT * np.array(evidence), sizes])
        return of_sides[0], of_sides[1]

    def _sums(self, parts: Parts, of: Ints) -> Array:
        """The columns summed over the documents of each of some parts: [parts, columns]."""
        sums: Array = (parts == of[:, None]).astype(np.float64) @ self._columns
        return sums


def weights_of(features: Floats, counted: Ints, shape: Floats, parts: Parts) -> Floats:
    """The weights of features that the critics of each part have, see `OrderCritic.weights`: [parts, features]."""
    real = np.flatnonzero(parts >= 0)
    sums, sizes = (np.zeros((int(parts.max()) + 1, of)) for of in (features.shape[1], 1))
    np.add.at(sums, parts[real], features[real])
    np.add.at(sizes, parts[real], counted[real, None])
    weights: Floats = UNIT * np.linalg.solve(shape, ((sums.sum(axis=0) - sums) / (sizes.sum() - sizes)).T).T
    return weights
