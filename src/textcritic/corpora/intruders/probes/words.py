"""A sentence as words and marks; the closed classes of English words that the edits ask for."""

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textcritic.corpora.intruders.probes.word_lists import word_class

# A number with its commas and point; a word with its hyphens and apostrophes; any other mark alone.
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*(?![\w.,]*[A-Za-z])|\w+(?:[-'’]\w+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a probe cannot edit a sentence; `reason` is one of few, so that refusals can be counted."""

    reason: str


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a mark: its text, where it begins and ends in the sentence, and the text in lower case with a
    plain apostrophe.
    """

    text: str
    start: int
    end: int
    lower: str

    @property
    def is_word(self) -> bool:
        """Whether it is a word, and neither a number nor a mark."""
        return self.text[0].isalpha()

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[0].isupper()


def tokens_of(sentence: str) -> list[Token]:
    """The words, numbers and marks of a sentence, in order; spaces belong to none."""
    matches = _TOKEN.finditer(sentence)
    return [Token(match[0], match.start(), match.end(), match[0].lower().replace("’", "'")) for match in matches]


def rewritten(sentence: str, tokens: Sequence[Token], edits: Mapping[int, str]) -> str:
    """The sentence with other text in place of some tokens, by position; an empty text takes the space before it along.

    The first letter stays a capital where it was one; all other text stays as it is.
    """
    pieces, end = [], 0
    for position, token in enumerate(tokens):
        if position not in edits:
            continue
        text = edits[position]
        before = sentence[end : token.start]
        pieces += [before if text else before.rstrip(), _like(token.text, text) if text else ""]
        end = token.end
    return "".join([*pieces, sentence[end:]])


def _like(old: str, new: str) -> str:
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


def following(tokens: Sequence[Token], position: int) -> str:
    """The next token in lower case; empty at the end."""
    return tokens[position + 1].lower if position + 1 < len(tokens) else ""


def quoted(tokens: Sequence[Token]) -> list[bool]:
    """[tokens], whether each is in double quotes or in brackets: titles and remarks, not the sentence itself."""
    inside, straight, depth = [], False, 0
    for token in tokens:
        if token.text == '"':
            straight = not straight
        elif token.text in "([“":
            depth += 1
        inside.append(straight or depth > 0)
        if token.text in ")]”":
            depth = max(0, depth - 1)
    return inside


PREPOSITIONS = word_class("prepositions")
DETERMINERS = word_class("determiners")
POSSESSIVES = word_class("possessives")
SUBJECTS = word_class("subjects")
OBJECTS = word_class("objects")
COORDINATORS = word_class("coordinators")
SUBORDINATORS = word_class("subordinators")
RELATIVES = word_class("relatives")
MODALS = word_class("modals")
BE = word_class("be")
HAVE = word_class("have")
DO = word_class("do")
AUXILIARIES = BE | HAVE | DO | MODALS | {"get", "gets", "got", "getting", "gotten"}
ADVERBS = word_class("adverbs")
MONTHS = word_class("months")
ORDINALS = word_class("ordinals")


@lru_cache(1 << 16)
def is_adverb(word: str) -> bool:
    """Whether a word in lower case may come between subject and verb: an adverb of the list, or one in -ly."""
    return word in ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in _NOT_ADVERBS)


_NOT_ADVERBS = word_class("not_adverbs")
NUMBER_WORDS = word_class("number_words")


def random_of(probe: str, sentence: str) -> random.Random:
    """A generator that a probe and a sentence seed together."""
    return random.Random(hashlib.blake2b(f"{probe}\n{sentence}".encode(), digest_size=16).digest())
