"""A document with coreference in columns, whichever form its file has."""

from dataclasses import dataclass
from pathlib import PurePosixPath

SUFFIXES = (".conll", ".conllu")
PART = "#"
"""Separates the name of a document from the number of its part in an id."""


@dataclass(frozen=True, slots=True)
class ConllDocument:
    """A document as its file has it.

    Attributes:
        id: its name; the file's name where it has none; `name#2` for its part 2 (the one of part 0 is the plain name).
        where: file and line of its begin, for messages.
        words: its words, with escapes of the Penn Treebank; of CoNLL-U the syntactic words, `do` and `n't` of `don't`.
        lines: the line of each word, from 1.
        sentences: (first, last) word of each sentence.
        mentions: (first word, last word, head word by the parse or None, entity) in the order of the text, the longer
            one first.
        text: the text as it was written, where the file says it (CoNLL-U); else empty.
        spans: (start, end) characters of each word in `text`. Words that are written as one (Spanish `del` for `de` and
            `el`) have the same.
    """

    id: str
    where: str
    words: tuple[str, ...]
    lines: tuple[int, ...]
    sentences: tuple[tuple[int, int], ...]
    mentions: tuple[tuple[int, int, int | None, str], ...]
    text: str = ""
    spans: tuple[tuple[int, int], ...] = ()


def file_name(where: str, number: int) -> str:
    """The name of a document without one: that of its file, numbered from 2 on."""
    name = PurePosixPath(where.rpartition(":")[2] or where).name.removesuffix(".gz")
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name if number < 2 else f"{name}{PART}{number}"
