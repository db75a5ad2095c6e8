"""One job of a study of one's own text, and what jobs read of the configuration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from textcritic.inference.crossfit import CrossOptions
from textcritic.measures.measure import Scored
from textcritic.measures.own import Metric
from textcritic.plan.paths import Paths
from textcritic.plan.project import Project
from textcritic.plan.registries import Registries
from textcritic.plan.sources import Drawn
from textcritic.values import JsonObject

DATA_TEST = "data/test"
FOLDER = "results/crossfit"
STAGES: Mapping[str, str] = {
    "corpora": "real text",
    "coherence": "order of sections",
    "tendencies": "tendencies",
    "topics": "topics",
    "coreference": "mentions of people",
    "recitation": "copied text",
    "order": "order of sentences",
    "metrics": "form, and measures of your own",
}
"""The words for the jobs of each kind of experiment in the lines on progress."""


@dataclass(frozen=True, slots=True)
class Job:
    """What makes some files.

    Attributes:
        stage: what it is part of, in a few words, for those who wait.
        needs: the files that are read, relative to the folder of the study; some may come from the user.
        makes: the files that are written.
        decided_by: what of the configuration decides the outcome.
        run: does it.
    """

    stage: str
    needs: Sequence[str]
    makes: Sequence[str]
    decided_by: str
    run: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Crossing:
    """How real text is judged by critics that have not seen it.

    Attributes:
        how: into how many parts documents are divided, and how labels are exchanged in the test, see `CrossOptions`.
        splits: how many held-out splits there are for models that are expensive to fit (topics).
    """

    how: CrossOptions
    splits: int


@dataclass(frozen=True, slots=True)
class Configured:
    """What jobs read from the configuration.

    Attributes:
        project: the whole configuration; its working directory is that of the process.
        here: functions that only this process has, by the names of their measures.
        cores: CPU threads for the fit of a topic model; the numbers do not depend on it.
        crossing: how real text is cross-fitted; None: one split is held out.
    """

    project: Project
    here: Mapping[str, Metric]
    cores: int
    crossing: Crossing | None = None

    @property
    def registries(self) -> Registries:
        """The registries."""
        return self.project.registries

    @property
    def paths(self) -> Paths:
        """The files that rules need."""
        return Paths(self.project)

    def entry(self, registry: str, name: str) -> JsonObject:
        """An entry of a registry."""
        return self.registries.entry(registry, name).plain()

    def stage(self, name: str) -> str:
        """The version of a stage, as what decides outcomes."""
        return f"{name} {self.project.stage(name)}"

    def decided(self, registry: str, name: str, stage: str, *keys: str) -> str:
        """What of an entry decides outcomes, and the version of a stage."""
        return f"{self.registries.spec(registry, name, *keys)} {self.stage(stage)}"


Found = dict[str, Scored]
"""What cross-fitting found of each source, by the path of its scores, real text first."""
Prepared = tuple[Sequence[str], Callable[[], Found]]
"""The files that cross-fitting needs, and what finds."""


def articles_and_unread(sample: Drawn) -> tuple[str, str]:
    """The articles of a sample as an experiment has it, and those that were not read."""
    return str(sample.articles), str(sample.articles.with_suffix(".rejected.parquet"))


def given(*paths: str | None) -> list[str]:
    """The paths that there are."""
    return [path for path in paths if path is not None]


def articles_to_measure(configured: Configured, corpus: str, tail: str) -> str:
    """The articles of a set for a measure that learns nothing: all of real text, unless some of it is held out."""
    if configured.crossing is not None and tail == DATA_TEST:
        return f"{FOLDER}/{corpus}/every.parquet"
    return articles_of(corpus, tail)[0]


def articles_of(corpus: str, tail: str) -> tuple[str, str | None]:
    """The articles of real text or of a sample, and those of a sample that were rejected."""
    if tail.startswith("data/"):
        return f"results/corpora/{corpus}/{tail.removeprefix('data/')}.parquet", None
    drawn = f"results/samples/{corpus}/{tail.removeprefix('samples/')}"
    return f"{drawn}.parquet", f"{drawn}.rejected.parquet"
