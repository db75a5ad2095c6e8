"""A suffix array of documents: which stretches of other texts occur in them, and how long these are.

Everything is exact: nothing is hashed, so there are no collisions. There is no loop over tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from textcritic.critics.arrays import Arrays
from textcritic.errors import TextcriticError

END = 0
"""The token behind the last one of each document; words are numbered from 1."""
NOWHERE = -1
"""A word that the documents do not have."""
MOST_TOKENS = 2**31 - 1
NONE = np.int32(-1)  # no token
PART = 1_000_000  # places that are sorted at a time

Tokens = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Suffixes(Arrays):
    """Documents, and all places in them in the alphabetical order of what follows there.

    Attributes:
        tokens: int32 [N], the words of all documents, `END` behind each document.
        order: int32 [N], the places, sorted by the tokens from there to the end of the document; those of `END` first.
    """

    what: ClassVar[str] = "index of training text"
    tokens: Tokens
    order: Tokens

    def __post_init__(self) -> None:
        if self.tokens.shape != self.order.shape or self.tokens.ndim != 1:
            raise TextcriticError(
                f"tokens and order of shapes {self.tokens.shape} and {self.order.shape}; make it again"
            )

    @cached_property
    def beginnings(self) -> "Beginnings":
        """Where in the order each word, and each pair of words, begins. Needs 8 bytes a token while it is made."""
        firsts = self.tokens[self.order]
        seconds = np.append(self.tokens, np.int32(END))[self.order + 1]
        pairs = np.flatnonzero(np.diff(firsts, prepend=NONE) | np.diff(seconds, prepend=NONE))
        words = np.searchsorted(firsts, np.arange(int(firsts.max(initial=END)) + 2))
        return Beginnings(words, _pair(firsts[pairs], seconds[pairs]), np.append(pairs, len(firsts)))

    def found(self, texts: Tokens, lengths: Places, sizes: Sequence[int]) -> "Found":
        """Which stretches of texts occur in the documents.

        Args:
            texts: int32, the words of T texts one after the other; `NOWHERE` is a word that no document has.
            lengths: int64 [T], words of each text.
            sizes: numbers of words n, ascending, for which the n-grams of each text are counted.
        """
        search = _Search(self, texts, lengths)
        seen = np.zeros((len(lengths), len(sizes)), np.int64)
        for depth in range(1, sizes[-1] + 1):
            search.deepen()
            if depth in sizes:
                seen[:, sizes.index(depth)] = np.bincount(search.text[search.at], minlength=len(lengths))
        while len(search.at):
            search.deepen(drop=True)
        return Found(seen, *search.longest(lengths))


@dataclass(frozen=True, eq=False)
class Beginnings:
    """The stretches of an order of suffixes that begin with the same word, or with the same two.

    Attributes:
        words: int64 [words + 1], the first position of each word; its last is before the first of the next.
        pairs: int64 [P], the pairs of words that occur, see `_pair`, in ascending order.
        of_pairs: int64 [P + 1], the first position of each, and the end of all.
    """

    words: Places
    pairs: Places
    of_pairs: Places

    def of_word(self, words: Places) -> tuple[Places, Places]:
        """The first position of each word, and the one after its last; equal for a word that does not occur."""
        clipped = np.clip(words, END, len(self.words) - 2)
        begin = self.words[clipped]
        return begin, np.where(clipped == words, self.words[clipped + 1], begin)

    def of_pair(self, first: Tokens, second: Tokens) -> tuple[Places, Places]:
        """Like `of_word`, for pairs of words."""
        asked, of_asked = np.unique(_pair(first, second), return_inverse=True)  # in order, so that it reads on
        at = np.searchsorted(self.pairs, asked)
        occurs = at < len(self.pairs)
        occurs[occurs] = self.pairs[at[occurs]] == asked[occurs]
        begin = self.of_pairs[at]
        return begin[of_asked], np.where(occurs, self.of_pairs[np.minimum(at + 1, len(self.pairs))], begin)[of_asked]


@dataclass(frozen=True, eq=False)
class Found:
    """What the documents share with T texts.

    Attributes:
        seen: int64 [T, sizes], n-grams of each text that some document has, each as often as the text has it.
        longest: int64 [T], words of the longest stretch of each text that some document has; 0 without any.
        begin: int64 [T], the word of the text with which this stretch begins, from 0.
        place: int64 [T], a place among the tokens of the documents where it occurs; -1 without any.
    """

    seen: Places
    longest: Places
    begin: Places
    place: Places


def suffix_array(tokens: Tokens) -> Tokens:
    """The order of all places of documents by what follows there: int32 [N], see `Suffixes`.

    Prefix doubling (Manber and Myers 1993) of those places alone that are not in order yet (Larsson and Sadakane 2007).
    Needs some 30 bytes a token while it runs.

    Args:
        tokens: int32 [N], words from 1 on, `END` behind each document.

    Raises:
        TextcriticError: there are more than 2^31 - 1 tokens.
    """
    if len(tokens) > MOST_TOKENS:
        raise TextcriticError(f"{len(tokens):,} tokens of training text; at most {MOST_TOKENS:,} can be looked up")
    order = np.argsort(tokens, kind="stable").astype(np.int32)
    # Places of one group have the same rank: where the group begins in the order. Ends are in order by definition.
    rank = np.empty(len(tokens), np.int32)
    unsorted = _grouped(order, np.arange(len(order), dtype=np.int32), tokens[order], rank)
    ends = np.count_nonzero(tokens == END)
    rank[order[:ends]] = np.arange(ends)
    unsorted, depth = unsorted[unsorted >= ends], 1
    while len(unsorted):
        left, start = [], 0
        while start < len(unsorted):
            # Ranks that a part before has made finer are as right in this one.
            end = _end_of_part(order, unsorted, rank, start)
            positions = unsorted[start:end]
            places = order[positions]
            keys = rank[places].astype(np.int64)
            keys <<= 32
            keys |= rank[places + depth]
            by_key = np.argsort(keys)
            order[positions] = places[by_key]
            left.append(_grouped(order, positions, keys[by_key], rank))
            start = end
        unsorted, depth = np.concatenate(left), 2 * depth
    return order


def _end_of_part(order: Tokens, unsorted: Tokens, rank: Tokens, start: int) -> int:
    """Where a part of whole groups ends that begins at `start`: of about `PART` places, of more if one group has."""
    end = start + PART
    if end >= len(unsorted):
        return len(unsorted)
    group = rank[order[unsorted[end]]]
    begin = int(np.searchsorted(unsorted, group))
    if begin > start:
        return begin
    while end < len(unsorted):
        others = np.flatnonzero(rank[order[unsorted[end : end + PART]]] != group)
        if len(others):
            return end + int(others[0])
        end += PART
    return len(unsorted)


def _grouped(order: Tokens, positions: Tokens, keys: npt.NDArray[np.integer], rank: Tokens) -> Tokens:
    """Write the rank of sorted places, and return the positions of those that share theirs with others.

    Args:
        order: the places.
        positions: those of `order` that are ranked.
        keys: of each of them, sorted; places with equal keys are a group.
        rank: of each place, to be written.
    """
    starts = np.append(0, np.flatnonzero(keys[1:] != keys[:-1]) + 1)[: len(keys)]
    sizes = np.diff(starts, append=len(keys))
    rank[order[positions]] = np.repeat(positions[starts], sizes)
    return positions[np.repeat(sizes > 1, sizes)]


def _pair(first: Tokens, second: Tokens) -> Places:
    """Two words as one number, in the order of the pairs; of no document's pair if one is `NOWHERE`."""
    return first.astype(np.int64) << 32 | second.astype(np.int64)


