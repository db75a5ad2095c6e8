"""The segments that a hidden semi-Markov model may emit: the most common n-grams of each length.

An n-gram of tokens is one number in base V, the vocabulary's size, so that those of a length are one sorted array and a
look-up is a binary search.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textcritic.errors import TextcriticError

MOST_COMMON = 250_000
ABSENT = -1


@dataclass(frozen=True)
class Lexicon:
    """A set of n-grams of 1 .. `longest` tokens; its rows are sorted by length, then by the n-gram.

    Attributes:
        vocabulary: number of symbols V; tokens are 0 .. V - 1.
        codes: for each length n = 1 .. D, the n-grams as numbers in base V (first token most significant), sorted
            uint64 [n-grams of that length].
        counts: how often each row was counted, int64 [R]; zeros when unknown.
    """

    vocabulary: int
    codes: tuple[np.ndarray, ...]
    counts: np.ndarray

    def __post_init__(self) -> None:
        _check_size(self.vocabulary, len(self.codes))
        for n, codes in enumerate(self.codes, start=1):
            if codes.dtype != np.uint64 or (codes[1:] <= codes[:-1]).any():
                raise TextcriticError(f"lexicon: the codes of length {n} are not sorted, distinct and uint64")
            if len(codes) and int(codes[-1]) >= self.vocabulary**n:
                raise TextcriticError(f"lexicon: a code of length {n} is not a {n}-gram of {self.vocabulary} symbols")
        if self.counts.shape != (len(self),):
            raise TextcriticError(f"lexicon: {self.counts.shape} counts for {len(self)} rows; give one a row")

    @classmethod
    def count(
        cls, tokens: np.ndarray, offsets: np.ndarray, vocabulary: int, longest: int, most_common: int = MOST_COMMON
    ) -> "Lexicon":
        """The most common n-grams of each length, over all windows of each sequence (appendix D of the paper).

        Args:
            tokens: the sequences' tokens one after the other, integer [tokens].
            offsets: where each sequence begins, and the end of the last, [sequences + 1].
            vocabulary: number of symbols V.
            longest: the longest n-gram D, in tokens.
            most_common: how many n-grams of each length are kept at most; of equally common ones the first in order.

        Raises:
            TextcriticError: a sequence is empty, a token is not below V, or V**D does not fit in 64 bits.
        """
        _check_size(vocabulary, longest)
        if most_common < 1:
            raise TextcriticError(f"most_common: {most_common} is not possible; give at least 1 n-gram a length")
        kept, counts = [], []
        for windows, _ in _windows(tokens, offsets, vocabulary, longest):
            windows.sort()
            first = np.flatnonzero(np.concatenate([[True], windows[1:] != windows[:-1]])[: len(windows)])
            number = np.diff(first, append=len(windows))
            chosen = _most_common(number, most_common)
            kept.append(windows[first[chosen]])
            counts.append(number[chosen])
        return cls(vocabulary, tuple(kept), np.concatenate(counts).astype(np.int64))

    def __len__(self) -> int:
        """Number of rows R, the n-grams of all lengths."""
        return sum(map(len, self.codes))

    @property
    def longest(self) -> int:
        """The longest n-gram that can be held, D, in tokens."""
        return len(self.codes)

    @property
    def row_offsets(self) -> np.ndarray:
        """Where the rows of each length begin, int64 [D + 2]: those of length n are row_offsets[n : n + 2]."""
        return np.concatenate([[0, 0], np.cumsum([len(codes) for codes in self.codes])]).astype(np.int64)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each row, int64 [R]."""
        return np.repeat(np.arange(1, self.longest + 1), [len(codes) for codes in self.codes])

    def rows(self, tokens: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The rows of all windows of some sequences.

        Args:
            tokens: integer [tokens].
            offsets: where each sequence begins, and the end of the last, [sequences + 1].

        Returns:
            int32 [tokens, D]: at [t, n - 1] the row of the n-gram whose last token is token t, -1 where there is none
            in the lexicon or it would begin before its sequence.

        Raises:
            TextcriticError: a sequence is empty, or a token is not below V.
        """
        rows = np.full((len(tokens), self.longest), ABSENT, np.int32)
        offset = 0
        for n, (windows, last) in enumerate(_windows(tokens, offsets, self.vocabulary, self.longest)):
            codes = self.codes[n]
            if len(codes):
                at = np.searchsorted(codes, windows).clip(max=len(codes) - 1)
                rows[last, n] = np.where(codes[at] == windows, at + offset, ABSENT)
            offset += len(codes)
        return rows

    def select(self, keep: np.ndarray) -> "Lexicon":
        """The lexicon with the rows `keep` only, bool [R]; they keep their order."""
        if keep.dtype != np.bool_ or keep.shape != (len(self),):
            raise TextcriticError(
                f"lexicon: keep is {keep.dtype} {keep.shape}; give a bool for each of {len(self)} rows"
            )
        parts = np.split(keep, self.row_offsets[2:-1])
        codes = tuple(codes[part] for codes, part in zip(self.codes, parts, strict=True))
        return Lexicon(self.vocabulary, codes, self.counts[keep])

    def segments(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The n-grams of `rows` [n]: tokens int64 [n, D], and how many of them belong to each, [n]."""
        lengths = self.lengths[rows]
        codes = np.concatenate(self.codes)[rows]
        tokens = np.zeros((len(rows), self.longest), np.int64)
        base = np.uint64(self.vocabulary)
        for back in range(self.longest):
            at = np.flatnonzero(lengths > back)
            tokens[at, lengths[at] - 1 - back] = codes[at] % base
            codes[at] //= base
        return tokens, lengths


def check_sequences(tokens: np.ndarray, offsets: np.ndarray, vocabulary: int) -> None:
    """Raise a TextcriticError unless `offsets` cut `tokens` into sequences of one or more symbols of a vocabulary."""
    for name, values in (("tokens", tokens), ("offsets", offsets)):
        if not np.issubdtype(values.dtype, np.integer):
            raise TextcriticError(f"{name}: are {values.dtype}; give integers")
    lengths = np.diff(offsets)
    if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(tokens) or (lengths < 0).any():
        raise TextcriticError(f"offsets: do not cut {len(tokens)} tokens into sequences; give 0, ..., {len(tokens)}")
    if (lengths == 0).any():
        raise TextcriticError(f"sequence {np.flatnonzero(lengths == 0)[0]} is empty; give at least one token")
    unknown = np.flatnonzero((tokens < 0) | (tokens >= vocabulary))
    if len(unknown):
        at = unknown[0]
        sequence = np.searchsorted(offsets, at, side="right") - 1
        raise TextcriticError(
            f"sequence {sequence}, token {at - offsets[sequence]}: symbol {tokens[at]} is unknown; "
            f"the vocabulary is 0 to {vocabulary - 1}"
        )


def _check_size(vocabulary: int, longest: int) -> None:
    if vocabulary < 1 or longest < 1:
        raise TextcriticError(
            f"lexicon: {vocabulary} symbols in the vocabulary, and segments of at most {longest} tokens; both numbers"
            " must be at least 1"
        )
    if vocabulary**longest > 2**64:
        raise TextcriticError(
            f"lexicon: {longest}-grams of {vocabulary} symbols do not fit in 64 bits; give a shorter longest segment"
        )


def _windows(
    tokens: np.ndarray, offsets: np.ndarray, vocabulary: int, longest: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For n = 1 .. longest, the codes of all n-grams and the positions of their last tokens, both [windows]."""
    check_sequences(tokens, offsets, vocabulary)
    symbols = tokens.astype(np.uint64)
    last = np.arange(len(tokens))
    age = last - np.repeat(offsets[:-1], np.diff(offsets))
    codes = np.zeros(len(tokens), np.uint64)
    power = np.uint64(1)
    for n in range(1, longest + 1):
        inside = age[last] >= n - 1
        # The new token comes in front, so that windows are extended in place.
        last, codes = last[inside], codes[inside]
        codes = codes + symbols[last - (n - 1)] * power
        power = power * np.uint64(vocabulary) if n < longest else power
        yield codes.copy(), last


def _most_common(number: np.ndarray, most_common: int) -> np.ndarray:
    """Ascending indices of the `most_common` greatest, the first of equal ones."""
    if len(number) <= most_common:
        return np.arange(len(number))
    least = np.partition(number, len(number) - most_common)[len(number) - most_common]
    above = number > least
    tied = np.flatnonzero(number == least)[: most_common - above.sum()]
    above[tied] = True
    return np.flatnonzero(above)
