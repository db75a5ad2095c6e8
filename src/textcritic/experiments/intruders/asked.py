"""Answers of our own campaigns: votes like the published ones, and numbers about the annotators."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from textcritic.annotation.answers import (
    ATTENTION,
    INTRUDER,
    TASK,
    Answer,
    Answers,
    IntruderAnswer,
    RealSource,
    read_answers,
    text_hash,
)
from textcritic.corpora.intruders.documents import Document, read_documents
from textcritic.critics.detectors.counts import counts_of, parts_of, safe_ratio
from textcritic.critics.detectors.votes import Votes
from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.files import Asked, IntruderFiles
from textcritic.experiments.people.annotators import EVERYTHING, agreement_of, doubts_of, median_seconds
from textcritic.experiments.people.read import annotator_name, check_header
from textcritic.inference import bootstrap_interval, unit_sums
from textcritic.inference.crossed import Crossed, share
from textcritic.measures.material import Material
from textcritic.measures.scored import reasons_in_words
from textcritic.values import Row

AGREEMENT = ("corpus", "about", "measure", "value", "ci_low", "ci_high", "items", "why")
NUMBERS = ("accuracy", "f1", "found")
ANNOTATORS = (
    "corpus", "annotator", "answers", "documents", "coherent_percent",
    *(f"{name}{end}" for name in NUMBERS for end in ("", "_low", "_high")), "minutes", "attention_passed", "attention",
    "of_these", "left_out", "left_out_by_reason", "flagged",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """One answer about a document of the corpus.

    Attributes:
        annotator: a name that is unique over all campaigns.
        document: the document that was shown.
        intruder: position of the sentence that was named; None: the answer was that all sentences belong.
        seconds: of the answer, see `Answer.seconds`.
    """

    annotator: str
    document: Document
    intruder: int | None
    seconds: float

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """As `counts.counts_of`."""
        return counts_of(self.document.intruder, () if self.intruder is None else (self.intruder,))


@dataclass(frozen=True, slots=True)
class Collected:
    """The answers of all campaigns about one corpus.

    Attributes:
        corpus: its name.
        answers: those that count.
        attention: by annotator, for each document that says what to answer, whether the answer followed it.
        left_out: the number of answers that do not count, by reason.
    """

    corpus: str
    answers: list[DocumentAnswer] = field(default_factory=list)
    attention: dict[str, list[bool]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def votes(self) -> list[Votes]:
        """The answers by document, in the order of the file."""
        answers: dict[str, list[DocumentAnswer]] = {}
        for one in self.answers:
            answers.setdefault(one.document.id, []).append(one)
        return [
            Votes(name, some[0].document.intruder, tuple(one.intruder for one in some), some[0].document.group)
            for name, some in answers.items()
        ]


def collected(material: Material[IntruderFiles]) -> list[Collected]:
    """The answers of each corpus, in the order of the files.

    Raises:
        TextcriticError: a file is missing or damaged; it has simulated answers, or answers to another task; a document
            is not in its corpus, its text is not the one that was shown, or it has no such sentence.
    """
    return [_of_corpus(asked, material.get(_exports)) for asked in material.files.asked]


def _exports(material: Material[IntruderFiles]) -> dict[Path, Answers]:
    seen: set[str] = set()
    exports = {}
    for path in dict.fromkeys(path for asked in material.files.asked for path in asked.annotations):
        exports[path] = read_answers(path)
        check_header(path, exports[path].header, INTRUDER, seen)
    return exports


def _of_corpus(asked: Asked, exports: dict[Path, Answers]) -> Collected:
    documents = {document.id: document for document in read_documents(asked.test)}
    collected_here = Collected(asked.corpus)
    for path, export in exports.items():
        for row in export.rows:
            name = annotator_name(export.header, row)
            if row.source != RealSource(asked.corpus):
                collected_here.left_out["about another corpus"] += 1
            elif row.pilot:
                collected_here.left_out["of a pilot"] += 1
            elif row.phase != TASK:
                collected_here.left_out[row.phase] += 1
                if row.phase == ATTENTION:
                    collected_here.attention.setdefault(name, []).append(row.answer == row.right)
            else:
                where = f"{path}: annotator {row.annotator}, document {row.document}"
                if row.document not in documents:
                    raise TextcriticError(f"{where}: there is no such document in {asked.test}")
                collected_here.answers.append(_vote_of(row, name, documents[row.document], where, asked.test))
    return collected_here


def _vote_of(row: Answer, name: str, document: Document, where: str, test: Path) -> DocumentAnswer:
    assert isinstance(row.answer, IntruderAnswer)
    if text_hash(document.sentences) != row.sha256:
        raise TextcriticError(
            f"{where}: the text in {test} is not the text that this annotator was shown; the answers belong to another"
            " corpus"
        )
    if (row.answer.intruder or 0) >= len(document.sentences):
        raise TextcriticError(
            f"{where}: {test} has {len(document.sentences)} sentences, and {row.answer.intruder} was named"
        )
    return DocumentAnswer(name, document, row.answer.intruder, row.seconds)


def agreement_rows(corpus: str, votes: Sequence[Votes]) -> list[Row]:
    """Alpha and AC1 of the verdict whether a document is coherent, and of the sentence that is named."""
    answers = [(n, one.id, answer) for one in votes for n, answer in enumerate(one.answers)]
    verdicts = [(n, name, answer is None) for n, name, answer in answers]
    most = max((place or 0 for one in votes for place in (one.gold, *one.answers)), default=0)
    sentences = (None, *range(1, most + 1))
    return [
        *agreement_of(corpus, "whether all sentences belong", verdicts, (True, False)),
        *agreement_of(corpus, "which sentence does not belong", answers, sentences),
    ]


def annotator_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """One row for each annotator of our campaigns, and one for all annotators of a corpus.

    Columns: `corpus`; `annotator` (`all` is the last of a corpus); `answers` and the `documents` they are about;
    `coherent_percent`, answers that all sentences belong; `accuracy`, percent of the answers that are right about
    whether there is an intruder, `f1` of the sentences that are named, `found`, percent of the answers to documents
    with an intruder that name it: each with its 95% interval, over an annotator's own documents, and for all over
    annotators and documents (F1: documents); median `minutes` an answer; `attention_passed` of `attention`; `of_these`,
    whether the intervals for all hold only for these annotators; answers `left_out`, by reason; `flagged`, why the
    answers may be given at random. Nobody is left out because of it.
    """
    rows: list[Row] = []
    for campaign in material.get(collected):
        typical = median_seconds(one.seconds for one in campaign.answers)
        for name in dict.fromkeys([*(one.annotator for one in campaign.answers), *campaign.attention]):
            own = [one for one in campaign.answers if one.annotator == name]
            attention = campaign.attention.get(name, [])
            row = {"annotator": name, **_about(own, material.files.resamples)}
            row |= {"attention_passed": sum(attention), "attention": len(attention)}
            rows.append(
                {
                    "corpus": campaign.corpus,
                    **row,
                    "flagged": doubts_of(median_seconds(one.seconds for one in own), attention, typical),
                }
            )
        if campaign.answers or campaign.left_out:
            row = {"annotator": EVERYTHING, **_about(campaign.answers, material.files.resamples)}
            row |= _of_all(campaign.answers)
            row |= {"left_out": campaign.left_out.total(), "left_out_by_reason": reasons_in_words(campaign.left_out)}
            rows.append({"corpus": campaign.corpus, **row, "flagged": ""})
    table = pd.DataFrame(rows).reindex(columns=list(ANNOTATORS))
    text = ("corpus", "annotator", "left_out_by_reason", "flagged", "of_these")
    numbers = {column: float for column in ANNOTATORS if column not in text}
    return table.astype(numbers | {"of_these": "boolean"}).fillna({"left_out_by_reason": ""})


def _about(answers: Sequence[DocumentAnswer], resamples: int) -> Row:
    """Numbers of some answers, with intervals over their documents."""
    if not answers:
        return {"answers": 0, "documents": 0}
    units = [one.document.group or one.document.id for one in answers]
    row: dict[str, object] = {"answers": len(answers), "documents": len({one.document.id for one in answers})}
    row["coherent_percent"] = 100 * float(np.mean([one.intruder is None for one in answers]))
    row["minutes"] = median_seconds(one.seconds for one in answers) / 60
    counts = np.array([one.counts for one in answers], float)
    for name, of in (("accuracy", "accuracy"), ("f1", "f1"), ("found", "recall")):
        parts = parts_of(counts, of)
        if parts[:, 1].sum() > 0:
            interval = bootstrap_interval(unit_sums(parts, units), safe_ratio, resamples).of_share().times(100)
            row |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row


def _of_all(answers: Sequence[DocumentAnswer]) -> Row:
    """The intervals of two shares over annotators and documents, which are crossed."""
    attacked = [one for one in answers if one.document.intruder is not None]
    row: dict[str, object] = {}
    for name, some, place in (("accuracy", answers, 0), ("found", attacked, 1)):
        if some:
            values = np.array([one.counts[place] for one in some], float)
            units = [one.document.group or one.document.id for one in some]
            interval = share(Crossed(values, [one.annotator for one in some], units))
            ends = {f"{name}_low": interval.low, f"{name}_high": interval.high}
            row |= {key: None if end is None else 100 * end for key, end in ends.items()} | {
                "of_these": interval.of_these
            }
    return row
