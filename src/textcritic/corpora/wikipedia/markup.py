"""Wikitext markup other than links: what is taken out of a page, of a section's lines, and of the text that is left.

Three of the four passes over a page (see `wikitext`), each linear in the text whatever the text is. A character that
XML cannot hold replaces what was taken out, until the last pass closes the gap.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape

from textcritic.corpora.layout import END, clean_text
from textcritic.corpora.readers.characters import INVISIBLE
from textcritic.corpora.wikipedia.gaps import GAP, closed
from textcritic.corpora.wikipedia.quotes import without_quotes
from textcritic.corpora.wikipedia.switches import without_switches
from textcritic.corpora.wikipedia.templates import LONGEST, shown_source, shows

# Characters that XML cannot hold, and that Python does not count among the spaces.
BREAK = "\x02"  # marks where a tag breaks a line
FORMULA = "\x0e"  # replaces a formula that is shown
ARGUMENT = "\x05"  # precedes the argument of a template that is shown in a heading
_BROKEN = "\x03"  # replaces the braces of a template that is never closed

# Of the first pass: the whole page.
# Tags whose content is not running text. MediaWiki ends them at the first closing tag, whatever is between.
EXTENSIONS = (
    "categorytree|ce|charinsert|chem|dynamicpagelist|gallery|graph|hiero|imagemap|includeonly|indicator|inputbox|"
    "langconvert|mapdata|mapframe|maplink|math|nowiki|phonos|pre|quiz|ref|references|rss|score|section|source|"
    "syntaxhighlight|templatedata|templatestyles|timeline"
)
_REFERENCE = r"<ref(?>(?:\s[^<>]*+)?)>(?:(?<=/>)|[^<]*+</ref\s*+>)"  # one without other tags or comments, as most are
_TEMPLATE = r"\{\{(?!\{)[^{}<]*+\}\}(?!\})"  # one without braces or tags in it, as most are
_TOKEN = re.compile(rf"{_TEMPLATE}|{_REFERENCE}|<!--|<(?P<name>{EXTENSIONS})(?=[\s/>])|\{{\{{+|\}}\}}+", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in EXTENSIONS.split("|")}
_CONTROLS = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 127]))
_NO_CONTROLS = str.maketrans("", "", _CONTROLS)
MARKUP = {ord(char): f"&#{ord(char)};" for char in "[]{}<>|'=*#:;_-!/"}
# What is cut of an unclosed template: its line, if arguments follow on the next; else all before its last pipe.
_UNCLOSED = re.compile(
    rf"{_BROKEN}(?:[^\n{_BROKEN}]*(?=\n[ \t]*\|)"
    rf"|[^\n{_BROKEN}]{{0,500}}\|[^\s|{_BROKEN}]{{0,80}}|[^\s{_BROKEN}]{{0,80}})"
)

# A heading that is one template, before and after it.
_TEMPLATE_IN_HEADING = re.compile(r"\n={1,6}[ \t]{0,3}\{\{")
_BEFORE_TITLE = re.compile(r"(?<![^\n])={1,6}[ \t]{0,3}\Z")
_AFTER_TITLE = re.compile(r"[ \t]{0,3}={1,6}[ \t]{0,9}(?![^\n])")
_BARS = re.compile(r"\|(?![^\[\]]{0,200}\]\])")  # not those of links

# Of the second pass: lines.
_TABLE_START = re.compile(rf"[\s:{GAP}]*\{{\|")
_BULLETS = re.compile(rf"[{GAP} \t]*[*#:;][*#:; \t]*")
_STARTS = f"{GAP}*#:;-"  # first characters of lines with bullets or a rule
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
_CODE = re.compile(r"<(/?)(?:code|kbd|samp|tt|var)(?=[\s/>])[^<>]*>", re.IGNORECASE)
_POEM = re.compile(r"<(/?)poem(?=[\s/>])[^<>]*>", re.IGNORECASE)
_CONTAINER = re.compile(
    r"<(?P<close>/?)(?P<name>table|code|div|span|small|p|li)(?=[\s/>])(?P<attributes>[^<>]*)>", re.IGNORECASE
)

# Of the last pass: what is left.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_LEFTOVER = re.compile(r"\[{2,}|\]{2,}|\{{2,}|\}{2,}|</?ref\b[^<>\n]{0,200}>?", re.IGNORECASE)
_TABLE_LINE = re.compile(r"^(?:\{\||\|[-}+]).*$", re.MULTILINE)
_NEVER = re.compile(rf"{re.escape(END)}|\[\[|\]\]|\{{\{{|\}}\}}|<(?=/?ref)|(?<=\{{)(?=\|)|(?<=\|)(?=-)", re.IGNORECASE)


_MARKS = (END, "[[", "]]", "{{", "}}", "{|", "|-", "<")  # one of them is in what _NEVER finds
_MARKED = "[]{}|<"  # one of them is in each of these: a character is found sooner than two


def visible(wikitext: str, formulas: bool = False, templates: bool = True) -> str:
    """The wikitext without comments, extension tags (references, formulas, galleries, ...) and templates.

    Each leaves a `GAP`, with three exceptions. A comment leaves nothing. A template that shows its arguments leaves
    these, see `templates`. A template that is a whole heading leaves its last unnamed argument, after the character
    `ARGUMENT`. The content of `nowiki` stays, with its markup written as entities. As in MediaWiki, an unclosed comment
    hides the rest of the page, and an unclosed tag hides nothing. An unclosed template loses its name and arguments, as
    far as they can be recognised.

    Args:
        wikitext: of the page.
        formulas: whether `formula_1`, `formula_2`, ... replace formulas outside of templates and references. Equal
            formulas get the number of the first one, as in WikiExtractor.
        templates: whether templates that show words of a sentence are kept, see `templates`.
    """
    scan = _scanned(wikitext, formulas, templates)
    text = scan.text
    if formulas:
        scan.cuts = list(_numbered(text, scan.cuts))
    if _TEMPLATE_IN_HEADING.search("\n" + text):
        scan.cuts = [_with_argument(text, cut) for cut in scan.cuts]
    broken = [(start, start + count, _BROKEN) for start, count, _ in scan.opened]
    if not broken:
        return without(text, scan.cuts)
    return _UNCLOSED.sub(GAP, without(text, sorted(scan.cuts + broken)))


def templates_shown(wikitext: str) -> int:
    """How many templates of the page show their arguments in its text."""
    scan = _scanned(wikitext, False, True)
    return sum(scan.text.startswith("{{", start) and instead != GAP for start, _, instead in scan.cuts)


def _scanned(wikitext: str, formulas: bool, templates: bool) -> "_Scan":
    """The text of the page, and what is cut of it."""
    text = without_controls(wikitext)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    scan = _Scan(text, FORMULA if formulas else GAP)
    tokens = _TOKEN.finditer(text)
    while match := next(tokens, None):
        token = match.group()
        if token[-1] == ">" or (token[0] == "{" and token[-1] == "}"):
            instead = shown_source(token) if templates and token[0] == "{" and shows(token) else None
            scan.cuts.append((match.start(), match.end(), instead or GAP))
        elif token[0] == "{":
            scan.opened.append((match.start(), len(token), len(scan.cuts)))
        elif token[0] == "}":
            _close(scan, match.start(), len(token), templates)
        else:
            position = _comment(scan, match.start()) if token == "<!--" else _extension(scan, match)
            tokens = _TOKEN.finditer(text, position)
    return scan


def plain_lines(text: str) -> str:
    """The section's lines with text and links only: no tables, HTML tags, magic words, bullets, rules, style quotes.

    A line is a paragraph or a list item: lines that MediaWiki shows as one paragraph are joined, and a `BREAK` marks
    where a tag breaks a line. An unclosed table loses the lines that look like its own; its other lines stay.
    """
    if "<" in text:
        text = _without_hidden(_between(_POEM, text, ("\n", BREAK), BREAK))
        text = _between(_CODE, text, ("__", "&#95;&#95;"), "") if "__" in text else text
        text = _TAG.sub(lambda tag: BREAK if tag["breaking"] else "", text).replace("<", "&lt;")
    if "__" in text:
        text = without_switches(text)
    lines = text.split("\n")
    if "{|" in text or "\n|" in text:
        lines = _without_tables(lines)
    return "".join(_joined(lines))


def clean(text: str) -> str:
    """The text with entities decoded, gaps closed, and no markup left.

    Where something was taken out, the space before a comma goes, and brackets and lines that held nothing else.
    """
    text = text.replace(BREAK, "\n")
    text = _ENTITY.sub(_decoded, text)
    if not text.isascii():
        for char in INVISIBLE:
            text = text.replace(char, "")
    lines = (" ".join(line.split()) for line in text.split("\n"))
    text = "\n".join(closed(line) for line in lines if line)
    if _in(text, _MARKED) and _in(text, _MARKS) and _NEVER.search(text):
        text = _NEVER.sub(" ", _LEFTOVER.sub("", _TABLE_LINE.sub("", text)))
        text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    return clean_text(text)


def clean_line(text: str) -> str:
    """`clean`, on one line: a title."""
    return " ".join(clean(text).split())


def without(text: str, cuts: Iterable[tuple[int, int, str]]) -> str:
    """The text with cuts (start, end, replacement), which are in order and do not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end, instead in cuts:
        pieces += (text[position:start], instead)
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def without_controls(text: str) -> str:
    """The text without the characters that XML cannot hold, which have a meaning here."""
    data = text.encode("utf-8", "surrogatepass")  # deleting bytes is ten times as fast as looking for characters
    return text if len(data.translate(None, _CONTROLS.encode())) == len(data) else text.translate(_NO_CONTROLS)


