"""A user's measures: a function is applied to each document, and the values that it returns are checked and written."""

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora import Article, Section, iter_articles
from textcritic.corpora.articles import num_articles
from textcritic.critics.scores import groups_of, rejected_rows, rejections, unread
from textcritic.errors import TextcriticError
from textcritic.files import read_table, whole_file
from textcritic.measures.own import NO_VALUE, Declared, LeftOut, Metric, raised_at
from textcritic.measures.own_rows import Measured
from textcritic.runlog import Progress
from textcritic.values import JsonObject

METADATA = b"textcritic measure"
OWN_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("values", pa.list_(pa.float64())),
        ("weights", pa.list_(pa.float64())),
        ("sections_left_out", pa.int64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
        ("group", pa.string()),
    ]
)
"""One row per document: `values`, one, or one of each section that was measured; `weights`, their denominators, 1 where
there is no ratio. `values` and `weights` are empty where a document is rejected. The metadata of a file have the
declaration of the measure, see `declaration_of`."""
TWICE = 3  # documents that are measured a second time
BATCH = 64  # documents that a function for lists gets at once
SAME = 1e-6  # relative; a neural model may round differently the second time
SHOWN = 40  # characters of a bad value
LACKS = {
    "title": lambda document: not document.title,
    "section titles": lambda document: not all(section.title for section in document.sections),
    "group": lambda document: document.group is None,
}
Pair = tuple[float, float]

PARTNER_KNOWN = "its group is in the real text that was fitted on"


def score_own(
    metric: Metric,
    articles: str | os.PathLike[str],
    scores: str | os.PathLike[str],
    rejected: Path | None = None,
    train: str | os.PathLike[str] | None = None,
    strangers: bool = False,
) -> None:
    """Measure the documents of a Parquet file of articles, and write `OWN_SCHEMA`.

    Args:
        metric: what is measured.
        articles: a split or a sample.
        scores: Parquet file to write.
        rejected: texts of the sample that did not parse (id, text, why), which get a row in the scores; None: none.
        train: real text for a measure that is fitted; the others do not need it.
        strangers: whether documents with the group of a document that was fitted on are left out.

    Raises:
        TextcriticError: as `measured`, or a file is missing or damaged.
    """
    known, left_out = list(iter_articles(articles)) if strangers and metric.fit else None, []
    if metric.fit is not None and train is not None:
        real = list(iter_articles(train))
        metric = fitted(metric, real)
        groups = {article.group for article in real} - {None}
        left_out = [(article.id, PARTNER_KNOWN) for article in known or () if article.group in groups]
        known = None if known is None else [article for article in known if article.group not in groups]
    some = iter_articles(articles) if known is None else iter(known)
    table = measure_documents(metric, some, num_articles(articles) - len(left_out))
    left = rejected_rows([*unread(rejected), *left_out], OWN_SCHEMA, {"values": [], "weights": []})
    whole = pa.concat_tables([table, left]).replace_schema_metadata({METADATA: json.dumps(asdict(metric.declared))})
    if Path(scores).is_file() and _same(read_table(scores), whole):
        return  # the workflow would take a newer file for a changed one
    with whole_file(scores) as temporary:
        pa.parquet.write_table(whole, temporary, compression="zstd")


