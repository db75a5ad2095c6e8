"""Words that a page has in several variants of its language: one of them is kept.

Chinese, Serbian and some other wikis write one text for several scripts or countries. MediaWiki converts words by
its own tables; a page marks what the tables would get wrong as `-{zh-cn:...;zh-tw:...}-`. Only these marks are read
here (manual: "Writing systems/Syntax" of mediawiki.org): the words outside of them stay as they are written.
"""

import re
from collections.abc import Sequence
from functools import cache

from textcritic.corpora.wikipedia.gaps import GAP

_CONVERTED = "ban crh gan iu kk ku mni sh shi sr tg tly uz wuu zgh zh"
CONVERTED = frozenset(_CONVERTED.split())
"""Codes of the languages that MediaWiki converts; in all other wikis `-{` is text."""

_DEEPEST = 10  # MediaWiki's own limit; deeper marks are text
_MARK = re.compile(r"-\{|\}-")
_HIDDEN = frozenset("HT-")  # a rule for other places, a rule for the page's title, a rule that is taken back
_FLAG = re.compile(r"[ADEHNRST+-]|[a-z]{2,3}(?:-[a-z]+)*")
_PREFIXES = {"iu": "ike"}
# What is close to a variant, the closest first (MediaWiki's fallbacks).
_CLOSE = {
    "zh-hans": ("zh-cn", "zh-sg", "zh-my"),
    "zh-hant": ("zh-tw", "zh-hk", "zh-mo"),
    "zh-cn": ("zh-hans", "zh-sg", "zh-my"),
    "zh-sg": ("zh-my", "zh-hans", "zh-cn"),
    "zh-my": ("zh-sg", "zh-hans", "zh-cn"),
    "zh-tw": ("zh-hant", "zh-hk", "zh-mo"),
    "zh-hk": ("zh-mo", "zh-hant", "zh-tw"),
    "zh-mo": ("zh-hk", "zh-hant", "zh-tw"),
    "sr-ec": ("sr-cyrl",),
    "sr-el": ("sr-latn",),
    "sr-cyrl": ("sr-ec",),
    "sr-latn": ("sr-el",),
}


def converted_language(language: str) -> str:
    """The code without its parts for a script or country, if MediaWiki converts this language; else empty."""
    code = language.lower().partition("-")[0]
    return code if code in CONVERTED else ""


def one_variant(text: str, language: str, variant: str) -> str:
    """The text with each `-{...}-` replaced by what a reader of the variant sees of it.

    That is the words of the variant, else of one that is close to it, else the first that are written. Rules that show
    nothing leave a `GAP`; words without a variant stay as they are. Marks without a partner are text.

    Args:
        text: of a page, without comments, templates and `nowiki`.
        language: code of the wiki, as `converted_language` gives it; empty: `-{` is text.
        variant: its code, e.g. `zh-tw`; empty: the first that is written.
    """
    if not language or "-{" not in text:
        return text
    levels: list[list[str]] = [[]]
    position = 0
    for mark in _MARK.finditer(text):
        levels[-1].append(text[position : mark.start()])
        position = mark.end()
        if mark[0] == "-{" and len(levels) <= _DEEPEST:
            levels.append([])
        elif mark[0] == "}-" and len(levels) > 1:
            rule = "".join(levels.pop())
            levels[-1].append(_shown(rule, language, variant))
        else:
            levels[-1].append(mark[0])
    levels[-1].append(text[position:])
    return "-{".join("".join(level) for level in levels)


def _shown(rule: str, language: str, variant: str) -> str:
    flags, bar, words = rule.partition("|")
    flag_list = [flag.strip() for flag in flags.split(";")]
    if not bar or not all(_FLAG.fullmatch(flag) for flag in flag_list if flag):
        flag_list, words = [], rule
    if _HIDDEN & set(flag_list):
        return GAP
    if "R" in flag_list:
        return words
    separator, with_code = _expressions(_PREFIXES.get(language, language))
    written: dict[str, str] = {}
    for part in separator.split(words):
        if match := with_code.fullmatch(part):
            written.setdefault(match[1], match[2].strip())
    if not written:
        return words
    return next((written[code] for code in _codes(variant) if code in written), next(iter(written.values())))


def _codes(variant: str) -> Sequence[str]:
    return (variant, *_CLOSE.get(variant, ()))


@cache
def _expressions(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What separates the words of two variants, and the words of one with their code."""
    code = rf"{re.escape(language)}(?:-[a-z]+)*"
    one_way = r"(?>(?:[^;=]{0,200}=>\s*+)?)"
    separator = rf";\s*+(?={one_way}{code}\s*+:|\Z)"
    return re.compile(separator), re.compile(rf"\s*+{one_way}({code})\s*+:(.*)", re.DOTALL)
