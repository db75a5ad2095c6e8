"""How two folders of tables differ that `baseline.py` made, column by column and key by key."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import Any

COMMIT = "COMMIT"  # the file that names the commit
WORK = "textcritic-baseline-"  # how names of temporary folders begin
# What is never twice the same: it is made equal before files are compared.
VOLATILE = (
    (re.compile(rf"[\w./-]*/{WORK}\w+"), "WORK"),  # paths of temporary folders
    (re.compile(r'("(?:seconds|minutes|created|date)": )[^,}\]]+'), r"\1null"),
)
# Columns that say what a row is about: rows of two tables with the same cells there are compared.
ROW = (
    *("corpus", "source", "setting", "generator", "decoding", "seed", "draw", "label", "measure", "statistic"),
    *("tendency", "metric", "detector", "trained", "proposal", "temperature", "id", "switch", "option"),
)
MOST_SHOWN = 3  # cells of a column
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs (a column, a key, or a word in brackets), how, and the largest relative difference of numbers."""

    what: str
    words: str
    apart: float = math.inf

    def __str__(self) -> str:
        return f"{self.what}: {self.words}" + (f" (at most {self.apart:.1g} apart)" if 0 < self.apart < 1e-9 else "")

    def is_allowed(self, key: str) -> bool:
        """Whether the key of a file of what is allowed covers it; `KEY ~1e-12` covers numbers so near to each other."""
        name, _, limit = key.partition(" ~")
        return (self.what == name or fnmatchcase(self.what, name)) and (not limit or self.apart <= float(limit))


def compare(one: Path, two: Path, allowed: Mapping[str, Mapping[str, str]]) -> tuple[list[str], list[str]]:
    """How two folders that `make` made differ, as lines: what is not allowed, and what is, with its reason."""
    faults, excused = [], []
    names = {str(path.relative_to(top)) for top in (one, two) for path in top.rglob("*") if path.is_file()}
    for name in sorted(names - {COMMIT}):
        reasons = [pair for pattern, pairs in allowed.items() if fnmatchcase(name, pattern) for pair in pairs.items()]
        for found in _differences(one / name, two / name):
            reason = next((why for key, why in reasons if found.is_allowed(key)), None)
            line = f"{name}: {found}"
            faults.append(line) if reason is None else excused.append(f"{line} [{reason}]")
    return faults, excused


def _differences(one: Path, two: Path) -> Iterator[Difference]:
    if not (one.is_file() and two.is_file()):
        yield Difference(*(("(missing)", "only in the first") if one.is_file() else ("(new)", "only in the second")))
        return
    texts = [_steady(path.read_text(encoding="utf-8")) for path in (one, two)]
    if texts[0] == texts[1]:
        return
    kinds: dict[str, Callable[[str, str], Iterator[Difference]]] = {".csv": _of_tables, ".json": _of_objects}
    found = list(kinds.get(one.suffix, _of_lines)(*texts))
    yield from found or [Difference("(bytes)", "other bytes of the same values")]


def _steady(text: str) -> str:
    for pattern, steady in VOLATILE:
        text = pattern.sub(steady, text)
    return text


def _of_tables(one: str, two: str) -> Iterator[Difference]:
    (heads, *rows), (other_heads, *others) = (list(csv.reader(io.StringIO(text))) or [[]] for text in (one, two))
    shared = [head for head in heads if head in other_heads]
    if shared != [head for head in other_heads if head in heads]:
        yield Difference("(columns)", "another order")
    left, right = (_named(head, some, shared) for head, some in ((heads, rows), (other_heads, others)))
    alone = [f"{'; '.join(filter(None, map(str, key)))} in the {which}" for which, key in _alone(left, right)]
    if alone:
        yield Difference("(rows)", _first(alone))
    if [key for key in left if key in right] != [key for key in right if key in left]:
        yield Difference("(order of rows)", "another order")
    for head in dict.fromkeys([*heads, *other_heads]):
        if head not in shared:
            yield Difference(head, f"a column of the {'first' if head in heads else 'second'} alone")
            continue
        cells = [(left[key][head], right[key][head], place) for place, key in enumerate(left, 1) if key in right]
        if wrong := [(f"row {place}: {a!r}, {b!r}", _apart(a, b)) for a, b, place in cells if a != b]:
            yield Difference(head, _first([words for words, _ in wrong]), max(apart for _, apart in wrong))


def _named(heads: Sequence[str], rows: Sequence[Sequence[str]], shared: Sequence[str]) -> dict[Row, dict[str, str]]:
    """Rows by what they are about, and a number where several are about the same."""
    keys = [head for head in ROW if head in shared]
    named: dict[Row, dict[str, str]] = {}
    for cells in (dict(zip(heads, row, strict=False)) for row in rows):
        about = tuple(cells[key] for key in keys)
        number = next(n for n in range(1, len(rows) + 1) if (*about, n) not in named)
        named[(*about, number)] = cells
    return named


def _alone(left: Mapping[Row, Any], right: Mapping[Row, Any]) -> Iterator[tuple[str, Row]]:
    yield from (("first", key) for key in left if key not in right)
    yield from (("second", key) for key in right if key not in left)


def _of_objects(one: str, two: str) -> Iterator[Difference]:
    left, right = (dict(_leaves(json.loads(text))) for text in (one, two))
    for key in dict.fromkeys([*left, *right]):
        values = [json.dumps(side[key], ensure_ascii=False) if key in side else "not there" for side in (left, right)]
        if values[0] != values[1]:
            yield Difference(key, ", ".join(value[:200] for value in values), _apart(*values))


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not parts:
        yield key, value
    for name, part in parts:
        yield from _leaves(part, f"{key}.{name}" if key else str(name))


def _of_lines(one: str, two: str) -> Iterator[Difference]:
    pairs = zip_longest(one.splitlines(), two.splitlines())
    if wrong := [f"line {n}: {a!r}, {b!r}" for n, (a, b) in enumerate(pairs, 1) if a != b]:
        yield Difference("(lines)", _first(wrong))


def _apart(one: str, two: str) -> float:
    """The relative difference of two numbers; infinite where one is none."""
    try:
        first, second = float(one), float(two)
    except ValueError:
        return math.inf
    apart = abs(first - second) / max(abs(first), abs(second), 1e-300)
    return math.inf if math.isnan(apart) else apart


def _first(wrong: Sequence[str]) -> str:
    more = len(wrong) - MOST_SHOWN
    return "; ".join(wrong[:MOST_SHOWN]) + (f"; {more} more" if more > 0 else "")
