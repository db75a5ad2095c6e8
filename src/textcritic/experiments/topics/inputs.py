"""The files of a study's topics, checked before anything is computed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from textcritic.errors import TextcriticError
from textcritic.report.inputs import Drawn, read_drawn, read_paths, resamples_of, text_of

DATA = "data"  # the `source` of real text


@dataclass(frozen=True, slots=True)
class TopicFiles:
    """Real text of one corpus and the correlated topic model that was fitted on it.

    Attributes:
        corpus: its name.
        critic: critic.npz.
        vocabulary: vocabulary.parquet.
        vocabulary_counts: vocabulary.json, what was left out of the vocabulary and why.
        training: training.json of the fit.
        posteriors, scores, articles: of the test split.
    """

    corpus: str
    critic: Path
    vocabulary: Path
    vocabulary_counts: Path
    training: Path
    posteriors: Path
    scores: Path
    articles: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSample(Drawn):
    """A sample with its posteriors; `baseline` says that its generator learnt from shuffled words."""

    posteriors: Path
    baseline: bool


Source: TypeAlias = TopicFiles | TopicSample


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a study: real text of each corpus, samples in the order of the tables, and how to read them."""

    data: tuple[TopicFiles, ...]
    samples: tuple[TopicSample, ...]
    decodings: Mapping[str, Mapping[str, Any]]
    resamples: int

    def of(self, files: TopicFiles) -> list[Source]:
        """The real text of one corpus and the samples beside it, the baseline last."""
        return [files, *sorted((s for s in self.samples if s.corpus == files.corpus), key=lambda s: s.baseline)]

    def shown(self, files: TopicFiles) -> list[Source]:
        """The same with the first seed of each sample only."""
        first: dict[tuple[str, ...], TopicSample] = {}
        for sample in self.samples:
            key = (sample.corpus, sample.setting, sample.generator, sample.decoding)
            if key not in first or sample.seed < first[key].seed:
                first[key] = sample
        return [s for s in self.of(files) if isinstance(s, TopicFiles) or s in first.values()]


def read_topics(study: Mapping[str, Any]) -> Topics:
    """Check the description of a study's topics; the rest of the study is not looked at.

    Args:
        study: `name`, `resamples`? (default 10,000) and `topics`, with `corpora`, a list of dicts with the keys of
            `TopicFiles`, `sources`, one of dicts with the keys of `TopicSample` (`baseline`? is false by default), and
            `decodings`?, the registry entry of each decoding.

    Raises:
        TextcriticError: a key is missing, a file is not there, or a source belongs to a corpus that is not listed.
    """
    where, block = f"study {study['name']}: topics", study.get("topics")
    if not block:
        raise TextcriticError(f"{where}: there are none; add `topics` to the study, or leave these tables and figures")
    for key in ("corpora", "sources"):
        if not block.get(key):
            raise TextcriticError(f"{where}: {key!r} is missing or empty; the tables need it")
    data = tuple(_data(entry, where) for entry in block["corpora"])
    known = {files.corpus for files in data}
    samples = tuple(
        read_drawn(TopicSample, entry, known, where, baseline=bool(entry.get("baseline"))) for entry in block["sources"]
    )
    return Topics(data, samples, block.get("decodings", {}), resamples_of(study))


def _data(entry: Mapping[str, Any], where: str) -> TopicFiles:
    keys = [field.name for field in fields(TopicFiles) if field.name != "corpus"]
    name = f"{where}: corpus {entry.get('corpus')}"
    if not entry.get("training"):  # which a sample need not have
        raise TextcriticError(f"{name}: the path of its training is missing")
    return TopicFiles(corpus=text_of(entry, "corpus", where), **read_paths(entry, keys, name))
