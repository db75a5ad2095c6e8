"""The characters of users' texts: one form for letters with accents, nothing invisible, no half of a character."""

import re
import unicodedata
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufeff"
"""Soft hyphens, spaces without width, marks of direction; not the joiners, which some scripts and emoji need."""
HALF = "half a character, such as \\ud83d"
COMPOSED = "{} texts, titles or mentions put into Unicode's form NFC"
REMOVED = "{} invisible characters removed, such as soft hyphens"
# For matching alone: each has one character in the form of a typewriter.
APOSTROPHES, QUOTES = "\u2018\u2019\u201a\u201b\u02bc\u2032\uff07", "\u201c\u201d\u201e\u201f\u2033\uff02"
STRAIGHT = str.maketrans(APOSTROPHES + QUOTES, "'" * len(APOSTROPHES) + '"' * len(QUOTES))
_HALVES = re.compile("[\ud800-\udfff]")
_ODD = re.compile(f"[{INVISIBLE}\ud800-\udfff]")


class HalfCharacter(Exception):  # noqa: N818 - it is counted, and never shown as an error
    """A text holds one code point of a surrogate pair without the other: it cannot be written as UTF-8."""


def standard(value: Any, changed: Counter[str]) -> Any:
    """Strings of a value of JSON, without invisible characters and in NFC; the value itself where nothing changes.

    Args:
        value: a string, or lists and dicts of strings and anything else; keys stay as they are.
        changed: counts strings put into NFC and characters removed, by `COMPOSED` and `REMOVED`.

    Raises:
        HalfCharacter: a string holds a lone surrogate.
    """
    if isinstance(value, str):
        return value if value.isascii() else _standard(value, changed)
    if isinstance(value, list):
        return [standard(part, changed) for part in value]
    if isinstance(value, dict):
        return {key: standard(part, changed) for key, part in value.items()}
    return value


def is_standard(line: str) -> bool:
    """Whether a line of a file, which was read as UTF-8, is as `standard` would make it."""
    if line.isascii():
        return True
    soft, space, left, right, joiner, mark = tuple(INVISIBLE)  # six searches are faster than one for a set
    odd = soft in line or space in line or left in line or right in line or joiner in line or mark in line
    return not odd and unicodedata.is_normalized("NFC", line)


def require_whole(value: object) -> None:
    """Look through a value as `standard` does, and change nothing; raises likewise."""
    if isinstance(value, str):
        if not value.isascii() and _HALVES.search(value):
            raise HalfCharacter
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            require_whole(part)


def straight(text: str) -> str:
    """A text for matching alone: curly apostrophes and quotes as a typewriter has them, each one character."""
    return text if text.isascii() else text.translate(STRAIGHT)


def straightened(texts: pa.StringArray) -> pa.StringArray:
    """The same of an array of texts."""
    for curly, plain in ((APOSTROPHES, "'"), (QUOTES, '"')):
        texts = pc.replace_substring_regex(texts, f"[{curly}]", plain)
    return texts


def _standard(text: str, changed: Counter[str]) -> str:
    if _ODD.search(text):
        if _HALVES.search(text):
            raise HalfCharacter
        shorter = _ODD.sub("", text)
        changed[REMOVED] += len(text) - len(shorter)
        text = shorter
    if not unicodedata.is_normalized("NFC", text):
        changed[COMPOSED] += 1
        text = unicodedata.normalize("NFC", text)
    return text
