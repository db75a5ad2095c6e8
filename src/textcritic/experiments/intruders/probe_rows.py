"""Edited documents in long format: how much better an intruder is found after an edit (paper, section 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.counts import counts_of, parts_of
from textcritic.critics.detectors.predictions import Prediction, read_predictions
from textcritic.critics.detectors.votes import Votes, read_votes
from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.files import Corpus, Edited, IntruderFiles, Voted
from textcritic.experiments.intruders.names import PEOPLE, PROBES
from textcritic.experiments.intruders.people import counts_of_answers
from textcritic.experiments.intruders.read import (
    Judgement,
    documents_of,
    first_judgements,
    flagged,
    groups_of,
    some_documents,
    votes_of,
)
from textcritic.experiments.intruders.rows import MOST_RESAMPLES, ROW, exchange_p, keys_of, numbers_of, table_of
from textcritic.files import read_table
from textcritic.inference import Groups
from textcritic.inference.statistics import Array
from textcritic.measures.material import Material
from textcritic.values import Row

INTRUDER, BASE = "intruder", "base"
EDIT_COLUMNS = ["document", "probe", "where", "position", "before", "after"]
ENDS = ("", "_low", "_high")
PROBED = (
    *ROW, "probe", "where", "documents", *(f"{side}_f1{end}" for side in ("base", "edited") for end in ENDS),
    "difference", "p_difference", "base_flagged", "edited_flagged", "p_flagged", "published_base",
    "published_difference",
)  # fmt: skip
TEXT = ("where",)


@dataclass(frozen=True, slots=True)
class Probe:
    """An edited document.

    Attributes:
        document: the document after the edit.
        probe: the edit.
        where: `intruder`: the intruder was edited; else a sentence of the document's own.
        position: of the edited sentence.
        before, after: the sentence.
        base: place of the document that was edited among the test documents.
    """

    document: Document
    probe: str
    where: str
    position: int
    before: str
    after: str
    base: int


def probe_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """The effect of an edit: one row for each detector, edit, and kind of sentence that was edited.

    Columns: the keys; `probe`; `where`: `intruder`, or another word for a sentence of the document's own, as a control;
    `documents`; `base_f1` and `edited_f1`, sentence F1 before and after the edit, percent, with intervals (only for
    intruders), `difference`, after minus before, p of exchanging before and after for whole documents, or groups;
    `base_flagged` and `edited_flagged`, percent of the edited sentences that are flagged before and after, with p;
    published values. The last rows of a corpus are people: every vote counts separately, as in the paper, and documents
    without a vote before the edit count only after it.

    Raises:
        TextcriticError: a file is missing or damaged; an edited document is not from the test documents.
    """
    rows: list[dict[str, object]] = []
    for one in material.get(first_judgements):
        if one.judged.probes is None:
            continue
        probes = material.get(probes_of)[one.judged.corpus]
        edited = edited_predictions(one, probes)
        for (probe, where), places in _by_edit(probes).items():
            after = Judgement(one.judged, [probes[n].document for n in places], [edited[n] for n in places])
            rows.append(_row(one, after, [probes[n] for n in places], (probe, where), material))
    for voted, votes in material.get(votes_of):
        rows += [_people_row(voted, votes, edit, material) for edit in voted.edited]
    for row in rows:
        of = row | {"seed": None}
        row["published_base"] = material.published.value("f1", of)
        row["published_difference"] = material.published.value("difference", of)
    return table_of(rows, PROBED, ("seed", "documents"))


def probes_of(material: Material[IntruderFiles]) -> Mapping[str, list[Probe]]:
    """The edited documents of each corpus that has any."""
    documents = material.get(documents_of)
    return {
        corpus.corpus: read_probes(corpus, documents[corpus.corpus])
        for corpus in material.files.corpora
        if corpus.probes is not None
    }


def read_probes(corpus: Corpus, documents: Sequence[Document]) -> list[Probe]:
    """The edited documents of a corpus, without the file's unedited ones.

    Raises:
        TextcriticError: the file is missing or damaged; an edited document is none of the test documents.
    """
    path = Path(str(corpus.probes))
    edited, place_of = some_documents(path), {document.id: place for place, document in enumerate(documents)}
    probes = []
    for document, edit in zip(edited, read_table(path).select(EDIT_COLUMNS).to_pylist(), strict=True):
        if edit["probe"] == BASE:
            continue
        base = place_of.get(edit["document"])
        if base is None or documents[base].sentences[edit["position"]] != edit["before"]:
            raise TextcriticError(f"{path}: {document.id} is not an edited test document; rerun the rule that makes it")
        words = (edit["probe"], edit["where"], edit["position"], edit["before"], edit["after"])
        probes.append(Probe(document, *words, base))
    return probes


def edited_predictions(one: Judgement, probes: Sequence[Probe]) -> list[Prediction]:
    """A detector's predictions on edited documents, in their order.

    Raises:
        TextcriticError: the file is missing or damaged, or is of other documents.
    """
    path = Path(str(one.judged.probes))
    predictions = {prediction.id: prediction for prediction in read_predictions(path)}
    for probe in probes:
        prediction = predictions.get(probe.document.id)
        if prediction is None or len(prediction.scores) != len(probe.document.sentences) - 1:
            raise TextcriticError(f"{path}: {probe.document.id} lacks predictions for some sentences; rerun its rule")
    return [predictions[probe.document.id] for probe in probes]


def _by_edit(probes: Sequence[Probe]) -> dict[tuple[str, str], list[int]]:
    """Places of the edited documents of each edit, in the paper's order."""
    order = {name: n for n, name in enumerate(PROBES)}
    by_edit: dict[tuple[str, str], list[int]] = {}
    for place, probe in enumerate(probes):
        by_edit.setdefault((probe.probe, probe.where), []).append(place)
    return dict(sorted(by_edit.items(), key=lambda item: (order.get(item[0][0], len(order)), item[0])))


