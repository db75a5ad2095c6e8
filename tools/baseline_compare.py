"""How two folders of tables differ that `baseline.py` made, column by column and key by key."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
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
MOST_SHOWN = 3  # cells of a column


def compare(one: Path, two: Path, allowed: Mapping[str, Mapping[str, str]]) -> tuple[list[str], list[str]]:
    """How two folders that `make` made differ, as lines: what is not allowed, and what is, with its reason."""
    faults, excused = [], []
    names = {str(path.relative_to(top)) for top in (one, two) for path in top.rglob("*") if path.is_file()}
    for name in sorted(names - {COMMIT}):
        for what, words in _differences(one / name, two / name):
            reason = next(
                (
                    why
                    for pattern, reasons in allowed.items()
                    if fnmatchcase(name, pattern)
                    for key, why in reasons.items()
                    if fnmatchcase(what, key) or what == key
                ),
                None,
            )
            line = f"{name}: {what}: {words}"
            faults.append(line) if reason is None else excused.append(f"{line} [{reason}]")
    return faults, excused


def _differences(one: Path, two: Path) -> Iterator[tuple[str, str]]:
    """(column, key or word in brackets; what differs there)."""
    if not (one.is_file() and two.is_file()):
        yield ("(missing)", "only in the first") if one.is_file() else ("(new)", "only in the second")
        return
    texts = [_steady(path.read_text(encoding="utf-8")) for path in (one, two)]
    if texts[0] == texts[1]:
        return
    differ = {".csv": _of_tables, ".json": _of_objects}.get(one.suffix, _of_lines)
    found = list(differ(*texts))
    yield from found or [("(bytes)", "other bytes of the same values")]


def _steady(text: str) -> str:
    for pattern, steady in VOLATILE:
        text = pattern.sub(steady, text)
    return text


def _of_tables(one: str, two: str) -> Iterator[tuple[str, str]]:
    (heads, *rows), (other_heads, *others) = (list(csv.reader(io.StringIO(text))) or [[]] for text in (one, two))
    if len(rows) != len(others):
        yield "(rows)", f"{len(rows)} and {len(others)}"
    if heads != other_heads and sorted(heads) == sorted(other_heads):
        yield "(columns)", "another order"
    for head in dict.fromkeys([*heads, *other_heads]):
        if head not in heads or head not in other_heads:
            yield head, f"a column of the {'first' if head in heads else 'second'} alone"
            continue
        place, other = heads.index(head), other_heads.index(head)
        cells = ((row[place], right[other]) for row, right in zip(rows, others, strict=False))
        if wrong := [f"row {n}: {a!r}, {b!r}" for n, (a, b) in enumerate(cells, 1) if a != b]:
            yield head, _first(wrong)


def _of_objects(one: str, two: str) -> Iterator[tuple[str, str]]:
    left, right = (dict(_leaves(json.loads(text))) for text in (one, two))
    for key in dict.fromkeys([*left, *right]):
        values = [json.dumps(side[key], ensure_ascii=False) if key in side else "not there" for side in (left, right)]
        if values[0] != values[1]:
            yield key, ", ".join(value[:200] for value in values)


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not parts:
        yield key, value
    for name, part in parts:
        yield from _leaves(part, f"{key}.{name}" if key else str(name))


def _of_lines(one: str, two: str) -> Iterator[tuple[str, str]]:
    pairs = zip_longest(one.splitlines(), two.splitlines())
    if wrong := [f"line {n}: {a!r}, {b!r}" for n, (a, b) in enumerate(pairs, 1) if a != b]:
        yield "(lines)", _first(wrong)


def _first(wrong: Sequence[str]) -> str:
    more = len(wrong) - MOST_SHOWN
    return "; ".join(wrong[:MOST_SHOWN]) + (f"; {more} more" if more > 0 else "")