class _Search:
    """All places of some texts whose next `depth` words occur in the documents.

    Attributes:
        text: int64, the text of each place.
        at: the places.
        low, high: for each place, the range of `Suffixes.order` whose suffixes begin with these words.
    """

    def __init__(self, suffixes: Suffixes, texts: Tokens, lengths: Places) -> None:
        self.suffixes, self.texts = suffixes, texts
        self.text = np.repeat(np.arange(len(lengths)), lengths)
        self.left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(texts))
        self.depth = 0
        self.at = np.arange(len(texts))
        self.low, self.high = np.zeros(len(texts), np.int64), np.full(len(texts), len(suffixes.order))
        self.lengths, self.places = np.zeros(len(texts), np.int64), np.full(len(texts), NOWHERE, np.int64)

    def deepen(self, drop: bool = False) -> None:
        """Take one word more, and leave out the places whose words then occur in no document.

        Args:
            drop: whether to leave out also each place that cannot have the longest stretch, because all its occurrences
                in the documents continue those of the place before it. Then a text that is copied as a whole takes
                time linear in its length, not quadratic. Counts of later sizes would be too small.
        """
        inside = self.left[self.at] > self.depth
        at, low, high = self.at[inside], self.low[inside], self.high[inside]
        begin, end = self._stretches(at, low, high)
        kept = begin < end
        if drop:
            same = (at[1:] == at[:-1] + 1) & ((end - begin)[:-1] == (high - low)[1:])
            kept[1:] &= ~same
        self.depth += 1
        self.at, self.low, self.high = at[kept], begin[kept], end[kept]
        self.lengths[self.at] = self.depth
        self.places[self.at] = self.suffixes.order[self.low]

    def longest(self, lengths: Places) -> tuple[Places, Places, Places]:
        """The longest stretch of each text, its first word and its place; see `Found`."""
        starts = np.cumsum(lengths) - lengths
        longest = np.zeros((3, len(lengths)), np.int64)  # length, first word, place
        longest[2] = NOWHERE
        filled = np.flatnonzero(lengths)
        if len(filled):
            most = np.maximum.reduceat(self.lengths, starts[filled])
            first = np.flatnonzero(self.lengths == np.repeat(most, lengths[filled]))
            _, one_each = np.unique(self.text[first], return_index=True)
            first = first[one_each]
            longest[:, filled] = most, first - starts[filled], self.places[first]
        return longest[0], longest[1], longest[2]

    def _stretches(self, at: Places, low: Places, high: Places) -> tuple[Places, Places]:
        """The part of each stretch from `low` to `high` that continues with the next word of the text."""
        words = self.texts[at + self.depth]
        if self.depth == 0:
            return self.suffixes.beginnings.of_word(words.astype(np.int64))
        if self.depth == 1:
            return self.suffixes.beginnings.of_pair(self.texts[at], words)
        begin = self._first(low, high, words.astype(np.int64))
        return begin, self._first(begin, high, words.astype(np.int64) + 1)

    def _first(self, low: Places, high: Places, words: Places) -> Places:
        """The first position from `low` up to `high` whose word at `depth` is not below `words`, by bisection."""
        low, high = low.copy(), high.copy()
        unknown = np.flatnonzero(low < high)
        while len(unknown):
            middle = (low[unknown] + high[unknown]) >> 1
            below = self.suffixes.tokens[self.suffixes.order[middle] + self.depth] < words[unknown]
            low[unknown[below]] = middle[below] + 1
            high[unknown[~below]] = middle[~below]
            unknown = unknown[low[unknown] < high[unknown]]
        return low
