"""A corpus of documents of a few sentences, half of them with an intruder (Shen et al. 2021, section 3)."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from textcritic.corpora.intruders.candidates import document_of
from textcritic.corpora.intruders.documents import Document, iter_documents, write_documents
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, write_json
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.entries.intruders import IntruderOptions
from textcritic.runlog import log, versions
from textcritic.values import JsonObject

IN_TWO_SPLITS = "its text stands in a later split too"
NO_CANDIDATE = "attacked, but no candidate was left"


@dataclass(frozen=True, slots=True)
class Parts:
    """The files that a split is made of.

    Attributes:
        documents: coherent, Parquet in `DOCUMENT_SCHEMA`, with a report of the same name and suffix `.json`.
        candidates: Parquet in the same schema, with such a report.
        predictions: of the filter's detector for the candidates; None where there is no filter.
    """

    documents: str
    candidates: str
    predictions: str | None = None


def build_intruders(
    name: str, options: IntruderOptions, parts: Mapping[str, Parts], folder: str | os.PathLike[str]
) -> JsonObject:
    """Write train.parquet, validation.parquet, test.parquet and statistics.json of a corpus with intruders.

    Of the candidates of a document one is drawn, from those that the filter's detector misses (it does not flag the
    intruder), if there are any, else from all. A document without any candidate stays coherent, so that somewhat less
    than the attacked share is incoherent, as in the paper (46% and 49%).

    Documents are not independent if they share a source. A document's `group` is that of its base corpus, such as the
    book of a chapter, whose chapters are alike in all their sentences. Without such groups it is the id of the document
    that the intruder came from, or of the document itself if it is coherent: a source and all that it gave sentences to
    are one group. Groups are not the connected components of "gave a sentence to": each attacked document is linked to
    another one, so that most of a split would be one group, and no interval possible. The links that are left, from an
    attacked document to those that have a sentence of it, are of one sentence in five.

    A text that is in two splits is left out of the earlier one, see `without_shared_texts`.

    Args:
        name: of the corpus.
        options: `options.intruders` of its entry.
        parts: of each split.
        folder: of the corpus.

    Returns:
        What statistics.json says: `corpus`, `splits` {split: counts, see `describe`}, `all` (the same of all splits
        together, Table 1), `left_out` {split: {reason: n}}, `provenance`.

    Raises:
        TextcriticError: a file is missing or damaged, or the predictions are not of these candidates.
    """
    every = {split: list(_chosen(parts[split], options.seed)) for split in SPLITS}
    _check_ids(name, every)
    splits = without_shared_texts(every)
    place = Path(folder)
    for split, documents in splits.items():
        write_documents(place / f"{split}.parquet", documents, parts[split].documents)
    described = {split: describe(documents) for split, documents in splits.items()}
    statistics = {
        "corpus": name,
        "splits": described,
        "all": describe([document for documents in splits.values() for document in documents]),
        "left_out": {split: _left_out(parts[split], every[split], splits[split]) for split in SPLITS},
        "provenance": {
            "options": options.plain(),
            "built_with": versions("textcritic", "numpy", "scipy", "scikit-learn"),
        },
    }
    write_json(place / "statistics.json", statistics)
    for split, counts in described.items():
        log.info("%s: %s: %s", name, split, f"{counts['articles']:,} documents, {counts['incoherent']:.1%} incoherent")
    return statistics


def without_shared_texts(splits: dict[str, list[Document]]) -> dict[str, list[Document]]:
    """The documents of each split whose text is not in a later split under another id, so that test texts are unseen.

    Texts are compared as they were before the intruder came in, if the replaced sentence is known. All white space
    counts as a space.
    """
    seen: set[tuple[str, ...]] = set()
    kept = {}
    for split, documents in reversed(splits.items()):
        texts = [_text_of(document) for document in documents]
        kept[split] = [document for document, text in zip(documents, texts, strict=True) if text not in seen]
        seen |= set(texts)
    return {split: kept[split] for split in splits}


def _text_of(document: Document) -> tuple[str, ...]:
    sentences = list(document.sentences)
    if document.intruder is not None and document.replaced is not None:
        sentences[document.intruder] = document.replaced
    return tuple(" ".join(sentences).split())


def describe(documents: Sequence[Document]) -> JsonObject:
    """What Table 1 says of documents.

    Returns:
        `articles`, their number; `incoherent`, the share with an intruder; `hard`, the share of the intruders that the
        filter's detector missed, None without a filter; `sentences` and `tokens`, {mean, sd} of a document. A token is
        one of NLTK's tokenizer of words: the paper does not say what its tokens are, and the contexts of its probe
        files have 127 of these in the mean, as in its Table 1 (126), and 110 between white space.
    """
    from nltk.tokenize import NLTKWordTokenizer  # here: its import takes half a second

    sentences = np.array([len(document.sentences) for document in documents])
    words = NLTKWordTokenizer()
    tokens = np.array([sum(len(words.tokenize(s)) for s in document.sentences) for document in documents])
    hard = [document.hard for document in documents if document.hard is not None]
    return {
        "articles": len(documents),
        "incoherent": float(np.mean([document.intruder is not None for document in documents])),
        "hard": float(np.mean(hard)) if hard else None,
        "sentences": {"mean": float(sentences.mean()), "sd": float(sentences.std())},
        "tokens": {"mean": float(tokens.mean()), "sd": float(tokens.std())},
    }


def _chosen(parts: Parts, seed: int) -> Iterator[Document]:
    """The documents of a split in their order, attacked ones with one of their candidates."""
    flagged = _flagged(parts)
    candidates: dict[str, list[Document]] = {}
    for candidate in iter_documents(parts.candidates):
        hard = None if flagged is None else not flagged[candidate.id]
        candidates.setdefault(document_of(candidate.id), []).append(replace(candidate, hard=hard))
    rng = np.random.default_rng([seed, 4])
    for document in iter_documents(parts.documents):
        possible = candidates.pop(document.id, [])
        if not possible:
            yield replace(document, group=document.group or document.id)
            continue
        choice = [candidate for candidate in possible if candidate.hard] or possible
        yield replace(choice[int(rng.integers(len(choice)))], id=document.id)
    if candidates:
        raise TextcriticError(
            f"{parts.candidates}: has candidates for documents that are missing in {parts.documents}, such as"
            f" {next(iter(candidates))!r}; delete both files and make them again"
        )


def _flagged(parts: Parts) -> dict[str, bool] | None:
    """Whether the filter's detector flags the intruder of each candidate, by id; None without a filter."""
    if parts.predictions is None:
        return None
    # Rows of `critics.detectors.predictions`, which is above this room.
    flags = {row["id"]: row["flagged"] for row in read_table(parts.predictions).select(["id", "flagged"]).to_pylist()}
    flagged = {}
    for candidate in iter_documents(parts.candidates):
        of_sentences = flags.get(candidate.id, [])
        if candidate.intruder is None or len(of_sentences) != len(candidate.sentences) - 1:
            raise TextcriticError(
                f"{parts.predictions}: has no prediction for each sentence of the candidate {candidate.id!r}; delete it"
                " and rerun the rule that makes it"
            )
        flagged[candidate.id] = bool(of_sentences[candidate.intruder - 1])
    return flagged


def _left_out(parts: Parts, documents: Sequence[Document], kept: Sequence[Document]) -> dict[str, int]:
    """Texts that are no documents, candidates that were left out, attacked documents that stayed coherent, and others.

    `kept` are those whose text no later split has.
    """
    cut, candidates = (read_json(Path(path).with_suffix(".json")) for path in (parts.documents, parts.candidates))
    without = candidates["attacked"] - sum(document.intruder is not None for document in documents)
    reasons = {
        **cut["left_out"],
        **{f"candidate: {reason}": number for reason, number in candidates["left_out"].items()},
    }
    more = {NO_CANDIDATE: without, IN_TWO_SPLITS: len(documents) - len(kept)}
    return reasons | {reason: number for reason, number in more.items() if number}


def _check_ids(name: str, splits: Mapping[str, Sequence[Document]]) -> None:
    seen: dict[str, str] = {}
    for split, documents in splits.items():
        for document in documents:
            if seen.setdefault(document.id, split) != split:
                raise TextcriticError(
                    f"{name}: the document {document.id!r} is in {seen[document.id]} and in {split}; make ids unique"
                )
