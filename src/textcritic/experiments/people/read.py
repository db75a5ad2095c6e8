"""Answers of people, joined with the articles that they are about: each article's text, titles and scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.annotation.answers import (
    ATTENTION,
    INTRUDER,
    SECTIONS,
    TASK,
    Answer,
    Header,
    RealSource,
    SectionsAnswer,
    read_answers,
    text_hash,
)
from textcritic.corpora import some_articles
from textcritic.errors import TextcriticError
from textcritic.experiments.people.files import PeopleFiles, RealText, Sample
from textcritic.files import read_table
from textcritic.inference.crossed import Crossed
from textcritic.measures.material import Material
from textcritic.plan.sources import Source
from textcritic.values import Row

Written = RealText | Sample


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """An answer about an article of the experiment.

    Attributes:
        source: the real text or sample that the article is from.
        annotator: a name that is unique over all campaigns.
        article: a name that is unique over all sources.
        order: place among the annotator's items.
        seconds: from when the article was shown until the answer; idle time is included.
        coherent: the verdict.
        titles: section types by the annotator.
        inferred: section types by the classifier.
        gold: the article's own section types; None if it has none.
        scores: by name: `nll`, `nll_per_step`, and those of other critics; NaN if the article was left out.
    """

    source: Written
    annotator: str
    article: str
    order: int
    seconds: float
    coherent: bool
    titles: tuple[str, ...]
    inferred: tuple[str, ...]
    gold: tuple[str, ...] | None
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """All answers of the experiment's campaigns.

    Attributes:
        judged: those that count.
        attention: by annotator, for each text that says what to answer, whether the answer followed it.
        elsewhere: answers about sources that this experiment does not have.
        headers: of the campaigns.
    """

    judged: Sequence[Judged] = ()
    attention: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    elsewhere: int = 0
    headers: Sequence[Header] = ()

    def of(self, source: Written) -> list[Judged]:
        """The answers about one source."""
        return [one for one in self.judged if one.source is source]


def crossed(judged: Sequence[Judged]) -> Crossed:
    """Verdicts, 1 for coherent, with annotators and articles."""
    values = np.array([one.coherent for one in judged], dtype=np.float64)
    return Crossed(values, [one.annotator for one in judged], [one.article for one in judged])


def collected(material: Material[PeopleFiles]) -> Collected:
    """Read the answers, and the texts, titles and scores of their articles.

    Raises:
        TextcriticError: a file is missing or damaged; it has simulated answers, or answers to another task; an article
            is not in its corpus or sample, or its text is not the one that was shown; the number of titles is not the
            number of sections.
    """
    files = material.files
    sources: dict[Source | RealSource, Written] = {RealSource(real.corpus): real for real in files.data}
    for sample in files.samples:
        run = (sample.seed, sample.draw)
        sources[Source(sample.corpus, sample.setting, sample.generator, sample.decoding, *run)] = sample
    answers: dict[Written, list[tuple[Path, Header, Answer]]] = {}
    attention: dict[str, list[bool]] = {}
    headers: list[Header] = []
    elsewhere, seen = 0, set[str]()
    for path in files.annotations:
        read = read_answers(path)
        check_header(path, read.header, SECTIONS, seen)
        headers.append(read.header)
        for row in read.rows:
            if row.pilot:
                continue
            if row.phase == ATTENTION and row.right is not None:
                attention.setdefault(annotator_name(read.header, row), []).append(row.answer == row.right)
            elif row.phase == TASK and row.source in sources:
                answers.setdefault(sources[row.source], []).append((path, read.header, row))
            else:
                elsewhere += row.phase == TASK
    judged = [one for source in sources.values() for one in _joined(source, answers.get(source, []))]
    return Collected(judged, attention, elsewhere, headers)


def check_header(path: Path, header: Header, task: str, seen: set[str]) -> None:
    """Check that an export is of this task, by people, and the only one of its campaign; adds that to `seen`."""
    if header.task != task:
        kind = "intruders" if header.task == INTRUDER else "people"
        raise TextcriticError(
            f"{path}: answers to the task {header.task}; this experiment reads the task {task}. Put the file under"
            f" `annotations` of an experiment of kind {kind}"
        )
    if header.simulated:
        raise TextcriticError(
            f"{path}: a program gave these answers; simulated answers are for tests and planning, never for results"
        )
    if header.campaign in seen:
        raise TextcriticError(f"{path}: the campaign {header.campaign!r} has another file; give only its last export")
    seen.add(header.campaign)


def annotator_name(header: Header, row: Answer) -> str:
    """The name of an annotator, unique over several campaigns."""
    return f"{header.campaign}/{row.annotator}"


def _joined(source: Written, answers: Sequence[tuple[Path, Header, Answer]]) -> list[Judged]:
    if not answers:
        return []
    ids = {row.document for *_, row in answers}
    texts = some_articles(source.articles, ids)
    titles = _by_id(source.latents, ("id", "inferred", "gold"), ids)
    scores = _scores(source, ids)
    judged = []
    for path, header, row in answers:
        assert isinstance(row.answer, SectionsAnswer)
        where = f"{path}: annotator {row.annotator}, document {row.document}"
        if row.document not in texts or row.document not in titles:
            raise TextcriticError(f"{where}: there is no such article in {source.articles}")
        parts = [section.text for section in texts[row.document].sections]
        if text_hash(parts) != row.sha256:
            raise TextcriticError(
                f"{where}: the text that was shown is not the one in {source.articles}; the answers are about others"
            )
        if len(row.answer.titles) != len(parts):
            raise TextcriticError(f"{where}: {len(row.answer.titles)} titles for {len(parts)} sections")
        gold = titles[row.document]["gold"]
        judged.append(
            Judged(
                source=source,
                annotator=annotator_name(header, row),
                article=f"{_slug(source)}/{row.document}",
                order=row.order,
                seconds=row.seconds,
                coherent=row.answer.coherent,
                titles=row.answer.titles,
                inferred=tuple(titles[row.document]["inferred"]),
                gold=tuple(gold) if all(gold) else None,
                scores=scores.get(row.document, {}),
            )
        )
    return judged


def _slug(source: Written) -> str:
    return source.slug if isinstance(source, Sample) else f"{source.corpus}.data"


def _scores(source: Written, ids: set[str]) -> dict[str, dict[str, float]]:
    scores: dict[str, dict[str, float]] = {}
    for name, row in _by_id(source.scores, ("id", "nll", "steps", "rejected"), ids).items():
        nll = np.nan if row["rejected"] else row["nll"]
        scores[name] = {"nll": nll, "nll_per_step": nll / max(row["steps"], 1)}
    for other in source.beside:
        for name, row in _by_id(other.scores, ("id", "nll", "rejected"), ids).items():
            scores.setdefault(name, {})[other.critic] = np.nan if row["rejected"] else row["nll"]
    return scores


def _by_id(path: Path, columns: Sequence[str], ids: set[str]) -> dict[str, Row]:
    table = read_table(path)
    if lacking := [column for column in columns if column not in table.column_names]:
        raise TextcriticError(f"{path}: no column {lacking[0]!r}; delete it and rerun the rule that makes it")
    kept = table.select(list(columns)).filter(pc.is_in(table["id"], value_set=pa.array(sorted(ids), pa.string())))
    return {row["id"]: row for row in kept.to_pylist()}
