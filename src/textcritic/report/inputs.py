"""A study's artefacts as the report reads them: which file is what, checked before anything is computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.report.numbers import setting_name

OPTIONAL = {"accuracy", "perplexity", "training", "train", "validation"}


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Real text of one corpus and the critic that was fitted on it.

    Attributes:
        corpus: its name.
        critic: critic.json.
        statistics: statistics.json of the corpus.
        accuracy: accuracy.json of the section classifier, if there is one.
        gold: scores of the test split with its own titles.
        inferred: scores of the test split with inferred titles.
        articles: the test split.
        latents: posteriors of the test split.
        train, validation: the splits that the critic was fitted on; only the audit reads them.
    """

    corpus: str
    critic: Path
    statistics: Path
    accuracy: Path | None
    gold: Path
    inferred: Path
    articles: Path
    latents: Path
    train: Path | None
    validation: Path | None


@dataclass(frozen=True, slots=True)
class SampleFiles:
    """Articles drawn from one generator with one decoding and one seed.

    Attributes:
        corpus, setting, generator, decoding, seed: what it is.
        scores, latents, articles: Parquet files of the kept articles.
        counts: JSON of how many were drawn, kept and rejected, and why.
        perplexity: perplexity.json of the generator, if it has one.
        training: training.json of the generator, if it has one.
    """

    corpus: str
    setting: str
    generator: str
    decoding: str
    seed: int
    scores: Path
    latents: Path
    articles: Path
    counts: Path
    perplexity: Path | None
    training: Path | None

    @property
    def group(self) -> tuple[str, str, str, str]:
        """What the seeds of one group share."""
        return (self.corpus, self.setting, self.generator, self.decoding)

    @property
    def slug(self) -> str:
        """A name for files and element ids."""
        return f"{self.corpus}.{self.setting}.{self.generator}.{self.decoding}.seed{self.seed}"


@dataclass(frozen=True, slots=True)
class Study:
    """A study with its files, in the order in which the tables show them."""

    name: str
    title: str
    summary: str
    published: Path | None
    resamples: int
    report_articles: int
    data: tuple[DataFiles, ...]
    samples: tuple[SampleFiles, ...]
    audit_samples: tuple[SampleFiles, ...]

    def of_corpus(self, corpus: str) -> DataFiles:
        """The real text of a corpus."""
        return next(files for files in self.data if files.corpus == corpus)

    def label(self, sample: SampleFiles, seed: bool = False) -> str:
        """A sample in words, no longer than it takes to tell it from the others of its corpus."""
        others = [other for other in self.samples if other.generator == sample.generator]
        words = f"{sample.generator}, {setting_name(sample.setting)}"
        if sample not in self.samples or len({other.decoding for other in others}) > 1:
            words += f", {sample.decoding}"
        if seed and len({other.seed for other in others if other.group == sample.group}) > 1:
            words += f", seed {sample.seed}"
        return words


def read_study(study: Mapping[str, Any]) -> Study:
    """Check a study's description.

    Args:
        study: `name`, `title`, `summary`?, `published`? (path of a CSV), `resamples`? (default 10,000),
            `report_articles`? (default 40), `corpora`: list of dicts with the keys of `DataFiles`, `sources` and
            `audit_sources`?: lists of dicts with the keys of `SampleFiles`. Paths may be strings; `accuracy`,
            `perplexity`, `training`, `train` and `validation` may be None or absent.

    Raises:
        TextcriticError: a key is missing, a file is not there, or a source belongs to a corpus that is not listed.
    """
    for key in ("name", "title", "corpora", "sources"):
        if not study.get(key):
            raise TextcriticError(f"study: {key!r} is missing or empty; the report needs it")
    where = f"study {study['name']}"
    data = tuple(_data(entry, where) for entry in study["corpora"])
    known = {files.corpus for files in data}
    samples = tuple(_sample(entry, known, where) for entry in study["sources"])
    audit = tuple(_sample(entry, known, where) for entry in study.get("audit_sources", ()))
    published = study.get("published")
    return Study(
        name=str(study["name"]),
        title=str(study["title"]),
        summary=str(study.get("summary", "")),
        published=Path(published) if published else None,
        resamples=int(study.get("resamples", 10_000)),
        report_articles=int(study.get("report_articles", 40)),
        data=data,
        samples=samples,
        audit_samples=audit,
    )


def _data(entry: Mapping[str, Any], where: str) -> DataFiles:
    name = f"{where}: corpus {entry.get('corpus')}"
    keys = ("critic", "statistics", "accuracy", "gold", "inferred", "articles", "latents", "train", "validation")
    paths: dict[str, Any] = {key: _path(entry, key, name) for key in keys}
    return DataFiles(corpus=_text(entry, "corpus", where), **paths)


def _sample(entry: Mapping[str, Any], corpora: set[str], where: str) -> SampleFiles:
    words: dict[str, Any] = {key: _text(entry, key, where) for key in ("corpus", "setting", "generator", "decoding")}
    name = f"{where}: sample {' '.join(words.values())} seed {entry.get('seed')}"
    if words["corpus"] not in corpora:
        raise TextcriticError(f"{name}: its corpus is not among the study's corpora; add it there")
    keys = ("scores", "latents", "articles", "counts", "perplexity", "training")
    paths: dict[str, Any] = {key: _path(entry, key, name) for key in keys}
    return SampleFiles(**words, seed=int(entry["seed"]), **paths)


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    if not entry.get(key):
        raise TextcriticError(f"{where}: an entry lacks the key {key!r}")
    return str(entry[key])


def _path(entry: Mapping[str, Any], key: str, name: str) -> Path | None:
    if not entry.get(key):
        if key in OPTIONAL:
            return None
        raise TextcriticError(f"{name}: the path of its {key} is missing")
    path = Path(entry[key])
    if not path.is_file():
        raise TextcriticError(f"{name}: {key}: {path}: no such file; run the rule that makes it")
    return path
