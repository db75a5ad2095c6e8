"""The first pass over a page: what MediaWiki's preprocessor takes out before it looks at lines and links.

Comments, extension tags and templates go here, in one scan from left to right and in linear time whatever the input,
because all that follows (headings are lines, tables are lines, links are parsed) is only right without them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

# Characters that XML cannot hold, and that Python does not count among the spaces.
GAP = "\x01"  # stands where something was taken out
BREAK = "\x02"  # stands where a tag breaks a line
_BROKEN = "\x03"  # stands for the braces of a template that is never closed

# Tags whose content is no running text. MediaWiki ends them at the first closing tag, whatever is between.
_EXTENSIONS = (
    "categorytree|ce|charinsert|chem|dynamicpagelist|gallery|graph|hiero|imagemap|includeonly|indicator|inputbox|"
    "langconvert|mapdata|mapframe|maplink|math|nowiki|phonos|pre|quiz|ref|references|rss|score|section|source|"
    "syntaxhighlight|templatedata|templatestyles|timeline"
)
_TOKEN = re.compile(rf"<!--|<(?P<name>{_EXTENSIONS})(?=[\s/>])|\{{\{{+|\}}\}}+", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in _EXTENSIONS.split("|")}
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_MARKUP = {ord(char): f"&#{ord(char)};" for char in "[]{}<>|'=*#:;_-!/"}
# Of an unclosed template goes: its line, when arguments follow on the next; else what is before its last pipe.
_UNCLOSED = re.compile(
    rf"{_BROKEN}(?:[^\n{_BROKEN}]*(?=\n[ \t]*\|)"
    rf"|[^\n{_BROKEN}]{{0,500}}\|[^\s|{_BROKEN}]{{0,80}}|[^\s{_BROKEN}]{{0,80}})"
)


@dataclass
class _Scan:
    """Where the scan of one text is: what goes, which braces are open, and what was already looked for."""

    text: str
    cuts: list[tuple[int, int, str]] = field(default_factory=list)
    opened: list[tuple[int, int, int]] = field(default_factory=list)  # position, braces, cuts before it
    found: dict[str, int] = field(default_factory=dict)  # next place of ">" and of each closing tag; len(text): none


def visible(wikitext: str) -> str:
    """The wikitext without comments, extension tags (references, formulas, galleries, ...) and templates.

    A `GAP` stands for each, except for comments, which leave nothing. The content of `nowiki` stays, its markup
    written as entities. As in MediaWiki, an unclosed comment hides the rest of the page and an unclosed tag nothing;
    of an unclosed template its name and arguments go, as far as they can be told.
    """
    text = _CONTROLS.sub("", wikitext).replace("\r\n", "\n").replace("\r", "\n")
    scan = _Scan(text)
    position = 0
    while match := _TOKEN.search(text, position):
        token = match.group()
        if token == "<!--":
            position = _comment(scan, match.start())
        elif token[0] == "<":
            position = _extension(scan, match)
        else:
            position = match.end()
            if token[0] == "{":
                scan.opened.append((match.start(), len(token), len(scan.cuts)))
            else:
                _close(scan, match.start(), len(token))
    broken = [(start, start + count, _BROKEN) for start, count, _ in scan.opened]
    return _UNCLOSED.sub(GAP, without(text, sorted(scan.cuts + broken)))


def _comment(scan: _Scan, start: int) -> int:
    end = scan.text.find("-->", start + 4)
    end = len(scan.text) if end < 0 else end + 3
    if scan.text[start - 1 : start] == "\n" == scan.text[end : end + 1]:  # a comment alone on its line takes the line
        end += 1
    scan.cuts.append((start, end, ""))
    return end


def _extension(scan: _Scan, match: re.Match[str]) -> int:
    """Cuts the tag that starts here, and says where to go on."""
    text, name = scan.text, match["name"].lower()
    tag_end = _next(scan, ">", match.end())
    if tag_end == len(text):
        return match.end()
    if text[tag_end - 1] == "/":
        scan.cuts.append((match.start(), tag_end + 1, "" if name == "nowiki" else GAP))
        return tag_end + 1
    content_end = _next(scan, name, tag_end + 1)
    if content_end == len(text):
        return match.end()
    end = _next(scan, ">", content_end) + 1
    content = text[tag_end + 1 : content_end]
    inline = name in ("source", "syntaxhighlight") and "\n" not in content and " inline" in text[match.end() : tag_end]
    scan.cuts.append((match.start(), end, content.translate(_MARKUP) if inline or name == "nowiki" else GAP))
    return end


def _next(scan: _Scan, what: str, start: int) -> int:
    """Where ">" or the closing tag of a name is first found from `start` on; remembered, so that all searches
    together read the text once.
    """
    place = scan.found.get(what, -1)
    if place < start:
        if what == ">":
            place = scan.text.find(">", start)
        else:
            match = _CLOSING[what].search(scan.text, start)
            place = match.start() if match else -1
        scan.found[what] = place = len(scan.text) if place < 0 else place
    return place


def _close(scan: _Scan, start: int, braces: int) -> None:
    """Matches closing braces with the open ones, three (an argument) or two (a template) at a time."""
    while braces >= 2 and scan.opened:
        position, count, before = scan.opened.pop()
        pair = min(braces, count, 3)
        del scan.cuts[before:]
        scan.cuts.append((position + count - pair, start + pair, GAP))
        start, braces = start + pair, braces - pair
        if count - pair >= 2:
            scan.opened.append((position, count - pair, before))
    if braces >= 2:
        scan.cuts.append((start, start + braces, GAP))


def without(text: str, cuts: Iterable[tuple[int, int, str]]) -> str:
    """The text with each (start, end, what stands there instead) applied; they are in order and do not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end, instead in cuts:
        pieces += (text[position:start], instead)
        position = end
    pieces.append(text[position:])
    return "".join(pieces)
