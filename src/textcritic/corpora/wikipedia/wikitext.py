"""From an article's wikitext to clean sections (model criticism paper, appendix E).

The paper keeps top-level sections and ignores "links, files, and images", stripping "away code"; the introduction is
the section "abstract". Four passes, in MediaWiki's own order, each linear in the text whatever the text is:

1. `visible`: comments, references, formulas and other extension tags, and templates go from the whole page;
2. lines `== X ==` are headings, and split the page;
3. `blocks.plain_lines`: tables, HTML tags and bullets go from a section; `links.linked_text`: links, by
   mwparserfromhell, become what a reader sees;
4. `clean.clean`: style quotes, entities, the gaps that are left, and what broken markup leaves.
"""

import re
from collections.abc import Collection, Iterator

from textcritic.corpora.articles import Section
from textcritic.corpora.wikipedia.blocks import plain_lines
from textcritic.corpora.wikipedia.clean import clean, clean_line
from textcritic.corpora.wikipedia.links import Namespaces, linked_text
from textcritic.corpora.wikipedia.visible import visible

__all__ = ["INTRODUCTION", "Namespaces", "is_disambiguation", "sections_of"]

INTRODUCTION = "abstract"
_LEVEL = 2
_HEADING_LIKE = re.compile(r"\n=[^\n]*")
_TEMPLATE_OR_COMMENT = re.compile(r"<!--|-->|<nowiki>|</nowiki>|\{\{\s{0,20}([^\s{}|<][^{}|<\n]{0,100})")


def sections_of(wikitext: str, namespaces: Namespaces) -> list[Section]:
    """The introduction under the title "abstract", then one section per level-2 heading, in order.

    Titles are as written, without markup; texts are clean, one line per paragraph, list item or subsection heading,
    and hold neither blank lines nor the end marker. An introduction or a section without text is there, empty.

    Headings are those that MediaWiki shows at level 2, in tables and unclosed tags too: a heading ends them. Those
    of all other levels, 1 included, are lines of text.
    """
    sections = []
    for title, text in _split(visible(wikitext)):
        sections.append(Section(_plain_title(title, namespaces), clean(linked_text(plain_lines(text), namespaces))))
    return [Section(INTRODUCTION, sections[0].text), *sections[1:]]


def is_disambiguation(wikitext: str, templates: Collection[str]) -> bool:
    """Whether the page uses one of the templates, named in lower case, that mark a disambiguation page."""
    ends = {"<!--": "-->", "<nowiki>": "</nowiki>"}
    shown_from = wikitext.rfind("</nowiki>")  # behind it `<nowiki>` has no end, and hides nothing
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
