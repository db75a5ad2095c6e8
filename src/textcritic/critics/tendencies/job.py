"""The jobs that count: documents of a file, or several draws of them, whole or in shards that are put together."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora.articles import ARTICLE_SCHEMA, BETWEEN, article_groups, iter_batches, num_articles
from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import Counts, merge
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder
from textcritic.inference import unit_of
from textcritic.plan.entries import Tendencies
from textcritic.runlog import Progress

SECTIONS_SCHEMA = pa.schema([ARTICLE_SCHEMA.field("sections")])
# If a draw had fewer documents than this, fewer draws are taken.
FEWEST = 20


@dataclass(frozen=True, slots=True)
class Draw:
    """Some documents of a file, drawn at random without replacement; draws of one file have no document in common.

    Attributes:
        number: of the draw, from 0.
        of: number of draws.
        like: Parquet file of articles; a draw has as many documents as it has, or, where the file has too few for all
            draws, as many as there are for each.
    """

    number: int
    of: int
    like: str | os.PathLike[str]


def count_articles(
    articles: str | os.PathLike[str],
    options: Tendencies,
    shard: tuple[int, int] = (0, 1),
    draw: Draw | None = None,
    threads: int = 1,
) -> Counts:
    """Count the documents of a Parquet file of articles; the text of a document is that of its sections, in order.

    Titles are not counted. The counts of all shards, merged, are those of the whole. Documents of one `group` are in
    one of the groups that tests exchange and leave out.

    Args:
        articles: the file.
        options: what is counted; `seed` is of the groups, and of the draws.
        shard: number of the shard, from 0, and number of shards; a shard is a stretch of the file.
        draw: None means all documents.
        threads: chunks of text that are counted at the same time.

    Raises:
        TextcriticError: a file is missing or not whole, there is no such shard or draw, or a draw has no document.
    """
    number, shards = shard
    if not 0 <= number < shards:
        raise TextcriticError(f"shard {number}: there are {shards}, numbered from 0")
    rows = num_articles(articles)
    stretch = range(rows * number // shards, rows * (number + 1) // shards)
    units = _units(articles)
    counted = partial(count_texts, options=options, threads=threads)
    if draw is None:
        every = map(texts_of, iter_batches(articles, SECTIONS_SCHEMA, stretch))
        return counted(_watched(every, len(stretch)), rows, rows=stretch, units=units)
    chosen = _drawn(articles, rows, draw, options.seed)
    first, last = np.searchsorted(chosen, [stretch.start, stretch.stop])
    batches = _watched(_chosen(articles, stretch, chosen), int(last - first))
    of_draw = range(int(first), int(last))
    units = None if units is None else np.unique(units[chosen], return_inverse=True)[1]
    return counted(batches, len(chosen), rows=of_draw, units=units)


def count_draws(
    articles: str | os.PathLike[str],
    options: Tendencies,
    draws: tuple[int, str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    shard: tuple[int, int] = (0, 1),
    threads: int = 1,
) -> None:
    """Count each draw of a file of articles, and write a folder with `0.npz`, `1.npz`, ...

    From a small file, fewer draws are taken, see `number_of_draws`; the folder may be empty.

    Args:
        articles: the file.
        options: as `count_articles`.
        draws: two values: the most draws to take; the file whose number of documents a draw should have (see
            `Draw.like`).
        folder: to write, whole or not at all.
        shard: as `count_articles`.
        threads: as `count_articles`.

    Raises:
        TextcriticError: as `count_articles`.
    """
    asked, like = draws
    of = number_of_draws(num_articles(articles), asked, num_articles(like))
    with whole_folder(folder) as partial:
        for number in range(of):
            draw = Draw(number, of, like)
            count_articles(articles, options, shard, draw, threads).save(partial / f"{number}.npz")


def number_of_draws(documents: int, asked: int, like: int) -> int:
    """How many disjoint draws are taken: as many as asked for; fewer, perhaps none, if they would be too small.

    A draw has at least as many documents as the set it is like, or `FEWEST` if that is less. Smaller draws would be far
    from any text.

    Args:
        documents: how many there are to draw from.
        asked: number of draws at most.
        like: documents of the set that draws are compared with.
    """
    return min(asked, documents // max(1, min(like, FEWEST))) if like else 0


def draw_files(folder: str | os.PathLike[str]) -> list[Path]:
    """The counts of each draw of a folder that `count_draws` wrote, in order; there may be none.

    Raises:
        TextcriticError: there is no such folder.
    """
    if not Path(folder).is_dir():
        raise TextcriticError(f"{folder}: no such folder of counts of draws; rerun the rule that makes it")
    return sorted(Path(folder).glob("*.npz"), key=lambda path: int(path.stem))


def merge_draws(parts: Sequence[str | os.PathLike[str]], folder: str | os.PathLike[str]) -> None:
    """Put the shards of each draw together; raises as `merge_counts`, and where shards have other numbers of draws."""
    shards = [draw_files(part) for part in parts]
    for part, files in zip(parts, shards, strict=True):
        if len(files) != len(shards[0]):
            raise TextcriticError(
                f"{part}: {len(files)} draws, and {len(shards[0])} in {parts[0]}; delete both and rerun their rule"
            )
    with whole_folder(folder) as partial:
        for draw in zip(*shards, strict=True):
            merge_counts(draw, partial / draw[0].name)


def merge_counts(parts: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> None:
    """Put the counts of the shards of a set together, in order; raises as `Counts.load` and `merge`."""
    merge([Counts.load(part) for part in parts]).save(out)


def _units(articles: str | os.PathLike[str]) -> np.ndarray | None:
    """The unit of each article, see `inference.unit_of`; None where all are alone."""
    groups = article_groups(articles)["group"]
    return None if groups.null_count == len(groups) else unit_of(groups.to_pylist(), len(groups))


def _drawn(articles: str | os.PathLike[str], rows: int, draw: Draw, seed: int) -> np.ndarray:
    """The rows of a draw, ascending."""
    if not 0 <= draw.number < draw.of:
        raise TextcriticError(f"draw {draw.number}: there are {draw.of}, numbered from 0")
    size = min(num_articles(draw.like), rows // draw.of)
    if not size:
        raise TextcriticError(
            f"{articles}: {rows:,} documents are too few for {draw.of} draws, or {draw.like} has none; lower `draws` "
            "of the entry in the registry"
        )
    order = np.random.default_rng([seed, draw.of]).permutation(rows)
    return np.sort(order[draw.number * size : (draw.number + 1) * size])


def _chosen(articles: str | os.PathLike[str], stretch: range, chosen: np.ndarray) -> Iterator[pa.StringArray]:
    """The texts of chosen rows of a stretch."""
    first = stretch.start
    for batch in iter_batches(articles, SECTIONS_SCHEMA, stretch):
        within = np.searchsorted(chosen, [first, first + len(batch)])
        yield texts_of(batch.take(pa.array(chosen[within[0] : within[1]] - first)))
        first += len(batch)


def texts_of(batch: pa.RecordBatch) -> pa.StringArray:
    """The texts of the sections of each article, put together."""
    sections = batch.column("sections")
    ends = pc.list_value_length(sections).to_numpy(zero_copy_only=False).cumsum()
    texts = sections.flatten().field("text").fill_null("")
    lists = pa.ListArray.from_arrays(pa.array([0, *ends], pa.int32()), texts)
    return pc.binary_join(lists, BETWEEN)


def _watched(batches: Iterator[pa.StringArray], documents: int) -> Iterator[pa.StringArray]:
    """The same, with progress."""
    progress = Progress("counting", documents, "documents")
    for batch in batches:
        yield batch
        progress.advance(len(batch))
