"""Dumps of a wiki: pages as XML, in any schema, and packed as Wikimedia packs them."""

import bz2
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

SPACES = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 6: "File", 10: "Template", 14: "Category", 100: "Portal"}


def page(
    number: int | str,
    title: str,
    text: str | None,
    *,
    space: int | None = 0,
    more: str = "",
    text_attributes: str = ' xml:space="preserve"',
    model: str = "<model>wikitext</model><format>text/x-wiki</format>",
) -> str:
    """One page: `space` None leaves `<ns>` out, `text` None makes `<text ... />`, `more` follows the id."""
    body = f"<text{text_attributes} />" if text is None else f"<text{text_attributes}>{escape(text)}</text>"
    ns = "" if space is None else f"\n    <ns>{space}</ns>"
    return (
        f"  <page>\n    <title>{escape(title)}</title>{ns}\n    <id>{number}</id>{more}\n    <revision>\n"
        f"      <id>9</id>\n      <contributor><username>A &lt;page&gt; B</username><id>7</id></contributor>\n"
        f"      {model}\n      {body}\n    </revision>\n  </page>\n"
    )


def head(schema: str = "0.10", dbname: str | None = "tinywiki", language: str = "en") -> str:
    """What comes before the first page."""
    spaces = "".join(
        f'      <namespace key="{key}" case="first-letter">{name}</namespace>\n' for key, name in SPACES.items()
    )
    database = f"    <dbname>{dbname}</dbname>\n" if dbname else ""
    return (
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-{schema}/" version="{schema}" xml:lang="{language}">\n'
        f"  <siteinfo>\n    <sitename>Tiny</sitename>\n{database}    <generator>MediaWiki 1.0</generator>\n"
        f"    <namespaces>\n{spaces}    </namespaces>\n  </siteinfo>\n"
    )


def dump(pages: Iterable[str], **of_head: str) -> str:
    """A whole dump."""
    return f"{head(**of_head)}{''.join(pages)}</mediawiki>\n"


def multistream(pages: Sequence[str], a_stream: int = 2, **of_head: str) -> bytes:
    """A dump packed as Wikimedia packs it: the head, some whole pages a stream, the last tag."""
    groups = ["".join(pages[n : n + a_stream]) for n in range(0, len(pages), a_stream)]
    return b"".join(bz2.compress(part.encode()) for part in [head(**of_head), *groups, "</mediawiki>\n"])
