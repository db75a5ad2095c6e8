"""The lists of word_lists.txt, by name."""

from functools import cache
from importlib.resources import files

LISTS, IRREGULAR, REGULAR = "word_lists.txt", "irregular_verbs.txt", "verbs.txt"


def word_class(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(word_list(name))


def word_list(name: str) -> tuple[str, ...]:
    """The words of a list, in order."""
    return _lists()[name]


@cache
def lines_of(name: str) -> tuple[str, ...]:
    """The lines of a file in this package, without comments and empty lines."""
    text = (files("textcritic.corpora.intruders.probes") / name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    lists: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in lines_of(LISTS):
        if not line.startswith(" "):
            name, _, line = line.partition(":")
        lists[name] = (*lists.get(name, ()), *line.split())
    return lists
