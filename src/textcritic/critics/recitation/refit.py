"""Which runs of words of each document occur in other documents; used for cross-fitting (`inference.Refit`)."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.recitation.index import words_in
from textcritic.critics.recitation.scoring import MAIN_LENGTH
from textcritic.inference.crossfit import PARTNER, SAMPLE, Parts
from textcritic.inference.statistics import Array
from textcritic.plan.entries import Recitation

Ints = npt.NDArray[np.int64]


class RecitationRefit:
    """The runs of words of all documents of a set, and which documents have each of them.

    A real document is looked up in the other parts of real text, a sample's in the same parts in turn: all but one. So
    no index is larger for one side than for the other.

    Args:
        texts: the texts of all documents, the real ones first.
        entry: how they are cut into words.
        n: how many words a run has.

    Attributes:
        runs: how many runs each document has: [documents].
    """

    def __init__(self, texts: pa.StringArray, entry: Recitation, n: int = MAIN_LENGTH) -> None:
        words, lengths = words_in(texts, entry)
        self.runs: Ints = np.maximum(lengths - n + 1, 0)
        names = _runs_of(words.indices.to_numpy(), n)
        starts = np.cumsum(lengths) - lengths
        documents = np.repeat(np.arange(len(lengths)), self.runs)
        inside = np.arange(len(documents)) - np.repeat(np.cumsum(self.runs) - self.runs, self.runs)
        names = names[starts[documents] + inside] if len(documents) else names[:0]
        # Runs that only one document has are never found elsewhere, so they are dropped: what is left is small.
        pairs, times = np.unique(np.stack([names, documents]), axis=1, return_counts=True)
        owners = np.bincount(pairs[0]) if len(pairs[0]) else np.zeros(0, np.int64)
        shared = owners[pairs[0]] > 1
        self._runs: Ints = np.unique(pairs[0][shared], return_inverse=True)[1]
        self._documents, self._times = pairs[1][shared], times[shared]

    def sums(self, parts: Parts) -> tuple[Array, Array]:
        """(Runs counts, all runs) of the real documents, and of the sample; see `inference.Refit`."""
        counts = self._found(parts)
        of = parts[self._documents]
        real, sample = (
            np.array([counts[of_side].sum(), self.runs[side].sum()], np.float64)
            for of_side, side in ((of >= 0, parts >= 0), (_in_sample(of), _in_sample(parts)))
        )
        return real, sample

    def found(self, parts: Parts) -> Array:
        """The runs of each document that are found, the mean over the parts for one of a sample: [documents]."""
        counts: Array = np.bincount(self._documents, self._found(parts), len(self.runs)).astype(np.float64)
        return counts

    def _found(self, parts: Parts) -> Array:
        """The same for each pair of a document and a shared run: [pairs]."""
        number = int(parts.max(initial=-1)) + 1
        part, every = parts[self._documents], int(self._runs.max(initial=-1)) + 1
        is_real, partner = part >= 0, part <= PARTNER
        cells = self._runs[is_real] * number + part[is_real]
        of_parts = np.bincount(cells, minlength=every * number).reshape(every, number)
        elsewhere = of_parts.sum(axis=1, keepdims=True) - of_parts > 0  # is the run in another part than this one?
        share = np.zeros(len(part))
        share[is_real] = elsewhere[self._runs[is_real], part[is_real]]
        used = np.isin(np.arange(number), parts)
        share[part == SAMPLE] = elsewhere[self._runs[part == SAMPLE]][:, used].mean(axis=1)
        share[partner] = elsewhere[self._runs[partner], PARTNER - part[partner]]
        times: Array = share * self._times
        return times


def _in_sample(parts: Parts) -> npt.NDArray[np.bool_]:
    in_sample: npt.NDArray[np.bool_] = (parts == SAMPLE) | (parts <= PARTNER)
    return in_sample


def _runs_of(words: npt.NDArray[np.integer], n: int) -> Ints:
    """A number for the run of n words from each word on, the same for equal runs: [words]; the last n - 1 mean nothing.

    Runs of twice the length are pairs of runs, and one of n is a pair of two that overlap.
    """
    names, length = words.astype(np.int64), 1
    while length < n:
        step = min(length, n - length)
        following = np.concatenate([names[step:], names[:step]])
        names = np.unique(names * (names.max(initial=0) + 1) + following, return_inverse=True)[1]
        length += step
    return names
