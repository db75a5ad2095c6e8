"""Counting documents in one pass: memory goes with the distinct words, not with the tokens."""

import heapq
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_matrix

from textcritic.corpora.words import segmented_texts
from textcritic.critics.tendencies.counts import NOT_COUNTED, OF_WORDS, PAIRS, TOTALS, Counts, Numbers, added, ordered
from textcritic.critics.tendencies.options import NO_STOP_WORDS
from textcritic.critics.tendencies.tokens import Tokens, chunks, tokenize
from textcritic.critics.tendencies.words import ATTACHED, STOP, SYMBOL, UPPER, Words, stop_words_of, words_of
from textcritic.errors import TextcriticError
from textcritic.inference.group_sizes import are_alike
from textcritic.plan.entries import Tendencies

# Text that is counted at a time: work that is done once for each distinct word then costs little. A key (document,
# word, word) of this much text fits into 63 bits.
CHUNK_BYTES, CHUNK_TEXTS = 1 << 25, 1 << 17
# Counts that are put together at a time.
TOGETHER = 8
# Up to this many units a group, fewer groups are tried until sizes are alike; from 10 units on they differ by 10%.
MOST_UNITS = 12

Groups = npt.NDArray[np.int32]
OfDocuments = tuple[Groups, Groups]
"""Group and unit of each document."""
Tally = tuple[npt.NDArray[np.integer], Numbers]
"""Distinct values, ascending, and a number of each."""


def count_texts(
    batches: Iterable[pa.Array],
    documents: int,
    options: Tendencies,
    *,
    rows: range | None = None,
    threads: int = 1,
    units: npt.NDArray[np.int64] | None = None,
) -> Counts:
    """Count documents.

    Args:
        batches: Arrow arrays of strings, a document each; null is an empty one.
        documents: their number, D; if they are part of a larger set, the number in the set.
        options: what is counted; `seed` is of the division into groups.
        rows: which documents of the set they are, for a part of it; all parts of a set have the same groups. None means
            all.
        threads: chunks of text that are counted at the same time.
        units: [D], the unit of each document (`inference.unit_of`): the groups are made of whole units, and there are
            so few of them that none is larger for a large unit. None: documents are units.

    Raises:
        TextcriticError: there are more or fewer documents than that, or a bad list of stop words, or a text that is not
            UTF-8.
    """
    rows = range(documents) if rows is None else rows
    every = divided(documents, options.groups, options.seed, units)
    number, group = int(every.max(initial=0)) + 1, every[rows.start : rows.stop]
    unit = (np.arange(documents) if units is None else units)[rows.start : rows.stop].astype(np.int32)
    work = _Work(options, stop_words_of(options.stop_words), number)
    done = _Done()
    first = 0

    def pieces() -> Iterator[tuple[pa.StringArray, OfDocuments]]:
        nonlocal first
        for chunk in chunks(batches, CHUNK_BYTES):
            for start in range(0, len(chunk), CHUNK_TEXTS):
                texts = chunk.slice(start, CHUNK_TEXTS)
                first += len(texts)
                if first > len(group):
                    raise TextcriticError(f"more than the {len(group):,} documents that were to be counted")
                yield texts, (group[first - len(texts) : first], unit[first - len(texts) : first])
        if not first:
            yield pa.array([], pa.string()), (group[:0], unit[:0])

    for counts in _mapped(work, pieces(), threads):
        done.add(counts)
    if first < len(group):
        raise TextcriticError(f"{first:,} documents, and {len(group):,} were to be counted")
    return ordered(done.total())


def lags_up_to(longest: int) -> list[int]:
    """The distances at which recurrence is counted: 1, 2, 4, ... up to the longest."""
    return [1 << power for power in range(longest.bit_length())]


