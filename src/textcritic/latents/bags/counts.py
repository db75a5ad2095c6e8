"""Sparse counts of words: made from documents, written to a folder in a stream, opened as memory maps.

The job of the rule count_words is `count_corpus`.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.lib.format as npy_format
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import csr_matrix, vstack

from textcritic.corpora import Article, iter_articles
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, whole_folder, write_json
from textcritic.latents.bags.vocabulary import (
    Ids,
    Numbers,
    Vocabulary,
    batches,
    build_vocabulary,
    read_words,
    tokens_of,
    vocabulary_of,
)
from textcritic.plan.entries.critics import VocabularyOptions
from textcritic.runlog import Progress

IDS_SCHEMA = pa.schema([("id", pa.string()), ("tokens", pa.int64())])
SHAPE = ("documents", "words", "entries")
# Up to here the index arrays of scipy are int32; above, it would read the whole files to make them int64.
MOST_ENTRIES = 2**31 - 1
# The largest count that is stored.
MOST_COUNTED = 2**31 - 1
# Entries that are checked at a time when a folder is opened.
SCAN = 1 << 22


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of D documents over V words. A document without a word of the vocabulary has a row too.

    Attributes:
        ids: of the documents, an Arrow array of strings [D].
        tokens: int64 [D], all tokens of each document, in the vocabulary or not.
        matrix: int32 CSR [D, V]; the word ids of a row ascend.
    """

    ids: pa.Array
    tokens: Numbers
    matrix: csr_matrix


def count_corpus(
    train: str | os.PathLike[str],
    options: VocabularyOptions,
    vocabulary_path: str | os.PathLike[str],
    summary_path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    words: str | os.PathLike[str] | None = None,
) -> None:
    """Choose the vocabulary on the train split, or read that of a critic, then count the words of the split.

    The file is read twice, so that only the distinct words and a batch of tokens are in memory.

    Args:
        train: Parquet file of articles.
        options: which words are left out.
        vocabulary_path: Parquet file to write, see `Vocabulary.save`.
        summary_path: JSON to write: `words` and `tokens` kept, `documents` of train, `removed` by reason, `options`.
        folder: counts to write, see `write_counts`.
        words: the file of the words of a critic that was fitted elsewhere, see `vocabulary.read_words`; of the options
            only `lowercase` and `words` are used then, and nothing is `removed`. None: the words are chosen.

    Raises:
        TextcriticError: a bad option or input, or no word is left.
    """
    watched = _watched(train, "choosing words" if words is None else "looking words up")
    tokens = (tokens_of(article, options.words) for article in watched)
    if words is None:
        vocabulary, removed = build_vocabulary(tokens, options)
    else:
        vocabulary, removed = vocabulary_of(read_words(words), tokens, options.lowercase, options.words), {}
    write_counts(folder, count_articles(_watched(train, "counting words"), vocabulary), len(vocabulary))
    summary = {
        "words": len(vocabulary),
        "tokens": int(vocabulary.counts.sum()),
        "documents": pq.read_metadata(train).num_rows,
        "removed": removed,
        "options": options.plain(),
    }
    vocabulary.save(vocabulary_path)
    write_json(summary_path, summary)


def count_words(documents: Iterable[Sequence[str]], vocabulary: Vocabulary) -> csr_matrix:
    """Counts of documents, each a sequence of tokens: int32 [documents, words]; unknown tokens are left out."""
    encoded = map(vocabulary.encode, documents)
    blocks = [_matrix(batch, len(vocabulary)) for batch in batches(encoded, len)]
    return vstack(blocks, format="csr") if blocks else csr_matrix((0, len(vocabulary)), dtype=np.int32)


def count_articles(articles: Iterable[Article], vocabulary: Vocabulary) -> Iterator[Counts]:
    """Stream the counts of articles, some thousand at a time; only the text of one article is in memory."""
    encoded = ((article.id, vocabulary.encode(tokens_of(article, vocabulary.spaced))) for article in articles)
    for batch in batches(encoded, lambda pair: len(pair[1])):
        documents = [document for _, document in batch]
        lengths = np.array([len(document) for document in documents], dtype=np.int64)
        yield Counts(pa.array([id_ for id_, _ in batch], pa.string()), lengths, _matrix(documents, len(vocabulary)))


