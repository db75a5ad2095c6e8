"""Files of section titles: for every document the gold titles, the inferred ones and the full posterior.

Where text comes with its titles nothing is inferred: the given titles are certain, and there is no posterior.
"""

import json
import os
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from textcritic.corpora.articles import iter_title_chains, write_batches
from textcritic.files import write_table

GIVEN_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("gold", pa.list_(pa.string())),
        ("inferred", pa.list_(pa.string())),
        ("confidence", pa.list_(pa.float32())),
    ]
)


@dataclass(frozen=True)
class Posteriors:
    """Section titles of a set of documents, as a classifier infers them.

    Attributes:
        titles: the classifier's labels, in the order of the posterior's columns.
        ids: documents' ids, [documents].
        gold: documents' given titles (None where a section has none), [documents][sections].
        probabilities: P(title | section text), [documents] arrays of [sections, titles].
    """

    titles: tuple[str, ...]
    ids: list[str]
    gold: list[list[str | None]]
    probabilities: list[np.ndarray]

    @property
    def inferred(self) -> list[list[str]]:
        """The likeliest title of each section (MAP), [documents][sections]."""
        return [[self.titles[k] for k in p.argmax(axis=1)] for p in self.probabilities]

    @property
    def confidence(self) -> list[np.ndarray]:
        """The posterior probability of the likeliest title, [documents] arrays of [sections]."""
        return [p.max(axis=1) for p in self.probabilities]


def write_posteriors(path: str | os.PathLike[str], posteriors: Posteriors) -> None:
    """Write the Parquet file of a projection; the titles are in the schema's metadata."""
    table = pa.table(
        {
            "id": pa.array(posteriors.ids, pa.string()),
            "gold": pa.array(posteriors.gold, pa.list_(pa.string())),
            "inferred": pa.array(posteriors.inferred, pa.list_(pa.string())),
            "confidence": pa.array([c.tolist() for c in posteriors.confidence], pa.list_(pa.float32())),
            "posterior": pa.array([p.tolist() for p in posteriors.probabilities], pa.list_(pa.list_(pa.float32()))),
        }
    )
    write_table(path, table.replace_schema_metadata({"titles": json.dumps(posteriors.titles)}))


def take_titles(articles_path: str | os.PathLike[str], out_path: str | os.PathLike[str]) -> None:
    """Write the latents of a file of articles (see `write_posteriors`) whose titles are certain.

    `gold` and `inferred` are both the title of each section, with confidence 1. There is no `posterior`, because titles
    may occur that the train split does not have; the critic decides which documents it can score.

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
