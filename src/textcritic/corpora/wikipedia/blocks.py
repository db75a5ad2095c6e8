"""Tables, HTML tags, magic words and line markup: the second pass, over one section."""

import re
from collections.abc import Iterator

from textcritic.corpora.wikipedia.visible import BREAK, GAP, without

_TABLE_START = re.compile(rf"[\s:{GAP}]*\{{\|")
_BULLETS = re.compile(rf"[{GAP} \t]*[*#:;][*#:; \t]*")
_FILE = re.compile(r"\[\[[^\[\]|]{1,40}:")
_RULE = re.compile(r"-{4,}")

_BREAKING = (
    "blockquote|br|caption|center|dd|div|dl|dt|gallery|h[1-6]|hr|li|ol|p|poem|pre|table|tbody|td|tfoot|th|thead|tr|ul"
)
_INLINE = (
    "abbr|b|bdi|bdo|big|ce|chem|cite|code|data|del|dfn|em|font|graph|hiero|i|imagemap|includeonly|ins|kbd|mapframe|"
    "maplink|mark|math|noinclude|nowiki|onlyinclude|q|rb|ref|references|rp|rt|rtc|ruby|s|samp|score|section|small|"
    "source|span|strike|strong|sub|sup|syntaxhighlight|templatestyles|time|timeline|tt|u|var|wbr"
)
_TAG = re.compile(rf"</?(?:(?P<breaking>{_BREAKING})|{_INLINE})(?=[\s/>])[^<>]*>", re.IGNORECASE)
_SWITCHES = (
    "notoc|forcetoc|toc|noeditsection|newsectionlink|nonewsectionlink|nogallery|hiddencat|expectunusedcategory|"
    "expectunusedtemplate|noindex|index|nocontentconvert|nocc|notitleconvert|notc|staticredirect|disambig|"
    "archivedtalk|notalk|start|end"
)
_SWITCH = re.compile(rf"__(?:{_SWITCHES})__|^__[^\W\d_]+__$", re.IGNORECASE | re.MULTILINE)
_POEM = re.compile(r"<(/?)poem(?=[\s/>])[^<>]*>", re.IGNORECASE)
_CONTAINER = re.compile(
    r"<(?P<close>/?)(?P<name>table|code|div|span|small|p|li)(?=[\s/>])(?P<attributes>[^<>]*)>", re.IGNORECASE
)


def plain_lines(text: str) -> str:
    """The section's lines with text, links and styles only: no tables, HTML tags, magic words, bullets and rules.

    A line is a paragraph or a list item: lines that MediaWiki shows as one paragraph are joined, and a `BREAK` stands
    where a tag breaks one. A table that is not closed loses the lines that look like its own, and keeps the others.
    """
    if "<" in text:
        text = _without_hidden(_with_verses(text))
        text = _TAG.sub(lambda tag: BREAK if tag["breaking"] else "", text).replace("<", "&lt;")
    if "__" in text:
        text = _SWITCH.sub("", text)
    lines = text.split("\n")
    if "{|" in text or "\n|" in text:
        lines = _without_tables(lines)
    return "".join(_joined(lines))


def _without_tables(lines: list[str]) -> list[str]:
    kept: list[str] = []
    starts: list[int] = []  # for each open table, how many lines were kept before it
    for line in lines:
        if _TABLE_START.match(line):
            starts.append(len(kept))
            kept.append(line)
        elif line.lstrip().startswith("|}") and starts:
            del kept[starts.pop() :]
            kept.append(GAP + line.lstrip()[2:])
        else:
            kept.append(line)
    if starts:
        kept[starts[0] :] = _salvaged(kept[starts[0] :])
    return [line for line in kept if not line.lstrip(f"{GAP} \t").startswith("|")]


def _salvaged(lines: list[str]) -> list[str]:
    """What of an unclosed table is text: up to the first blank line, no header cells; nowhere a table's start."""
    blank = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return [
        line
        for number, line in enumerate(lines)
        if not _TABLE_START.match(line) and not (number < blank and line.lstrip().startswith("!"))
    ]


def _without_hidden(text: str) -> str:
    """Without HTML tables, blocks of code, and what is styled as not displayed; only closed ones."""
    cuts: list[tuple[int, int]] = []
    opened: dict[str, list[tuple[int, bool, int]]] = {}
    lines = position = 0
    for tag in _CONTAINER.finditer(text):
        name, attributes = tag["name"].lower(), tag["attributes"]
        lines, position = lines + text.count("\n", position, tag.start()), tag.start()
        if not tag["close"] and not attributes.endswith("/"):
            hidden = name == "table" or "display:none" in attributes.lower().replace(" ", "")
            opened.setdefault(name, []).append((tag.start(), hidden, lines))
        elif tag["close"] and opened.get(name):
            start, hidden, line = opened[name].pop()
            if hidden or (name == "code" and lines > line):
                while cuts and cuts[-1][0] > start:
                    cuts.pop()
                cuts.append((start, tag.end()))
    return without(text, [(start, end, GAP) for start, end in cuts])


def _with_verses(text: str) -> str:
    """With the line ends in a poem kept as breaks."""
    pieces = _POEM.split(text)  # text, then by turns "" or "/" of a tag, and text
    for place in range(2, len(pieces) - 1, 2):
        if not pieces[place - 1] and pieces[place + 1]:
            pieces[place] = pieces[place].replace("\n", BREAK)
    return "".join(BREAK if place % 2 else piece for place, piece in enumerate(pieces))


def _joined(lines: list[str]) -> Iterator[str]:
    """Each line without bullets or rule, after what parts it from the one before: a space inside a paragraph."""
    continues = False
    for line in lines:
        text = line.strip()
        start = _BULLETS.match(text) or _RULE.match(text)
        # a line of its own: a list item, a preformatted line, a picture, what stood alone and was taken out
        alone = start is not None or line[:1] in " \t" or not text.strip(f"{GAP} ") or _FILE.match(text) is not None
        yield " " if continues and not alone else "\n"
        yield text[start.end() :] if start else text
        continues = not alone
