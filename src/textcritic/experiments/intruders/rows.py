"""Detectors on documents with intruders, in long format: numbers, pairs of detectors, and what is difficult."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.counts import NAMES as COUNTED
from textcritic.critics.detectors.counts import counts_of, parts_of, safe_ratio
from textcritic.critics.detectors.votes import Votes, answers_of, counts_of_votes
from textcritic.experiments.intruders.files import IntruderFiles
from textcritic.experiments.intruders.names import MAJORITY, NUMBERS, PEOPLE
from textcritic.experiments.intruders.read import (
    Judgement,
    documents_of,
    first_judgements,
    groups_of,
    joined_votes,
    judgements,
    votes_of,
)
from textcritic.inference import (
    RANKINGS,
    Groups,
    Interval,
    are_grouped,
    bootstrap_interval,
    holm,
    mcnemar_test,
    paired_permutation_test,
    ranking_interval,
    unit_of,
    unit_sums,
)
from textcritic.inference.statistics import Array
from textcritic.measures.material import Material
from textcritic.values import JsonObject, Row

KEYS = ("corpus", "trained", "detector", "probe")
"""The keys of a published value."""
ROW = ("corpus", "trained", "detector", "seed", "label")
ENDS = ("", "_low", "_high", "_why")
DETECTORS = (
    *ROW, "domain", "documents", "incoherent", "sentences", "groups", *(f"{n}{end}" for n in NUMBERS for end in ENDS),
    "p_majority", "people_documents", "people_accuracy", "people_f1", "own_accuracy", "own_f1", "p_people_accuracy",
    "p_people_f1", "published_accuracy", "published_f1", "difference_accuracy", "difference_f1",
)  # fmt: skip
WHOLE = ("seed", "documents", "incoherent", "sentences", "groups", "people_documents")
"""Columns of these that are whole numbers."""
PAIRS = (
    "corpus", "first_detector", "first_trained", "second_detector", "second_trained", "documents", "first_alone",
    "second_alone", "p_accuracy", "holm_accuracy", "f1_difference", "p_f1", "holm_f1",
)  # fmt: skip
DIFFICULTY = (
    *ROW, "by", "level", "documents", "found", "found_low", "found_high", "highest", "highest_low", "highest_high",
    "chance", "found_why", "highest_why",
)  # fmt: skip
TEXT = (
    *(
        "trained",
        "detector",
        "domain",
        "rejected_by_reason",
        "left_out_by_reason",
        "annotator",
        "flagged",
        "about",
        "measure",
        "why",
        "by",
        "level",
        "probe",
        "where",
        "rule",
        "gold",
        "answer",
        "metric",
    ),
    *("first_detector", "first_trained", "second_detector", "second_trained", "found_why", "highest_why"),
    *(f"{name}_why" for name in NUMBERS),
    *("ppl_unit", "ppl_infinite_because"),
)
"""Columns that are text."""
IN, CROSS = "in", "cross"
MOST_RESAMPLES = 2000  # for intervals of rankings and tests of pairs, because there are many
RULE = "same"  # the rule of Table 3 that makes one answer of five


def detector_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """How well each detector finds intruders: one row for each corpus, training corpus, detector and seed.

    Columns: the keys; `domain` (`in`, `cross`); counts of documents, of those with an intruder, of sentences and of
    groups; `accuracy` (documents), `f1`, `precision`, `recall` (sentences), percent, and `auc`, `average_precision` of
    the sentences' scores, 0 to 1: each with its 95% interval `_low`, `_high` over documents, or groups of them, and
    `_why` there is none; `p_majority`, McNemar's exact test of accuracy against calling all documents coherent;
    `people_...`, the scores of people on the documents that have votes, `own_...`, the detector's scores on the same
    documents, and p of McNemar's test and of the exchange of whole documents (F1); published values and ours minus
    them.

    After the detectors of a corpus there are two more rows: the majority class, unless it is one of the detectors, and
    people (answers by the rule `same`) for corpora with votes.

    Raises:
        TextcriticError: a file is missing or damaged, or files are of other documents.
    """
    rows: list[JsonObject] = [_detector_row(one, material) for one in material.get(judgements)]
    resamples = material.files.resamples
    for corpus, some in material.get(documents_of).items():
        if not any(row["corpus"] == corpus and row["detector"] == MAJORITY for row in rows):
            rows.append(_majority_row(corpus, some, resamples))
    rows += [_people_row(voted.corpus, votes, material) for voted, votes in material.get(votes_of)]
    for row in rows:
        for metric in ("accuracy", "f1"):
            row |= material.published.beside(metric, row, row.get(metric), f"_{metric}")
    return table_of(rows, DETECTORS, WHOLE)


def pair_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Pairs of detectors on the same documents: two detectors trained on one corpus, or one detector trained on two.

    Columns: `corpus`; `first_detector` and `second_detector` with their training corpora; `documents`; `first_alone`
    and `second_alone`, the documents that only one of them judged right, p of McNemar's exact test; `f1_difference`,
    first minus second, percent, p of exchanging whole documents, or groups of them; `holm_...`, p adjusted for all
    pairs of the corpus.
    """
    rows = []
    for corpus in [one.corpus for one in material.files.corpora]:
        judged = [one for one in material.get(first_judgements) if one.judged.corpus == corpus]
        of_corpus = [_pair_row(one, two, material) for one, two in combinations(judged, 2) if _are_compared(one, two)]
        adjusted = (holm([row[f"p_{name}"] for row in of_corpus]) for name in ("accuracy", "f1"))
        for row, accuracy, f1 in zip(of_corpus, *adjusted, strict=True):
            rows.append({**row, "holm_accuracy": accuracy, "holm_f1": f1})
    return table_of(rows, PAIRS, ("documents", "first_alone", "second_alone"))


