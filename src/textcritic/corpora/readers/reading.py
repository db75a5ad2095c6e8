"""How a user's file is read, and what is reported about it afterwards."""

import logging
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from textcritic.runlog import log

MOST_NAMES = 12  # keys or columns that a line names; a table may have ten thousand


@dataclass(frozen=True, slots=True)
class Reading:
    """How documents are read.

    Attributes:
        text_key: the key or column of the text, in place of `text`; None: what `generations.documents` finds.
        title_key: that of titles, of documents and of sections, in place of `title`.
        id_key: that of ids, in place of `id`.
        keep_reasoning: whether what a model wrote between <think> and </think> stays.
        normalise: whether texts get Unicode's normal form and lose invisible characters; see `characters`. What comes
            behind a mark of the end is left out as well, and what a model wrote before its answer.
    """

    text_key: str | None = None
    title_key: str | None = None
    id_key: str | None = None
    keep_reasoning: bool = False
    normalise: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys or columns that are asked for."""
        return tuple(filter(None, (self.text_key, self.title_key, self.id_key)))


USUAL = Reading()
AS_IT_IS = Reading(normalise=False)


@dataclass(slots=True)
class Tally:
    """What is counted while one set of documents is read.

    Attributes:
        ignored: names of keys and columns that are not known.
        left_out: answers of a log that are left out, by reason.
        damaged: documents that are left out, by reason.
        changed: what was changed, by words that begin with a place for the number.
        chosen: the key of the text, where it is not `text`, and the other keys that could be it.
    """

    ignored: dict[str, None] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    damaged: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    chosen: dict[str, list[str]] = field(default_factory=dict)

    def say(self, name: object) -> None:
        """Say on stderr what was ignored, left out and changed of the set with this name."""
        if self.ignored:
            say_once(f"{name}: ignored, as these keys are not known: {some(list(self.ignored))}")
        for key, others in self.chosen.items():
            besides = f"; {some([f'`{other}`' for other in others])} could be it too (--text-key names another)"
            say_once(f"{name}: the text is in `{key}`{besides * bool(others)}")
        for what, counts in (("answers left out", self.left_out), ("documents left out", self.damaged)):
            if counts:
                say_once(f"{name}: {what}: {listed_counts(counts)}")
        if self.changed:
            say_once(f"{name}: {changes(self.changed)}")


def listed_counts(counts: Mapping[str, int]) -> str:
    """Counts by reason, in a line."""
    return ", ".join(f"{why} {count:,}" for why, count in counts.items() if count)


def changes(changed: Mapping[str, int]) -> str:
    """What was changed, in a line; see `Tally.changed`."""
    return "; ".join(words.format(f"{count:,}") for words, count in changed.items() if count)


def some(names: list[str]) -> str:
    """Names in a line, the first few of many."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


@cache
def say_once(line: str) -> None:
    """Say a line on stderr, and in the log of a job; once in a process, as files may be read several times."""
    if any(isinstance(handler, logging.FileHandler) for handler in log.handlers):  # of a job
        log.warning("%s", line)
    else:
        print(line, file=sys.stderr, flush=True)
