r"""Articles as words, for n-gram models, and back.

Tokens are the words between white space, `\n` for a line break, `\n\n` for the blank line between sections, and the end
of the article. Other white space is not kept: words are put back together with single spaces.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textcritic.corpora import BODY, BOUNDARY, SEPARATOR, Article, render, spans

UNKNOWN, LINE_BREAK = "<unk>", "\n"
END_ID, UNKNOWN_ID = 0, 1
TOKEN = re.compile(r"\S+|\s+")


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


class Vocabulary:
    """Words by number: the end of an article, the unknown word, then the words of train as they first appear.

    A word that is spelled like one of the two is a word like any other.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = list(words)
        self._ids = {word: number for number, word in enumerate(self.words, start=2)}

    def __len__(self) -> int:
        return len(self.words) + 2

    def number(self, word: str) -> int:
        """The number of a word, that of the unknown word if it was not seen."""
        return self._ids.get(word, UNKNOWN_ID)

    def encode(self, articles: Iterable[Article], setting: str, *, grow: bool = False) -> Words:
        """Number the words of `articles`; an unseen word is added if `grow`, else it is the unknown word.

        Raises:
            TextcriticError: an article cannot be rendered in the setting.
        """
        ids, kinds = [np.empty(0, np.int64)], [np.empty(0, np.uint8)]
        for article in articles:
            words, of_word = split(article, setting)
            if grow:
                numbers = [self._ids.setdefault(word, len(self._ids) + 2) for word in words]
            else:
                numbers = [self.number(word) for word in words]
            ids.append(np.array([*numbers, END_ID], np.int64))
            kinds.append(np.append(of_word, BOUNDARY).astype(np.uint8))
        if grow:
            self.words = list(self._ids)
        lengths = np.array([len(part) for part in ids[1:]], np.int64)
        return Words(np.concatenate(ids), np.concatenate(kinds), lengths)

    def text(self, ids: Sequence[int]) -> str:
        """The text of drawn ids: words with single spaces between them, none around line breaks, no end."""
        return join([UNKNOWN if i == UNKNOWN_ID else self.words[i - 2] for i in ids if i != END_ID])


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
    pieces = np.array(spans(article, setting), np.int64).reshape(-1, 3)
    of_character = np.repeat(pieces[:, 2], pieces[:, 1] - pieces[:, 0])
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
