"""From an article's wikitext to clean sections (model criticism paper, appendix E).

The paper keeps top-level sections and ignores "links, files, and images", stripping "away code"; the introduction is
the section "abstract". Four passes, in MediaWiki's own order, each linear in the text whatever the text is:

1. `markup.visible`: comments, references, formulas and other extension tags, and templates go from the whole page;
   `variants.one_variant`: of words in several variants of a language those of one stay;
2. lines `== X ==` are headings, and split the page;
3. `links.without_files`, `markup.plain_lines`: files, tables, HTML tags, bullets and style quotes go from a section;
   `links.linked_text`: links become what a reader sees;
4. `markup.clean`: entities, the gaps that are left, and what broken markup leaves.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from textcritic.corpora.articles import Section
from textcritic.corpora.wikipedia import mwparser
from textcritic.corpora.wikipedia.gaps import GAP
from textcritic.corpora.wikipedia.links import linked_text, without_files
from textcritic.corpora.wikipedia.markup import ARGUMENT, clean, clean_line, plain_lines, visible
from textcritic.corpora.wikipedia.namespaces import Namespaces
from textcritic.corpora.wikipedia.variants import one_variant

__all__ = [
    "FROM_TEMPLATE",
    "INTRODUCTION",
    "JOINED",
    "Namespaces",
    "Reading",
    "is_disambiguation",
    "paragraphs_of",
    "sections_of",
]

INTRODUCTION = "abstract"
FROM_TEMPLATE, JOINED = "title from a template's argument", "heading without title, joined to the section before"
_LEVEL = 2
_UNMARKED = re.compile(r"(?>(?:[^\W_]|[ ,.()/!?])*)")  # a title without markup, as nearly all are
_HEADING_LIKE = re.compile(r"\n=[^\n]*")
# A list item, an indented or a preformatted line, unless a table begins, goes on or ends there.
_NO_PARAGRAPH = re.compile(rf"\n(?![{GAP} \t:]*+\{{?\|)(?:[{GAP} \t]*+[*#:;]|[ \t])[^\n]*")
_TEMPLATE = re.compile(r"\{\{\s{0,20}([^\s{}|<][^{}|<\n]{0,100})")
_TEMPLATE_OR_COMMENT = re.compile(r"<!--|-->|<nowiki>|</nowiki>|\{\{\s{0,20}([^\s{}|<][^{}|<\n]{0,100})")


OWN, MWPARSERFROMHELL = "own", "mwparserfromhell"
"""The parsers: this module with `markup` and `links`, or the library."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How pages are read.

    Attributes:
        parser: one of the two above.
        language: code of the wiki, if it writes `-{...}-`, see `variants.converted_language`.
        variant: code of the variant whose words are kept; empty: the first that is written.
        formulas: whether formulas are shown as `formula_1`, see `markup.visible`.
        templates: whether templates that show words of a sentence are kept, see `markup.visible`.
    """

    parser: str = OWN
    language: str = ""
    variant: str = ""
    formulas: bool = False
    templates: bool = True


_USUAL = Reading()


def sections_of(
    wikitext: str, namespaces: Namespaces, mended: Counter[str] | None = None, reading: Reading = _USUAL
) -> list[Section]:
    """The introduction under the title "abstract", then one section per level-2 heading, in order.

    Titles are as written, without markup; texts are clean, one line per paragraph, list item or subsection heading,
    and hold neither blank lines nor the end marker. An introduction or a section without text is kept, empty.

    Headings are those that MediaWiki shows at level 2, also in tables and unclosed tags, which a heading ends. Headings
    of all other levels, 1 included, are lines of text. A heading that is only a template has the template's last
    unnamed argument as its title; what follows one without any title belongs to the section before.

    Args:
        wikitext: of the page.
        namespaces: of the wiki.
        mended: counts such headings under `FROM_TEMPLATE` and `JOINED`.
        reading: how the page is read.
    """
    mended = Counter() if mended is None else mended
    sections: list[Section] = []
    for title, text in _split(_pieces(wikitext, namespaces, reading)):
        plain, body = _plain_title(title.replace(ARGUMENT, ""), namespaces), clean(_lines(text, namespaces))
        if sections and not plain:
            mended[JOINED] += 1
            before = sections.pop()
            sections.append(Section(before.title, f"{before.text}\n{body}".strip("\n")))
        else:
            mended[FROM_TEMPLATE] += ARGUMENT in title
            sections.append(Section(plain if sections else INTRODUCTION, body))
    return sections


def paragraphs_of(wikitext: str, namespaces: Namespaces, reading: Reading = _USUAL) -> list[str]:
    """The paragraphs of a page, clean, one line each: no headings, list items, and indented or preformatted lines.

    These are the lines that WikiExtractor keeps by default after a page's title. Unlike there, lines that MediaWiki
    shows as one paragraph are one, and templates are not expanded.

    Args:
        wikitext: of the page.
        namespaces: of the wiki.
        reading: how the page is read.
    """
    text = "\n" + "\n".join(text for _, _, text in _pieces(wikitext, namespaces, reading))
    body = clean(_lines(_NO_PARAGRAPH.sub("\n", text), namespaces))
    return body.split("\n") if body else []


def is_disambiguation(wikitext: str, templates: Collection[str]) -> bool:
    """Whether the page uses one of the templates, named in lower case, that mark a disambiguation page."""
    if not any(_name(name) in templates for name in set(_TEMPLATE.findall(wikitext))):
        return False  # as nearly every page, without looking for what hides a template
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
        if hidden is None and _name(match[1]) in templates:
            return True
    return False


def _name(template: str) -> str:
    return " ".join(template.replace("_", " ").split()).lower().removeprefix("template:")


def _pieces(wikitext: str, namespaces: Namespaces, reading: Reading) -> Iterator[tuple[int, str, str]]:
    """(level, title, text) of what is before the first heading, whose level is 0, and of what follows each heading."""
    if reading.parser == MWPARSERFROMHELL:
        pieces = mwparser.pieces(wikitext, namespaces, reading.formulas, reading.templates)
        for level, name, text in pieces:
            title, text = (one_variant(part, reading.language, reading.variant) for part in (name, text))
            yield level, title, text
        return
    text = "\n" + one_variant(visible(wikitext, reading.formulas, reading.templates), reading.language, reading.variant)
    level, title, position = 0, "", 0
    for line in _HEADING_LIKE.finditer(text):
        if heading := _heading(line.group()[1:]):
            yield level, title, text[position : line.start()]
            (level, title), position = heading, line.end()
    yield level, title, text[position:]


def _split(pieces: Iterable[tuple[int, str, str]]) -> Iterator[tuple[str, str]]:
    """(title, text) of the introduction, whose title is empty, and of each section; other headings are paragraphs."""
    title, texts = "", list[str]()
    for level, name, text in pieces:
        if level == _LEVEL:
            yield title, "".join(texts)
            title, texts = name, []
        elif level:
            texts.append(f"\n\n{name.replace(ARGUMENT, '').strip()}\n\n")
        texts.append(text)
    yield title, "".join(texts)


def _heading(line: str) -> tuple[int, str] | None:
    """Level (1 to 6) and title of a line that starts with "=", if it is a heading."""
    line = line.rstrip(" \t\n\v\f\r")
    leading = len(line) - len(line.lstrip("="))
    trailing = len(line) - len(line.rstrip("="))
    level = min(leading, trailing, 6) if leading < len(line) else min(6, (len(line) - 1) // 2)
    return (level, line[level:-level]) if level else None


def _plain_title(title: str, namespaces: Namespaces) -> str:
    if _UNMARKED.fullmatch(title):
        return " ".join(title.split())
    return clean_line(_lines(title.strip(), namespaces))


def _lines(text: str, namespaces: Namespaces) -> str:
    return linked_text(plain_lines(without_files(text, namespaces)), namespaces)
