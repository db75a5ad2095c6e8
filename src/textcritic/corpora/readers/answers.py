"""What a model answered: the document in it, and the document's sections."""

import re
from collections import Counter

from textcritic.corpora.layout import END, W_TITLE, WO_TITLE, MalformedArticle, parse

THOUGHTS = "reasoning (<think>) cut from {} answers"
UNENDED = "{} answers end inside their reasoning (<think>): cut off, and kept as they are"
FENCED = "a fence (```) taken off {} answers"
BEHIND_END = "text behind a mark of the end, such as <|endoftext|>, cut from {} answers"
MOST_TITLE_WORDS = 8  # of a paragraph that begins with its title; a longer beginning is a sentence
LOWEST = 7  # level of a title in bold, below all headings of Markdown
HEADING = re.compile(r"(#{1,6})\s+(.*?)[\s#]*")
FENCE = re.compile(r"\s*(```|~~~)")
# A title in bold at the beginning of a line, alone there or with a colon inside or behind it.
BOLD = re.compile(r"\s*(?:\d+[.)]\s+)?(\*\*|__)(?=\S)(.+?)(:?)\s*\1(:?)(.*)")
STARS = re.compile(r"(\*\*|__)(.+)\1:?")
WHOLE_FENCE = re.compile(r"\s*(```+|~~~+)(?:markdown|md|text|txt)?[ \t]*\n(.*)\n\1\s*", re.DOTALL | re.IGNORECASE)
THINKING = re.compile(r"\s*<(think|thinking)>(?:(.*?)</\1>)?", re.DOTALL)
ENDS = (END, "<|im_end|>", "<|eot_id|>", "<|end_of_text|>")


def may_be_answer(text: str) -> bool:
    """Whether a text has one of the signs that `answer_of` looks for; most texts have none."""
    return "<" in text or "```" in text or "~~~" in text


def answer_of(text: str, keep_reasoning: bool, changed: Counter[str]) -> str:
    """The document that an answer holds.

    Marks of the end of a text before it are left out, and all that comes behind the first one in it. A block <think> at
    the beginning is left out if it is closed, and so is a fence of Markdown around everything.

    Args:
        text: the answer.
        keep_reasoning: whether <think> stays.
        changed: counts what was done, by the words above.
    """
    if "<" in text:
        text = _without_end(text, changed)
        if not keep_reasoning and (reasoning := THINKING.match(text)):
            if reasoning[2] is None:
                changed[UNENDED] += 1
            else:
                changed[THOUGHTS] += 1
                text = text[reasoning.end() :].lstrip()
    fenced = WHOLE_FENCE.fullmatch(text) if text.lstrip().startswith(("```", "~~~")) else None
    # With a fence inside these may be two blocks of code.
    if fenced and not any(map(FENCE.match, fenced[2].splitlines())):
        changed[FENCED] += 1
        text = fenced[2]
    return text


def sections_of(text: str) -> tuple[str | None, list[tuple[str | None, str]]]:
    """The title of an article that a model wrote, and its sections, each with its title where it has one.

    With headings of Markdown, a section begins at each one of the highest level; one alone at the top of all others is
    the article's title, and text before the first heading is a section without title. Without headings, paragraphs are
    the sections: with titles if each begins with one, `title: text`, and otherwise without. Titles in bold, at the
    beginning of a line and alone there or with a colon, are headings where there are no others.
    """
    lines = text.replace(END, "").strip().splitlines()
    headings = _headings(lines) or _in_bold(lines)
    if not headings:
        return None, _paragraphs(text)
    levels = [level for level, *_ in headings.values()]
    first, (top, title, _) = next(iter(headings.items()))
    above = first == 0 and len(levels) > 1 and top < min(levels[1:])
    if above:
        del headings[first]
    top = min(level for level, *_ in headings.values())
    sections: list[tuple[str | None, list[str]]] = [(None, [])]
    for number, line in enumerate(lines):
        level, heading, rest = headings.get(number, (0, line, ""))
        if level == top:
            sections.append((heading, [rest] if rest else []))
        elif number or not above:
            sections[-1][1].append(heading)
    joined = [(name, "\n".join(part).strip()) for name, part in sections]
    return title if above else None, joined if joined[0][1] else joined[1:]


def _without_end(text: str, changed: Counter[str]) -> str:
    first = text
    while (mark := next((end for end in ENDS if first.startswith(end)), "")) or first[:1].isspace():
        first = first[len(mark) :] if mark else first.lstrip()
    places = [place for end in ENDS if (place := first.find(end)) >= 0]
    if not places:
        return first if len(first) < len(text.lstrip()) else text
    kept = first[: min(places)]
    changed[BEHIND_END] += any(first[min(places) :].replace(end, "").strip() for end in ENDS)
    return kept


def _headings(lines: list[str]) -> dict[int, tuple[int, str, str]]:
    """Level, words, and the rest of the line (none) of each heading, by its line; lines of code are none."""
    headings: dict[int, tuple[int, str, str]] = {}
    code = False
    for number, line in enumerate(lines):
        code ^= bool(FENCE.match(line))
        if not code and (heading := HEADING.fullmatch(line)):
            bold = STARS.fullmatch(heading[2])
            headings[number] = len(heading[1]), bold[2] if bold else heading[2], ""
    return headings


def _in_bold(lines: list[str]) -> dict[int, tuple[int, str, str]]:
    """Titles in bold in the form of `_headings`: none unless the first line is one, or there are two."""
    headings: dict[int, tuple[int, str, str]] = {}
    for number, line in enumerate(lines):
        title = BOLD.fullmatch(line)
        if title and len(title[2].split()) <= MOST_TITLE_WORDS and (title[3] or title[4] or not title[5].strip()):
            headings[number] = LOWEST, title[2], title[5].strip()
    return headings if len(headings) > 1 or 0 in headings else {}


def _paragraphs(text: str) -> list[tuple[str | None, str]]:
    for setting in (W_TITLE, WO_TITLE):
        try:
            sections = parse(text, setting)
        except MalformedArticle:  # not of this setting, or empty
            continue
        if setting == WO_TITLE or all(len((part.title or "").split()) <= MOST_TITLE_WORDS for part in sections):
            return [(part.title, part.text) for part in sections]
    return []