def write_counts(folder: str | os.PathLike[str], blocks: Iterable[Counts], num_words: int) -> None:
    """Write blocks of documents one after the other: the folder is whole or absent, and one block is in memory.

    The folder has `indptr.npy` (int64), `indices.npy` and `counts.npy` (int32), `ids.parquet` (`id`, `tokens`) and
    `shape.json`.

    A word that a row has twice gets the sum of its counts, zeros are left out.

    Raises:
        TextcriticError: a block has another number of words or a count that is not whole, below 0 or above 2^31 - 1;
            there are more than 2^31 - 1 entries; or the disk is full.
    """
    documents, entries = 0, 0
    with whole_folder(folder) as temporary:
        with ExitStack() as stack:
            indptr, indices, counts = (
                stack.enter_context(_Appended(temporary / f"{name}.npy", kind))
                for name, kind in (("indptr", np.int64), ("indices", np.int32), ("counts", np.int32))
            )
            ids = stack.enter_context(pq.ParquetWriter(temporary / "ids.parquet", IDS_SCHEMA, compression="zstd"))
            indptr.append(np.zeros(1))
            for block in blocks:
                matrix = _canonical(block, num_words, folder)
                indptr.append(matrix.indptr[1:].astype(np.int64) + entries)
                indices.append(matrix.indices)
                counts.append(matrix.data)
                ids.write_table(pa.table([block.ids, block.tokens], IDS_SCHEMA))
                documents, entries = documents + matrix.shape[0], entries + matrix.nnz
                if entries > MOST_ENTRIES:
                    raise TextcriticError(f"{folder}: more than {MOST_ENTRIES:,} counts; make parts of the corpus")
        shape = zip(SHAPE, (documents, num_words, entries), strict=True)
        write_json(temporary / "shape.json", dict(shape))


def open_counts(folder: str | os.PathLike[str]) -> Counts:
    """Open what `write_counts` wrote; word ids and counts stay on disk, as read-only memory maps under the matrix.

    They are read once, a piece at a time, and checked.

    Raises:
        TextcriticError: a file is missing, truncated, or does not fit the others; an id beyond the vocabulary, a row
            whose ids do not ascend, a count below 1.
    """
    folder = Path(folder)
    try:
        documents, words, entries = (int(read_json(folder / "shape.json")[key]) for key in SHAPE)
    except (KeyError, TypeError, ValueError) as error:
        raise _unsound(folder / "shape.json", f"not whole numbers under {', '.join(SHAPE)}") from error
    indptr = _mapped(folder / "indptr.npy", np.int64, documents + 1)
    indices, counts = (_mapped(folder / f"{name}.npy", np.int32, entries) for name in ("indices", "counts"))
    if indptr[0] != 0 or indptr[-1] != entries or (np.diff(indptr) < 0).any():
        raise _unsound(folder / "indptr.npy", "the rows do not follow one another")
    for start in range(0, entries, SCAN):
        _require_sound(folder, indptr, start, min(start + SCAN, entries), words)
    table = read_table(folder / "ids.parquet")
    if not table.schema.equals(IDS_SCHEMA) or len(table) != documents:
        raise _unsound(folder / "ids.parquet", f"not the ids of {documents:,} documents")
    matrix = csr_matrix((counts, indices, indptr), shape=(documents, words))
    # Known from the check; otherwise scipy would read the files again, or try to sort arrays that are read-only.
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return Counts(table["id"].combine_chunks(), table["tokens"].to_numpy(), matrix)


def _watched(path: str | os.PathLike[str], what: str) -> Iterator[Article]:
    """The articles of a file, with progress."""
    progress = None
    for article in iter_articles(path):
        progress = progress or Progress(what, pq.read_metadata(path).num_rows, "articles")
        yield article
        progress.advance()