@dataclass
class _Scan:
    """The state of the scan of one text: what is cut, which braces are open, and what was already searched for."""

    text: str
    formula: str  # what replaces a formula
    cuts: list[tuple[int, int, str]] = field(default_factory=list)
    opened: list[tuple[int, int, int]] = field(default_factory=list)  # position, braces, cuts before it
    places: dict[str, int] = field(default_factory=dict)  # next place of ">" and of each closing tag; len(text): none


def _with_argument(text: str, cut: tuple[int, int, str]) -> tuple[int, int, str]:
    """The cut; of a template that is all of a heading, with its last unnamed argument, which most of them show."""
    start, end, _ = cut
    if text[start : start + 2] != "{{" or text[start - 1 : start] not in ("=", " ") or end - start > 300:
        return cut
    if not (_BEFORE_TITLE.search(text, max(0, start - 9), start) and _AFTER_TITLE.match(text, end)):
        return cut
    arguments = [part for part in _BARS.split(text[start + 2 : end - 2])[1:] if "=" not in part]
    if not arguments or not re.search(r"\w", arguments[-1]) or re.search(r"[{}<>\n]", arguments[-1]):
        return cut
    return start, end, ARGUMENT + arguments[-1].strip()


def _numbered(text: str, cuts: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The cuts; of formulas that are shown with their names."""
    names: dict[str, str] = {}
    count = 0
    for start, end, instead in cuts:
        if instead == FORMULA:
            count += 1
            instead = names.setdefault(text[start:end], f"formula_{count}")
        yield start, end, instead


def _comment(scan: _Scan, start: int) -> int:
    end = scan.text.find("-->", start + 4)
    end = len(scan.text) if end < 0 else end + 3
    if scan.text[start - 1 : start] == "\n" == scan.text[end : end + 1]:  # a comment alone on its line takes the line
        end += 1
    scan.cuts.append((start, end, ""))
    return end


def _extension(scan: _Scan, match: re.Match[str]) -> int:
    """Cut the tag that starts here; gives the position where the scan goes on."""
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
    if name == "math":
        scan.cuts.append((match.start(), end, scan.formula))
        return end
    inline = name in ("source", "syntaxhighlight") and "\n" not in content and " inline" in text[match.end() : tag_end]
    scan.cuts.append((match.start(), end, content.translate(MARKUP) if inline or name == "nowiki" else GAP))
    return end


def _next(scan: _Scan, what: str, start: int) -> int:
    """The first place from `start` on of ">" or of the closing tag of a name.

    Places are remembered, so that all searches together read the text once.
    """
    place = scan.places.get(what, -1)
    if place < start:
        if what == ">":
            place = scan.text.find(">", start)
        else:
            match = _CLOSING[what].search(scan.text, start)
            place = match.start() if match else -1
        scan.places[what] = place = len(scan.text) if place < 0 else place
    return place


def _close(scan: _Scan, start: int, braces: int, templates: bool) -> None:
    """Match closing braces with open ones, three (an argument) or two (a template) at a time; show what is to be."""
    while braces >= 2 and scan.opened:
        position, count, before = scan.opened.pop()
        pair = min(braces, count, 3)
        begin, inside = position + count - pair, scan.cuts[before:]
        del scan.cuts[before:]
        instead = (
            _shown(scan, begin, start + pair, inside) if templates and pair == 2 and shows(scan.text, begin) else None
        )
        scan.cuts.append((begin, start + pair, instead or GAP))
        start, braces = start + pair, braces - pair
        if count - pair >= 2:
            scan.opened.append((position, count - pair, before))
    if braces >= 2:
        scan.cuts.append((start, start + braces, GAP))


def _shown(scan: _Scan, start: int, end: int, cuts: list[tuple[int, int, str]]) -> str | None:
    """What a reader sees of a template that has others, or tags, in it; these are cut."""
    if end - start > LONGEST:
        return None
    inside = ((a - start, b - start, GAP if instead == FORMULA else instead) for a, b, instead in cuts)
    return shown_source(without(scan.text[start:end], inside))


def _without_tables(lines: list[str]) -> list[str]:
    kept: list[str] = []
    starts: list[int] = []  # for each open table, how many lines were kept before it
    template: int | None = None  # the same for a template, alone on its line, before a row: it may open a table
    for line in lines:
        text = line.lstrip()
        if _TABLE_START.match(line):
            starts.append(len(kept))
            kept.append(line)
        elif text.startswith("|}") and (starts or template is not None):
            start, template = (starts.pop(), template) if starts else (template, None)
            del kept[start:]
            kept.append(GAP + text[2:])
        else:
            if template is None and not starts and text[:1] in ("|", "!") and _is_gap(kept[-1:]):
                template = len(kept) - 1
            kept.append(line)
    if starts:
        kept[starts[0] :] = _salvaged(kept[starts[0] :])
    return [line for line in kept if not line.lstrip(f"{GAP} \t").startswith("|")]


def _is_gap(line: list[str]) -> bool:
    return bool(line) and GAP in line[0] and not line[0].strip(f"{GAP} \t")


def _salvaged(lines: list[str]) -> list[str]:
    """The text in an unclosed table: without header cells up to the first blank line, and without starts of tables."""
    blank = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return [
        line
        for number, line in enumerate(lines)
        if not _TABLE_START.match(line) and not (number < blank and line.lstrip().startswith("!"))
    ]


def _without_hidden(text: str) -> str:
    """The text without HTML tables, blocks of code, and elements that are not displayed, if they are closed."""
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


def _between(tags: re.Pattern[str], text: str, change: tuple[str, str], tag: str) -> str:
    """The text with one thing for another between an opening and a closing tag, and with `tag` for both."""
    pieces = tags.split(text)  # text, then by turns "" or "/" of a tag, and text
    for place in range(2, len(pieces) - 1, 2):
        if not pieces[place - 1] and pieces[place + 1]:
            pieces[place] = pieces[place].replace(*change)
    return "".join(tag if place % 2 else piece for place, piece in enumerate(pieces))


def _joined(lines: list[str]) -> Iterator[str]:
    """Each line without bullets, rule and style quotes, after its separator: a space in a paragraph, else a line end.

    Styles end with their line in the wikitext, not with the paragraph.
    """
    continues = False
    for line in lines:
        text = line.strip()
        if not text:
            yield "\n"
            continues = False
            continue
        start = _BULLETS.match(text) or _RULE.match(text) if text[:1] in _STARTS else None
        # a separate line: a list item, a preformatted line, or markup that was alone on its line and was cut
        alone = start is not None or line[:1] in " \t" or not text.strip(f"{GAP} ")
        yield " " if continues and not alone else "\n"
        text = text[start.end() :] if start else text
        yield without_quotes(text) if "''" in text else text
        continues = not alone


def _in(text: str, marks: Iterable[str]) -> bool:
    return any(mark in text for mark in marks)


def _decoded(entity: re.Match[str]) -> str:
    char = unescape(entity[0])
    return "" if len(char) == 1 and ord(char) < 32 and char != "\n" else char
