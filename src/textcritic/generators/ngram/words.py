r"""Articles as words by number.

Tokens are the words between white space, `\n` for a line break, `\n\n` for the blank line between sections, and the end
of the article. Other white space is not kept: words are put back together with single spaces.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textcritic.corpora import BODY, BOUNDARY, SEPARATOR, Article, render, spans

UNKNOWN, LINE_BREAK = "<unk>", "\n"
END_ID, UNKNOWN_ID = 0, 1
TOKEN = re.compile(r"\S+|\s+")
TOKENS_AT_ONCE = 1_000_000
_BOUNDARY = np.array([BOUNDARY], np.uint8)


@dataclass(frozen=True, slots=True)
class Words:
    """Articles one after the other.

    Attributes:
        ids: int64 [tokens]; every article ends with `END_ID`.
        kinds: uint8 [tokens]: 0 boundary (separators and ends), 1 title, 2 body.
        lengths: int64 [articles], tokens in each, the end included.
    """

    ids: np.ndarray
    kinds: np.ndarray
    lengths: np.ndarray

    def articles(self) -> np.ndarray:
        """Number of the article of each token, int64 [tokens]."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def chunks(self) -> Iterator["Words"]:
        """Whole articles, about `TOKENS_AT_ONCE` tokens at a time."""
        stops = np.cumsum(self.lengths)
        cuts = np.flatnonzero(np.diff(stops // TOKENS_AT_ONCE)) + 1
        for part in np.split(np.arange(len(stops)), cuts):
            if len(part):
                start, stop = stops[part[0]] - self.lengths[part[0]], stops[part[-1]]
                yield Words(self.ids[start:stop], self.kinds[start:stop], self.lengths[part])

    def padded(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Ids with order - 1 ends before each article, and which of them are tokens."""
        pad = order - 1
        lengths = self.lengths + pad
        real = np.ones(lengths.sum(), bool)
        starts = np.cumsum(lengths) - lengths
        for before in range(pad):
            real[starts + before] = False
        ids = np.full(len(real), END_ID)
        ids[real] = self.ids
        return ids, real


class _Numbers(dict[str, int]):
    """The number of each word; a word that is asked for and is not among them is added."""

    def __init__(self, words: list[str]) -> None:
        super().__init__((word, number) for number, word in enumerate(words, start=2))
        self._words = words

    def __missing__(self, word: str) -> int:
        self._words.append(word)
        number = self[word] = len(self._words) + 1
        return number


class Vocabulary:
    """Words by number: the end of an article, the unknown word, then the words of train as they first appear.

    A word of the text that is spelled like one of these two is a word of its own.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = list(words)
        self._numbers: _Numbers | None = None  # made when a text is read: to write texts, the words are enough

    def __len__(self) -> int:
        return len(self.words) + 2

    def number(self, word: str) -> int:
        """The number of a word, that of the unknown word if it was not seen."""
        return self._number_of().get(word, UNKNOWN_ID)

    def encode(self, articles: Iterable[Article], setting: str, *, grow: bool = False) -> Words:
        """Number the words of `articles`; an unseen word is added if `grow`, else it is the unknown word.

        Raises:
            TextcriticError: an article cannot be rendered in the setting.
        """
        numbers = self._number_of()
        number = numbers.__getitem__ if grow else lambda word: numbers.get(word, UNKNOWN_ID)
        ids, lengths, kinds = array("q"), array("q"), [np.empty(0, np.uint8)]
        for article in articles:
            words, of_word = split(article, setting)
            ids.extend(map(number, words))
            ids.append(END_ID)
            lengths.append(len(words) + 1)
            kinds += (of_word, _BOUNDARY)
        return Words(_int64(ids), np.concatenate(kinds), _int64(lengths))

    def text(self, ids: Sequence[int]) -> str:
        """The text of drawn ids: words with single spaces between them, none around line breaks, no end."""
        return join([UNKNOWN if i == UNKNOWN_ID else self.words[i - 2] for i in ids if i != END_ID])

    def _number_of(self) -> _Numbers:
        if self._numbers is None:
            self._numbers = _Numbers(self.words)
        return self._numbers


def shuffled(words: Words, vocabulary: Vocabulary, seed: int) -> Words:
    """Articles whose body words have changed places with each other at random, over all articles (a permutation).

    Titles, line breaks, blank lines and ends stay where they are: so do the lengths of articles, sections and lines.
    What is lost is which words occur together.
    """
    at = np.flatnonzero((words.kinds == BODY) & (words.ids != vocabulary.number(LINE_BREAK)))
    ids = words.ids.copy()
    ids[at] = words.ids[np.random.default_rng(seed).permutation(at)]
    return replace(words, ids=ids)


def split(article: Article, setting: str) -> tuple[list[str], np.ndarray]:
    """Tokens of an article without its end, and the kind of each, uint8 [tokens]."""
    text = render(article, setting)
    pieces = spans(article, setting)
    if len(pieces) == 1 and "\n" not in text:  # a line: ten times as fast, and corpora of lines are the longest
        words = text.split()
        return words, np.full(len(words), pieces[0][2], np.uint8)
    bounds = np.array(pieces, np.int64).reshape(-1, 3)
    of_character = np.repeat(bounds[:, 2], bounds[:, 1] - bounds[:, 0])
    words, starts = [], []
    for match in TOKEN.finditer(text):
        word = match.group()
        if not word.isspace():
            starts.append(match.start())
            words.append(word)
        elif "\n" in word:
            starts.append(match.start() + word.index("\n"))
            words.append(SEPARATOR if SEPARATOR in word else LINE_BREAK)
    return words, of_character[np.array(starts, np.int64)].astype(np.uint8)


def join(words: Sequence[str]) -> str:
    """The text of tokens; the inverse of `split` for text whose words are separated by single spaces."""
    return " ".join(words).replace(" \n", "\n").replace("\n ", "\n")


def _int64(numbers: "array[int]") -> np.ndarray:
    return np.frombuffer(numbers, np.int64) if numbers else np.empty(0, np.int64)
