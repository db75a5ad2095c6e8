"""Gaps in a line: a character that XML cannot hold marks where markup was taken out, until the gap is closed here.

Closing a gap means what a reader expects where something is missing: no space before a comma, no brackets around
nothing, no comma at the beginning of a line.
"""

import re
from functools import lru_cache

GAP = "\x01"

_SPACED = "\x04"  # a gap with a space next to it
_GAP = rf"[{GAP}{_SPACED}]"
_NEAR = ' ,;:.!?%/–—()[]“”"«»'  # characters that a gap next to them can change, or depends on
_RUN = re.compile(rf"{GAP}[{re.escape(_NEAR)}{GAP}]*")
_LONGEST_KEPT = 40  # characters of a run that is looked up; most have two or three
_GAPS = re.compile(rf" ?(?:{_GAP} ?)+")
_EMPTY_BRACKETS = re.compile(rf"[(\[][ ,;:/–—{GAP}{_SPACED}]{{0,40}}[)\]]|“{_GAP}”|\"{_GAP}\"|«{_GAP}»")
_LEFT_OPENING = re.compile(rf"([(\[])[ ,;:/–—]{{0,9}}{_GAP}[ ,;:/–—{GAP}{_SPACED}]{{0,40}}")
_LEFT_CLOSING = re.compile(rf"{_GAP}[ ,;:/–—{GAP}{_SPACED}]{{0,40}}(?=[)\]])")
_DOUBLED = re.compile(rf"[,;:]{_GAP}(?=[,;:.])")
_DASHED = re.compile(rf"(?<=[,;:]){_GAP}[–—] ?")
_BEFORE_POINT = re.compile(rf"{_GAP}(?=[,.;:!?)\]])")
_BETWEEN_WORDS = re.compile(rf"(?:(?<=[\w,.;:!?)\]%”])|(?<=[\w,.!?]\")){GAP}(?=[\w(“])")
_WORD = re.compile(r"\w")


def closed(line: str) -> str:
    """The line, in which no space follows another, without its gaps, and without what only they had kept apart.

    A line without a letter or digit that has gaps is empty.
    """
    if GAP not in line:
        return line
    if not _WORD.search(line):
        return ""
    pieces: list[str] = []
    position = 0
    for match in _RUN.finditer(line):
        text = line[position : match.start()]
        kept = text.rstrip(_NEAR)
        position = match.end()
        run = text[len(kept) :] + match.group()
        close = _closed_run if len(run) <= _LONGEST_KEPT else _closed_run.__wrapped__
        pieces += (kept, close(_kind(kept[-1:]), run, _kind(line[position : position + 1])))
    pieces.append(line[position:])
    return "".join(pieces)


def _kind(char: str) -> str:
    """The class of a character next to a run: a letter or digit, another character, or the line's end."""
    return "" if not char else "a" if char.isalnum() or char == "_" else "*"


@lru_cache(maxsize=1 << 13)
def _closed_run(before: str, run: str, after: str) -> str:
    """Close the gaps of a run between the classes of the characters next to it (see `_kind`).

    A run is gaps and all characters of `_NEAR` around them; nothing else in the line depends on them.
    """
    line = _GAPS.sub(_gap_of, before + run + after)
    for _ in range(2):  # brackets in brackets
        line = _GAPS.sub(_gap_of, _EMPTY_BRACKETS.sub(_emptied, line))
    if line[0] in (GAP, _SPACED):
        line = line.lstrip(f"{GAP}{_SPACED} ,;:.–—")
    if line[-1:] in (GAP, _SPACED):
        line = line.rstrip(f"{GAP}{_SPACED} ,–—")
    line = _without_ends(_LEFT_OPENING.sub(r"\1", line))
    line = _BETWEEN_WORDS.sub(" ", _BEFORE_POINT.sub("", _DASHED.sub(" ", _DOUBLED.sub("", line))))
    return line[len(before) : len(line) - len(after)].replace(GAP, "").replace(_SPACED, " ")


def _gap_of(gaps: re.Match[str]) -> str:
    return _SPACED if " " in gaps[0] or _SPACED in gaps[0] else GAP


def _emptied(brackets: re.Match[str]) -> str:
    return GAP if GAP in brackets[0] or _SPACED in brackets[0] else brackets[0]


def _without_ends(line: str) -> str:
    """The line without gaps before a closing bracket, and without the comma before such a gap."""
    pieces, position = [], 0
    for gap in _LEFT_CLOSING.finditer(line):
        pieces.append(line[position : gap.start()].rstrip(" ,;:/–—"))
        position = gap.end()
    return "".join(pieces) + line[position:]
