"""Quotes that mean italics and bold: which go from a line, and which are apostrophes."""

import re

_QUOTES = re.compile(r"(''+)")
_STYLED_LINK = re.compile(r"\[\[([^\[\]'\n]*+(?>(?:'(?!')[^\[\]'\n]*+)*)''[^\[\]\n]*+)\]\]")
_STYLED_ADDRESS = re.compile(r"(\[(?:\w{1,12}:)?//[^\s\[\]<>\"']++)(?='')")


def without_quotes(line: str) -> str:
    """The line without the quotes that mean italics and bold, and with those that are apostrophes.

    MediaWiki's rules (`Parser::doQuotes`). A link's text is a line of its own, and its target has no styles.
    """
    if "[[" in line:
        line = _STYLED_LINK.sub(_without_quotes_in_link, line)
    if "//" in line:
        line = _STYLED_ADDRESS.sub(r"\1 ", line)
    return _plain_quotes(line)


def _without_quotes_in_link(link: re.Match[str]) -> str:
    target, bar, text = link[1].partition("|")
    target = target if bar else target.replace("'", "&#39;")
    return f"[[{target}{bar}{_plain_quotes(text)}]]"


def _plain_quotes(line: str) -> str:
    """The line, links aside, without style quotes.

    Of four quotes the first is an apostrophe, of more than five all but the last five. If both styles are left open,
    the first quote of one bold mark is an apostrophe: of the first that follows a word of one letter, else of the first
    that follows a longer word, else of the first after a space.
    """
    parts = _QUOTES.split(line)
    bold, italics, bolds = 0, 0, []
    for place in range(1, len(parts), 2):
        count = len(parts[place])
        spare = 1 if count == 4 else max(0, count - 5)
        parts[place - 1] += "'" * spare
        parts[place] = ""
        italics += count - spare in (2, 5)
        bold += count - spare in (3, 5)
        if count - spare == 3:
            bolds.append(place)
    if bold % 2 and italics % 2 and bolds:
        parts[min(bolds, key=lambda place: _apostrophe_rank(parts[place - 1]))] = "'"
    return "".join(parts)


def _apostrophe_rank(before: str) -> int:
    """Which bold mark is most likely an apostrophe: after a word of one letter, after a longer one, after a space."""
    if before[-1:] == " ":
        return 2
    return 0 if before[-2:-1] == " " else 1
