"""The critic of section order, refitted on any documents of a set; used for cross-fitting."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from textcritic.critics.chains import Chains, Steps
from textcritic.critics.scores import EMPTY, UNTITLED
from textcritic.critics.transitions import PAPER_GRID
from textcritic.inference.crossfit import PARTNER, Parts, sample_weights
from textcritic.inference.statistics import Array

RARE = "titles that are rare in real text"
Mask = npt.NDArray[np.bool_]


class TransitionRefit:
    """Transition critics as `TransitionCritic` in mode "paper", of any documents of a set.

    A critic knows a title if at least `minimum` sections of its documents have it. It is fitted only on documents with
    no other titles, and judges only such documents, just as a corpus leaves out articles with rare titles. In the mean
    over critics, a document of the sample has a weight in proportion to the number of critics that can judge it.
    The smoothing of each critic is chosen by cross-validation over the parts that it is fitted on.

    Args:
        chains: the chains of all documents, the real ones first.
        grid: the values of the smoothing to choose from, ascending; a single value is used as it is.
        minimum: how many sections must have a title for the title to be known.

    Attributes:
        steps: how many steps each document has: [documents].
    """

    def __init__(self, chains: Chains, grid: Sequence[float] = PAPER_GRID, minimum: int = 1) -> None:
        from scipy.sparse import csr_matrix

        self.titles = chains.vocabulary()
        codes, width = chains.codes(self.titles), len(self.titles) + 1
        steps = Steps.of(codes, chains.lengths, len(self.titles))
        self.usable = (chains.lengths > 0) & (steps.known == steps.lengths)
        cells, self._of_step = np.unique(steps.cells, return_inverse=True)
        self._sources = np.maximum(cells, 0) // width  # of documents that cannot be used there may be a -1
        documents = len(chains.lengths)
        self._codes, self._ends = codes, np.concatenate([[0], np.cumsum(chains.lengths)])
        # By document in the columns: what is summed over documents is summed hundreds of times.
        self._steps = csr_matrix((np.ones(len(steps.cells)), (self._of_step, steps.document)), (len(cells), documents))
        of_section = np.repeat(np.arange(documents), chains.lengths)
        titled = codes >= 0
        self._titles = csr_matrix((np.ones(titled.sum()), (codes[titled], of_section[titled])), (width - 1, documents))
        self._has = (self._titles.T.tocsr() > 0).astype(np.float64)
        self._width = width
        self.steps = steps.lengths
        self._grid, self._minimum = np.array(sorted(grid)), minimum

    def sums(self, parts: Parts) -> tuple[Array, Array]:
        """(NLL, steps) of the real documents, and of the sample; see `inference.Refit`."""
        real, sample = np.zeros(2), np.zeros(2)
        numbers = np.unique(parts[parts >= 0])
        for part in numbers:
            judged, log_probs = self._fitted(parts, part)
            for weights, total in ((parts == part, real), (sample_weights(parts, part, len(numbers)), sample)):
                counts = self._steps @ (judged * weights).astype(np.float64)
                seen = counts > 0  # a step that is never seen may be impossible
                total += -(counts[seen] @ log_probs[seen]), counts.sum()
        return real, sample

    def judged(self, parts: Parts) -> Array:
        """The share of the critics that could judge each document; of a real one there is one: [documents]."""
        numbers = np.unique(parts[parts >= 0])
        share = np.zeros(len(parts))
        for part in numbers:
            judged = self._fitted(parts, part)[0]
            share += judged * (sample_weights(parts, part, len(numbers)) + (parts == part))
        return share

    def why(self, document: int, parts: Parts) -> str:
        """Why no critic could judge a document, as `score_chains` has it: a title that real text elsewhere lacks."""
        own = parts[document] if parts[document] >= 0 else PARTNER - parts[document]
        others = (parts >= 0) & (parts != own)
        known = self._titles @ others.astype(np.float64) >= self._minimum
        start, end = self._ends[document], self._ends[document + 1]
        if start == end:
            return EMPTY
        codes = self._codes[start:end]
        code = next((code for code in codes.tolist() if code < 0 or not known[code]), None)
        if code is None:  # each critic lacks another one
            return RARE
        return UNTITLED if code < 0 else f"unknown title: {self.titles[code] or '(empty)'}"

    def _fitted(self, parts: Parts, part: int) -> tuple[Mask, Array]:
        """For the critic that has not seen a part: which documents it can judge, and log P of each distinct step."""
        others = (parts >= 0) & (parts != part)
        known = self._titles @ others.astype(np.float64) >= self._minimum
        judged: Mask = self.usable & (self._has @ (~known).astype(np.float64) == 0)
        inside = parts[others & judged]
        numbers = np.unique(inside)
        memberships = np.zeros((len(parts), len(numbers)))
        memberships[np.flatnonzero(others & judged), np.searchsorted(numbers, inside)] = 1
        counts = self._steps @ memberships
        total, targets = counts.sum(axis=1), int(known.sum()) + 1
        delta = self._chosen(counts, total, targets)
        return judged, self._log_probs(total, np.array([delta]), targets)[0]

    def _chosen(self, counts: Array, total: Array, targets: int) -> float:
        """The smoothing with the lowest NLL of each part under the other ones; the larger one of a tie."""
        if len(self._grid) == 1 or counts.shape[1] < 2:
            return float(self._grid[-1])
        nll = np.zeros(len(self._grid))
        for held_out in counts.T:
            seen = held_out > 0
            nll -= self._log_probs(total - held_out, self._grid, targets, seen) @ held_out[seen]
        return float(self._grid[np.flatnonzero(nll <= nll.min() * (1 + ROUNDING))[-1]])

    def _log_probs(self, counts: Array, deltas: Array, targets: int, wanted: Mask | slice = slice(None)) -> Array:
        """Of the wanted steps: [deltas, steps]."""
        rows = np.bincount(self._sources, counts, self._width)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_sources = np.log(rows + deltas[:, None] * targets)[:, self._sources[wanted]]
            log_probs: Array = np.log(counts[wanted] + deltas[:, None]) - of_sources
        return np.where(np.isnan(log_probs), -np.inf, log_probs)


ROUNDING = 1e-12
