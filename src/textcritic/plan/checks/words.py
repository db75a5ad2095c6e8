"""How words are found in writing without spaces: the ways that there are."""

import re

from textcritic.errors import TextcriticError

SPACES, UNICODE, CHARACTERS = "spaces", "unicode", "characters"
WAYS = (SPACES, UNICODE, CHARACTERS)
HOW = (
    "spaces, at white space; characters, each character of a script without spaces is a word; unicode, UAX 29; or"
    " MODULE:FUNCTION, which makes a list of words of a text"
)
_FUNCTION = re.compile(r"[\w.]+:\w+")


def is_way(words: object) -> bool:
    """Whether this is one of `WAYS`, or looks like a function."""
    return words in WAYS or (isinstance(words, str) and bool(_FUNCTION.fullmatch(words)))


def check_words(words: object) -> None:
    """See that a way is one of `WAYS`, or looks like a function.

    Raises:
        TextcriticError: it is neither.
    """
    if not is_way(words):
        raise TextcriticError(f"words: {words!r}: use {HOW}")
