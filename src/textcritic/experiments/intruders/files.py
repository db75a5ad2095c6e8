"""The files of an experiment on intruder sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Compared, Drawn, RealText


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus(Files):
    """An intruder corpus.

    Attributes:
        corpus: its name.
        test: the documents of the test split, as `corpora.intruders.documents` writes them.
        statistics: statistics.json.
        probes: edited documents of the test split; None without probes.
    """

    corpus: str
    test: Path
    statistics: Path
    probes: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Files):
    """A detector's predictions on the test split of an intruder corpus.

    Attributes:
        corpus: whose documents are judged.
        trained: the corpus that the detector was trained on, or on which its threshold was chosen.
        detector, seed: the detector and its training.
        label: its name in tables.
        predictions: as `critics.detectors.predictions` writes them.
        probes: the same for the edited documents; None without probes.
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
    """Votes of people on the test documents of a corpus.

    Attributes:
        corpus: its name.
        joined: whether ids of votes are ids of the corpus' documents here, so that people and detectors are compared.
        votes: JSON lines, see `critics.detectors.votes`.
        edited: the same for edited documents, by probe.
    """

    corpus: str
    joined: bool
    votes: Path
    edited: tuple[Edited, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Files):
    """Answers about the test documents of a corpus in our own campaigns.

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
    """Real documents of one corpus, cut like the generated text.

    Attributes:
        documents: the documents.
        predictions: those of the judges, in their order; at least one.
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
        cut: JSON with the number of documents, the number of texts that gave none, and why.
        predictions: those of the judges, in their order; the first one is `scores`.
        perplexity: JSON of the generator's perplexity; None for samples from a file.
    """

    documents: Path
    cut: Path
    perplexity: Path | None
    predictions: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntruderFiles(Compared[Coherent, Generated]):
    """The files that tables, figures and the section are made from.

    Attributes:
        corpora: whose test splits are judged.
        judged: in the order of the tables.
        voted: published votes.
        asked: answers in our own campaigns.
        judges: of generated text.
    """

    corpora: tuple[Corpus, ...] = ()
    judged: tuple[Judged, ...] = ()
    voted: tuple[Voted, ...] = ()
    asked: tuple[Asked, ...] = ()
    judges: tuple[Judge, ...] = ()

    def first_seeds(self) -> Iterator[Judged]:
        """The first available training of each detector."""
        seen: set[tuple[str, ...]] = set()
        for one in self.judged:
            key = (one.corpus, one.trained, one.detector)
            if key not in seen:
                seen.add(key)
                yield one
