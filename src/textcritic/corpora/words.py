"""Words in scripts without spaces: spaces are put between words, so that words can be counted.

If a text in Chinese, Japanese, Thai, Lao, Khmer or Burmese is cut at its spaces, each sentence counts as one word. What
is shown and quoted is always the text as it was written.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError, first_line
from textcritic.plan.checks.words import CHARACTERS, SPACES, UNICODE, check_words

if TYPE_CHECKING:
    import pyarrow as pa

LOOKED_AT = 1000  # documents that decide
# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Tibetan, kana and Han.
UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0edf\u0f40-\u0fbc\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_APART = re.compile(rf"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")


def usual_words(texts: Iterable[str]) -> str:
    """How texts are cut into words if no way is given: `characters` if most of the first texts have no spaces."""
    some = [text for text in islice(texts, LOOKED_AT) if text.strip()]
    return words_of_most(sum(map(is_unspaced, some)), len(some))


def words_of_most(unspaced: int, documents: int) -> str:
    """`characters` if more than half of the documents have no spaces between words, else `spaces`."""
    return CHARACTERS if 2 * unspaced > documents else SPACES


def said_of_characters(name: str) -> str:
    """A line that says of a set of real texts that each character counts as a word."""
    return (
        f"{name}: written without spaces between words, so each character counts as a word (--words names another way)"
    )


def said_of_writing(name: str, here: str, real: str) -> str:
    """A warning if a sample would be cut into words in another way than real text, else an empty text."""
    if here == real or CHARACTERS not in (here, real):
        return ""
    what = (
        "without spaces between words, and real text has them"
        if here == CHARACTERS
        else "with spaces, and real text has none"
    )
    return f"warning: {name}: most of its texts are written {what}: another language?"


def is_unspaced(text: str) -> bool:
    """Whether most letters and digits of a text are of scripts without spaces."""
    return not text.isascii() and 2 * len(_UNSPACED.findall(text)) > sum(map(str.isalnum, text)) > 0


def segmented(text: str, words: str) -> str:
    """A text with a space between its words.

    Args:
        text: any.
        words: see `plan.checks.words.HOW`.

    Raises:
        TextcriticError: no such way or function, or the function fails; or it gives anything but a list of strings.
    """
    return text if words == SPACES else _way(words)(text)


def segmented_texts(texts: "pa.StringArray", words: str) -> "pa.StringArray":
    """The same of an array of texts, null where it is null."""
    if words == SPACES:
        return texts
    import pyarrow as pa  # who cuts one text needs none

    way = _way(words)
    return pa.array([None if text is None else way(text) for text in texts.to_pylist()], pa.string())


def closed_up(text: str) -> str:
    """A text without the spaces between letters of scripts that have none, to be shown."""
    return text if text.isascii() else _APART.sub("", text)


@cache
def marks() -> str:
    """All characters that go with the letter before them, for a class of a regular expression."""
    from textcritic.corpora.unicode import of_categories  # who has no such text needs no numpy

    return "".join(map(chr, of_categories("M").tolist()))


@cache
def _way(words: str) -> Callable[[str], str]:
    check_words(words)
    if words == CHARACTERS:
        # In Khmer, U+17D2 puts the next letter under the one before it.
        letter = re.compile(rf"[{UNSPACED}][{marks()}]*(?:\u17d2[\u1780-\u17a2][{marks()}]*)*")
        return lambda text: text if text.isascii() else letter.sub(r" \g<0> ", text)
    if words == UNICODE:
        import regex  # nltk needs it, too

        boundary = regex.compile(r"(?w)\b", regex.VERSION1)
        return lambda text: " ".join(part for part in boundary.split(text) if part.strip())
    return _own(words)


def _own(words: str) -> Callable[[str], str]:
    """A function of somebody else's."""
    module, name = words.split(":")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise TextcriticError(f"words: {words}: there is no such function ({first_line(error)}); install it") from error

    def way(text: str) -> str:
        try:
            result = function(text)
        except Exception as error:
            raise TextcriticError(f"words: {words} failed: {type(error).__name__}: {first_line(error)}") from error
        parts = None if isinstance(result, str) else list(result) if isinstance(result, Iterable) else None
        if parts is None or not all(isinstance(part, str) for part in parts):
            raise TextcriticError(f"words: {words} gives {type(result).__name__}; it should give a list of strings")
        return " ".join(parts)

    return way
