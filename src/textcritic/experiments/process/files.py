"""The files of the known processes of a study."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textcritic.plan.sources import Compared, Drawn, RealText, data_keys
from textcritic.values import Row

EXACT, TEST = "process-exact", "process-test"
"""A known process as a source: its exact values, and the sequences of its test split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownData(RealText):
    """A synthetic process and the sequences that were drawn from it.

    Attributes:
        process: process.npz, the process itself.
        statistics: statistics.json of the corpus, with the exact perplexities.
        scores: of the test split.
        articles: the test split.
    """

    process: Path
    statistics: Path
    scores: Path
    articles: Path

    @property
    def keys(self) -> Row:
        """The key columns of a row about the test split."""
        return data_keys(self.corpus, TEST)


@dataclass(frozen=True, slots=True)
class Exact:
    """A process as it is, without any sequence of it."""

    data: KnownData

    @property
    def keys(self) -> Row:
        """The key columns of a row about it."""
        return data_keys(self.data.corpus, EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences(Drawn):
    """Sequences that a model drew; `rejected` are the texts that the process could not have written, with reasons.

    `perplexity` and `training` are perplexity.json and training.json of the model.
    """

    rejected: Path
    perplexity: Path | None
    training: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFiles(Compared[KnownData, Sequences]):
    """The processes, the samples in the order of the tables."""

    def groups(self) -> Iterator[tuple[KnownData, list[Exact | KnownData | Sequences]]]:
        """As `Compared.groups`: the exact values, the test split as the reference, and the samples."""
        return ((data, [Exact(data), data, *self.samples_of(data)]) for data in self.data)
