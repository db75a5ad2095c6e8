"""A study's artefacts as the report reads them: which file is what, checked before anything is computed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from textcritic.errors import TextcriticError

OPTIONAL = {"accuracy", "perplexity", "training"}
D = TypeVar("D", bound="Drawn")


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Real text of one corpus and the critic that was fitted on it.

    Attributes:
        corpus: its name.
        critic: critic.json.
        statistics: statistics.json of the corpus.
        accuracy: accuracy.json of the section classifier; None where titles are given and there is none.
        gold: scores of the test split with its own titles.
        inferred: scores of the test split with inferred titles.
        articles: the test split.
        latents: posteriors of the test split.
        validation: the split on which the critic's smoothing was chosen; only the audit reads it.
    """

    corpus: str
    critic: Path
    statistics: Path
    accuracy: Path | None
    gold: Path
    inferred: Path
    articles: Path
    latents: Path
    validation: Path

    @property
    def titles_given(self) -> bool:
        """Whether sections are known by the titles that they come with: `inferred` then equals `gold`."""
        return self.accuracy is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What was drawn from one generator with one decoding and one seed.

    Attributes:
        corpus, setting, generator, decoding, seed: what it is.
        label: what people call the generator.
        scores, articles: Parquet files; articles are the kept ones.
        counts: JSON of how many were drawn, kept and rejected, and why.
        perplexity: perplexity.json of the generator, if it has one.
        training: training.json of the generator, if it has one.
        from_file: whether somebody else drew them, so that nothing is known of how.
    """

    corpus: str
    setting: str
    generator: str
    decoding: str
    seed: int
    label: str
    scores: Path
    articles: Path
    counts: Path
    perplexity: Path | None
    training: Path | None
    from_file: bool

    @property
    def slug(self) -> str:
        """A name for files and element ids."""
        return f"{self.corpus}.{self.setting}.{self.generator}.{self.decoding}.seed{self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFiles(Drawn):
    """Articles; `latents` are the posteriors of the kept ones."""

    latents: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceFiles(Drawn):
    """Sequences of a synthetic process's sub-sequences; `rejected` are the texts that are none, with their reasons."""

    rejected: Path


@dataclass(frozen=True, slots=True)
class ProcessFiles:
    """A synthetic process and the data drawn from it.

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


@dataclass(frozen=True, slots=True)
class Synthetic:
    """The synthetic processes of a study, in the order in which the tables show them, and how to read them."""

    processes: tuple[ProcessFiles, ...]
    samples: tuple[SequenceFiles, ...]
    decodings: Mapping[str, Mapping[str, Any]]
    resamples: int

    def of(self, process: ProcessFiles) -> list[SequenceFiles]:
        """The samples of models of one process."""
        return [sample for sample in self.samples if sample.corpus == process.corpus]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper by its name there (`table2`), what kind of table it is and what it shows; see `papers`."""

    name: str
    kind: str
    caption: str

    @property
    def number(self) -> str:
        """Its number in the paper."""
        return self.name.removeprefix("table")


@dataclass(frozen=True, slots=True)
class Study:
    """A study with its files, in the order in which the tables show them; `decodings` are registry entries by name.

    `synthetic` is None in a study without a synthetic process.
    """

    name: str
    title: str
    summary: str
    resamples: int
    report_articles: int
    data: tuple[DataFiles, ...]
    samples: tuple[SampleFiles, ...]
    audit_samples: tuple[SampleFiles, ...]
    decodings: Mapping[str, Mapping[str, Any]]
    synthetic: Synthetic | None
    tables: tuple[PaperTable, ...]

    @property
    def titles_given(self) -> bool:
        """Whether sections are known by the titles that they come with; a study has one critic."""
        return all(files.titles_given for files in self.data)


def read_study(study: Mapping[str, Any]) -> Study:
    """Check a study's description.

    Args:
        study: `name`, `title`, `summary`?, `resamples`? (default 10,000), `report_articles`? (default 40), `corpora`:
            list of dicts with the keys of `DataFiles`, `sources` and `audit_sources`?: lists of dicts with the keys of
            `SampleFiles`, `decodings`: the registry entry of each decoding, needed if there are `audit_sources`,
            `synthetic`?: see `read_synthetic`, `tables`?: list of dicts with the keys of `PaperTable`. Paths may be
            strings; `accuracy`, `perplexity` and `training` may be None or absent, as may a `label`, which is then the
            generator's name, and `from_file`, which then is false.

    Raises:
        TextcriticError: a key is missing, a file is not there, a source belongs to a corpus that is not listed, or
            an audit source has no source of the study to compare it with.
    """
    for key in ("name", "title", "corpora", "sources"):
        if not study.get(key):
            raise TextcriticError(f"study: {key!r} is missing or empty; the report needs it")
    where = f"study {study['name']}"
    data = tuple(_data(entry, where) for entry in study["corpora"])
    known = {files.corpus for files in data}
    samples = tuple(read_drawn(SampleFiles, entry, known, where) for entry in study["sources"])
    audit = tuple(read_drawn(SampleFiles, entry, known, where) for entry in study.get("audit_sources", ()))
    for source in audit:
        if not bases(samples, source):
            raise TextcriticError(
                f"{where}: audit sample {source.slug}: the study has no sample of the same corpus, setting, generator "
                "and seed to compare it with; add one to sources"
            )
    return Study(
        name=str(study["name"]),
        title=str(study["title"]),
        summary=str(study.get("summary", "")),
        resamples=resamples_of(study),
        report_articles=int(study.get("report_articles", 40)),
        data=data,
        samples=samples,
        audit_samples=audit,
        decodings=study.get("decodings", {}),
        synthetic=read_synthetic(study) if study.get("synthetic") else None,
        tables=tuple(PaperTable(t["name"], t["kind"], t["caption"]) for t in study.get("tables", ())),
    )