class _Appended:
    """A one-dimensional .npy file that grows."""

    def __init__(self, path: Path, kind: npt.DTypeLike) -> None:
        self.kind, self.length = np.dtype(kind), 0
        self.handle: IO[bytes] = path.open("wb")
        self._header()

    def append(self, values: np.ndarray) -> None:
        self.handle.write(np.ascontiguousarray(values, dtype=self.kind).data)
        self.length += len(values)

    def _header(self) -> None:
        # numpy pads the header so that it keeps its size when the first axis grows.
        header = {"descr": npy_format.dtype_to_descr(self.kind), "fortran_order": False, "shape": (self.length,)}
        npy_format.write_array_header_1_0(self.handle, header)

    def __enter__(self) -> "_Appended":
        return self

    def __exit__(self, *_: object) -> None:
        self.handle.seek(0)
        self._header()
        self.handle.close()


def _matrix(documents: Sequence[Ids], num_words: int) -> csr_matrix:
    width = max(num_words, 1)
    flat = np.concatenate(documents)
    rows = np.repeat(np.arange(len(documents), dtype=np.int64), [len(document) for document in documents])
    keys, counts = np.unique((rows * width + flat)[flat >= 0], return_counts=True)
    indptr = np.searchsorted(keys, np.arange(len(documents) + 1, dtype=np.int64) * width)
    matrix = csr_matrix(
        (counts.astype(np.int32), (keys % width).astype(np.int32), indptr), shape=(len(documents), num_words)
    )
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _canonical(block: Counts, num_words: int, folder: str | os.PathLike[str]) -> csr_matrix:
    """The counts of a block in int64, from 1 upwards, with ascending word ids: all of them fit in int32."""
    matrix = block.matrix
    if matrix.shape[1] != num_words:
        raise TextcriticError(f"{folder}: counts over {matrix.shape[1]} words among those over {num_words}")
    with np.errstate(invalid="ignore"):  # NaN becomes a number, which differs from it
        counts = matrix.data.astype(np.int64)
    _require_counts(block, matrix, (counts == matrix.data) & (counts >= 0), folder)
    whole = csr_matrix((counts, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    whole.sum_duplicates()
    whole.eliminate_zeros()
    _require_counts(block, whole, whole.data <= MOST_COUNTED, folder)
    return whole


def _require_counts(
    block: Counts, matrix: csr_matrix, sound: npt.NDArray[np.bool_], folder: str | os.PathLike[str]
) -> None:
    if not sound.all():
        first = int(np.argmin(sound))
        document = block.ids[int(np.searchsorted(matrix.indptr, first, side="right")) - 1]
        raise TextcriticError(
            f"{folder}: document {document.as_py()!r}: a count of {matrix.data[first]}; it must be a whole number from "
            f"0 to {MOST_COUNTED:,}"
        )


def _mapped(path: Path, kind: npt.DTypeLike, length: int) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (ValueError, OSError, EOFError) as error:
        raise _unsound(path, "not a whole .npy file") from error
    if array.dtype != kind or array.shape != (length,):
        raise _unsound(path, f"{array.shape} of {array.dtype}, and shape.json says ({length},) of {np.dtype(kind)}")
    return array


def _require_sound(folder: Path, indptr: np.ndarray, start: int, stop: int, words: int) -> None:
    """Check entries `start` to `stop` of indices and counts, read from the files: mapped pages would stay in memory."""
    first = max(start - 1, 0)
    indices = _read(folder / "indices.npy", first, stop)
    if indices.min() < 0 or indices.max() >= words:
        raise _unsound(folder / "indices.npy", f"a word id that is not among those of {words:,} words")
    falls = first + 1 + np.flatnonzero(np.diff(indices) <= 0)
    # Ids may only fall where a row begins.
    if not (indptr[np.searchsorted(indptr, falls)] == falls).all():
        raise _unsound(folder / "indices.npy", "the word ids of a row do not ascend")
    if _read(folder / "counts.npy", start, stop).min() < 1:
        raise _unsound(folder / "counts.npy", "a count below 1")


def _read(path: Path, start: int, stop: int) -> Ids:
    with path.open("rb") as handle:
        npy_format.read_magic(handle)
        npy_format.read_array_header_1_0(handle)
        handle.seek(4 * start, os.SEEK_CUR)
        return np.fromfile(handle, np.int32, stop - start)


def _unsound(path: Path, what: str) -> TextcriticError:
    return TextcriticError(f"{path}: {what}; delete the folder and rerun the rule that makes it")
