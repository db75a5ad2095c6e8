"""What a projection leaves on disk: for every document the gold titles, the inferred ones and the full posterior."""

import json
import os
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table


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
    """Write the Parquet file of a projection; the titles stand in the schema's metadata."""
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


def read_posteriors(path: str | os.PathLike[str]) -> Posteriors:
    """Read what `write_posteriors` wrote.

    Raises:
        TextcriticError: the file is missing, truncated, or not a projection.
    """
    table = read_table(path)
    metadata = table.schema.metadata or {}
    if b"titles" not in metadata or "posterior" not in table.column_names:
        raise TextcriticError(f"{path}: not a file of inferred titles; delete it and rerun the rule that makes it")
    titles = tuple(json.loads(metadata[b"titles"]))
    # Flat buffers instead of Python lists: a section more or less is a slice.
    posterior = table.column("posterior").combine_chunks()
    sections = np.asarray(posterior.offsets)
    flat = np.asarray(posterior.values.flatten(), dtype=np.float32).reshape(-1, len(titles))
    return Posteriors(
        titles=titles,
        ids=table.column("id").to_pylist(),
        gold=table.column("gold").to_pylist(),
        probabilities=[flat[start:stop] for start, stop in pairwise(sections)],
    )
