"""What is written of each document that was looked up in training text, and the numbers that follow from it."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.recitation.index import TrainIndex

LENGTHS = tuple(range(4, 17))
"""Words of an n-gram, n: all that are looked up."""
MAIN_LENGTH = 13
"""The main n: texts that share a run of this many words were usually copied. Brown et al. (2020, appendix C) look for
test data in training data with n-grams of at most this length."""
EMPTY = "no word"
RECITATION_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("words", pa.int64()),
        ("seen", pa.list_(pa.int64(), len(LENGTHS))),
        ("all", pa.list_(pa.int64(), len(LENGTHS))),
        ("longest", pa.int64()),
        ("begin", pa.int64()),
        ("train_id", pa.string()),
        ("train_begin", pa.int64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
        ("group", pa.string()),
    ]
)
"""One row per document. All columns but `id`, `rejected`, `why` and `group` are null where a document is rejected.

- `words`: of the document.
- `seen`, `all`: for each n of `LENGTHS`, the n-grams of the document that some training document has, and all n-grams
  of the document, each as often as it occurs in the document.
- `longest`: words of the longest passage that some training document has word for word; 0 without any.
- `begin`: its first word in the document, from 0. `train_id`, `train_begin`: one training document that has it, and its
  first word there. Null without any.
"""

Numbers = npt.NDArray[np.int64]


def score_documents(index: TrainIndex, ids: pa.StringArray, texts: pa.StringArray) -> pa.Table:
    """Look documents up: schema `RECITATION_SCHEMA`; a document without a word is rejected. Raises as `tokenize`."""
    words, shared = index.found(texts, list(LENGTHS))
    every = np.maximum(words[:, None] - np.array(LENGTHS) + 1, 0)
    train_ids, train_begin = index.where(shared.place)
    empty = words == 0
    nowhere = shared.longest == 0
    columns = [
        ids,
        pa.array(words, mask=empty),
        _lists(shared.seen, empty),
        _lists(every, empty),
        pa.array(shared.longest, mask=empty),
        pa.array(shared.begin, mask=nowhere),
        train_ids,
        pa.array(train_begin, mask=nowhere),
        pa.array(empty),
        pa.array(np.full(len(words), EMPTY), pa.string(), mask=~empty),
        pa.nulls(len(words), pa.string()),
    ]
    return pa.table(columns, schema=RECITATION_SCHEMA)


def counts_of(scores: pa.Table, n: int) -> Numbers:
    """(n-grams seen in the training text, all n-grams) of the documents with n words or more: int64 [documents, 2].

    Args:
        scores: a table of schema `RECITATION_SCHEMA`.
        n: one of `LENGTHS`.
    """
    kept = long_enough(scores, n)
    place = LENGTHS.index(n)
    return np.column_stack([pc.list_element(kept[name], place).to_numpy() for name in ("seen", "all")])


def long_enough(scores: pa.Table, n: int) -> pa.Table:
    """The documents with n words or more."""
    return scores.filter(pc.fill_null(pc.greater_equal(scores["words"], n), False))


def _lists(values: Numbers, empty: npt.NDArray[np.bool_]) -> pa.Array:
    """Rows [documents, sizes] as lists, null where a document is empty."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).ravel()), values.shape[1])
    return pc.if_else(pa.array(empty), pa.scalar(None, lists.type), lists)
