"""Documents to read in the report: scores and answers for every sentence, and edits before and after."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import numpy as np
from markupsafe import Markup, escape

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.predictions import Prediction
from textcritic.critics.detectors.votes import Votes
from textcritic.experiments.intruders.files import IntruderFiles
from textcritic.experiments.intruders.names import probe_name
from textcritic.experiments.intruders.probe_rows import Probe, edited_predictions, probes_of
from textcritic.experiments.intruders.read import Judgement, first_judgements, flagged, joined_votes
from textcritic.measures.labels import corpus_name
from textcritic.measures.material import Material
from textcritic.measures.numbers import number, percent

MOST_DOCUMENTS, MOST_PAIRS = 8, 2  # of a corpus, and of an edit
KINDS = ("found", "missed", "unflagged", "flagged")
"""Documents to read: those that most and that fewest detectors judge right, with an intruder and without one."""


def documents_shown(material: Material[IntruderFiles]) -> list[dict[str, object]]:
    """For each corpus: its documents to read with the scores of their sentences, the best detector first."""
    shown = []
    by_corpus: dict[str, list[Judgement]] = {}
    for one in material.get(first_judgements):
        by_corpus.setdefault(one.judged.corpus, []).append(one)
    for place, (corpus, judged) in enumerate(by_corpus.items()):
        votes = material.get(joined_votes).get(corpus, {})
        chosen = choose(judged, votes)
        right = np.sum([one.found for one in judged], axis=0)
        judged.sort(key=lambda one: -int(np.sum(one.found)))
        detectors = [
            {
                "key": f"{place}-{n}",
                "label": material.names.detector(_keys(one)),
                "probabilities": all(one.predictions[at].probabilities for at, _ in chosen),
                "documents": [
                    _document(one, at, f"{place}-{n}-{m}", votes) | {"right": int(right[at]), "of": len(judged)}
                    for m, (at, _) in enumerate(chosen)
                ],
            }
            for n, one in enumerate(judged)
        ]
        shown.append({"key": str(place), "corpus": corpus_name(corpus), "detectors": detectors, "voted": bool(votes)})
    return shown


def choose(judged: Sequence[Judgement], votes: Mapping[str, Votes]) -> list[tuple[int, str]]:
    """Places of the documents to read, and the kind of each, one of `KINDS`.

    Two of each kind, those with votes first: the documents that most detectors judge right, or wrong; among equal ones
    the first.
    """
    right = np.mean([one.found for one in judged], axis=0)
    documents = judged[0].documents
    voted = np.array([document.id in votes for document in documents])
    attacked = np.array([document.intruder is not None for document in documents])
    chosen: list[tuple[int, str]] = []
    for kind, some, worst in (
        ("found", attacked, False),
        ("missed", attacked, True),
        ("unflagged", ~attacked, False),
        ("flagged", ~attacked, True),
    ):
        taken = {place for place, _ in chosen}
        ranked = sorted(
            (int(n) for n in np.flatnonzero(some) if int(n) not in taken),
            key=lambda n: (not voted[n], right[n] if worst else -right[n], n),
        )
        chosen += [(n, kind) for n in ranked[: MOST_DOCUMENTS // len(KINDS)]]
    return chosen


def pairs_shown(material: Material[IntruderFiles]) -> list[dict[str, object]]:
    """For each edit of the intruders: some sentences before and after it, with their scores by detectors."""
    by_edit: dict[str, list[dict[str, object]]] = {}
    for corpus, probes in material.get(probes_of).items():
        judged = [one for one in material.get(first_judgements) if one.judged.corpus == corpus]
        first: dict[str, list[int]] = {}
        for place, probe in enumerate(probes):
            if probe.where == "intruder" and len(first.setdefault(probe.probe, [])) < MOST_PAIRS:
                first[probe.probe].append(place)
        edited = {n: edited_predictions(one, probes) for n, one in enumerate(judged) if one.judged.probes is not None}
        for name, places in first.items():
            for place in places:
                scores = [_scores(judged[n], after[place], probes[place], material) for n, after in edited.items()]
                pair = marked(probes[place].before, probes[place].after)
                by_edit.setdefault(name, []).append({"before": pair[0], "after": pair[1], "scores": scores})
    return [
        {"key": str(n), "label": probe_name(name), "pairs": pairs} for n, (name, pairs) in enumerate(by_edit.items())
    ]


def marked(before: str, after: str) -> tuple[Markup, Markup]:
    """Both sentences with the words that differ marked."""
    words = (before.split(), after.split())
    sides: tuple[list[str], list[str]] = ([], [])
    for what, *ends in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        for side, some in enumerate((words[0][ends[0] : ends[1]], words[1][ends[2] : ends[3]])):
            text = escape(" ".join(some))
            if some:
                sides[side].append(f"<mark>{text}</mark>" if what != "equal" else str(text))
    return Markup(" ".join(sides[0])), Markup(" ".join(sides[1]))


def _document(one: Judgement, place: int, key: str, votes: Mapping[str, Votes]) -> dict[str, object]:
    document, prediction = one.documents[place], one.predictions[place]
    voted = votes.get(document.id)
    label = document.title or document.id
    sentences = [_sentence(document, prediction, position, voted) for position in range(len(document.sentences))]
    verdict = _verdict(document, flagged(prediction))
    coherent = sum(answer is None for answer in voted.answers) if voted else None
    return {
        "key": key,
        "label": label,
        "sentences": sentences,
        "verdict": verdict,
        "coherent": coherent,
        "people": len(voted.answers) if voted else 0,
    }


def _sentence(document: Document, prediction: Prediction, position: int, votes: Votes | None) -> dict[str, object]:
    flags, intruder = flagged(prediction), document.intruder == position
    score = float(prediction.scores[position - 1]) if position else None
    named = sum(answer == position for answer in votes.answers) if votes else 0
    return {
        "text": document.sentences[position],
        "score": None if score is None else percent(score) if prediction.probabilities else number(score),
        "bar": None if score is None else round(100 * _share(prediction, score), 1),
        "flagged": position in flags,
        "intruder": intruder,
        "replaced": document.replaced if intruder else None,
        "named": named,
    }


def _share(prediction: Prediction, score: float) -> float:
    """The length of a score's bar: the probability, or the place between the document's lowest and highest score."""
    if prediction.probabilities:
        return min(max(score, 0.0), 1.0)
    low, high = float(prediction.scores.min()), float(prediction.scores.max())
    return (score - low) / (high - low) if high > low else 0.0


def _verdict(document: Document, flags: Sequence[int]) -> str:
    if document.intruder is None:
        return "It flags a sentence of the document’s own." if flags else "It flags nothing, and there is no intruder."
    if document.intruder in flags:
        return "It finds the intruder." if len(flags) == 1 else "It finds the intruder, and flags another sentence too."
    return (
        "It misses the intruder, and flags another sentence." if flags else "It misses the intruder: it flags nothing."
    )


def _scores(one: Judgement, after: Prediction, probe: Probe, material: Material[IntruderFiles]) -> dict[str, str]:
    before = one.predictions[probe.base]
    at = probe.position - 1
    write = percent if after.probabilities else number
    values = (
        ("opening", "opening")
        if at < 0
        else tuple(write(float(prediction.scores[at])) for prediction in (before, after))
    )
    return {"label": material.names.detector(_keys(one)), "before": values[0], "after": values[1]}


def _keys(one: Judgement) -> dict[str, object]:
    return {"detector": one.judged.detector, "trained": one.judged.trained, "corpus": one.judged.corpus}
