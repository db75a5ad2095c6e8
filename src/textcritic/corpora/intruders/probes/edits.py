"""Documents with an edited sentence, their Parquet schema, and the edits of an intruder corpus."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from textcritic.batches import batched
from textcritic.corpora.articles import ROWS_PER_GROUP, iter_batches, write_batches
from textcritic.corpora.intruders.documents import DOCUMENT_SCHEMA, Document, batch_of, document_of, read_documents
from textcritic.corpora.intruders.probes import PROBES, Refused, edited
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.runlog import Progress, log
from textcritic.values import JsonObject

BASE = "base"
"""In place of a probe: the document as it is without any, once for all probes that edit it."""
INTRUDER, OWN = "intruder", "own"
"""Which sentence was edited: the intruder, or a sentence of a coherent document."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A document that a probe edited, or the same one without an edit.

    Attributes:
        document: with the edited sentence; its id is `{of}#{probe}`. Where a coherent document was edited it has no
            intruder.
        of: id of the document that was edited.
        probe: a key of `PROBES`, or `base`.
        where: `intruder` or `own`.
        position: of the sentence that is edited, from 1 on; of a coherent base None, as each probe chooses its own.
        before, after: the sentence; None of a base.
    """

    document: Document
    of: str
    probe: str
    where: str
    position: int | None
    before: str | None = None
    after: str | None = None


EDITED_SCHEMA = pa.schema(
    [
        *DOCUMENT_SCHEMA,
        pa.field("document", pa.string(), nullable=False),
        pa.field("probe", pa.string(), nullable=False),
        pa.field("where", pa.string(), nullable=False),
        pa.field("position", pa.int16()),
        pa.field("before", pa.string()),
        pa.field("after", pa.string()),
    ]
)
"""An intruder corpus whose documents say how they were edited; `document` is `Edited.of`."""


def make_probes(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    counts: str | os.PathLike[str],
    most: int | None = None,
) -> JsonObject:
    """Edit the documents of an intruder corpus by each probe, and count what could not be edited.

    Of an incoherent document the intruder is edited; of a coherent one a sentence but the opening one, the first that
    can be edited in an order that the document and the probe seed. Where there are more documents than `most`, those
    are chosen whose hash is lowest, so that a larger number adds documents and changes none.

    Args:
        path: documents, e.g. the test split.
        out: Parquet in `EDITED_SCHEMA`: the bases of all that were edited, then the probes in their order.
        counts: JSON, what is returned.
        most: documents with an edited intruder, and as many with an edited sentence of their own, of each probe; None
            for all.

    Returns:
        {probe: {`intruder` | `own`: {`documents`, `edited`, `refused`: {reason: n}}}}.

    Raises:
        TextcriticError: the file is missing or damaged, or not one sentence of it can be edited.
    """
    documents = read_documents(path)
    tally: JsonObject = {}
    rows: list[Edited] = []
    progress = Progress("probes", len(PROBES), "probe")
    for probe in PROBES:
        chosen, tally[probe] = _probed(probe, documents, most)
        rows += chosen
        progress.advance()
    if not rows:
        raise TextcriticError(f"{path}: no probe can edit any of its {len(documents)} documents; are they English?")
    write_edited(out, [*_bases(rows, documents), *rows], "probes")
    write_json(counts, tally)
    log.info(
        "probes: %s",
        ", ".join(f"{probe} {sum(one['edited'] for one in kinds.values()):,}" for probe, kinds in tally.items()),
    )
    return tally


def probed(document: Document, probe: str) -> Edited | Refused:
    """A document edited by a probe: its intruder, or if it is coherent a sentence of its own.

    Raises:
        TextcriticError: there is no such probe.
    """
    places = [document.intruder] if document.intruder is not None else _order(document, probe)
    refused = Refused("it has no sentence")
    for n, place in enumerate(places):
        before = document.sentences[place]
        after = edited(probe, before)
        if isinstance(after, Refused):
            refused = after if n == 0 else refused
            continue
        where = OWN if document.intruder is None else INTRUDER
        return Edited(with_sentence(document, place, after, probe), document.id, probe, where, place, before, after)
    return refused


def with_sentence(document: Document, place: int, sentence: str, probe: str) -> Document:
    """The document with another sentence at a place, and the probe's name in its id."""
    sentences = (*document.sentences[:place], sentence, *document.sentences[place + 1 :])
    return replace(document, id=f"{document.id}#{probe}", sentences=sentences)