def difficulty_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """The share of intruders that each detector finds, by their origin: one row a detector and level.

    Columns: the keys; `by`: `rank`, the rank of the source document in retrieval (`random`: it was not retrieved),
    `filter`, whether the detector that filtered candidates missed it (`hard`) or not (`easy`), or `sentences`, the
    number of sentences of the document; `level`; `documents` with such an intruder; `found`, percent of these intruders
    that are flagged, with its interval; `highest`, percent of these documents in which the intruder has the highest
    score, which needs no threshold, with its interval, and `chance`, the same by guessing.
    """
    rows = []
    for one in material.get(first_judgements):
        places: dict[tuple[str, str], list[int]] = {}
        for place, document in enumerate(one.documents):
            for pair in _levels(document):
                places.setdefault(pair, []).append(place)
        for (by, level), chosen in sorted(places.items(), key=_order):
            rows.append(_difficulty_row(one.at(chosen), by, level, material.files.resamples))
    return table_of(rows, DIFFICULTY, ("seed", "documents"))


def table_of(rows: Sequence[Row], columns: Sequence[str], whole: Sequence[str]) -> pd.DataFrame:
    """Rows with these columns in order: texts, whole numbers, and numbers."""
    table = pd.DataFrame(rows).reindex(columns=list(columns))
    words = [column for column in columns if column in (*TEXT, "corpus", "label")]
    table = table.astype(dict.fromkeys(words, "object")).fillna(dict.fromkeys(words, ""))
    numbers = [column for column in columns if column not in (*words, *whole)]
    return table.astype(dict.fromkeys(numbers, float)).astype(dict.fromkeys(whole, "Int64"))


def keys_of(one: Judgement, material: Material[IntruderFiles] | None = None) -> dict[str, object]:
    """The key columns of a row."""
    judged = one.judged
    keys = {"corpus": judged.corpus, "trained": judged.trained, "detector": judged.detector, "seed": judged.seed}
    return keys | {"label": judged.label if material is None else material.names.detector(keys)}