def fitted(metric: Metric, real: Sequence[Article]) -> Metric:
    """A measure with what it has learnt from real documents.

    Raises:
        TextcriticError: its `fit` raised an error; the line names it.
    """
    if metric.fit is None:
        return metric
    try:
        model = metric.fit(real)
    except Exception as error:
        file = getattr(getattr(metric.fit, "__code__", None), "co_filename", "")
        raise TextcriticError(f"{metric.name}: fit: {raised_at(error, file)}") from error
    return replace(metric, function=_Applied(metric.function, model), fit=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Applied:
    """A function with its second argument."""

    function: Callable[[object, object], object]
    model: object

    def __call__(self, document: object) -> object:
        return self.function(document, self.model)

    @property
    def __code__(self) -> object:
        """Of the function, for the line of an error."""
        return getattr(self.function, "__code__", None)


def declaration_of(scores: pa.Table, path: str | os.PathLike[str]) -> Declared:
    """What the scores of a file are of.

    Raises:
        TextcriticError: it is no file of `score_own`.
    """
    try:
        return Declared(**json.loads((scores.schema.metadata or {})[METADATA]))
    except (KeyError, TypeError, ValueError) as error:
        raise TextcriticError(f"{path}: no measure is declared in it; delete it and rerun its rule") from error


def measured_of(scores: pa.Table) -> Measured:
    """The numbers of all documents that were measured, of a table of `OWN_SCHEMA`."""
    kept = scores.filter(pc.invert(scores["rejected"])).combine_chunks()
    lengths = pc.list_value_length(kept["values"]).to_numpy()
    flat = [pc.list_flatten(kept[name]).to_numpy().astype(np.float64) for name in ("values", "weights")]
    document = np.repeat(np.arange(len(lengths)), lengths)
    return Measured(np.column_stack(flat), document, groups_of(scores), rejections(scores))


def measure_documents(metric: Metric, documents: Iterable[Article], total: int) -> pa.Table:
    """Measure documents, with progress: a row for each, of `OWN_SCHEMA`.

    Args:
        metric: what is measured.
        documents: in order.
        total: how many there are.

    Raises:
        TextcriticError: the function raised an error, or returned what is no finite number, or another number the
            second time; the line names function and document.
    """
    rows: list[JsonObject] = []
    stream = iter(documents)
    progress = Progress(f"measuring {metric.declared.name}", total, "documents", brief=True)
    while some := list(islice(stream, BATCH if metric.declared.batch and rows else TWICE)):
        measured = _rows(metric, some)
        if not rows:
            _compare(metric, measured, _rows(metric, some))
        rows += measured
        progress.advance(len(some))
    return pa.Table.from_pylist(rows, schema=OWN_SCHEMA)


def _same(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables have the same rows and the same declaration."""
    declared = [(table.schema.metadata or {}).get(METADATA) for table in (one, other)]
    return declared[0] == declared[1] and one.to_pylist() == other.to_pylist()


def _rows(metric: Metric, documents: Sequence[Article]) -> list[JsonObject]:
    """The rows of some documents."""
    declared = metric.declared
    units = [list(_units(declared, document)) for document in documents]
    places = [
        (document, place) for document, parts in zip(documents, units, strict=True) for place in range(len(parts))
    ]
    parts = [part for some in units for part in some]
    if declared.batch:
        returned = _call(metric, parts, _several(documents)) if parts else []
        values = _listed(metric, returned, len(parts), _several(documents))
    else:
        values = [_call(metric, part, _where(*at, declared)) for part, at in zip(parts, places, strict=True)]
    read = iter([_number(metric, value, _where(*at, declared)) for value, at in zip(values, places, strict=True)])
    return [
        _row(document, declared, list(islice(read, len(some)))) for document, some in zip(documents, units, strict=True)
    ]


def _units(declared: Declared, document: Article) -> Iterator[Article | Section]:
    """What the function gets of a document: nothing where it lacks what is needed."""
    if not any(LACKS[need](document) for need in declared.needs):
        yield from [document] if declared.of == "documents" else document.sections


def _row(document: Article, declared: Declared, returned: Sequence[Pair | LeftOut]) -> JsonObject:
    pairs = [one for one in returned if not isinstance(one, LeftOut)]
    lost = [one.reason for one in returned if isinstance(one, LeftOut)]
    lacking = [f"no {need}" for need in declared.needs if LACKS[need](document)]
    return {
        "id": document.id,
        "values": [value for value, _ in pairs],
        "weights": [weight for _, weight in pairs],
        "sections_left_out": len(lost) if pairs else 0,
        "rejected": not pairs,
        "why": None if pairs else [*lacking, *lost, "no section"][0],
        "group": document.group,
    }


def _call(metric: Metric, given: object, where: str) -> Any:
    try:
        return metric.function(given)
    except Exception as error:
        file = getattr(getattr(metric.function, "__code__", None), "co_filename", "")
        raise TextcriticError(f"{metric.name}: {where}: {raised_at(error, file)}") from error


def _listed(metric: Metric, returned: Iterable[object], number: int, where: str) -> Sequence[object]:
    """What a function for lists returned, one value for each."""
    try:
        values = list(returned)
    except TypeError:
        raise TextcriticError(f"{metric.name}: {where}: {_shown(returned)} is no list of values") from None
    if len(values) != number:
        raise TextcriticError(f"{metric.name}: {where}: {len(values)} values for {number}; return one for each")
    return values


def _number(metric: Metric, value: object, where: str) -> Pair | LeftOut:
    """What a function returned of one document or section, as numerator and denominator."""
    if value is None:
        return LeftOut(NO_VALUE)
    if isinstance(value, LeftOut):
        # Tables hold reasons as `reason: n; ...`.
        return LeftOut(" ".join(str(value.reason).replace(";", ",").split()) or NO_VALUE)
    if metric.declared.statistic != "ratio":
        return _finite(metric, value, where), 1.0
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TextcriticError(f"{metric.name}: {where}: {_shown(value)} is no pair (numerator, denominator)")
    top, bottom = (_finite(metric, one, where) for one in value)
    if bottom < 0 or (bottom == 0 and top != 0):
        raise TextcriticError(f"{metric.name}: {where}: {_shown(value)}: a denominator should be above 0")
    return (top, bottom) if bottom else LeftOut("denominator 0")


def _finite(metric: Metric, value: object, where: str) -> float:
    plain = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    try:
        number = float(plain) if isinstance(plain, Real) else None
    except OverflowError:
        number = math.inf
    if number is None or not math.isfinite(number):
        raise TextcriticError(
            f"{metric.name}: {where}: {_shown(value)} is not a finite number; return one, or None to leave it out"
        )
    return number


def _compare(metric: Metric, first: Sequence[JsonObject], second: Sequence[JsonObject]) -> None:
    """Refuse a function that gives other numbers the second time."""
    for one, other in zip(first, second, strict=True):
        pairs = [[*row["values"], *row["weights"]] for row in (one, other)]
        same = len(pairs[0]) == len(pairs[1]) and np.allclose(pairs[0], pairs[1], rtol=SAME, atol=0)
        if not same or one["why"] != other["why"]:
            both = " and then ".join(
                str(row["why"] or ", ".join(f"{v:g}" for v in row["values"])) for row in (one, other)
            )
            raise TextcriticError(
                f"{metric.name}: document {one['id']!r}: {both}, when it was measured twice; give the same number each "
                "time: set the seed of what is random inside the function"
            )


def _where(document: Article, place: int, declared: Declared) -> str:
    section = f"section {place + 1} of " if declared.of == "sections" else ""
    return f"{section}document {document.id!r}"


def _several(documents: Sequence[Article]) -> str:
    first, last = documents[0].id, documents[-1].id
    return f"document {first!r}" if len(documents) == 1 else f"documents {first!r} to {last!r}"


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
