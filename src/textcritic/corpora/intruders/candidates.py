"""Candidates: documents with each sentence that could be their intruder (Shen et al. 2021, section 3.3)."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textcritic.corpora.intruders.documents import Document, read_documents, write_documents
from textcritic.corpora.intruders.options import RANDOM
from textcritic.corpora.intruders.retrieval import Ranker
from textcritic.corpora.intruders.similarity import Similarity
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.plan.entries.intruders import IntruderOptions
from textcritic.runlog import log

Integers = npt.NDArray[np.int64]

# Reasons why there is no candidate.
TOO_ALIKE = "too much like the sentence that it would replace"
REPEATED = "stands in the document already"
NOT_FOUND = "too few documents have a word of the document"
MARK = "@"
"""Separates the id of a document from the number of its candidate."""
# Documents whose sentences are compared at once.
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True, eq=False)
class Attacks:
    """Which documents are attacked, and which documents the other sentences come from.

    Attributes:
        documents: int64 [A], places of those that are attacked, ascending.
        positions: int64 [A], the sentence that is replaced, never the opening one.
        sources: int64 [A, k], places of the documents that candidates come from; -1 for none.
        ranks: how like the document each column of `sources` is, from 1 on; None where they are random.
    """

    documents: Integers
    positions: Integers
    sources: Integers
    ranks: tuple[int, ...] | None


def find_candidates(
    documents_path: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    options: IntruderOptions,
) -> None:
    """Write the candidates of a split: of each attacked document a copy with each possible intruder in place.

    Args:
        documents_path: Parquet in `DOCUMENT_SCHEMA`, coherent documents.
        out_path: in the same schema; the id of a candidate is that of its document, `@` and a number.
        report_path: JSON with `documents`, `attacked`, `candidates` and `left_out` {reason: candidates}.
        options: of an intruder corpus.

    Raises:
        TextcriticError: a file is missing or damaged, or there are too few documents.
    """
    documents = read_documents(documents_path)
    attacks = plan_attacks(documents, options, str(documents_path))
    left_out: Counter[str] = Counter()
    written = 0

    def counted() -> Iterator[Document]:
        nonlocal written
        for candidate in candidates_of(documents, attacks, options, left_out):
            written += 1
            yield candidate

    write_documents(out_path, counted(), str(Path(documents_path)))
    attacked = len(attacks.documents)
    write_json(
        report_path,
        {
            "documents": len(documents),
            "attacked": attacked,
            "candidates": written,
            "left_out": dict(left_out.most_common()),
        },
    )
    log.info(
        "%s: %s candidates for %s documents; left out: %s",
        documents_path,
        f"{written:,}",
        f"{attacked:,}",
        dict(left_out),
    )


def document_of(candidate: str) -> str:
    """The id of the document of a candidate, from the candidate's id."""
    return candidate.rpartition(MARK)[0]


def plan_attacks(documents: Sequence[Document], options: IntruderOptions, where: str) -> Attacks:
    """Choose the documents that are attacked, the sentences that are replaced, and where others come from.

    Where fewer documents than `top` can be retrieved there are fewer candidates, and the log says so.

    Args:
        documents: of one split, coherent.
        options: of an intruder corpus.
        where: what an error begins with.

    Raises:
        TextcriticError: there is only one document, or as many as `rank` or fewer.
    """
    asked = options.candidates
    total, needed = len(documents), asked.rank or 1
    if total <= needed:
        raise TextcriticError(
            f"{where}: {total} document(s) have no other one"
            + (f" at rank {needed}" if asked.rank else "")
            + "; give more texts, or a lower options.intruders.candidates.rank"
        )
    rng = np.random.default_rng([options.seed, 2])
    number = max(1, round(options.attacked * total))
    attacked = np.sort(rng.permutation(total)[:number])
    positions = rng.integers(1, np.array([len(documents[place].sentences) for place in attacked]))
    top = min(asked.top, total - 1)
    if top < asked.top and asked.rank is None:
        log.warning("%s: %s documents are too few for %s candidates each", where, f"{total:,}", asked.top)
    if asked.from_ == RANDOM:
        others = np.array([rng.choice(total - 1, top, replace=False) for _ in attacked])
        return Attacks(attacked, positions, others + (others >= attacked[:, None]), None)
    first = (asked.rank or 1) - 1
    nearest = _nearest(documents, attacked, asked.rank or top)[:, first:]
    return Attacks(attacked, positions, nearest, tuple(range(first + 1, first + 1 + nearest.shape[1])))


def candidates_of(
    documents: Sequence[Document], attacks: Attacks, options: IntruderOptions, left_out: Counter[str]
) -> Iterator[Document]:
    """Each attacked document with a random sentence, but never the opening one, of each of its sources.

    A sentence goes, and is counted, if its TF-IDF cosine with the one that it would replace is `similarity` or more, or
    if the document has it already, as then nobody could say which of the two is the intruder.
    """
    rng = np.random.default_rng([options.seed, 3])
    bound = options.similarity
    similarity = None if bound is None else Similarity([" ".join(document.sentences) for document in documents])
    for start in range(0, len(attacks.documents), _AT_ONCE):
        drawn = list(_drawn(documents, attacks, slice(start, start + _AT_ONCE), rng, left_out))
        alike = np.zeros(len(drawn))
        if similarity is not None:
            alike = similarity.of([c.replaced or "" for c in drawn], [c.sentences[c.intruder or 0] for c in drawn])
        for candidate, cosine in zip(drawn, alike.tolist(), strict=True):
            if bound is not None and cosine >= bound:
                left_out[TOO_ALIKE] += 1
            else:
                yield candidate


def _drawn(
    documents: Sequence[Document], attacks: Attacks, rows: slice, rng: np.random.Generator, left_out: Counter[str]
) -> Iterator[Document]:
    """All candidates of some attacked documents, whatever they are like."""
    of_rows = (attacks.documents[rows].tolist(), attacks.positions[rows].tolist(), attacks.sources[rows].tolist())
    for place, position, sources in zip(*of_rows, strict=True):
        document = documents[place]
        for column, source in enumerate(sources):
            if source < 0:
                left_out[NOT_FOUND] += 1
                continue
            origin = documents[source]
            sentence = origin.sentences[int(rng.integers(1, len(origin.sentences)))]
            if sentence in document.sentences:
                left_out[REPEATED] += 1
                continue
            yield _with_intruder(document, position, sentence, origin, (column, attacks.ranks))


def _with_intruder(
    document: Document, position: int, sentence: str, origin: Document, column: tuple[int, tuple[int, ...] | None]
) -> Document:
    number, ranks = column
    return replace(
        document,
        id=f"{document.id}{MARK}{number + 1}",
        sentences=(*document.sentences[:position], sentence, *document.sentences[position + 1 :]),
        intruder=position,
        origin=origin.id,
        rank=None if ranks is None else ranks[number],
        replaced=document.sentences[position],
        group=origin.id if document.group is None else document.group,
    )


def _nearest(documents: Sequence[Document], places: Integers, top: int) -> Integers:
    """The places of the `top` documents that are most like each; -1 for none."""
    with tempfile.TemporaryDirectory() as folder:
        ranker = Ranker((" ".join(document.sentences) for document in documents), folder)
        return ranker.nearest_others(places, top).documents