def numbers_of(counts: Array, groups: Groups, resamples: int) -> dict[str, object]:
    """Accuracy, F1, precision and recall of some documents in percent, with their intervals."""
    row: dict[str, object] = {}
    for name in COUNTED:
        parts = parts_of(counts, name)
        if parts[:, 1].sum() > 0:
            row |= _ends(name, share_of_sums(parts, groups, resamples))
        else:
            row[f"{name}_why"] = "nothing is flagged" if name == "precision" else "no intruder"
    return row


def share_of_sums(parts: Array, groups: Groups, resamples: int) -> Interval:
    """A ratio of sums that is a share, in percent, with its interval."""
    return bootstrap_interval(unit_sums(parts, groups), safe_ratio, resamples).of_share().times(100)


def exchange_p(first: Array, second: Array, groups: Groups, resamples: int) -> tuple[float, float]:
    """The difference of two ratios of sums over the same documents, in percent, and p of exchanging documents.

    Documents, or groups of them, that are equal on both sides are added up, because exchanging them changes nothing.
    """
    one, two = unit_sums(first, groups), unit_sums(second, groups)
    differ = (one != two).any(axis=1)
    sets = [np.vstack([side[differ], side[~differ].sum(axis=0)]) for side in (one, two)]
    totals = [side.sum(axis=0) for side in sets]
    if any(total[1] == 0 for total in totals):
        return math.nan, math.nan
    test = paired_permutation_test(sets[0], sets[1], safe_ratio, resamples)
    return 100 * test.difference, test.p


def people_counts(votes: Sequence[Votes]) -> Array:
    """`counts_of_votes` by the rule of Table 3."""
    return counts_of_votes(votes, RULE)


def _detector_row(one: Judgement, material: Material[IntruderFiles]) -> dict[str, object]:
    files, groups = material.files, one.groups
    row = keys_of(one, material) | _held(one.documents, groups)
    row |= {"domain": IN if one.judged.trained == one.judged.corpus else CROSS}
    row |= numbers_of(one.counts, groups, files.resamples)
    scores, positive, unit = one.ranked()
    for name in RANKINGS:
        row |= _ends(name, ranking_interval(scores, positive, unit, name, min(files.resamples, MOST_RESAMPLES)))
    coherent = np.array([document.intruder is None for document in one.documents])
    row["p_majority"] = mcnemar_test(one.counts[:, 0], coherent, groups, files.resamples).p
    return row | _beside_people(one, material)


def _beside_people(one: Judgement, material: Material[IntruderFiles]) -> dict[str, object]:
    """People and the detector on the documents where people agree."""
    votes = material.get(joined_votes).get(one.judged.corpus, {})
    agreed = {voted.id: answer for voted, answer in answers_of(votes.values(), RULE)}
    places = [place for place, document in enumerate(one.documents) if document.id in agreed]
    if not places:
        return {}
    own, groups = one.counts[places], groups_of([one.documents[place] for place in places])
    rows = []
    for place in places:
        answer = agreed[one.documents[place].id]
        rows.append(counts_of(one.documents[place].intruder, () if answer is None else (answer,)))
    people, resamples = np.array(rows, float), min(material.files.resamples, MOST_RESAMPLES)
    columns: dict[str, object] = {"people_documents": len(places)}
    for side, counts in (("people", people), ("own", own)):
        for name in ("accuracy", "f1"):
            part, whole = parts_of(counts, name).sum(axis=0)
            columns[f"{side}_{name}"] = 100 * part / whole if whole else None
    columns["p_people_accuracy"] = mcnemar_test(own[:, 0], people[:, 0], groups, resamples).p
    columns["p_people_f1"] = exchange_p(parts_of(own, "f1"), parts_of(people, "f1"), groups, resamples)[1]
    return columns


