"""From an article's wikitext to clean sections (model criticism paper, appendix E).

The paper keeps top-level sections and ignores "links, files, and images", stripping "away code"; the introduction is
the section "abstract". Four passes, in MediaWiki's own order, each linear in the text whatever the text is:

1. `markup.visible`: comments, references, formulas and other extension tags, and templates go from the whole page;
2. lines `== X ==` are headings, and split the page;
3. `markup.plain_lines`: tables, HTML tags and bullets go from a section; `linked_text`: links, by mwparserfromhell,
   become what a reader sees;
4. `markup.clean`: style quotes, entities, the gaps that are left, and what broken markup leaves.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Node, Text, Wikilink
from mwparserfromhell.parser import ParserError

from textcritic.corpora.articles import Section
from textcritic.corpora.wikipedia.languages import LANGUAGES, SISTER_PROJECTS
from textcritic.corpora.wikipedia.markup import GAP, clean, clean_line, plain_lines, visible, without

__all__ = ["INTRODUCTION", "Namespaces", "is_disambiguation", "sections_of"]

INTRODUCTION = "abstract"
_LEVEL = 2
_HEADING_LIKE = re.compile(r"\n=[^\n]*")
_TEMPLATE_OR_COMMENT = re.compile(r"<!--|-->|<nowiki>|</nowiki>|\{\{\s{0,20}([^\s{}|<][^{}|<\n]{0,100})")
_BRACKETS = re.compile(r"\[+|\]+")
_SIMPLE = re.compile(r"\[\[[^\[\]]*\]\]")
_DEEPEST = 6  # a link in a caption in a caption; deeper brackets are noise, and the parser's time grows with the depth
_HALF_CLOSED = re.compile(r"(\[\[[^\[\]|\n]{1,200}(?:\|[^\[\]\n]{0,200})?\])(?![\]|])")  # [[a] or [[a|b]
_TARGET = re.compile(r"\[\[([^\[\]|\n]{0,200})")
_ADDRESS = re.compile(r"\[(?://|\w{2,10}:)")


@dataclass(frozen=True)
class Namespaces:
    """A wiki's prefixes of page titles, in lower case: local names and the English ones.

    `media`: files (file, image, media); `category`: categories; `others`: all the rest (talk, user, template, portal).
    """

    media: frozenset[str]
    category: frozenset[str]
    others: frozenset[str]


def sections_of(wikitext: str, namespaces: Namespaces) -> list[Section]:
    """The introduction under the title "abstract", then one section per level-2 heading, in order.

    Titles are as written, without markup; texts are clean, one line per paragraph, list item or subsection heading,
    and hold neither blank lines nor the end marker. An introduction or a section without text is kept, empty.

    Headings are those that MediaWiki shows at level 2, also in tables and unclosed tags, which a heading ends. Headings
    of all other levels, 1 included, are lines of text.
    """
    sections = []
    for title, text in _split(visible(wikitext)):
        sections.append(Section(_plain_title(title, namespaces), clean(linked_text(plain_lines(text), namespaces))))
    return [Section(INTRODUCTION, sections[0].text), *sections[1:]]


def is_disambiguation(wikitext: str, templates: Collection[str]) -> bool:
    """Whether the page uses one of the templates, named in lower case, that mark a disambiguation page."""
    ends = {"<!--": "-->", "<nowiki>": "</nowiki>"}
    shown_from = wikitext.rfind("</nowiki>")  # after it `<nowiki>` has no end, and hides nothing
    hidden = None  # what ends the part that is not shown
    for match in _TEMPLATE_OR_COMMENT.finditer(wikitext):
        if match[1] is None:
            mark = match.group()
            if hidden is None and not (mark == "<nowiki>" and match.start() > shown_from):
                hidden = ends.get(mark)
            elif mark == hidden:
                hidden = None
            continue
        name = " ".join(match[1].replace("_", " ").split()).lower().removeprefix("template:")
        if hidden is None and name in templates:
            return True
    return False


def linked_text(text: str, namespaces: Namespaces) -> str:
    """The text with each link replaced by what a reader sees of it.

    Files, categories and interlanguage links are cut, and so are links to other namespaces or projects that show only
    their address, and external links that show a number; a `GAP` stands for each. Brackets without a partner in their
    line are cut before the parser sees them, because it would search the rest of the text for each.
    """
    text = text.replace("{", "&#123;")  # braces are not markup any more
    return "\n".join(
        _linked_line(line, namespaces) if "[" in line or "]]" in line else line for line in text.split("\n")
    )


def _split(text: str) -> Iterator[tuple[str, str]]:
    """(title, text) of the introduction, whose title is empty, and of each section; other headings are paragraphs."""
    text = "\n" + text
    title, pieces, position = "", [], 0
    for line in _HEADING_LIKE.finditer(text):
        heading = _heading(line.group()[1:])
        if heading is None:
            continue
        level, name = heading
        pieces.append(text[position : line.start()])
        position = line.end()
        if level == _LEVEL:
            yield title, "".join(pieces)
            title, pieces = name, []
        else:
            pieces.append(f"\n\n{name.strip()}\n\n")
    yield title, "".join([*pieces, text[position:]])


def _heading(line: str) -> tuple[int, str] | None:
    """Level (1 to 6) and title of a line that starts with "=", if it is a heading."""
    line = line.rstrip(" \t\n\v\f\r")
    leading = len(line) - len(line.lstrip("="))
    trailing = len(line) - len(line.rstrip("="))
    level = min(leading, trailing, 6) if leading < len(line) else min(6, (len(line) - 1) // 2)
    return (level, line[level:-level]) if level else None


def _plain_title(title: str, namespaces: Namespaces) -> str:
    return clean_line(linked_text(plain_lines(title.strip()), namespaces))


def _linked_line(line: str, namespaces: Namespaces) -> str:
    rest = _SIMPLE.sub("", line)
    if "[" in rest or "]" in rest:
        line = _paired(_HALF_CLOSED.sub(r"\1]", line), namespaces)
        if "[" not in line:
            return line
    try:
        return _shown(mwparserfromhell.parse(line, skip_style_tags=True).nodes, namespaces)
    except ParserError:  # a bug of the parser, not of the text; what is left of the markup goes at the end
        return line


def _shown(nodes: Iterable[Node], namespaces: Namespaces) -> str:
    pieces = []
    for node in nodes:
        if isinstance(node, Text):
            pieces.append(node.value)
        elif isinstance(node, Wikilink):
            pieces.append(_link(node, namespaces))
        elif isinstance(node, ExternalLink) and node.brackets:
            pieces.append(_shown(node.title.nodes, namespaces) if node.title else GAP)
        else:
            pieces.append(str(node))
    return "".join(pieces)


def _link(node: Wikilink, namespaces: Namespaces) -> str:
    title = str(node.title).strip()
    if title.startswith(":"):
        title = title[1:].lstrip()
    elif _is_hidden(title, node.text is None, namespaces):
        return GAP
    if node.text is None:
        return title
    return _shown(node.text.nodes, namespaces) or _trick(title)


def _is_hidden(title: str, bare: bool, namespaces: Namespaces) -> bool:
    prefix = _prefix(title)
    if prefix in namespaces.media or prefix in namespaces.category or prefix in LANGUAGES:
        return True
    return bare and (prefix in namespaces.others or prefix in SISTER_PROJECTS)


def _prefix(title: str) -> str | None:
    prefix, colon, _ = title.partition(":")
    return " ".join(prefix.lower().replace("_", " ").split()) if colon else None


def _trick(title: str) -> str:
    """What `[[title|]]` shows: no namespace, nothing in parentheses at the end, else nothing after a comma."""
    name = title.partition(":")[2].strip() or title
    short = re.sub(r" ?\([^()]*\)$", "", name)
    return short if short != name else name.partition(", ")[0]


def _paired(line: str, namespaces: Namespaces) -> str:
    """The line without the double brackets that have no partner, and with an unclosed `[address` as text."""
    opened: list[tuple[int, int]] = []  # position and number of brackets, one or two
    lost: list[tuple[int, int]] = []
    for run in _BRACKETS.finditer(line):
        start, length = run.start(), len(run.group())
        if line[start] == "[":
            news = [(start, 1)] * (length % 2) + [(place, 2) for place in range(start + length % 2, start + length, 2)]
            lost += news[max(0, _DEEPEST - len(opened)) :]
            opened += news[: max(0, _DEEPEST - len(opened))]
        else:
            _close(line, opened, lost, start, length)
    return without(line, _mended(line, sorted(lost + opened), namespaces)).lstrip("*#:; ")  # no list starts here


def _close(line: str, opened: list[tuple[int, int]], lost: list[tuple[int, int]], start: int, length: int) -> None:
    """Matches closing brackets with the open ones; a link's end wins over single brackets in it."""
    end = start + length
    if length == 2 and len(opened) == 1 and opened[0][1] == 1 and not _ADDRESS.match(line, opened[0][0]):
        lost.append((opened.pop()[0], 0))  # [a]]: the other bracket was forgotten
        return
    while opened and start < end:
        singles = next((n for n, bracket in enumerate(reversed(opened)) if bracket[1] == 2), None)
        if singles is None or end - start == 1 or (singles and end - start != 2):
            if opened[-1][1] == 2:
                return
            opened.pop()
            start += 1
        else:
            lost += opened[len(opened) - singles :]
            del opened[len(opened) - singles - 1 :]
            start += 2
    if end - start >= 2:
        lost.append((start, end - start))


def _mended(line: str, lost: list[tuple[int, int]], namespaces: Namespaces) -> Iterator[tuple[int, int, str]]:
    """What to cut for the brackets without a partner: with an open link its target, with an open file all the rest.

    A bracket of no length is one that was forgotten, and goes in.
    """
    position = 0
    for start, length in lost:
        if start < position:
            continue
        target = _TARGET.match(line, start)
        if length == 0:
            position, instead = start, "["
        elif target is None:
            instead = "&#91;" if _ADDRESS.match(line, start) else line[start] if length == 1 else ""
            position = start + length
        elif _prefix(target[1]) in namespaces.media:
            position, instead = len(line), GAP
        else:
            position, instead = target.end() + 1 if line[target.end() : target.end() + 1] == "|" else start + 2, ""
        yield start, position, instead
