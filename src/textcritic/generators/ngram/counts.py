"""Counting n-grams on disk, in as much memory as is given, however long the corpus.

One pass over the articles writes the number of every word to a scratch file. Then the n-grams are taken in parts, by
ranges of their first word, of about as many as fit into the memory. A part is read off the whole scratch file, sorted
and counted. Parts in order make the sorted arrays of all n-grams, which are written as they come. A first word that has
more n-grams than fit is divided by the second word, and so on.

The entry `ngram-3-lines` of the generators registry notes the costs for the trigram of "Beyond Perplexity" (section 5:
2.57 billion tokens, 5.32 million words).
"""

from collections.abc import Iterable, Iterator, Sized
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.generators.ngram.arrays import ArrayFile
from textcritic.generators.ngram.words import END_ID, Words

# In the scratch file, and in columns made of it, a word is its number + 1.
PAD, END = 0, END_ID + 1
# In a column: the article has ended before.
NOTHING = 0
CODES_AT_ONCE = 1 << 22
RECORDS_AT_ONCE = 1 << 21
# Where keys of 64 bits would need more than so many parts, two or more keys are sorted together.
MOST_PARTS = 64


@dataclass(frozen=True)
class Codes:
    """The scratch file: every article after order - 1 times `PAD`, int32.

    Attributes:
        path: of the file.
        order: words in an n-gram.
        size: words of the vocabulary, V.
        articles: how many articles there are.
        empty: how many of them have no word, only an end.
        tokens: words and ends.
    """

    path: Path
    order: int
    size: int
    articles: int
    empty: int
    tokens: int

    @cached_property
    def array(self) -> np.ndarray:
        """The codes, int32 [tokens + articles * (order - 1)], read where they are looked at."""
        return np.asarray(np.memmap(self.path, np.int32, mode="r"))

    def windows(self) -> Iterator[np.ndarray]:
        """Pieces of the codes; each has order - 1 more, which are those that the next one begins with."""
        for start in range(0, len(self.array), CODES_AT_ONCE):
            piece = self.array[start : start + CODES_AT_ONCE + self.order - 1]
            at_end = start + CODES_AT_ONCE >= len(self.array)
            yield np.append(piece, np.zeros(self.order - 1, np.int32)) if at_end else piece

    def words(self) -> Iterator[Words]:
        """The articles again, without the kinds of their words, some millions of tokens at a time."""
        rest = np.empty(0, np.int64)
        for start in range(0, len(self.array), CODES_AT_ONCE):
            codes = self.array[start : start + CODES_AT_ONCE]
            ids = np.append(rest, codes[codes != PAD].astype(np.int64) - 1)
            stops = np.flatnonzero(ids == END_ID) + 1
            if len(stops):
                ids, rest = np.split(ids, stops[-1:])
                yield Words(ids, np.zeros(len(ids), np.uint8), np.diff(stops, prepend=0))
            else:
                rest = ids


@dataclass(frozen=True)
class Part:
    """The windows of n codes that begin with `prefix` and go on with a code from `low` to `high` - 1.

    Attributes:
        prefix: codes.
        low, high: codes.
        counts: how often each code [low, high) follows, int64.
    """

    prefix: tuple[int, ...]
    low: int
    high: int
    counts: np.ndarray


def write_codes(path: Path, articles: Iterable[Words], order: int, vocabulary: Sized, source: object) -> Codes:
    """Write the scratch file.

    Args:
        path: of the file.
        articles: in pieces.
        order: words in an n-gram.
        vocabulary: of the words; it may grow while the pieces come.
        source: what they come from, for the message.

    Raises:
        TextcriticError: there are no articles, or the order is below 1.
    """
    if order < 1:
        raise TextcriticError(f"order: {order} is not possible; give at least 1")
    count = empty = tokens = 0
    with path.open("wb") as handle:
        for words in articles:
            ids, real = words.padded(order)
            handle.write(np.where(real, ids + 1, PAD).astype(np.int32).data)
            count, tokens = count + len(words.lengths), tokens + len(words.ids)
            empty += int((words.lengths == 1).sum())
    if not count:
        raise TextcriticError(f"{source}: holds no articles")
    return Codes(path, order, len(vocabulary), count, empty, tokens)


def count_ngrams(codes: Codes, folder: Path, memory_mb: float) -> int:
    """Count the n-grams of each length k = 1 .. order and write, for each, what `NgramModel` describes.

    That is `keys{k}.npy`, `cumulative{k}.npy` and `first{k}.npy`, all int64.

    Args:
        codes: the scratch file.
        folder: for the files.
        memory_mb: for the n-grams of a part, 8 bytes each.

    Returns:
        how many different n-grams there are, of all lengths.
    """
    counts = _followers(codes, ())
    of_word = counts[1:].copy()
    of_word[END_ID] = codes.articles  # not the ends that pad the text before them
    _write(folder / "keys1.npy", np.arange(codes.size))
    _write(folder / "cumulative1.npy", np.append(0, np.cumsum(of_word)))
    _write(folder / "first1.npy", np.array([0, codes.size]))
    if codes.order == 1:
        return int((of_word > 0).sum())
    layout = _Layout(codes.size + 1, codes.order)
    with _Levels(codes, folder) as levels:
        for part in _parts(codes, layout, max(int(memory_mb * 2**20 / layout.bytes), 1), (), counts):
            for columns, number in _counted(codes, part, layout):
                levels.add(columns, number)
    return int((of_word > 0).sum()) + levels.different