def base_of(document: Document) -> Edited:
    """The document as the base that edits are compared with."""
    where = OWN if document.intruder is None else INTRUDER
    return Edited(replace(document, id=f"{document.id}#{BASE}"), document.id, BASE, where, document.intruder)


def write_edited(path: str | os.PathLike[str], rows: Iterable[Edited], source: str) -> None:
    """Write edited documents as Parquet in `EDITED_SCHEMA`, whole or not at all; `iter_documents` reads it too."""
    write_batches(path, _batches(rows, source), EDITED_SCHEMA)


def iter_edited(path: str | os.PathLike[str]) -> Iterator[Edited]:
    """Read them back, one after the other.

    Raises:
        TextcriticError: the file is missing, truncated, not Parquet or lacks a column.
    """
    for batch in iter_batches(path, EDITED_SCHEMA):
        for row in batch.to_pylist():
            more = (row[name] for name in ("document", "probe", "where", "position", "before", "after"))
            yield Edited(document_of(row), *more)


def examples(
    path: str | os.PathLike[str], most: int = 3, keep: Callable[[Edited], bool] | None = None
) -> dict[str, list[Edited]]:
    """The first few edits of each probe in a file, in the order of `PROBES`, for a reader to look at.

    Args:
        path: as `write_edited` writes it.
        most: edits of each probe.
        keep: which ones; by default those of intruders, and of others only if there are none.
    """
    shown: dict[str, list[Edited]] = {probe: [] for probe in PROBES}
    spare: dict[str, list[Edited]] = {probe: [] for probe in PROBES}
    for row in iter_edited(path):
        if row.probe == BASE or row.probe not in shown or (keep is not None and not keep(row)):
            continue
        pile = shown if keep is not None or row.where == INTRUDER else spare
        if len(pile[row.probe]) < most:
            pile[row.probe].append(row)
    return {probe: shown[probe] or spare[probe] for probe in PROBES}


def _probed(probe: str, documents: Sequence[Document], most: int | None) -> tuple[list[Edited], JsonObject]:
    order = (
        sorted(range(len(documents)), key=lambda n: _hash(probe, documents[n].id))
        if most is not None
        else range(len(documents))
    )
    chosen: dict[int, Edited] = {}
    seen, edited = Counter[str](), Counter[str]()
    refused = {INTRUDER: Counter[str](), OWN: Counter[str]()}
    for n in order:
        where = OWN if documents[n].intruder is None else INTRUDER
        if most is not None and edited[where] == most:
            continue
        seen[where] += 1
        result = probed(documents[n], probe)
        if isinstance(result, Refused):
            refused[where][result.reason] += 1
        else:
            chosen[n] = result
            edited[where] += 1
    counted = {
        where: {"documents": seen[where], "edited": edited[where], "refused": dict(reasons.most_common())}
        for where, reasons in refused.items()
    }
    return [chosen[n] for n in sorted(chosen)], counted


def _bases(rows: Sequence[Edited], documents: Sequence[Document]) -> list[Edited]:
    wanted = {row.of for row in rows}
    return [base_of(document) for document in documents if document.id in wanted]


def _order(document: Document, probe: str) -> list[int]:
    places = range(1, len(document.sentences))
    return sorted(places, key=lambda place: _hash(probe, document.id, str(place)))


def _hash(*texts: str) -> bytes:
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=16).digest()


def _batches(rows: Iterable[Edited], source: str) -> Iterator[pa.RecordBatch]:
    for some in batched(rows, ROWS_PER_GROUP):
        batch = batch_of([row.document for row in some], source)
        more: list[pa.Array] = [
            pa.array([row.of for row in some], pa.string()),
            pa.array([row.probe for row in some], pa.string()),
            pa.array([row.where for row in some], pa.string()),
            pa.array([row.position for row in some], pa.int16()),
            pa.array([row.before for row in some], pa.string()),
            pa.array([row.after for row in some], pa.string()),
        ]
        yield pa.record_batch([*batch.columns, *more], schema=EDITED_SCHEMA)
