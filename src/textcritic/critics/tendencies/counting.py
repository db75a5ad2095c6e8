"""Counting documents in one pass: memory goes with the distinct words, not with the tokens."""

import heapq
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_matrix

from textcritic.critics.tendencies.counts import NOT_COUNTED, PAIRS, Counts, added, ordered, sums_by_group
from textcritic.critics.tendencies.tokens import Tokens, chunks, tokenize
from textcritic.critics.tendencies.words import stop_words_of, words_of
from textcritic.errors import TextcriticError
from textcritic.plan.checks.tendencies import NO_STOP_WORDS, CountOptions

# Counts that are put together at a time.
TOGETHER = 8

Groups = npt.NDArray[np.int32]
OfDocuments = tuple[Groups, Groups]
"""Group and unit of each document."""


def count_texts(
    batches: Iterable[pa.Array],
    documents: int,
    options: CountOptions | None = None,
    *,
    seed: int = 1,
    rows: range | None = None,
    threads: int = 1,
    units: npt.NDArray[np.int64] | None = None,
) -> Counts:
    """Count documents.

    Args:
        batches: Arrow arrays of strings, a document each; null is an empty one.
        documents: their number, D; if they are part of a larger set, that of the set.
        options: None means the paper's.
        seed: of the division into groups.
        rows: which documents of the set they are, for a part of it; all parts of a set have the same groups. None means
            all.
        threads: chunks of text that are counted at the same time.
        units: [D], the unit of each document (`inference.unit_of`): the groups are made of whole units, and there are
            so few of them that none is larger for a large unit. None: documents are units.

    Raises:
        TextcriticError: there are more or fewer documents than that, or a bad list of stop words, or a text that is not
            UTF-8.
    """
    options = options or CountOptions()
    rows = range(documents) if rows is None else rows
    # No more groups than are of about the size of the largest unit: groups of equal size alone can be exchanged.
    most = documents if units is None else documents // int(np.bincount(units).max(initial=1))
    number = max(1, min(options.groups, most))
    group = groups_of(documents, number, seed, units)[rows.start : rows.stop]
    unit = (np.arange(documents) if units is None else units)[rows.start : rows.stop].astype(np.int32)
    work = _Work(options, stop_words_of(options.stop_words), number)
    done = _Done(work.count(pa.array([], pa.string()), (group[:0], unit[:0])))
    first = 0

    def pieces() -> Iterator[tuple[pa.StringArray, OfDocuments]]:
        nonlocal first
        for texts in chunks(batches):
            first += len(texts)
            if first > len(group):
                raise TextcriticError(f"more than the {len(group):,} documents that were to be counted")
            yield texts, (group[first - len(texts) : first], unit[first - len(texts) : first])

    for counts in _mapped(work, pieces(), threads):
        done.add(counts)
    if first < len(group):
        raise TextcriticError(f"{first:,} documents, and {len(group):,} were to be counted")
    return ordered(done.total())


def groups_of(documents: int, groups: int, seed: int, units: npt.NDArray[np.int64] | None = None) -> Groups:
    """The group of each document, at random: int32 [documents]; the groups are of equal size, up to one.

    With `units` (see `count_texts`) they are made of whole ones, the largest first, each in the smallest group so far.
    """
    groups = max(1, min(groups, documents))
    if units is not None:
        sizes = np.bincount(units)
        order = np.random.default_rng(seed).permutation(len(sizes))
        group, smallest = np.zeros(len(sizes), np.int32), [(0, number) for number in range(groups)]
        for unit in order[np.argsort(-sizes[order], kind="stable")].tolist():
            size, number = heapq.heappop(smallest)
            group[unit] = number
            heapq.heappush(smallest, (size + int(sizes[unit]), number))
        return group[units]
    return (np.random.default_rng(seed).permutation(documents) % groups).astype(np.int32)