class _Layout:
    """How the columns of a window are packed into keys, so that sorting the keys sorts the windows.

    Attributes:
        base: codes that a column can hold.
        width: codes that the first column of a part may range over; None for any.
        bytes: of memory that sorting takes for each window.
    """

    def __init__(self, base: int, order: int) -> None:
        self.base, self.order = base, order
        width = (2**64 - 1) // base ** (order - 1)
        self.width = width if width * MOST_PARTS >= base else None
        keys = len(self.groups(0, self.width or base))
        self.bytes = 8 if keys == 1 else 8 * keys + 24

    def groups(self, depth: int, width: int) -> list[list[int]]:
        """The columns from `depth` on, by the key that each is packed into; the first column has `width` values."""
        groups: list[list[int]] = [[]]
        values = 1
        for column in range(depth, self.order):
            factor = width if column == depth and self.width else self.base
            if values * factor >= 2**64:
                groups.append([])
                values = 1
            groups[-1].append(column)
            values *= factor
        return groups


def _parts(codes: Codes, layout: _Layout, most: int, prefix: tuple[int, ...], counts: np.ndarray) -> Iterator[Part]:
    """The parts of the windows with a prefix, in order, of at most `most` windows or with one free column."""
    if len(prefix) == codes.order - 1:
        yield Part(prefix, 0, len(counts), counts)
        return
    before = np.append(0, np.cumsum(counts))
    low = 0
    while before[low] < before[-1]:
        low = int(np.searchsorted(before, before[low], side="right")) - 1  # codes that do not occur are passed over
        high = int(np.searchsorted(before, before[low] + most, side="right")) - 1
        if high == low:
            longer = (*prefix, low)
            yield from _parts(codes, layout, most, longer, _followers(codes, longer))
            low += 1
            continue
        if layout.width is not None:
            high = min(high, low + layout.width)
        yield Part(prefix, low, high, counts[low:high])
        low = high


def _followers(codes: Codes, prefix: tuple[int, ...]) -> np.ndarray:
    """How often each code follows a prefix in a window, int64 [V + 1]."""
    counts = np.zeros(codes.size + 1, np.int64)
    for piece in codes.windows():
        following = _columns(piece, codes.order, [(code, code + 1) for code in prefix], len(prefix) + 1)[-1]
        if len(following):
            some = np.bincount(following)
            counts[: len(some)] += some
    return counts


def _columns(piece: np.ndarray, order: int, bounds: list[tuple[int, int]], number: int) -> list[np.ndarray]:
    """The first columns of the windows that begin in a piece and have their first codes within bounds (low, high)."""
    starts = len(piece) - order + 1
    columns: list[np.ndarray] = []
    at = np.empty(0, np.int64)
    going_on = np.empty(0, bool)
    for depth in range(number):
        raw = piece[at + depth] if depth else piece[:starts]
        column = np.maximum(raw, END)
        if depth:
            column[~going_on] = NOTHING
        if depth < len(bounds):
            low, high = bounds[depth]
            kept = np.flatnonzero((column >= low) & (column < high))
            at = at[kept] if depth else kept
            going_on = going_on[kept] if depth else np.ones(len(kept), bool)
            raw, column = raw[kept], column[kept]
            columns = [earlier[kept] for earlier in columns]
        elif not depth:
            at, going_on = np.arange(starts), np.ones(starts, bool)
        columns.append(column)
        going_on = going_on & (raw != END)
    return columns


def _counted(codes: Codes, part: Part, layout: _Layout) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
    """The windows of a part in order, [n] columns each, and how often each was there; some at a time.

    The last of some may be the first of the next.
    """
    depth = len(part.prefix)
    if depth == codes.order - 1:
        last = np.flatnonzero(part.counts)
        yield [*(np.full(len(last), code) for code in part.prefix), last + part.low], part.counts[last]
        return
    groups = layout.groups(depth, part.high - part.low)
    keys = _sorted_keys(codes, part, layout, groups)
    for start in range(0, len(keys[0]), RECORDS_AT_ONCE):
        some = [key[start : start + RECORDS_AT_ONCE] for key in keys]
        differs = np.ones(len(some[0]), bool)
        differs[1:] = np.any([key[1:] != key[:-1] for key in some], axis=0)
        first = np.flatnonzero(differs)
        columns = [np.full(len(first), code) for code in part.prefix]
        for key, group in zip(some, groups, strict=True):
            columns += _unpacked(key[first], len(group), layout.base)
        columns[depth] = columns[depth] + part.low
        yield columns, np.diff(first, append=len(differs))


