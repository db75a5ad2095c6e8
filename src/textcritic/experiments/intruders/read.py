"""Readers for tables and figures: documents with the predictions of one detector, and votes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textcritic.corpora.intruders.documents import Document, read_documents
from textcritic.critics.detectors.counts import counts_of
from textcritic.critics.detectors.predictions import Prediction, read_predictions
from textcritic.critics.detectors.votes import Votes, read_votes
from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.asked import collected
from textcritic.experiments.intruders.files import IntruderFiles, Judged, Voted
from textcritic.inference import Groups, unit_of
from textcritic.inference.statistics import Array
from textcritic.measures.material import Material


@dataclass(frozen=True, eq=False)
class Judgement:
    """A detector's predictions on documents.

    Attributes:
        judged: the detector and the corpus.
        documents, predictions: of the same ids, in one order.
    """

    judged: Judged
    documents: Sequence[Document]
    predictions: Sequence[Prediction]

    @cached_property
    def counts(self) -> Array:
        """`counts_of` of each document: float64 [documents, 5]."""
        pairs = zip(self.documents, self.predictions, strict=True)
        return np.array([counts_of(document.intruder, flagged(one)) for document, one in pairs], float).reshape(-1, 5)

    @property
    def groups(self) -> Groups:
        """The groups of documents that share a source."""
        return groups_of(self.documents)

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Whether each document was judged right to the sentence: its intruder flagged, or nothing if it has none."""
        pairs = zip(self.documents, self.predictions, strict=True)
        return np.array([_found(document, flagged(one)) for document, one in pairs], bool)

    @property
    def flags(self) -> npt.NDArray[np.bool_]:
        """Whether any sentence of each document is flagged."""
        return np.array([bool(flagged(one)) for one in self.predictions], bool)

    def ranked(self) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """For each sentence except the opening ones: its score, whether it is the intruder, and its unit."""
        unit = unit_of(self.groups, len(self.documents))
        sizes = [len(one.scores) for one in self.predictions]
        truths = [np.arange(1, len(one.scores) + 1) == (d.intruder or 0) for d, one in self._pairs()]
        scores = [one.scores for one in self.predictions]
        return np.concatenate(scores), np.concatenate(truths), np.repeat(unit, sizes)

    def at(self, places: Sequence[int]) -> "Judgement":
        """The same for some of the documents."""
        return Judgement(self.judged, [self.documents[n] for n in places], [self.predictions[n] for n in places])

    def _pairs(self) -> list[tuple[Document, Prediction]]:
        return list(zip(self.documents, self.predictions, strict=True))


def flagged(prediction: Prediction) -> list[int]:
    """Positions of the sentences that a detector calls intruders, from 0 on."""
    opening = [0] if prediction.opening_flagged else []
    return [*opening, *(np.flatnonzero(prediction.flagged) + 1).tolist()]


def groups_of(documents: Sequence[Document]) -> Groups:
    """The groups of documents that share a source; None if there are none."""
    groups = [document.group for document in documents]
    return groups if any(groups) else None


def documents_of(material: Material[IntruderFiles]) -> Mapping[str, list[Document]]:
    """The test documents of each corpus."""
    return {corpus.corpus: some_documents(corpus.test) for corpus in material.files.corpora}


def judgements(material: Material[IntruderFiles]) -> list[Judgement]:
    """Each detector's predictions on the test documents, in the order of the files.

    Raises:
        TextcriticError: a file is missing or damaged, or is not of these documents.
    """
    documents = material.get(documents_of)
    return [judgement_of(one, documents[one.corpus], one.predictions) for one in material.files.judged]


def first_judgements(material: Material[IntruderFiles]) -> list[Judgement]:
    """The same, only for the first training of each detector."""
    files = material.files
    first = set(files.first_seeds())
    return [one for one in material.get(judgements) if one.judged in first]


def votes_of(material: Material[IntruderFiles]) -> list[tuple[Voted, list[Votes]]]:
    """Votes on each corpus, as published or from our own campaigns.

    Raises:
        TextcriticError: a file is missing or damaged; votes that should be joined differ from the documents; a corpus
            has both votes and answers of a campaign.
    """
    all_votes = []
    for voted in material.files.voted:
        votes = read_votes(voted.votes)
        if voted.joined:
            _check_joined(voted, votes, material.get(documents_of)[voted.corpus])
        all_votes.append((voted, votes))
    for asked, ours in zip(material.files.asked, material.get(collected), strict=True):
        if not ours.answers:
            continue
        if any(voted.corpus == asked.corpus for voted, _ in all_votes):
            raise TextcriticError(
                f"{asked.annotations[0]}: answers about {asked.corpus}, which also has `votes`; put one of them into"
                " another experiment"
            )
        all_votes.append((Voted(corpus=asked.corpus, joined=True, votes=asked.annotations[0]), ours.votes))
    return all_votes


def joined_votes(material: Material[IntruderFiles]) -> Mapping[str, dict[str, Votes]]:
    """By corpus and id, the votes on documents of our corpora."""
    return {voted.corpus: {one.id: one for one in votes} for voted, votes in material.get(votes_of) if voted.joined}


def judgement_of(judged: Judged, documents: Sequence[Document], path: Path) -> Judgement:
    """The predictions of a file on documents.

    Raises:
        TextcriticError: the file is missing or damaged, or is of other documents.
    """
    return Judgement(judged, documents, predictions_of(documents, path))


def predictions_of(documents: Sequence[Document], path: Path) -> list[Prediction]:
    """The predictions of a file, in the order of the documents; raises as `judgement_of`."""
    predictions = {one.id: one for one in read_predictions(path)}
    if len(predictions) != len(documents):
        raise TextcriticError(f"{path}: {len(predictions)} predictions of {len(documents)} documents; rerun its rule")
    for document in documents:
        one = predictions.get(document.id)
        if one is None or not len(one.scores) == len(one.flagged) == len(document.sentences) - 1:
            what = "no prediction" if one is None else f"{len(one.scores)} scores"
            raise TextcriticError(
                f"{path}: {document.id}, of {len(document.sentences)} sentences, has {what}; rerun its rule"
            )
    return [predictions[document.id] for document in documents]


def some_documents(path: Path) -> list[Document]:
    """The documents of a file.

    Raises:
        TextcriticError: the file is missing or damaged, or has no document.
    """
    documents = read_documents(path)
    if not documents:
        raise TextcriticError(f"{path}: no documents in it; give a corpus with longer documents")
    return documents


def _found(document: Document, flags: Sequence[int]) -> bool:
    return not flags if document.intruder is None else document.intruder in flags


def _check_joined(voted: Voted, votes: Sequence[Votes], documents: Sequence[Document]) -> None:
    by_id = {document.id: document for document in documents}
    for one in votes:
        document = by_id.get(one.id)
        if document is None:
            continue
        places = [place for place in (one.gold, *one.answers) if place is not None]
        if max(places, default=0) >= len(document.sentences) or one.gold != document.intruder:
            what = f"gold {one.gold}" if one.gold != document.intruder else f"a vote for sentence {max(places)}"
            raise TextcriticError(
                f"{voted.votes}: file_id {one.id}: {what}, and the document has {len(document.sentences)} sentences"
                f" and the intruder {document.intruder}; leave out `joined` if the ids are of other documents"
            )
    if not any(one.id in by_id for one in votes):
        raise TextcriticError(f"{voted.votes}: no file_id is a document of {voted.corpus}; leave out `joined`")
