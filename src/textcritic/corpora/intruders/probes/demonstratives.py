"""The flip of singular demonstratives to plural ones (Shen et al. 2021, section 7.1)."""

from collections.abc import Sequence

from textcritic.corpora.intruders.probes.verb_forms import base_of, base_of_third, is_base
from textcritic.corpora.intruders.probes.word_lists import word_class
from textcritic.corpora.intruders.probes.words import (
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    OBJECTS,
    POSSESSIVES,
    PREPOSITIONS,
    SUBJECTS,
    SUBORDINATORS,
    Refused,
    Token,
    following,
    is_adverb,
    quoted,
    rewritten,
    tokens_of,
)

NO_DEMONSTRATIVE = Refused("no `this`, and no `that` that points at something")


def flip_demonstratives(sentence: str) -> str | Refused:
    """These for this and those for that, all of the sentence; noun and verb stay in the singular.

    The paper says that its edits are syntactically correct, but 95 of the published pairs leave the noun as it is, and
    so does this. A `that` that opens a clause stays.
    """
    tokens = tokens_of(sentence)
    inside = quoted(tokens)
    edits = {}
    for position, token in enumerate(tokens):
        if inside[position] and '"' in sentence[: token.start]:
            continue
        if token.lower == "this":
            edits[position] = "these"
        elif token.lower == "that" and _points(tokens, position):
            edits[position] = "those"
    return rewritten(sentence, tokens, edits) if edits else NO_DEMONSTRATIVE


def _points(tokens: Sequence[Token], position: int) -> bool:
    """Whether `that` at a position points at something: later that year, in that role, that of the king."""
    before, after = (tokens[position - 1].lower if position else ""), following(tokens, position)
    if not after or not after[0].isalpha():
        return before in PREPOSITIONS - {"in", "except", "so"} and after in ("", ".", ",", ";", ")")
    if after == "of":
        return True
    if after in _TIMES or (after in ("same", "very") and _nominal(following(tokens, position + 1))):
        return True
    if not _nominal(after) or before == "let" or (after.endswith("eth") and base_of_third(after)):
        return False
    if before in PREPOSITIONS - SUBORDINATORS - {"except", "given"} or before in (
        "during",
        "since",
        "until",
        "before",
        "after",
    ):
        return not tokens[position + 1].is_capital and not (before == "in" and _is_subject(tokens, position + 1))
    if before in _SAYING or not before:
        return False
    if before in ("and", "but", ",", ";", "because", "although", "though", "when", "while", "where", "if"):
        return (
            _is_subject(tokens, position + 1)
            and not tokens[position + 1].is_capital
            and not after.endswith("s")
            and base_of(after) is None
        )
    # "held that position from 1987": a verb that takes things, a noun, and no verb behind it.
    takes_things = base_of(before) is not None or is_base(before)
    return (
        takes_things
        and not tokens[position + 1].is_capital
        and not after.endswith("s")
        and _closes(following(tokens, position + 1))
    )


def _nominal(word: str) -> bool:
    """Whether a word can be the noun or adjective behind a demonstrative."""
    return bool(word) and word[0].isalpha() and word not in _CLOSED and not is_adverb(word) and not word.endswith("n't")


def _is_subject(tokens: Sequence[Token], position: int) -> bool:
    """Whether the noun at a position, or the one behind it, is followed by a finite auxiliary or a past verb."""
    after = following(tokens, position)
    return after in AUXILIARIES or (base_of(after) is not None and following(tokens, position + 1) != "by")


def _closes(word: str) -> bool:
    return not word or not word[0].isalpha() or word in PREPOSITIONS | COORDINATORS | SUBORDINATORS


_CLOSED = AUXILIARIES | PREPOSITIONS | DETERMINERS | POSSESSIVES | SUBJECTS | OBJECTS | SUBORDINATORS | COORDINATORS
_TIMES = word_class("times")
_SAYING = word_class("saying")
