"""Answers of people in long format: by rule, how many were right, where all agree, compared with detectors."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from textcritic.critics.detectors.counts import counts_of
from textcritic.critics.detectors.votes import RULES, Votes, answers_of, people_of, right_shares
from textcritic.experiments.intruders.asked import AGREEMENT, agreement_rows
from textcritic.experiments.intruders.files import IntruderFiles, Voted
from textcritic.experiments.intruders.names import MAJORITY, PEOPLE
from textcritic.experiments.intruders.read import Judgement, first_judgements, joined_votes, votes_of
from textcritic.experiments.intruders.rows import ROW, keys_of, numbers_of, table_of
from textcritic.inference.statistics import Array
from textcritic.measures.material import Material
from textcritic.measures.scored import reasons_in_words
from textcritic.values import Row

ENDS = ("", "_low", "_high")
NUMBERS = ("accuracy", "f1", "precision", "recall")
VOTES = (
    "corpus", "rule", "documents", "answers", "coherent", *(f"{name}{end}" for name in NUMBERS for end in ENDS),
    "rejected", "rejected_by_reason",
)  # fmt: skip
RIGHT = (
    "corpus", "right", "documents", "share", "incoherent", "incoherent_share", "published_share",
    "published_incoherent", "difference_share", "difference_incoherent",
)  # fmt: skip
UNANIMOUS = ("corpus", "gold", "answer", "documents", "published")
BY_PEOPLE = (*ROW, "right", "documents", "accuracy", "accuracy_low", "accuracy_high", "f1", "f1_low", "f1_high")
ALONE = (*ROW, "gold", "both", "people_alone", "detector_alone", "neither", "people_coherent", "detector_coherent")
AGREED = (
    *ROW, "documents", *(f"{name}{end}" for name in ("accuracy", "f1") for end in (*ENDS, "_why")),
    "published_accuracy", "published_f1",
)  # fmt: skip
TEXT = ("gold", "answer", "rule")
COHERENT, INCOHERENT = "coherent", "incoherent"
RIGHT_ANSWER, WRONG, CALLED_COHERENT = "right", "wrong", "called coherent"
CALLED_INCOHERENT, WRONG_PLACE = "called incoherent", "another sentence named"


def vote_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """The scores of people by each rule that makes answers of votes: one row a corpus and rule.

    Columns: `corpus`; `rule`, see `critics.detectors.votes`; `documents` that have an answer, `answers`; `coherent`,
    percent of these documents, which is the accuracy of the majority class; accuracy, F1, precision, recall, percent,
    with intervals over documents; documents that are `rejected` because they have no answer by the rule, by reason.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    rows: list[Row] = []
    for voted, votes in material.get(votes_of):
        for rule in RULES:
            pairs = answers_of(votes, rule)
            documents = {document_votes.id: document_votes for document_votes, _ in pairs}
            row = {"corpus": voted.corpus, "rule": rule, "documents": len(documents), "answers": len(pairs)}
            if pairs:
                coherent = np.mean([document_votes.gold is None for document_votes in documents.values()])
                units = [document_votes.group or document_votes.id for document_votes, _ in pairs]
                row |= {"coherent": 100 * float(coherent)}
                row |= numbers_of(counts_of_answers(pairs), units, material.files.resamples)
            rows.append(row | _rejected([one for one in votes if one.id not in documents], rule))
    return table_of(rows, VOTES, ("documents", "answers", "rejected"))


