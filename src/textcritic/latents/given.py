"""Given titles: text that comes with its section titles is read by them, and nothing is inferred."""

import os

import pyarrow as pa

from textcritic.corpora.articles import iter_title_chains, write_batches

GIVEN_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("gold", pa.list_(pa.string())),
        ("inferred", pa.list_(pa.string())),
        ("confidence", pa.list_(pa.float32())),
    ]
)


def take_titles(articles_path: str | os.PathLike[str], out_path: str | os.PathLike[str]) -> None:
    """Write the latents of a file of articles (see `posteriors`) whose titles are certain.

    `gold` and `inferred` are both the title of each section, with confidence 1. There is no `posterior`: a title that
    the train split never had has no place in one. Which of these can be scored is for the critic to say.

    Args:
        articles_path: a corpus split, or a sample in the setting `w-title`.
        out_path: Parquet file to write.

    Raises:
        TextcriticError: the articles cannot be read.
    """
    write_batches(out_path, map(_certain, iter_title_chains(articles_path)), GIVEN_SCHEMA)


def _certain(batch: pa.RecordBatch) -> pa.RecordBatch:
    titles = batch.column("titles")
    ones = pa.array([1.0], pa.float32()).take(pa.array([0] * len(titles.values), pa.int32()))
    confidence = pa.ListArray.from_arrays(titles.offsets, ones)
    return pa.record_batch([batch.column("id"), titles, titles, confidence], schema=GIVEN_SCHEMA)