@dataclass(frozen=True)
class _Work:
    """How a chunk of texts is counted."""

    options: CountOptions
    stop_words: frozenset[str]
    groups: int

    def count(self, texts: pa.StringArray, of: OfDocuments) -> Counts:
        """The counts of texts of given groups, with words in no particular order, some of them without a token."""
        group, unit = of
        tokens = tokenize(texts, self.options.tokenizer)
        words = words_of(tokens.types, self.options.lower_case, self.stop_words)
        ids = words.of_types[tokens.ids]
        document = np.repeat(np.arange(len(texts)), tokens.lengths)
        by_document = _tally(document, ids, len(texts), len(words.words))
        segment, in_segment, of_segment = self._segments(tokens, document, group)
        by_segment = _tally(segment, ids[in_segment], len(of_segment), len(words.words))
        squares = csr_matrix((by_segment.data**2, by_segment.indices, by_segment.indptr), shape=by_segment.shape)
        stop = by_document @ words.stop.astype(np.int64)
        columns = (
            tokens.lengths,
            np.diff(by_document.indptr),
            _distinct_bigrams(document, ids, len(texts), len(words.words)),
            stop if self.options.stop_words != NO_STOP_WORDS else np.full_like(stop, NOT_COUNTED),
            by_document @ words.symbol.astype(np.int64),
        )
        return Counts(
            words=words.words,
            documents=np.column_stack(columns).astype(np.int32),
            group=group,
            unit=unit,
            matrix=sums_by_group(by_document, group, self.groups),
            pairs=self._pairs(words.words, document, ids, group),
            segments=np.bincount(of_segment, minlength=self.groups),
            segment_sums=sums_by_group(by_segment, of_segment, self.groups),
            segment_squares=sums_by_group(squares, of_segment, self.groups),
            recurrence=self._recurrence(tokens.lengths, document, ids, group),
            lags=np.array(self.options.lags(), np.int64),
            attached=np.bincount(group[document[words.attached[tokens.ids]]], minlength=self.groups),
            upper=np.bincount(group[document[words.upper[tokens.ids]]], minlength=self.groups),
        )

    def _segments(self, tokens: Tokens, document: np.ndarray, group: Groups) -> tuple[np.ndarray, np.ndarray, Groups]:
        """The segment of each token that is in one, which tokens are, and the group of each segment."""
        window = self.options.window
        each = tokens.lengths // window
        begin = np.cumsum(tokens.lengths) - tokens.lengths
        place = np.arange(len(document)) - begin[document]
        inside = place < (each * window)[document]
        first = np.cumsum(each) - each
        return (first[document] + place // window)[inside], inside, np.repeat(group, each)

    def _pairs(self, words: pa.StringArray, document: np.ndarray, ids: np.ndarray, group: Groups) -> csr_matrix:
        """See `Counts.pairs`."""
        numbers = np.array([crc32(word.encode()) for word in words.to_pylist()], np.uint64)
        inside = document[1:] == document[:-1]
        first, second = ids[:-1][inside], ids[1:][inside]
        # The upper bits of a product with 2^64 over the golden ratio depend on all bits (Knuth, volume 3, section 6.4).
        kinds = ((numbers[first] << np.uint64(32) | numbers[second]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(48)
        return _tally(group[document[:-1][inside]], kinds.astype(np.int64), self.groups, PAIRS)

    def _recurrence(self, lengths: np.ndarray, document: np.ndarray, ids: np.ndarray, group: Groups) -> np.ndarray:
        """See `Counts.recurrence`."""
        found = np.zeros((self.groups, len(self.options.lags()), 2), np.int64)
        for number, lag in enumerate(self.options.lags()):
            pairs = np.maximum(lengths - lag, 0)
            found[:, number, 0] = np.bincount(group, pairs, self.groups)
            same = np.flatnonzero(ids[lag:] == ids[:-lag])
            same = document[same][document[same] == document[same + lag]]
            found[:, number, 1] = np.bincount(group[same], minlength=self.groups)
        return found


class _Done:
    """Counts put together `TOGETHER` at a time, and these again: a word is moved as often as there are levels."""

    def __init__(self, none: Counts) -> None:
        self.none = none
        self.levels: list[list[Counts]] = []

    def add(self, counts: Counts, level: int = 0) -> None:
        if level == len(self.levels):
            self.levels.append([])
        self.levels[level].append(counts)
        if len(self.levels[level]) == TOGETHER:
            parts, self.levels[level] = self.levels[level], []
            self.add(added(parts), level + 1)

    def total(self) -> Counts:
        """All together, in the order in which they came."""
        parts = [self.none]
        while self.levels:
            parts += self.levels.pop()
        return added(parts)


def _mapped(work: _Work, pieces: Iterable[tuple[pa.StringArray, OfDocuments]], threads: int) -> Iterator[Counts]:
    """The counts of each piece, in order."""
    if threads == 1:
        yield from (work.count(*piece) for piece in pieces)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting = []
        for piece in pieces:
            waiting.append(pool.submit(work.count, *piece))
            if len(waiting) > threads:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()


def _tally(rows: np.ndarray, ids: np.ndarray, num_rows: int, types: int) -> csr_matrix:
    """How often each word is in each row: int64 CSR [rows, types]."""
    bits = max(types - 1, 0).bit_length()
    keys = np.sort((rows << bits) | ids)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    data = np.diff(starts, append=len(keys))
    distinct = keys[starts]
    indptr = np.searchsorted(distinct, np.arange(num_rows + 1) << bits)
    return csr_matrix((data, distinct & ((1 << bits) - 1), indptr), shape=(num_rows, types))


def _distinct_bigrams(document: np.ndarray, ids: np.ndarray, documents: int, types: int) -> np.ndarray:
    """The number of distinct pairs of neighbouring tokens of each document: int64 [documents]."""
    bits = max(types - 1, 0).bit_length()
    inside = document[1:] == document[:-1]
    pairs = (ids[:-1].astype(np.int64) << bits) | ids[1:]
    keys = np.sort((document[:-1] << (2 * bits) | pairs)[inside])
    distinct = keys[np.diff(keys, prepend=-1) != 0]
    return np.bincount(distinct >> (2 * bits), minlength=documents)
