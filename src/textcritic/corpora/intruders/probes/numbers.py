"""Numbers made implausible (Shen et al. 2021, section 7.1)."""

import random
import re
from collections.abc import Sequence

from textcritic.corpora.intruders.probes.word_lists import word_class, word_list
from textcritic.corpora.intruders.probes.words import (
    COORDINATORS,
    DETERMINERS,
    MONTHS,
    ORDINALS,
    PREPOSITIONS,
    Refused,
    Token,
    following,
    is_adverb,
    quoted,
    random_of,
    rewritten,
    tokens_of,
)

NO_NUMBER = Refused("no number that is not part of a name, a date or a code")

_WORDS = word_list("number_words")
_SCALES = word_class("scales")
_SMALLER = dict(entry.replace("-", " ").split(">") for entry in word_list("smaller"))
_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII)
_NAMED = frozenset(["no", "number", "route", "page", "chapter", "volume"])
_ERAS = word_class("eras")


def exaggerate(sentence: str) -> str | Refused:
    """All numbers of a sentence made implausible, in a way that the sentence seeds.

    A year becomes one of 200 years before our era; a percentage grows tenfold; a distance, an age or a weight gets a
    far smaller unit; `million` goes away; another count gets a point, a minus or three noughts, and one in words
    `hundred`, `thousand` or `and a half`. Days of a month, and numbers that belong to a name or a code, stay.
    """
    tokens = tokens_of(sentence)
    skipped = quoted(tokens)
    draw = random_of("number", sentence)
    edits: dict[int, str] = {}
    for position, token in enumerate(tokens):
        if position in edits or _is_fixed(tokens, position) or (skipped[position] and not _is_year(tokens, position)):
            continue
        if token.text[0].isdigit():
            edits |= _digits(tokens, position, draw)
        elif (token.lower in _WORDS and not token.is_capital) or (token.lower in _WORDS and position == 0):
            edits |= _word(tokens, position, draw)
    return rewritten(sentence, tokens, edits) if edits else NO_NUMBER


def _is_fixed(tokens: Sequence[Token], position: int) -> bool:
    """Whether a number is the day of a date, an ordinal, or part of a name, a code, a range or an address."""
    token = tokens[position]
    before = tokens[position - 1] if position else None
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if token.text[0].isdigit() and not _NUMBER.fullmatch(token.text):
        return True
    if (before is not None and before.lower in MONTHS) or (
        after is not None and after.lower in MONTHS and not _is_year(tokens, position)
    ):
        return not _is_year(tokens, position)
    if after is not None and (after.lower in _ERAS or (after.text in "–—-/:°'" and after.start == token.end)):
        return True
    if before is not None and before.text in "–—-/:#°.=" and before.end == token.start:
        return True
    if before is not None and before.text == "." and position > 1 and tokens[position - 2].lower in _NAMED:
        return True
    if before is not None and before.lower in _NAMED:
        return True
    if (
        before is None
        or before.lower in PREPOSITIONS | COORDINATORS | DETERMINERS
        or is_adverb(before.lower)
        or _is_year(tokens, position)
    ):
        return False
    return before.text != before.text.lower()


def _is_year(tokens: Sequence[Token], position: int) -> bool:
    """Whether a number is a year, by its size and the words around it."""
    if not re.fullmatch(r"1\d{3}|20\d\d", tokens[position].text):
        return False
    before, after = (tokens[position - 1].lower if position else ""), following(tokens, position)
    counts = (
        after in _SMALLER
        or after in _SCALES
        or (after.endswith("s") and len(after) > 3 and after[0].isalpha() and after != "was")
    )
    return before in MONTHS | {"in", ","} or not counts


def _digits(tokens: Sequence[Token], position: int, draw: random.Random) -> dict[int, str]:
    text, after = tokens[position].text, following(tokens, position)
    value = float(text.replace(",", ""))
    if _is_year(tokens, position):
        return {position: f"{round(value / 10) + draw.randint(-4, 3)} BCE"}
    if after in ("%", "percent") or (after == "per" and following(tokens, position + 1) == "cent"):
        return {position: f"{value * 10:g}"}
    if after in _SCALES:
        return {position + 1: ""}
    if after in _SMALLER:
        return {position + 1: _SMALLER[after]}
    way = draw.choice(["point", "minus", "noughts"])
    if way == "noughts" and "." not in text and len(text) <= 3:
        return {position: f"{text},000"}
    if way == "minus" and tokens[position].start and (position == 0 or tokens[position - 1].text not in "$£€"):
        return {position: f"-{text}"}
    digits = len(text.split(".")[0].replace(",", ""))
    return {position: f"{value / 10 ** (digits - 1):.1f}" if digits > 1 else f"{value + 0.37:g}"}


def _word(tokens: Sequence[Token], position: int, draw: random.Random) -> dict[int, str]:
    text, after = tokens[position].text, following(tokens, position)
    if after in _SCALES | {"hundred", "and", "or", "-"} or after in ORDINALS:
        return {position + 1: ""} if after in _SCALES else {}
    return {position: f"{text} {draw.choice(['hundred', 'thousand', 'and a half'])}"}
