"""The files that the known processes of a study are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownData(Files):
    """A synthetic process and the sequences that were drawn from it.

    Attributes:
        corpus: its name.
        process: process.npz, the process itself.
        statistics: statistics.json of the corpus, with the exact perplexities.
        scores: of the test split.
        articles: the test split.
    """

    corpus: str
    process: Path
    statistics: Path
    scores: Path
    articles: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences(Drawn):
    """Sequences that a model drew; `rejected` are the texts that the process could not have written, with reasons.

    `perplexity` and `training` are perplexity.json and training.json of the model.
    """

    rejected: Path
    perplexity: Path | None
    training: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFiles(Files):
    """The processes, the samples in the order of the tables, and how to read them.

    Attributes:
        processes: each with its data.
        samples: sequences of models of these.
        decodings: the registry entry of each sample's decoding.
        resamples: of intervals and tests.
    """

    processes: tuple[KnownData, ...]
    samples: tuple[Sequences, ...]
    decodings: Mapping[str, Mapping[str, Any]]
    resamples: int

    def of(self, data: KnownData) -> list[Sequences]:
        """The samples of models of one process."""
        return [sample for sample in self.samples if sample.corpus == data.corpus]