def divided(documents: int, groups: int, seed: int, units: npt.NDArray[np.int64] | None = None) -> Groups:
    """The group of each document, of as many groups as are asked for, or of fewer: as `groups_of`.

    Only groups of about the same size can be exchanged. So none is smaller than the largest unit. If there are so few
    units that groups would be unequal, as with 120 pairs in 100 groups, there are fewer groups.
    """
    if units is None:
        return groups_of(documents, groups, seed)
    largest, number = int(np.bincount(units).max(initial=1)), int(units.max(initial=0)) + 1
    most = max(1, min(groups, documents // largest))
    as_asked = groups_of(documents, most, seed, units)
    if documents and not are_alike(np.bincount(as_asked, minlength=most)):
        for each in range(-(-number // most), MOST_UNITS + 1):
            fewer = max(1, number // each)
            group = groups_of(documents, fewer, seed, units)
            if are_alike(np.bincount(group, minlength=fewer)):
                return group
    return as_asked


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


@dataclass(frozen=True, eq=False)
class _Group:
    """What is counted of the documents of one group; see `Counts` for what each number is."""

    documents: npt.NDArray[np.int32]
    matrix: Tally
    pairs: Tally
    segments: int
    segment_sums: Tally
    segment_squares: Tally
    recurrence: list[tuple[int, int]]
    attached: int
    upper: int


@dataclass(frozen=True)
class _Work:
    """How a chunk of texts is counted."""

    options: Tendencies
    stop_words: frozenset[str]
    groups: int

    def count(self, texts: pa.StringArray, of: OfDocuments) -> Counts:
        """The counts of texts of given groups, with words in no particular order.

        The documents of a group are put one after the other and counted together: the data on their tokens fit into the
        cache of a processor, and do not need the number of the group.
        """
        group, unit = of
        order = np.argsort(group, kind="stable")
        spaced = segmented_texts(texts.take(pa.array(order)), self.options.words)
        tokens = tokenize(spaced, self.options.tokenizer)
        words = words_of(tokens.types, self.options.lower_case, self.stop_words)
        spelt = words.words.cast(pa.binary()).to_numpy(zero_copy_only=False)
        numbers = np.fromiter(map(crc32, spelt), np.uint32, len(spelt))
        ends = np.append(0, np.cumsum(tokens.lengths))
        parts = []
        for first, last in pairwise(np.searchsorted(group[order], np.arange(self.groups + 1)).tolist()):
            some = Tokens(tokens.types, tokens.ids[ends[first] : ends[last]], tokens.lengths[first:last])
            parts.append(self._count_group(some, words, numbers))
        documents = np.concatenate([part.documents for part in parts])
        matrices = {
            name: _rows([getattr(part, name) for part in parts], columns)
            for name, columns in (("pairs", PAIRS), *dict.fromkeys(OF_WORDS, len(spelt)).items())
        }
        return Counts(
            words=words.words,
            documents=documents[np.argsort(order)],
            group=group,
            unit=unit,
            lags=np.array(lags_up_to(self.options.longest_lag), np.int64),
            **matrices,
            **{name: np.array([getattr(part, name) for part in parts], np.int64) for name in TOTALS},
        )

    def _count_group(self, tokens: Tokens, words: Words, numbers: npt.NDArray[np.uint32]) -> _Group:
        """Count the documents of one group; `numbers` are those that kinds of pairs are made of, one a word."""
        lengths, ends = tokens.lengths, np.cumsum(tokens.lengths)
        ids, forms = words.of_types.take(tokens.ids), words.forms.take(tokens.ids)
        bits = max(len(words.words) - 1, 0).bit_length()
        # Keys are sorted in half the time if they have 32 bits.
        numbered = np.arange(len(lengths), dtype="int32" if len(lengths) << bits < 1 << 31 else "int64")
        keys = np.repeat(numbered << bits, lengths) | ids
        # Which tokens have another one behind them in their document; the last of all has none.
        inside = np.ones(len(ids), np.bool_)
        inside[ends[lengths > 0] - 1] = False
        inside = inside[:-1]
        pairs = ((keys[:-1].astype(np.int64) << bits) | ids[1:])[inside]
        of_ids = numbers.take(ids).astype(np.uint64)
        # The upper bits of a product with 2^64 over the golden ratio depend on all bits (Knuth, volume 3, section 6.4).
        kinds = ((of_ids[:-1] << np.uint64(32) | of_ids[1:]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(48)
        stop = _of_each(forms & STOP != 0, ends)
        columns = (
            lengths,
            _of_each(_new(np.sort(keys)), ends),
            _of_each(_new(np.sort(pairs)), np.cumsum(np.maximum(lengths - 1, 0))),
            stop if self.options.stop_words != NO_STOP_WORDS else np.full_like(stop, NOT_COUNTED),
            _of_each(forms & SYMBOL != 0, ends),
        )
        segments, sums, squares = self._segments(ids, lengths)
        return _Group(
            documents=np.column_stack(columns).astype(np.int32),
            matrix=_tally(ids),
            pairs=_tally(kinds.astype(np.uint16)[inside]),
            segments=segments,
            segment_sums=sums,
            segment_squares=squares,
            recurrence=[
                (int(np.maximum(lengths - lag, 0).sum()), int(np.count_nonzero(keys[lag:] == keys[:-lag])))
                for lag in lags_up_to(self.options.longest_lag)
            ],
            attached=int(np.count_nonzero(forms & ATTACHED)),
            upper=int(np.count_nonzero(forms & UPPER)),
        )

    def _segments(self, ids: npt.NDArray[np.int32], lengths: Numbers) -> tuple[int, Tally, Tally]:
        """The segments of a group, and the sums over them of the count of each word, and of its square."""
        window = self.options.window
        each = lengths // window
        place = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
        begins = np.repeat(np.cumsum(lengths) - lengths, each) + window * place
        # Where there is no segment, a window may be longer than what fits into memory.
        within = np.arange(min(window, int(lengths.max(initial=0))))
        segments = np.sort(ids[begins[:, None] + within], axis=1)
        new = np.ones(segments.shape, np.bool_)
        new[:, 1:] = segments[:, 1:] != segments[:, :-1]
        starts = np.flatnonzero(new)
        # A word and its count in a segment as one number, so that sorting keeps them together.
        bits = window.bit_length()
        keys = (segments.reshape(-1)[starts].astype(np.int64) << bits) | np.diff(starts, append=new.size)
        keys.sort()
        word, number = keys >> bits, keys & ((1 << bits) - 1)
        starts = np.flatnonzero(_new(word))
        sums, squares = np.add.reduceat(number, starts), np.add.reduceat(number**2, starts)
        return len(begins), (word[starts], sums), (word[starts], squares)


class _Done:
    """Counts put together `TOGETHER` at a time, and these again: a word is moved as often as there are levels."""

    def __init__(self) -> None:
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
        return added([counts for level in reversed(self.levels) for counts in level])


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


def _of_each(flags: npt.NDArray[np.bool_], ends: Numbers) -> Numbers:
    """How many flags are set in each document; `ends` says where the documents end."""
    return np.diff(np.searchsorted(np.flatnonzero(flags), ends), prepend=0)


def _new(ascending: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Which of ascending values differ from the one before."""
    new = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    return new


def _tally(values: npt.NDArray[np.integer]) -> Tally:
    """How often each value occurs: like `numpy.unique`, but faster."""
    ascending = np.sort(values)
    starts = np.flatnonzero(_new(ascending))
    return ascending[starts], np.diff(starts, append=len(values))


def _rows(tallies: list[Tally], columns: int) -> csr_matrix:
    """A matrix with a tally in each row: int64 CSR [rows, columns]."""
    indptr = np.cumsum([0, *(len(places) for places, _ in tallies)])
    places, numbers = (np.concatenate(parts) for parts in zip(*tallies, strict=True))
    return csr_matrix((numbers, places.astype(np.int32), indptr), shape=(len(tallies), columns))
