"""How much text the splits of a corpus share: n-grams and whole documents of one split that another has too."""

import hashlib
import os
from collections.abc import Iterator, Mapping

import pyarrow as pa

from textcritic.critics.recitation.index import TrainIndex, index_articles
from textcritic.critics.recitation.job import documents_of, score_texts
from textcritic.critics.recitation.scoring import LENGTHS, MAIN_LENGTH, counts_of
from textcritic.files import write_json
from textcritic.plan.entries import Recitation
from textcritic.values import JsonObject

Path = str | os.PathLike[str]


def measure_overlap(train: Path, splits: Mapping[str, Path], out: Path) -> None:
    """Write what splits share with the train split, as words and single marks in lower case, as JSON.

    For each split: `documents`; `copies`, those whose text is that of a training document; `long_enough`, those of 13
    words or more; `more_than_half`, those of the latter that share more than half of their 13-grams with the training
    text; and by n, from 4 to 16, the n-grams that the training text has (`seen`), and all n-grams (`all`).

    Args:
        train: Parquet file of articles.
        splits: Parquet files of the other splits, by name.
        out: the file to write.

    Raises:
        TextcriticError: a file is missing or not whole, or a text is not UTF-8.
    """
    digests: set[bytes] = set()

    def watched() -> Iterator[tuple[pa.StringArray, pa.StringArray]]:
        for ids, texts in documents_of(train, "indexing"):
            digests.update(map(_digest, texts.to_pylist()))
            yield ids, texts

    index = index_articles(watched(), Recitation(kind="recitation"))
    write_json(out, {split: _shared(path, index, digests) for split, path in splits.items()})


def _shared(path: Path, index: TrainIndex, digests: set[bytes]) -> JsonObject:
    """What one split shares with the training text."""
    tables, copies = [], 0
    for ids, texts in documents_of(path, "looking up"):
        tables.append(score_texts(index, ids, texts))
        copies += sum(bool(text) and _digest(text) in digests for text in texts.to_pylist())
    scores = (
        pa.concat_tables(tables) if tables else score_texts(index, pa.array([], pa.string()), pa.array([], pa.string()))
    )
    halves = counts_of(scores, MAIN_LENGTH)
    counts = {n: counts_of(scores, n).sum(axis=0).tolist() for n in LENGTHS}
    return {
        "documents": scores.num_rows,
        "copies": copies,
        "long_enough": len(halves),
        "more_than_half": int((2 * halves[:, 0] > halves[:, 1]).sum()),
        "seen": {str(n): seen for n, (seen, _) in counts.items()},
        "all": {str(n): every for n, (_, every) in counts.items()},
    }


def _digest(text: str) -> bytes:
    """A text in 16 bytes: of 10^9 texts two have the same with a probability below 10^-20."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