def _sorted_keys(codes: Codes, part: Part, layout: _Layout, groups: list[list[int]]) -> list[np.ndarray]:
    """The windows of a part as keys, sorted: uint64 [windows], as many as there are groups."""
    windows = int(part.counts.sum())
    keys = [np.empty(windows, np.uint64) for _ in groups]
    bounds = [*((code, code + 1) for code in part.prefix), (part.low, part.high)]
    filled = 0
    for piece in codes.windows():
        columns = _columns(piece, codes.order, bounds, codes.order)
        columns[len(part.prefix)] = columns[len(part.prefix)] - part.low
        stop = filled + len(columns[0])
        for key, group in zip(keys, groups, strict=True):
            packed = columns[group[0]].astype(np.uint64)
            for column in group[1:]:
                packed = packed * np.uint64(layout.base) + columns[column].astype(np.uint64)
            key[filled:stop] = packed
        filled = stop
    if len(keys) == 1:
        keys[0].sort()
        return keys
    order = np.lexsort(keys[::-1])
    return [key[order] for key in keys]


def _unpacked(key: np.ndarray, number: int, base: int) -> list[np.ndarray]:
    """The columns that a key was packed from, int64."""
    columns = []
    for _ in range(number - 1):
        rest = key // np.uint64(base)
        columns.append((key - rest * np.uint64(base)).astype(np.int64))
        key = rest
    return [key.astype(np.int64), *columns[::-1]]


class _Levels:
    """The arrays of all lengths k = 2 .. order, written side by side as the windows come in order.

    A window with words in k columns is one occurrence of the k-gram of these words. Exceptions are windows that begin
    before an article's first word and hold nothing but ends: such k-grams are kept as contexts, and occur, from k = 2
    on, once in each empty article. They are the first of their length.
    """

    def __init__(self, codes: Codes, folder: Path) -> None:
        self.size, self.order, self.empty = codes.size, codes.order, codes.empty
        self.ngrams = [0] * (codes.order + 1)  # so far, by k
        self.occurrences = [codes.empty] * (codes.order + 1)
        self.last = [-1] * codes.order  # the columns of the last window
        self.bigrams_of = np.zeros(codes.size, np.int64)
        self.folder = folder
        self.stack = ExitStack()

    def __enter__(self) -> "_Levels":
        names = [f"{name}{k}" for k in range(2, self.order + 1) for name in ("keys", "cumulative", "first")]
        with ExitStack() as stack:
            self.files = {name: stack.enter_context(ArrayFile(self.folder / f"{name}.npy", np.int64)) for name in names}
            self.stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *others: Any) -> None:
        if kind is None:
            self.files["first2"].append(np.append(0, np.cumsum(self.bigrams_of)))
            for k in range(2, self.order + 1):
                self.files[f"cumulative{k}"].append(np.array([self.occurrences[k]]))
                if k > 2:
                    self.files[f"first{k}"].append(np.array([self.ngrams[k]]))
        self.stack.__exit__(kind, *others)

    @property
    def different(self) -> int:
        """Different n-grams that occur, of lengths 2 .. order."""
        only_contexts = 0 if self.empty else self.order - 2
        return sum(self.ngrams[2:]) - only_contexts

    def add(self, columns: list[np.ndarray], number: np.ndarray) -> None:
        """Add the next windows [n], columns [order, n]; each occurs `number` times."""
        index = columns[0] - 1  # of the k-gram that each window begins with
        starts = np.diff(columns[0], prepend=self.last[0]) != 0  # whether the window is the first with this k-gram
        fresh = starts
        for k in range(2, self.order + 1):
            column = columns[k - 1]
            starts = starts | (np.diff(column, prepend=self.last[k - 1]) != 0)
            whole = column != NOTHING
            shorter, fresh_shorter = index, fresh
            fresh = starts & whole
            seen = self.ngrams[k] + np.cumsum(fresh)
            index = seen - 1
            occurs = np.where(whole, number, 0)
            if k < self.order or self.empty:
                occurs[index == 0] = 0  # nothing but ends
            stops = self.occurrences[k] + np.cumsum(occurs)
            before = (stops - occurs)[fresh]
            if not self.ngrams[k] and len(before):
                before[0] = 0
            self.files[f"keys{k}"].append(shorter[fresh] * self.size + column[fresh] - 1)
            self.files[f"cumulative{k}"].append(before)
            if k == 2:
                self._count_bigrams(shorter[fresh])
            else:
                self.files[f"first{k}"].append((seen - fresh)[fresh_shorter])
            self.ngrams[k], self.occurrences[k] = int(seen[-1]), int(stops[-1])
        self.last = [int(column[-1]) for column in columns]

    def _count_bigrams(self, words: np.ndarray) -> None:
        """Count how many different bigrams begin with each word; `words` are in order."""
        if len(words):
            some = np.bincount(words - words[0])
            self.bigrams_of[words[0] : words[0] + len(some)] += some


def _write(path: Path, numbers: np.ndarray) -> None:
    with ArrayFile(path, np.int64) as file:
        file.append(numbers)
