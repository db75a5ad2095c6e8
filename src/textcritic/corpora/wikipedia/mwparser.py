"""Pages read by mwparserfromhell: the other parser of the Wikipedia extractors, for those who trust it more.

The library says what are templates, comments, tags, tables, links and headings. What a line is, quotes of italics and
bold, entities and gaps are read as for our own parser (`wikitext`): mwparserfromhell has no lines. It also loses links
and headings after unclosed quotes, so it is called with `skip_style_tags` and leaves quotes alone.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import dropwhile
from typing import Any

from textcritic.corpora.wikipedia.gaps import GAP
from textcritic.corpora.wikipedia.links import shown_link
from textcritic.corpora.wikipedia.markup import ARGUMENT, EXTENSIONS, MARKUP, without_controls
from textcritic.corpora.wikipedia.namespaces import Namespaces
from textcritic.corpora.wikipedia.templates import LONGEST, shown, shows

# Tags of MediaWiki's that show their content as running text.
_CUT = frozenset(EXTENSIONS.split("|")) - {"nowiki", "section", "includeonly"} | {"table"}
_SOURCE = ("source", "syntaxhighlight")
_COMMENT = "\x0f"  # a character that XML cannot hold; it replaces a comment
_TITLE = re.compile(r"[{}<>\n]")


class NotParsed(Exception):  # noqa: N818
    """The library gives a page up."""


def pieces(wikitext: str, namespaces: Namespaces, formulas: bool, templates: bool) -> Iterator[tuple[int, str, str]]:
    """(level, title, text) of what is before the first heading, whose level is 0, and of what follows each heading.

    Texts have neither templates, references, tables, nor links any more, but bullets, quotes of styles, HTML tags and
    entities; see `wikitext` for what becomes of them.

    Args:
        wikitext: of the page.
        namespaces: of the wiki.
        formulas: as for `markup.visible`.
        templates: likewise.

    Raises:
        NotParsed: the library cannot read the page.
    """
    import mwparserfromhell  # only this parser needs it

    text = without_controls(wikitext).replace("\r\n", "\n").replace("\r", "\n")
    reader = _Reader(namespaces, formulas, templates)
    level, title, texts = 0, "", list[str]()
    try:
        nodes = mwparserfromhell.parse(text, skip_style_tags=True).nodes
    except mwparserfromhell.parser.ParserError as error:
        raise NotParsed from error
    for piece in reader.flat(nodes):
        if isinstance(piece, str):
            texts.append(piece)
        else:
            yield level, title, _joined(texts)
            level, title, texts = piece.level, reader.title(piece.title), []
    yield level, title, _joined(texts)


def _joined(texts: list[str]) -> str:
    """One text; a comment leaves nothing, and alone on its line it takes the line."""
    return "".join(texts).replace(f"\n{_COMMENT}\n", "\n").replace(_COMMENT, "")


class _Reader:
    """Makes text of the nodes of one page."""

    def __init__(self, namespaces: Namespaces, formulas: bool, templates: bool) -> None:
        from mwparserfromhell import nodes

        self._nodes = nodes
        self._namespaces = namespaces
        self._templates = templates
        self._formulas: dict[str, str] | None = {} if formulas else None
        self._count = 0

    def flat(self, nodes: Iterable[Any]) -> Iterator[Any]:
        """Text, and the headings between, which are nodes; also those in tags and tables, as MediaWiki shows them."""
        kinds = self._nodes
        for node in nodes:
            if isinstance(node, kinds.Heading):
                yield node
            elif isinstance(node, kinds.Tag):
                yield from self._tag(node)
            elif isinstance(node, kinds.Template):
                yield self._template(node)
            elif isinstance(node, kinds.Argument):
                yield GAP
            elif isinstance(node, kinds.Wikilink):
                yield self._link(node)
            elif isinstance(node, kinds.ExternalLink):
                yield self._address(node)
            else:
                yield _COMMENT if isinstance(node, kinds.Comment) else str(node)

    def text(self, code: Any) -> str:
        """The text in a node; a heading there is text."""
        return _joined([str(piece) for piece in self.flat(code.nodes)])

    def title(self, code: Any) -> str:
        """The title of a heading; of one that is a template the last unnamed argument, after `ARGUMENT`."""
        shown = [node for node in code.nodes if str(node).strip()]
        if len(shown) == 1 and isinstance(shown[0], self._nodes.Template):
            unnamed = [str(param.value).strip() for param in shown[0].params if not param.showkey]
            if unnamed and re.search(r"\w", unnamed[-1]) and not _TITLE.search(unnamed[-1]):
                return ARGUMENT + unnamed[-1]
        return self.text(code)

    def _tag(self, tag: Any) -> Iterator[Any]:
        name = str(tag.tag).strip().lower()
        if name == "math" and self._formulas is not None:
            self._count += 1
            yield self._formulas.setdefault(str(tag), f"formula_{self._count}")
        elif name == "nowiki" or (name in _SOURCE and tag.has("inline") and "\n" not in str(tag.contents)):
            yield str(tag.contents or "").translate(MARKUP)
        elif name in _CUT:
            yield GAP
            if name == "table" and tag.contents is not None:
                yield from dropwhile(lambda piece: isinstance(piece, str), self.flat(tag.contents.nodes))
        elif tag.wiki_markup:
            yield str(tag.wiki_markup)
            if tag.contents is not None:
                yield from self.flat(tag.contents.nodes)
        else:
            hidden = "".join(map(str, tag.attributes)) if "{" not in str(tag.attributes) else ""
            yield f"<{name}{hidden}{' /' if tag.self_closing else ''}>"
            if tag.contents is not None and not tag.self_closing:
                yield from self.flat(tag.contents.nodes)
                yield f"</{name}>"

    def _template(self, template: Any) -> str:
        """What is shown of a template; formulas in it are cut."""
        if not self._templates or not shows(f"{{{{{template.name}|") or len(str(template)) > LONGEST:
            return GAP
        formulas, self._formulas = self._formulas, None
        arguments = [(str(p.name).strip() if p.showkey else None, self.text(p.value)) for p in template.params]
        text = shown(self.text(template.name), arguments)
        self._formulas = formulas
        return text or GAP

    def _link(self, link: Any) -> str:
        text = None if link.text is None else self.text(link.text)
        return shown_link(self.text(link.title), text, self._namespaces)

    def _address(self, link: Any) -> str:
        if not link.brackets:
            return str(link)
        return (self.text(link.title) if link.title is not None else "") or GAP
