"""The negation of a sentence (Shen et al. 2021, section 7.1)."""

from collections.abc import Sequence, Set

from textcritic.corpora.intruders.probes.finite import PAST, Verb, finite_verbs
from textcritic.corpora.intruders.probes.verb_forms import base_of, base_of_third, is_base, is_participle, is_past_only
from textcritic.corpora.intruders.probes.word_lists import word_class
from textcritic.corpora.intruders.probes.words import (
    AUXILIARIES,
    DETERMINERS,
    MODALS,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVES,
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

NEGATIVE = Refused("is negative already")
NO_VERB = Refused("no finite verb is recognised")

_NEW_CLAUSE = RELATIVES | SUBORDINATORS - {"as"}
_ENDS_CLAUSE = RELATIVES | SUBORDINATORS | {"and", "or", "but"}
_NO_SUBJECT = PREPOSITIONS | DETERMINERS | POSSESSIVES | AUXILIARIES
_NEGATIVE = word_class("negative")


def negate(sentence: str) -> str | Refused:
    """Was not for was, did not work for worked, does not have for has: the verb of the first main clause.

    Verbs that share its subject are negated too (did not come and did not go), as otherwise half of the sentence stays
    true. The published negations were written by hand and differ in which verbs they negate.
    """
    tokens = tokens_of(sentence)
    if any(token.lower in _NEGATIVE or token.lower.endswith("n't") for token in tokens):
        return NEGATIVE
    verbs = finite_verbs(tokens)
    first = next((n for n, verb in enumerate(verbs) if verb.main), None)
    if first is None:
        return NO_VERB
    edits = _negated(tokens, verbs[first])
    for verb in verbs[first + 1 :]:
        if verb.main and verb.shares:
            edits |= _negated(tokens, verb)
        elif verb.main:
            break
    edits |= _alternatives(tokens, verbs[first].position, {verb.position for verb in verbs})
    return rewritten(sentence, tokens, edits)


def _negated(tokens: Sequence[Token], verb: Verb) -> dict[int, str]:
    place = verb.position
    word = tokens[place].text
    if verb.base == "be" or verb.base in MODALS or (verb.base == "have" and _is_auxiliary(tokens, place)):
        return {place: "cannot" if word == "can" else f"{word} not"}
    if verb.base == "do" and is_base(following(tokens, place)):
        return {place: f"{word} not"}
    if verb.tense == PAST:
        return {place: f"did not {verb.base}"}
    return {place: f"{'do' if tokens[place].lower == verb.base else 'does'} not {verb.base}"}


def _alternatives(tokens: Sequence[Token], start: int, finite: Set[int]) -> dict[int, str]:
    """`or` for `and` between things behind a negated verb, up to the end of its clause: not a doctor or a priest."""
    edits, skipped = {}, quoted(tokens)
    for place in range(start + 1, len(tokens) - 1):
        word, after = tokens[place].lower, place + 1
        while after < len(tokens) - 1 and is_adverb(tokens[after].lower):
            after += 1
        if word in _NEW_CLAUSE or tokens[place].text in ";:" or word in ("between", "both", "with") or place in finite:
            break
        if word == "and" and not skipped[place]:
            if after in finite or tokens[after].lower in SUBJECTS or _opens_clause(tokens, after, finite):
                break
            edits[place] = "or"
    return edits


def _opens_clause(tokens: Sequence[Token], start: int, finite: Set[int]) -> bool:
    """Whether the words behind `and` are a clause with a verb of its own, before the next mark."""
    for place in range(start + 1, min(start + 12, len(tokens))):
        word, before = tokens[place].lower, tokens[place - 1].lower
        if tokens[place].text in ",;:." or word in _ENDS_CLAUSE:
            return False
        free = before.isalpha() and before not in _NO_SUBJECT and not tokens[place].is_capital
        if place in finite or is_past_only(word) or (free and (base_of_third(word) or base_of(word))):
            return True
    return False


def _is_auxiliary(tokens: Sequence[Token], place: int) -> bool:
    """Whether a form of have is an auxiliary: a participle follows, with adverbs between at most."""
    while is_adverb(following(tokens, place)):
        place += 1
    after = following(tokens, place)
    return after == "been" or is_participle(after)
