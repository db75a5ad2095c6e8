"""Documents as counts over the words of a train set, and what a topic model infers of them."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import infer
from textcritic.latents.bags import (
    Removed,
    Vocabulary,
    VocabularyOptions,
    build_vocabulary,
    count_words,
    over_words,
    read_ldac,
    read_words,
)
from textcritic.runlog import Progress
from textcritic.values import JsonObject

# Documents whose posteriors are inferred between two reports of progress.
SLICE = 4096

Array = npt.NDArray[np.float64]
Tokens = Callable[[], Iterator[list[str]]]
"""Streams the tokens of each document of a set, once for each call."""


@dataclass(frozen=True, eq=False)
class Counted:
    """A set of documents as counts.

    Attributes:
        counts: int32 CSR [documents, words], over the words of the train set.
        unknown: tokens that are left out, because train does not have their word or it was removed.
    """

    counts: csr_matrix
    unknown: int

    @property
    def has_words(self) -> npt.NDArray[np.bool_]:
        """Whether each document has words: [documents]."""
        has_words: npt.NDArray[np.bool_] = self.counts.getnnz(axis=1) > 0
        return has_words

    @property
    def filled(self) -> csr_matrix:
        """The documents with words."""
        return self.counts[self.has_words]

    @property
    def empty(self) -> int:
        """How many documents have none."""
        return int((self.counts.getnnz(axis=1) == 0).sum())


@dataclass(frozen=True, eq=False)
class TrainAndTests:
    """A train set, and others over its words.

    Attributes:
        train: every word occurs in it.
        tests: any number of sets.
        words: the word of each column; None if no file gives them.
        removed: words and tokens of train that were left out, by reason; None for LDA-C.
    """

    train: Counted
    tests: tuple[Counted, ...]
    words: tuple[str, ...] | None
    removed: Removed | None = None

    def train_size(self) -> JsonObject:
        """What `textcritic topics` prints of the train set."""
        counts = self.train.counts
        return {
            "documents": counts.shape[0],
            "empty": self.train.empty,
            "words": counts.shape[1],
            "tokens": int(counts.sum()),
            "removed": self.removed,
        }


def read_counts(train: Path, tests: Sequence[Path], vocabulary: str | os.PathLike[str] | None) -> TrainAndTests:
    """Files in the format LDA-C, and the file of their words if there is one.

    Raises:
        TextcriticError: a file is missing or damaged, or has ids that the vocabulary does not.
    """
    words = None if vocabulary is None else read_words(vocabulary)
    counts, *tested = (read_ldac(path, None if words is None else len(words)) for path in (train, *tests))
    known = np.unique(counts.indices)  # a word that TRAIN does not have has no probability
    chosen = None if words is None else tuple(words[word] for word in known)
    shared = [over_words(known, one) for one in tested]
    unknown = (int(one.sum()) - int(kept.sum()) for one, kept in zip(tested, shared, strict=True))
    test_counts = tuple(map(Counted, shared, unknown))
    return TrainAndTests(Counted(over_words(known, counts), 0), test_counts, chosen)


def count_texts(train: Tokens, tests: Sequence[Tokens], options: VocabularyOptions, name: str) -> TrainAndTests:
    """Texts as counts over the vocabulary of `train`, whose `name` is for errors; raises as `build_vocabulary`."""
    vocabulary, removed = build_vocabulary(train(), options, name)

    sets = [counted_over(vocabulary, tokens) for tokens in (train, *tests)]
    return TrainAndTests(sets[0], tuple(sets[1:]), vocabulary.words, removed)


def counted_over(vocabulary: Vocabulary, tokens: Tokens) -> Counted:
    """Texts as counts over a vocabulary."""
    lengths: list[int] = []

    def measured() -> Iterator[list[str]]:
        for document in tokens():
            lengths.append(len(document))
            yield document

    counts = count_words(measured(), vocabulary)
    return Counted(counts, sum(lengths) - int(counts.sum()))


def project(critic: CTM, counts: csr_matrix, workers: int) -> tuple[Array, Array]:
    """Means and variances of the topic coefficients of documents with words: both [documents, K - 1]."""
    progress = Progress("inferring topics", counts.shape[0], "documents")
    parts = []
    for start in range(0, counts.shape[0], SLICE):
        rows = counts[start : start + SLICE]
        posterior = infer(critic, rows, workers=workers)
        parts.append((posterior.means, posterior.variances))
        progress.advance(rows.shape[0])
    means, variances = (np.concatenate(kind) for kind in zip(*parts, strict=True))
    return means, variances