def _row(
    one: Judgement, after: Judgement, probes: Sequence[Probe], edit: tuple[str, str], material: Material[IntruderFiles]
) -> dict[str, object]:
    before, groups = one.at([probe.base for probe in probes]), groups_of(after.documents)
    resamples = min(material.files.resamples, MOST_RESAMPLES)
    row = keys_of(one, material) | {"probe": edit[0], "where": edit[1], "documents": len(probes)}
    if edit[1] == INTRUDER:
        row |= _f1("base", before.counts, groups, resamples)
        row |= _f1("edited", after.counts, groups, resamples)
        gap, p = exchange_p(parts_of(after.counts, "f1"), parts_of(before.counts, "f1"), groups, resamples)
        row |= {"difference": gap, "p_difference": p}
    flags = [
        np.array(
            [probe.position in flagged(prediction) for probe, prediction in zip(probes, side.predictions, strict=True)],
            float,
        )
        for side in (before, after)
    ]
    ones = np.ones(len(probes))
    p = exchange_p(np.column_stack([flags[1], ones]), np.column_stack([flags[0], ones]), groups, resamples)[1]
    shares = {f"{side}_flagged": 100 * float(some.mean()) for side, some in zip(("base", "edited"), flags, strict=True)}
    return row | shares | {"p_flagged": p}


def _people_row(
    voted: Voted, votes: Sequence[Votes], edit: Edited, material: Material[IntruderFiles]
) -> dict[str, object]:
    after = read_votes(edit.votes, exactly=False)
    votes_before = {one.id: one for one in votes}
    before = [votes_before[one.id] for one in after if one.id in votes_before]
    resamples = min(material.files.resamples, MOST_RESAMPLES)
    row: dict[str, object] = {
        "corpus": voted.corpus,
        "trained": "",
        "detector": PEOPLE,
        "label": "People",
        "probe": edit.probe,
    }
    row |= {"where": INTRUDER, "documents": len(after)}
    edited = _f1("edited", *_each(after), resamples)
    row |= edited
    if before:
        base = _f1("base", *_each(before), resamples)
        row |= base
        row["difference"] = edited["edited_f1"] - base["base_f1"]
        pairs = [(_summed(one), _summed(votes_before[one.id])) for one in after if one.id in votes_before]
        sides = [np.vstack([pair[n] for pair in pairs]) for n in (0, 1)]
        row["p_difference"] = exchange_p(parts_of(sides[0], "f1"), parts_of(sides[1], "f1"), None, resamples)[1]
    return row


def _f1(side: str, counts: Array, groups: Groups, resamples: int) -> Row:
    numbers = numbers_of(counts, groups, resamples)
    return {f"{side}_f1{end}": numbers.get(f"f1{end}") for end in ENDS}


def _each(votes: Sequence[Votes]) -> tuple[Array, list[str | None]]:
    """Counts of every single vote, and the document of each."""
    pairs = [(one, answer) for one in votes for answer in one.answers]
    return counts_of_answers(pairs), [one.id for one, _ in pairs]


def _summed(votes: Votes) -> Array:
    """Counts of all votes on a document, scaled to five votes."""
    rows = [counts_of(votes.gold, () if answer is None else (answer,)) for answer in votes.answers]
    return np.asarray(np.mean(rows, axis=0) * 5)