def read_synthetic(study: Mapping[str, Any]) -> Synthetic:
    """Check the description of a study's synthetic processes; the rest of the study is not looked at.

    Args:
        study: `name`, `synthetic` and `resamples`? as in `read_study`. `synthetic` has `corpora`,
            a list of dicts with the keys of `ProcessFiles`, `sources`, one of dicts with the keys of `SequenceFiles`,
            and `decodings`?, the registry entry of each decoding.

    Raises:
        TextcriticError: as `read_study`.
    """
    where, block = f"study {study['name']}: synthetic", study["synthetic"]
    for key in ("corpora", "sources"):
        if not block.get(key):
            raise TextcriticError(f"{where}: {key!r} is missing or empty; the table needs it")
    processes = tuple(_process(entry, where) for entry in block["corpora"])
    known = {files.corpus for files in processes}
    return Synthetic(
        processes=processes,
        samples=tuple(read_drawn(SequenceFiles, entry, known, where) for entry in block["sources"]),
        decodings=block.get("decodings", {}),
        resamples=resamples_of(study),
    )


def bases(samples: Iterable[SampleFiles], audit: SampleFiles) -> list[SampleFiles]:
    """Those samples that differ from an audit sample in the decoding alone."""
    same = ("corpus", "setting", "generator", "seed")
    return [s for s in samples if all(getattr(s, key) == getattr(audit, key) for key in same)]


def resamples_of(study: Mapping[str, Any]) -> int:
    """Resamples of intervals and tests."""
    return int(study.get("resamples", 10_000))


def _data(entry: Mapping[str, Any], where: str) -> DataFiles:
    keys = ("critic", "statistics", "accuracy", "gold", "inferred", "articles", "latents", "validation")
    return DataFiles(
        corpus=text_of(entry, "corpus", where), **read_paths(entry, keys, f"{where}: corpus {entry.get('corpus')}")
    )


def _process(entry: Mapping[str, Any], where: str) -> ProcessFiles:
    keys = ("process", "statistics", "scores", "articles")
    return ProcessFiles(
        corpus=text_of(entry, "corpus", where), **read_paths(entry, keys, f"{where}: corpus {entry.get('corpus')}")
    )


def read_drawn(kind: type[D], entry: Mapping[str, Any], corpora: set[str], where: str, **given: Any) -> D:
    """The files of one sample, from a dict with the keys of `kind`; `given` are fields that are no paths."""
    words: dict[str, Any] = {key: text_of(entry, key, where) for key in ("corpus", "setting", "generator", "decoding")}
    name = f"{where}: sample {' '.join(words.values())} seed {entry.get('seed')}"
    if words["corpus"] not in corpora:
        raise TextcriticError(f"{name}: its corpus is not among the study's corpora; add it there")
    given |= {"seed": int(entry["seed"]), "label": str(entry.get("label") or words["generator"])}
    given |= {"from_file": bool(entry.get("from_file"))}
    keys = [field.name for field in fields(kind) if field.name not in {*words, *given}]
    return kind(**words, **given, **read_paths(entry, keys, name))


def text_of(entry: Mapping[str, Any], key: str, where: str) -> str:
    """The words under a key of an entry, which must have it."""
    if not entry.get(key):
        raise TextcriticError(f"{where}: an entry lacks the key {key!r}")
    return str(entry[key])


def read_paths(entry: Mapping[str, Any], keys: Iterable[str], name: str) -> dict[str, Any]:
    """The files under some keys of an entry, each of which must be there; None for what an entry need not have."""
    return {key: _path(entry, key, name) for key in keys}


def _path(entry: Mapping[str, Any], key: str, name: str) -> Path | None:
    if not entry.get(key):
        if key in OPTIONAL:
            return None
        raise TextcriticError(f"{name}: the path of its {key} is missing")
    path = Path(entry[key])
    if not path.is_file():
        raise TextcriticError(f"{name}: {key}: {path}: no such file; run the rule that makes it")
    return path