def people_agreement_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Krippendorff's alpha and Gwet's AC1 of the answers to each corpus; columns as of the kind `people`."""
    rows = [row for voted, votes in material.get(votes_of) for row in agreement_rows(voted.corpus, votes)]
    return pd.DataFrame(rows, columns=list(AGREEMENT))


def right_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Figure 2: how many people were right, for the documents on which more than half gave one answer.

    Documents answered by a different number of people than most (`people_of`) are left out.

    Columns: `corpus`; `right`, from 0 to all people; `documents` and `share`, percent of these; `incoherent` and
    `incoherent_share`: those with an intruder, as percent of all documents with an intruder, as in the paper;
    published shares and ours minus them.
    """
    rows = []
    for voted, votes in material.get(votes_of):
        votes = _usual(votes)
        shares = right_shares(votes)
        agreed = [document_votes for document_votes, _ in answers_of(votes, "same")]
        for right, (share, other) in enumerate(shares.T):
            chosen = [document_votes for document_votes in agreed if document_votes.right == right]
            row: dict[str, object] = {"corpus": voted.corpus, "right": right, "documents": len(chosen), "share": share}
            row |= {
                "incoherent": sum(document_votes.gold is not None for document_votes in chosen),
                "incoherent_share": other,
            }
            for name, value in (("share", share), ("incoherent", other)):
                row |= material.published.beside(f"right_{right}_{name}", _place(voted), value, f"_{name}")
            rows.append(row)
    return table_of(rows, RIGHT, ("right", "documents", "incoherent"))


def unanimous_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Table 5: the documents on which all people, at least two, gave one answer.

    Columns: `corpus`; `gold`, `coherent` or `incoherent`; `answer`: `right`, or the kind of error (`wrong` is both
    kinds together); `documents`; `published`.
    """
    rows = []
    for voted, votes in material.get(votes_of):
        pairs = answers_of(votes, "all")
        for gold, answers in (
            (COHERENT, (RIGHT_ANSWER, CALLED_INCOHERENT)),
            (INCOHERENT, (RIGHT_ANSWER, WRONG, CALLED_COHERENT, WRONG_PLACE)),
        ):
            for answer in answers:
                kinds = (CALLED_COHERENT, WRONG_PLACE) if answer == WRONG else (answer,)
                number = sum((gold, kind) == _answered(*pair) for pair in pairs for kind in kinds)
                metric = f"{gold}_{answer.replace(' ', '_')}"
                printed = material.published.value(metric, _place(voted))
                row = {"corpus": voted.corpus, "gold": gold, "answer": answer, "documents": number}
                rows.append(row | {"published": printed})
    return table_of(rows, UNANIMOUS, ("documents",))


def agreed_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Table 6: detectors and people on the documents on which all people gave one answer, right or wrong.

    Columns: the keys; `documents`; `accuracy`, `f1`, percent, with intervals; published values.
    """
    rows: list[dict[str, object]] = []
    for voted, votes in material.get(votes_of):
        pairs = answers_of(votes, "all")
        if not pairs:
            continue
        counts = counts_of_answers(pairs)
        silent = counts_of_answers([(document_votes, None) for document_votes, _ in pairs])
        for detector, label, some in ((MAJORITY, "Majority class", silent), (PEOPLE, "People", counts)):
            row: dict[str, object] = {"corpus": voted.corpus, "trained": "", "detector": detector, "label": label}
            rows.append(row | {"documents": len(pairs)} | numbers_of(some, None, material.files.resamples))
    for one, chosen in _with_votes(material):
        places = [n for n, votes in chosen if votes.unanimous]
        if places:
            agreed = one.at(places)
            numbers = numbers_of(agreed.counts, agreed.groups, material.files.resamples)
            rows.append(keys_of(one, material) | {"documents": len(places)} | numbers)
    for row in rows:
        of = row | {"probe": "all-agree"}
        row |= {f"published_{name}": material.published.value(name, of) for name in ("accuracy", "f1")}
    return table_of(rows, AGREED, ("seed", "documents"))


