"""Articles with sections, and the Parquet schema that corpora and samples share."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from textcritic.batches import batched
from textcritic.errors import TextcriticError
from textcritic.files import whole_file

BETWEEN = "\n"
"""Between the sections of a document where it is one text; it is white space, so that no token crosses it."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its title (None when there is none) and its text, which holds no blank line."""

    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article of a corpus or of a sample.

    Attributes:
        id: of its own.
        title: None when there is none.
        sections: in order.
        source: where it came from (a file, a package, a generator).
        group: of the documents that belong together and are not independent, such as the chapters of a book; None: the
            article is alone. Groups stay in one split, and intervals and tests resample them as one.
    """

    id: str
    title: str | None
    sections: tuple[Section, ...]
    source: str
    group: str | None = None

    @property
    def text(self) -> str:
        """The texts of its sections, in order."""
        return BETWEEN.join(section.text for section in self.sections)


ARTICLE_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("sections", pa.list_(pa.struct([("title", pa.string()), ("text", pa.string())])), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("group", pa.string()),
    ]
)
TITLES_SCHEMA = pa.schema([pa.field("id", pa.string(), nullable=False), ("titles", pa.list_(pa.string()))])
GROUPS_SCHEMA = pa.schema([ARTICLE_SCHEMA.field(name) for name in ("id", "group")])
ROWS_PER_GROUP = 4096


def write_articles(path: str | os.PathLike[str], articles: Iterable[Article]) -> None:
    """Write articles as Parquet, row group by row group, whole or not at all."""
    write_batches(path, batches_of(articles), ARTICLE_SCHEMA)


def read_articles(path: str | os.PathLike[str]) -> list[Article]:
    """Read a whole Parquet file of articles; columns beyond the schema are ignored.

    Raises:
        TextcriticError: the file is missing, truncated, not Parquet, or lacks a column of the schema.
    """
    return list(iter_articles(path))


def iter_articles(path: str | os.PathLike[str]) -> Iterator[Article]:
    """Stream the articles of a Parquet file in bounded memory; raises as `read_articles`."""
    for batch in iter_batches(path, ARTICLE_SCHEMA):
        yield from articles_of(batch)


def some_articles(path: str | os.PathLike[str], ids: Collection[str]) -> dict[str, Article]:
    """Those articles of a Parquet file that have one of the ids, by id; raises as `read_articles`.

    The file is read row group by row group; other texts are not kept.
    """
    wanted = pa.array(sorted(ids), pa.string())
    return {
        article.id: article
        for batch in iter_batches(path, ARTICLE_SCHEMA)
        for article in articles_of(batch.filter(pc.is_in(batch["id"], value_set=wanted)))
    }


def gold_chains(path: str | os.PathLike[str]) -> list[list[str | None]]:
    """The section titles of each article of a Parquet file, in order; raises as `read_articles`."""
    chains: list[list[str | None]] = title_chains(path)[1].to_pylist()
    return chains


def title_chains(path: str | os.PathLike[str]) -> tuple[pa.Array, pa.Array]:
    """Ids and section titles (`list<string>`) of the articles of a Parquet file; raises as `read_articles`."""
    table = pa.Table.from_batches(iter_title_chains(path), TITLES_SCHEMA)
    return table["id"].combine_chunks(), table["titles"].combine_chunks()


def iter_title_chains(path: str | os.PathLike[str]) -> Iterator[pa.RecordBatch]:
    """The same in record batches of schema `TITLES_SCHEMA`; only the texts of one batch are in memory."""
    for batch in iter_batches(path, ARTICLE_SCHEMA):
        sections = batch.column("sections")
        offsets = pc.list_value_length(sections).to_numpy(zero_copy_only=False).cumsum()
        titles = pa.ListArray.from_arrays(pa.array([0, *offsets], pa.int32()), sections.flatten().field("title"))
        yield pa.record_batch([batch.column("id"), titles], schema=TITLES_SCHEMA)


def article_groups(path: str | os.PathLike[str]) -> pa.Table:
    """`id` and `group` (null: alone) of the articles of a Parquet file; raises as `read_articles`."""
    return pa.Table.from_batches(iter_batches(path, GROUPS_SCHEMA), GROUPS_SCHEMA)


def batches_of(articles: Iterable[Article]) -> Iterator[pa.RecordBatch]:
    """Cut a stream of articles into record batches of at most `ROWS_PER_GROUP` rows."""
    for rows in batched(articles, ROWS_PER_GROUP):
        yield pa.record_batch(
            [
                pa.array([row.id for row in rows], pa.string()),
                pa.array([row.title for row in rows], pa.string()),
                pa.array(
                    [[{"title": s.title, "text": s.text} for s in row.sections] for row in rows],
                    ARTICLE_SCHEMA.field("sections").type,
                ),
                pa.array([row.source for row in rows], pa.string()),
                pa.array([row.group for row in rows], pa.string()),
            ],
            schema=ARTICLE_SCHEMA,
        )


def articles_of(batch: pa.RecordBatch) -> list[Article]:
    """The articles of one record batch in the corpus schema."""
    column = batch.column("sections")
    flat = column.flatten()
    sections = [
        Section(title, text)
        for title, text in zip(flat.field("title").to_pylist(), flat.field("text").to_pylist(), strict=True)
    ]
    ends = column.value_lengths().to_numpy(zero_copy_only=False).cumsum().tolist()
    ids, titles, sources, groups = (batch.column(name).to_pylist() for name in ("id", "title", "source", "group"))
    starts = [0, *ends][:-1]
    return [
        Article(id_, title, tuple(sections[start:end]), source, group)
        for id_, title, start, end, source, group in zip(ids, titles, starts, ends, sources, groups, strict=True)
    ]


def write_batches(path: str | os.PathLike[str], batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """Write record batches as the row groups of one Parquet file, whole or not at all."""
    with whole_file(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def iter_batches(
    path: str | os.PathLike[str], schema: pa.Schema, rows: range | None = None
) -> Iterator[pa.RecordBatch]:
    """Stream the columns of `schema` from a Parquet file; raises as `read_articles`.

    Args:
        path: of the file.
        schema: the columns, with their types.
        rows: those to read, numbered from 0; only the row groups that hold them are read. None means all.
    """
    with _opened(path) as file:
        _require_columns(path, file.schema_arrow, schema)
        rows = range(file.metadata.num_rows) if rows is None else rows
        sizes = (file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
        ends = list(accumulate(sizes, initial=0))
        groups = [n for n in range(file.num_row_groups) if ends[n] < rows.stop and ends[n + 1] > rows.start]
        first = ends[groups[0]] if groups else 0
        for batch in file.iter_batches(ROWS_PER_GROUP, row_groups=groups, columns=schema.names):
            kept = range(max(rows.start - first, 0), min(rows.stop - first, len(batch)))
            first += len(batch)
            if kept:
                yield batch.slice(kept.start, len(kept)).select(schema.names)


def num_articles(path: str | os.PathLike[str]) -> int:
    """The number of articles of a Parquet file; raises as `read_articles`."""
    with _opened(path) as file:
        number: int = file.metadata.num_rows
    return number


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(Path(path), pre_buffer=False) as file:  # else the whole file is buffered
            yield file
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise TextcriticError(f"{path}: not whole Parquet; delete it and rerun the rule that makes it") from error


def _require_columns(path: str | os.PathLike[str], schema: pa.Schema, wanted: pa.Schema) -> None:
    for field in wanted:
        if field.name not in schema.names or schema.field(field.name).type != field.type:
            has = schema.field(field.name).type if field.name in schema.names else "no such column"
            raise TextcriticError(f"{path}: column '{field.name}' should be {field.type}, the file has {has}")
