"""The files that an experiment on intruder sentences is made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Compared, Drawn, RealText


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus(Files):
    """An intruder corpus.

    Attributes:
        corpus: its name.
        test: the documents of the test split, as `corpora.intruders.documents` writes them.
        statistics: statistics.json.
        probes: edited documents of the test split; None where none are looked at.
    """

    corpus: str
    test: Path
    statistics: Path
    probes: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Files):
    """What a detector says of the test split of an intruder corpus.

    Attributes:
        corpus: whose documents are judged.
        trained: the corpus that the detector was trained on, or its threshold chosen on.
        detector, seed: what it is.
        label: what tables call it.
        predictions: as `critics.detectors.predictions` writes them.
        probes: the same of the edited documents; None where none are looked at.
    """

    corpus: str
    trained: str
    detector: str
    seed: int
    label: str
    predictions: Path
    probes: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited(Files):
    """Votes on documents whose intruder was edited by a probe."""

    probe: str
    votes: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted(Files):
    """What people said of the test documents of a corpus.

    Attributes:
        corpus: its name.
        joined: whether ids of votes are ids of the corpus' documents here, so that people and detectors are compared.
        votes: JSON lines, see `critics.detectors.votes`.
        edited: the same of edited documents, by probe.
    """

    corpus: str
    joined: bool
    votes: Path
    edited: tuple[Edited, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Files):
    """What people said of the test documents of a corpus in campaigns of ours.

    Attributes:
        corpus: its name.
        test: the documents.
        annotations: exports of campaigns, see `annotation.answers`.
    """

    corpus: str
    test: Path
    annotations: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge(Files):
    """A detector whose flags on generated text are counted."""

    detector: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coherent(RealText):
    """Real documents of one corpus, as generated text is cut into documents too.

    Attributes:
        documents: the documents.
        predictions: what the judges say of them, in their order; at least one.
    """

    documents: Path
    predictions: tuple[Path, ...]

    @property
    def scores(self) -> Path:
        """The first judge's predictions."""
        return self.predictions[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated(Drawn):
    """Generated text, cut into documents.

    Attributes:
        documents: the documents.
        cut: JSON of how many documents there are, and how many texts gave none, and why.
        predictions: what the judges say of them, in their order; the first one is `scores`.
        perplexity: JSON of the generator's perplexity; None for samples from a file.
    """

    documents: Path
    cut: Path
    perplexity: Path | None
    predictions: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntruderFiles(Compared):
    """All that tables, figures and the section are made of.

    Attributes:
        corpora: whose test splits are judged.
        judged: in the order of the tables.
        voted: what people said, as published.
        asked: what people said in campaigns of ours.
        judges: of generated text.
    """

    data: tuple[Coherent, ...]
    samples: tuple[Generated, ...]
    corpora: tuple[Corpus, ...] = ()
    judged: tuple[Judged, ...] = ()
    voted: tuple[Voted, ...] = ()
    asked: tuple[Asked, ...] = ()
    judges: tuple[Judge, ...] = ()

    def first_seeds(self) -> Iterator[Judged]:
        """Of each detector the first training that is there."""
        seen: set[tuple[Any, ...]] = set()
        for one in self.judged:
            key = (one.corpus, one.trained, one.detector)
            if key not in seen:
                seen.add(key)
                yield one