def by_people_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Figure 3: detectors by the number of people who were right.

    Columns: the keys; `right`, as in `right_rows`; `documents`; accuracy and F1, percent, with intervals over documents
    or groups of them. Only detectors of corpora whose votes are joined.
    """
    rows = []
    for one, chosen in _with_votes(material):
        usual = _usual([votes for _, votes in chosen])
        chosen = [(n, votes) for n, votes in chosen if len(votes.answers) == len(usual[0].answers)]
        for right in range(len(usual[0].answers) + 1):
            some = one.at([n for n, votes in chosen if votes.right == right])
            row = keys_of(one, material) | {"right": right, "documents": len(some.documents)}
            numbers = numbers_of(some.counts, some.groups, material.files.resamples) if some.documents else {}
            rows.append(row | {name: value for name, value in numbers.items() if name in BY_PEOPLE})
    return table_of(rows, BY_PEOPLE, ("seed", "right", "documents"))


def alone_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Section 6.4: documents that only people or only a detector get right, of those on which all people agree.

    An incoherent document is right if its intruder is named (by a detector: among the flagged ones), a coherent one if
    nothing is. Columns: the keys; `gold`; documents that `both`, `people_alone`, `detector_alone` or `neither` got
    right; for `neither`, how many of them people and the detector called coherent.
    """
    rows = []
    for one, chosen in _with_votes(material):
        agreed = [(n, votes) for n, votes in chosen if votes.unanimous]
        for gold in (COHERENT, INCOHERENT):
            some = [(n, votes) for n, votes in agreed if (votes.gold is None) == (gold == COHERENT)]
            if some:
                rows.append(keys_of(one, material) | {"gold": gold} | _alone(one, some))
    return table_of(rows, ALONE, ("seed", *ALONE[len(ROW) + 1 :]))


def counts_of_answers(pairs: Sequence[tuple[Votes, int | None]]) -> Array:
    """`counts_of` each answer: float64 [answers, 5]."""
    rows = [counts_of(voted.gold, () if answer is None else (answer,)) for voted, answer in pairs]
    return np.array(rows, float).reshape(-1, 5)


def _usual(votes: Sequence[Votes]) -> list[Votes]:
    """The votes of documents that the usual number of people answered."""
    usual = people_of(votes)
    return [one for one in votes if len(one.answers) == usual]


def _rejected(votes: Sequence[Votes], rule: str) -> dict[str, object]:
    """The number of documents without an answer by a rule, and why."""
    reasons = Counter(_why(one, rule) for one in votes)
    return {"rejected": len(votes), "rejected_by_reason": reasons_in_words(reasons)}


def _why(votes: Votes, rule: str) -> str:
    if rule == "all":
        return "one answer" if len(votes.answers) == 1 else "people disagree"
    return "the answer is wrong" if 2 * votes.agreed[1] > len(votes.answers) else "no answer of more than half"


def _answered(votes: Votes, answer: int | None) -> tuple[str, str]:
    """The gold of a document, and the kind of the answer."""
    if votes.gold is None:
        return COHERENT, RIGHT_ANSWER if answer is None else CALLED_INCOHERENT
    wrong = CALLED_COHERENT if answer is None else WRONG_PLACE
    return INCOHERENT, RIGHT_ANSWER if answer == votes.gold else wrong


def _alone(one: Judgement, some: Sequence[tuple[int, Votes]]) -> dict[str, int]:
    people = np.array([votes.agreed[0] == votes.gold for _, votes in some])
    places = [n for n, _ in some]
    detector = one.found[places]
    neither = ~people & ~detector
    silent = np.array([votes.agreed[0] is None for _, votes in some])
    return {
        "both": int((people & detector).sum()),
        "people_alone": int((people & ~detector).sum()),
        "detector_alone": int((detector & ~people).sum()),
        "neither": int(neither.sum()),
        "people_coherent": int((neither & silent).sum()),
        "detector_coherent": int((neither & ~one.flags[places]).sum()),
    }


def _with_votes(material: Material[IntruderFiles]) -> Iterable[tuple[Judgement, list[tuple[int, Votes]]]]:
    """Detectors, and the places of the documents that have votes."""
    for one in material.get(first_judgements):
        votes = material.get(joined_votes).get(one.judged.corpus, {})
        voted = [(n, votes[document.id]) for n, document in enumerate(one.documents) if document.id in votes]
        if voted:
            yield one, voted


def _place(voted: Voted) -> Row:
    """The keys of published values of people."""
    return {"corpus": voted.corpus, "detector": PEOPLE}
