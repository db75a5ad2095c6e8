"""Expectations of the chain under a posterior over titles that is factorised over sections (paper, section 4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.errors import TextcriticError

BLOCK_SECTIONS = 65_536
Matrix = npt.NDArray[np.float64]
PosteriorsLike: TypeAlias = Sequence[npt.NDArray[Any]] | pa.Array | pa.ChunkedArray


@dataclass(frozen=True, slots=True)
class Posteriors:
    """`q_m(title)` of all sections of a set of documents, one after the other.

    Attributes:
        probs: [sections, V], rows sum to 1 up to the rounding of the stored type.
        lengths: int64 [documents], sections per document.
    """

    probs: npt.NDArray[Any]
    lengths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, posteriors: PosteriorsLike, num_titles: int) -> "Posteriors":
        """From one [K, V] array a document, or from a `list<list<float>>` column of a table.

        Raises:
            TextcriticError: a row is not a distribution over `num_titles` titles.
        """
        if isinstance(posteriors, pa.Array | pa.ChunkedArray):
            flat = _from_column(posteriors, num_titles)
        else:
            arrays = [np.asarray(array) for array in posteriors]
            lengths = np.array([len(array) for array in arrays], dtype=np.int64)
            arrays = [array for array in arrays if len(array)]
            if widths := {array.shape[1] if array.ndim == 2 else 0 for array in arrays} - {num_titles}:
                raise _wrong_width(widths.pop(), num_titles)
            flat = cls(np.concatenate(arrays) if arrays else np.empty((0, num_titles)), lengths)
        sums = flat.probs.sum(axis=1, dtype=np.float64)
        fit = (np.abs(sums - 1) < 1e-3) & (flat.probs.min(axis=1, initial=0) >= 0)
        if len(bad := np.flatnonzero(~fit)):
            document = int(np.searchsorted(np.cumsum(flat.lengths), bad[0], side="right"))
            raise TextcriticError(
                f"posteriors: document {document + 1} has a section whose probabilities sum to {sums[bad[0]]:.6g} "
                "or are negative; they must be a distribution over the titles"
            )
        return flat

    def blocks(self) -> Iterator[tuple[slice, Matrix, npt.NDArray[np.int64]]]:
        """Runs of whole documents: their rows, `q` as float64 of sum 1 [sections, V], and index of first sections."""
        stops = np.cumsum(self.lengths)
        start = 0
        while start < len(self.lengths):
            offset = int(stops[start] - self.lengths[start])
            stop = max(start + 1, int(np.searchsorted(stops, offset + BLOCK_SECTIONS, side="right")))
            block = self.probs[offset : int(stops[stop - 1])].astype(np.float64)
            block /= block.sum(axis=1, keepdims=True)
            yield slice(start, stop), block, stops[start:stop] - self.lengths[start:stop] - offset
            start = stop


def expected_nll(posteriors: Posteriors, log_probs: Matrix) -> Matrix:
    """`sum_m sum_ij q_{m-1}(i) q_m(j) * -log P(j|i)`, begin and end included, in nats: [documents].

    Exact, not sampled: under a factorised posterior the expectation of a sum over neighbours needs the pairs only.
    A document whose posterior has mass on an impossible transition gets infinity; one without sections, 0.
    """
    impossible = np.isinf(log_probs)
    costs = np.where(impossible, 0.0, -log_probs)
    nll = _expectation(posteriors, costs)
    if impossible.any():
        nll[_expectation(posteriors, impossible.astype(np.float64)) > 0] = np.inf
    return nll


def expected_counts(posteriors: Posteriors) -> Matrix:
    """Expected number of times each transition occurs: float64 [V + 1, V + 1], laid out as a critic's counts."""
    num_titles = posteriors.probs.shape[1]
    counts = np.zeros((num_titles + 1, num_titles + 1))
    for rows, q, first in posteriors.blocks():
        lengths = posteriors.lengths[rows]
        inner = _inner(len(q), first, lengths)
        begins, ends = first[lengths > 0], (first + lengths - 1)[lengths > 0]
        counts[0, :-1] += q[begins].sum(axis=0)
        counts[1:, -1] += q[ends].sum(axis=0)
        counts[1:, :-1] += q[inner - 1].T @ q[inner]
    return counts


def _expectation(posteriors: Posteriors, costs: Matrix) -> Matrix:
    """Expected sum of `costs` [V + 1, V + 1] along each document's chain: [documents]."""
    total = np.zeros(len(posteriors.lengths))
    for rows, q, first in posteriors.blocks():
        lengths = posteriors.lengths[rows]
        inner = _inner(len(q), first, lengths)
        filled = lengths > 0
        # What each section adds: the step into it, and, if it is the last, the step to the end.
        per_section = np.empty(len(q))
        per_section[first[filled]] = q[first[filled]] @ costs[0, :-1]
        per_section[inner] = ((q[inner - 1] @ costs[1:, :-1]) * q[inner]).sum(axis=1)
        last = (first + lengths - 1)[filled]
        per_section[last] += q[last] @ costs[1:, -1]
        if len(q):
            total[rows][filled] = np.add.reduceat(per_section, first[filled])
    return total


def _inner(sections: int, first: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Index of every section that is not the first of its document."""
    is_inner = np.ones(sections, dtype=bool)
    is_inner[first[lengths > 0]] = False
    return np.flatnonzero(is_inner)


def _from_column(posteriors: pa.Array | pa.ChunkedArray, num_titles: int) -> Posteriors:
    column = posteriors.combine_chunks() if isinstance(posteriors, pa.ChunkedArray) else posteriors
    lengths = np.diff(column.offsets.to_numpy()).astype(np.int64)
    rows = column.flatten()
    widths = np.diff(rows.offsets.to_numpy())
    if len(widths) and (widths != num_titles).any():
        raise _wrong_width(int(widths[widths != num_titles][0]), num_titles)
    return Posteriors(rows.flatten().to_numpy(zero_copy_only=False).reshape(-1, num_titles), lengths)


def _wrong_width(found: int, num_titles: int) -> TextcriticError:
    return TextcriticError(
        f"posteriors: a section has {found} probabilities and the critic {num_titles} titles; "
        "fit the classifier and the critic on the same titles"
    )
