"""From text that still holds quotes, entities and gaps to clean text: the last pass."""

import re
from html import unescape

from textcritic.corpora.layout import END, clean_text
from textcritic.corpora.wikipedia.visible import BREAK, GAP

_QUOTES = re.compile(r"('{2,})")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")

_SPACED = "\x04"  # a gap with a space beside it
_GAP = rf"[{GAP}{_SPACED}]"
_GAPS = re.compile(rf" ?(?:{_GAP} ?)+")
_EMPTY_BRACKETS = re.compile(rf"[(\[][ ,;:/–—{GAP}{_SPACED}]{{0,40}}[)\]]|“{_GAP}”|\"{_GAP}\"|«{_GAP}»")
_LEFT_OPENING = re.compile(rf"([(\[])[ ,;:/–—]{{0,9}}{_GAP}[ ,;:/–—{GAP}{_SPACED}]{{0,40}}")
_LEFT_CLOSING = re.compile(rf"{_GAP}[ ,;:/–—{GAP}{_SPACED}]{{0,40}}(?=[)\]])")
_DOUBLED = re.compile(rf"[,;:]{_GAP}(?=[,;:.])")
_DASHED = re.compile(rf"(?<=[,;:]){_GAP}[–—] ?")
_BEFORE_POINT = re.compile(rf"{_GAP}(?=[,.;:!?)\]])")
_BETWEEN_WORDS = re.compile(rf"(?:(?<=[\w,.;:!?)\]%”])|(?<=[\w,.!?]\")){GAP}(?=[\w(“])")
_WORD = re.compile(r"\w")

_LEFTOVER = re.compile(r"\[{2,}|\]{2,}|\{{2,}|\}{2,}|</?ref\b[^<>\n]{0,200}>?", re.IGNORECASE)
_TABLE_LINE = re.compile(r"^(?:\{\||\|[-}+]).*$", re.MULTILINE)
_NEVER = re.compile(rf"{re.escape(END)}|\[\[|\]\]|\{{\{{|\}}\}}|<(?=/?ref)|(?<=\{{)(?=\|)|(?<=\|)(?=-)", re.IGNORECASE)


def clean(text: str) -> str:
    """The text without style quotes, entities decoded, gaps closed, and no markup left.

    Where something was taken out, the space before a comma goes, and brackets and lines that held nothing else.
    """
    text = text.replace(BREAK, "\n")
    if "''" in text:
        text = "\n".join(_without_quotes(line) if "''" in line else line for line in text.split("\n"))
    text = _INVISIBLE.sub("", _ENTITY.sub(_decoded, text))
    text = "\n".join(_closed(" ".join(line.split())) for line in text.split("\n"))
    if _NEVER.search(text):
        text = _NEVER.sub(" ", _LEFTOVER.sub("", _TABLE_LINE.sub("", text)))
        text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    return clean_text(text)


def clean_line(text: str) -> str:
    """`clean`, on one line: a title."""
    return " ".join(clean(text).split())


def _closed(line: str) -> str:
    """The line without its gaps, and without what only they had kept apart."""
    if GAP not in line:
        return line
    line = _GAPS.sub(_gap_of, line)
    for _ in range(2):  # brackets in brackets
        line = _GAPS.sub(_gap_of, _EMPTY_BRACKETS.sub(_emptied, line))
    if not _WORD.search(line):
        return ""
    if line[0] in (GAP, _SPACED):
        line = line.lstrip(f"{GAP}{_SPACED} ,;:.–—")
    if line[-1] in (GAP, _SPACED):
        line = line.rstrip(f"{GAP}{_SPACED} ,–—")
    line = _without_ends(_LEFT_OPENING.sub(r"\1", line))
    line = _BETWEEN_WORDS.sub(" ", _BEFORE_POINT.sub("", _DASHED.sub(" ", _DOUBLED.sub("", line))))
    return line.replace(GAP, "").replace(_SPACED, " ")


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


def _decoded(entity: re.Match[str]) -> str:
    char = unescape(entity[0])
    return "" if len(char) == 1 and ord(char) < 32 and char != "\n" else char


def _without_quotes(line: str) -> str:
    """The line without the quotes that mean italics and bold, and with those that are apostrophes.

    MediaWiki's rules: of four quotes the first is an apostrophe, of more than five all but the last five; when both
    styles are left open, one of the bold marks is an apostrophe before italics, by preference after a one-letter word.
    """
    parts = _QUOTES.split(line)
    apostrophes = {4: 1}
    bold, italics, bolds = 0, 0, []
    for place in range(1, len(parts), 2):
        count = len(parts[place])
        spare = apostrophes.get(count, max(0, count - 5))
        parts[place] = "'" * spare
        italics += count - spare in (2, 5)
        bold += count - spare in (3, 5)
        if count - spare == 3:
            bolds.append(place)
    if bold % 2 and italics % 2 and bolds:
        parts[min(bolds, key=lambda place: _apostrophe_rank(parts[place - 1]))] += "'"
    return "".join(parts)


def _apostrophe_rank(before: str) -> int:
    """Which bold mark is most likely an apostrophe: after a word of one letter, after a longer one, after a space."""
    if before[-1:] == " ":
        return 2
    return 0 if before[-2:-1] == " " else 1
