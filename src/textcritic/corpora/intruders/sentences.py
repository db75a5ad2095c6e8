"""Cutting English text into sentences: by rules of our own, or as NLTK's Punkt does it.

The paper does not say how its documents were cut. Its published probe files name a sentence of each text and its
position: Punkt finds 1,397 of 1,398, the rules 1,297 (of most others Punkt cuts a sentence in its middle). Punkt's
data must be installed; the rules need none.
"""

import re
from collections.abc import Callable
from functools import cache

from textcritic.errors import TextcriticError

Splitter = Callable[[str], list[str]]
"""Cuts a text into its sentences, in order; they are stripped, and none is empty."""

RULES, PUNKT = "rules", "punkt"
SPLITTERS = (RULES, PUNKT)

# Abbreviations before names, where no sentence ends.
_BEFORE_NAMES = """
mr mrs ms messrs mme mlle dr prof gen col capt cpt cmdr cdr lt maj sgt cpl pvt adm brig rev fr hon gov sen rep supt
st ste mt ft vs cf viz al approx ca née feat atty insp bp abp msgr assoc asst
"""
# No sentence ends after these if a number follows.
_BEFORE_NUMBERS = "no nos p pp c ca b d r v vol vols fig figs fl sec sect eq eqs ref refs"
# A sentence may end after these.
_MAY_END = """
jr sr esq inc ltd co corp bros llc plc etc jan feb mar apr jun jul aug sep sept oct nov dec ave blvd rd ph.d ed eds
conn calif tex ala ariz colo tenn okla kan neb nev vt dept univ spp var ser
"""
# Words that begin many sentences, and seldom a name.
_STARTERS = """
the a an in on at he she it they we you i his her its their our my this that these those there here as after before
when while since from for with by during following however although though because until upon under over between
among and but or nor so then if once both each every all some many most several such other another no not one two
three first later today now also additionally furthermore moreover meanwhile despite unlike like to according where
which who what how why thus therefore hence finally eventually born originally currently previously recently
"""
_NAMES, _NUMBERS, _MAYBE, _STARTING = (
    frozenset(words.split()) for words in (_BEFORE_NAMES, _BEFORE_NUMBERS, _MAY_END, _STARTERS)
)

_CLOSERS = "\"'”’»)\\]}"
_END = re.compile(rf"([.!?…]+)[{_CLOSERS}]*(?=\s)")
_OPENERS = "\"'“‘«([{–—-"
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_]{1,2})+")


def splitter_of(kind: str) -> Splitter:
    """What cuts texts: `rules` or `punkt`.

    Raises:
        TextcriticError: the data of Punkt is not installed, or there is no such kind.
    """
    if kind == RULES:
        return split_sentences
    if kind == PUNKT:
        return _punkt()
    raise TextcriticError(f"sentences.by: {kind!r} is unknown; use one of {', '.join(SPLITTERS)}")


def split_sentences(text: str) -> list[str]:
    """Cut English text into sentences, in time linear in its length.

    A sentence ends at white space behind full stops, question or exclamation marks and what closes behind them, unless
    a lower-case letter follows. A full stop behind a title, an initial or an abbreviation ends none; behind those that
    can end a sentence ("Inc.", "U.S.", "J.") it does if a word such as "The" or "He" follows. A line break is white
    space.
    """
    text = text.strip()
    sentences, start = [], 0
    for match in _END.finditer(text):
        if _is_end(text, start, match):
            sentences.append(text[start : match.end()].strip())
            start = match.end()
    return [*sentences, text[start:].strip()] if text[start:].strip() else sentences


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence that began at `start` ends with the marks of `match`."""
    following = text[match.end() :][:80].split(None, 1)
    after = following[0].lstrip(_OPENERS) if following else ""
    if after[:1].islower():
        return False
    if match.group(1) != ".":
        return True
    before = text[max(start, match.start() - 40) : match.start()].rsplit(None, 1)
    token = before[-1].lstrip(_OPENERS).lower() if before else ""
    if token in _NAMES or (token in _NUMBERS and after[:1].isdigit()):
        return False
    initial = len(token) == 1 and token.isalpha()
    if initial or token in _MAYBE or _DOTTED.fullmatch(token):
        return after.rstrip(",;:").lower() in _STARTING
    return True


@cache
def _punkt() -> Splitter:
    from nltk.tokenize import PunktTokenizer  # here: its import takes half a second

    try:
        tokenizer = PunktTokenizer("english")
    except LookupError as error:
        raise TextcriticError(
            "sentences.by: punkt: NLTK's data `punkt_tab` is not installed; `python -m nltk.downloader punkt_tab`, or"
            " take `rules`"
        ) from error

    def split(text: str) -> list[str]:
        return [sentence.strip() for sentence in tokenizer.tokenize(text) if sentence.strip()]

    return split