def _majority_row(corpus: str, documents: Sequence[Document], resamples: int) -> dict[str, object]:
    """The row of the majority class: every document is called coherent."""
    counts = np.array([counts_of(document.intruder, ()) for document in documents], float)
    row = {"corpus": corpus, "trained": "", "detector": MAJORITY, "label": "Majority class"}
    return row | _held(documents, groups_of(documents)) | numbers_of(counts, groups_of(documents), resamples)


def _people_row(corpus: str, votes: Sequence[Votes], material: Material[IntruderFiles]) -> dict[str, object]:
    """The row of people, on the documents on which more than half agree."""
    agreed = [voted for voted, _ in answers_of(votes, RULE)]
    held = {"documents": len(agreed), "incoherent": sum(voted.gold is not None for voted in agreed)}
    groups = [voted.group or voted.id for voted in agreed]
    numbers = numbers_of(people_counts(votes), groups, material.files.resamples) if agreed else {}
    return {"corpus": corpus, "trained": "", "detector": PEOPLE, "label": "People", **held, **numbers}


def _held(documents: Sequence[Document], groups: Groups) -> dict[str, object]:
    grouped = int(unit_of(groups, len(documents)).max()) + 1 if are_grouped(groups) else None
    return {
        "documents": len(documents),
        "incoherent": sum(document.intruder is not None for document in documents),
        "sentences": sum(len(document.sentences) - 1 for document in documents),
        "groups": grouped,
    }


def _ends(name: str, interval: Interval) -> dict[str, object]:
    ends = {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {**ends, **({f"{name}_why": interval.reason} if interval.reason else {})}


def _are_compared(one: Judgement, two: Judgement) -> bool:
    return one.judged.trained == two.judged.trained or one.judged.detector == two.judged.detector


def _pair_row(one: Judgement, two: Judgement, material: Material[IntruderFiles]) -> Row:
    groups, resamples = one.groups, min(material.files.resamples, MOST_RESAMPLES)
    accuracy = mcnemar_test(one.counts[:, 0], two.counts[:, 0], groups, resamples)
    gap, p = exchange_p(parts_of(one.counts, "f1"), parts_of(two.counts, "f1"), groups, resamples)
    return {
        "corpus": one.judged.corpus,
        "first_detector": one.judged.detector,
        "first_trained": one.judged.trained,
        "second_detector": two.judged.detector,
        "second_trained": two.judged.trained,
        "documents": len(one.documents),
        "first_alone": accuracy.first_alone,
        "second_alone": accuracy.second_alone,
        "p_accuracy": accuracy.p,
        "f1_difference": gap,
        "p_f1": p,
    }


def _levels(document: Document) -> Iterator[tuple[str, str]]:
    if document.intruder is None:
        return
    yield "rank", "random" if document.rank is None else str(document.rank)
    if document.hard is not None:
        yield "filter", "hard" if document.hard else "easy"
    yield "sentences", str(len(document.sentences))


def _order(item: tuple[tuple[str, str], object]) -> tuple[str, bool, int, str]:
    (by, level), _ = item
    return by, not level.isdigit(), int(level) if level.isdigit() else 0, level


def _difficulty_row(one: Judgement, by: str, level: str, resamples: int) -> dict[str, object]:
    interval = share_of_sums(parts_of(one.counts, "recall"), one.groups, resamples)
    highest = [
        (prediction.scores[(document.intruder or 1) - 1] == prediction.scores.max())
        / (prediction.scores == prediction.scores.max()).sum()
        for document, prediction in zip(one.documents, one.predictions, strict=True)
    ]
    first = share_of_sums(np.column_stack([highest, np.ones(len(highest))]), one.groups, resamples)
    chance = 100 * float(np.mean([1 / (len(document.sentences) - 1) for document in one.documents]))
    row = keys_of(one) | {"by": by, "level": level, "documents": len(one.documents), "chance": chance}
    return row | _ends("found", interval) | _ends("highest", first)
