"""Files of inferred section titles, read back as `write_posteriors` writes them."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np

from textcritic.files import read_table
from textcritic.latents.titles.posteriors import Posteriors


def read_posteriors(path: Path) -> Posteriors:
    table = read_table(path)
    titles = tuple(json.loads(table.schema.metadata[b"titles"]))
    posterior = table.column("posterior").combine_chunks()
    flat = np.asarray(posterior.values.flatten(), dtype=np.float32).reshape(-1, len(titles))
    return Posteriors(
        titles=titles,
        ids=table.column("id").to_pylist(),
        gold=table.column("gold").to_pylist(),
        probabilities=[flat[start:stop] for start, stop in pairwise(np.asarray(posterior.offsets))],
    )
