"""What the other choice of each switch of the extraction would change: parser, formulas, templates."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice

from textcritic.corpora.wikipedia.dump import open_dumps
from textcritic.corpora.wikipedia.extract import all_pages
from textcritic.corpora.wikipedia.markup import templates_shown
from textcritic.corpora.wikipedia.pages import NUMBERED, SHOWN, Choice, Page
from textcritic.corpora.wikipedia.wikitext import MWPARSERFROMHELL, OWN, Reading, paragraphs_of, sections_of
from textcritic.files import write_json
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.runlog import Progress
from textcritic.values import JsonObject

AUDITED = 1000
"""Articles that are read in several ways, the first of the dump; mwparserfromhell takes about 0.04 s for one."""
EXAMPLES = 10
"""Articles whose first difference is shown."""
UNKNOWN = "other markup"

_AROUND = 4  # words before and after a difference that is shown
_LONGEST = 30  # words of a difference that are shown
# Markup by its name, in the order of the search: if two readings of a page differ, and do not without it, it is why.
_CAUSES: Mapping[str, re.Pattern[str]] = {
    "quotes of italics and bold": re.compile(r"''+"),
    "references": re.compile(r"<ref[^<>]*/>|<ref\b.*?</ref\s*>|</?ref[^<>]*>", re.DOTALL | re.IGNORECASE),
    "formulas": re.compile(r"<math[^<>]*>.*?</math\s*>", re.DOTALL | re.IGNORECASE),
    "nowiki": re.compile(r"</?nowiki[^<>]*>", re.IGNORECASE),
    "comments": re.compile(r"<!--.*?-->", re.DOTALL),
    "addresses": re.compile(r"\[+(?:https?:)?//[^\s\[\]]*"),
    "HTML tags": re.compile(r"</?[a-zA-Z][^<>]*>"),
    "tables": re.compile(r"\{\||\|\}|^[ \t:]*[|!].*$", re.MULTILINE),
    "templates": re.compile(r"\{\{[^{}]*\}\}"),
    "braces": re.compile(r"[{}]+"),
    "brackets": re.compile(r"[\[\]]+"),
}

Read = Callable[[Page, Reading], list[str]]


def audit_extraction(
    paths: Sequence[str | os.PathLike[str]], options: CorpusOptions, lines: bool, out_path: str | os.PathLike[str]
) -> None:
    """Write on how many articles and words each switch of the extraction has an effect, and why.

    The first `AUDITED` articles of the dump are read as the options say, and with one switch the other way at a time.

    Args:
        paths: the files of the dump.
        options: of the corpus.
        lines: whether each line of an article is a document of its own.
        out_path: JSON with `articles`, `words`, `templates_shown`, how many show their arguments (see `templates`), and
            `switches`, each with `switch`, the options `here` and `other`,
            `differing` articles, words that only one reading has (`words_here`, `words_other`), `reasons` {kind of
            markup: articles} and `examples` {`title`, `here`, `other`}.

    Raises:
        TextcriticError: a file is not a dump, or an option is wrong.
    """
    dumps = open_dumps(paths)
    choice = Choice(options, dumps[0].site, dumps[0].site.dbname)
    pages = list(islice(_articles(choice, all_pages(dumps)), AUDITED))

    def read(page: Page, reading: Reading) -> list[str]:
        if lines:
            return paragraphs_of(page.text, choice.namespaces, reading)
        sections = sections_of(page.text, choice.namespaces, reading=reading)
        return [text for section in sections for text in (section.title or "", section.text)]

    progress = Progress("reading", 3 * len(pages), "articles")
    here = choice.reading
    others = {
        "parser": replace(here, parser=OWN if here.parser == MWPARSERFROMHELL else MWPARSERFROMHELL),
        "formulas": replace(here, formulas=not here.formulas),
        "templates": replace(here, templates=not here.templates),
    }
    comparisons = [
        {"switch": switch, "here": _option(switch, here), "other": _option(switch, other)}
        | _switched(pages, read, (here, other), progress)
        for switch, other in others.items()
    ]
    words = sum(len(text.split()) for page in pages for text in read(page, here))
    shown = sum(templates_shown(page.text) for page in pages) if here.templates else 0
    write_json(out_path, {"articles": len(pages), "words": words, "templates_shown": shown, "switches": comparisons})


def _articles(choice: Choice, pages: Iterator[bytes]) -> Iterator[Page]:
    for xml in pages:
        if isinstance(page := choice.page(xml), Page):
            yield page


def _option(switch: str, reading: Reading) -> str:
    shown = {"formulas": (reading.formulas, NUMBERED), "templates": (reading.templates, SHOWN)}
    if switch == "parser":
        return reading.parser
    return shown[switch][1] if shown[switch][0] else "cut"


def _switched(pages: Sequence[Page], read: Read, readings: tuple[Reading, Reading], progress: Progress) -> JsonObject:
    """What the second reading of the pages changes of the first."""
    reasons: Counter[str] = Counter()
    only = [0, 0]
    examples: list[dict[str, str]] = []
    for page in pages:
        here, other = (read(page, reading) for reading in readings)
        progress.advance()
        if here == other:
            continue
        reasons[_reason(page, read, readings)] += 1
        words = [" ".join(texts).split() for texts in (here, other)]
        counts = [Counter(side) for side in words]
        only[0] += (counts[0] - counts[1]).total()
        only[1] += (counts[1] - counts[0]).total()
        if len(examples) < EXAMPLES:
            examples.append({"title": page.title} | dict(zip(("here", "other"), _first(*words), strict=True)))
    return {
        "differing": reasons.total(),
        "words_here": only[0],
        "words_other": only[1],
        "reasons": dict(reasons.most_common()),
        "examples": examples,
    }


def _reason(page: Page, read: Read, readings: tuple[Reading, Reading]) -> str:
    """The first kind of markup without which both readings of a page are the same."""
    for name, markup in _CAUSES.items():
        text = markup.sub(" ", page.text)
        if text != page.text:
            first, second = (read(replace(page, text=text), reading) for reading in readings)
            if first == second:
                return name
    return UNKNOWN


def _first(here: list[str], other: list[str]) -> tuple[str, str]:
    """The first difference of two texts, with some words around it."""
    codes = SequenceMatcher(None, here, other, autojunk=False).get_opcodes()
    _, a, b, c, d = next((code for code in codes if code[0] != "equal"), ("", 0, 0, 0, 0))
    spans = ((here, a, b), (other, c, d))
    first, second = (" ".join(words[max(0, i - _AROUND) : min(j, i + _LONGEST) + _AROUND]) for words, i, j in spans)
    return first, second
