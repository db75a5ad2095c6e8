"""The flip from past to future (Shen et al. 2021, section 7.1)."""

from collections.abc import Sequence

from textcritic.corpora.intruders.probes.finite import PAST, Verb, finite_verbs
from textcritic.corpora.intruders.probes.verb_forms import base_of, is_base, third_person
from textcritic.corpora.intruders.probes.word_lists import word_class
from textcritic.corpora.intruders.probes.words import Refused, Token, following, is_adverb, rewritten, tokens_of

NO_PAST = Refused("no verb in the past tense")


def to_future(sentence: str) -> str | Refused:
    """Will be for was, will lead for led: every finite verb in the past tense.

    A verb that shares its subject with one that was changed loses its ending only (came and went: will come and go). A
    clause that says when goes into the present tense (until he died: until he dies). `had` is `will have`, `did not` is
    `will not`, `could` is `will be able to`, `would` is `will`. Perfects in the present tense stay.
    """
    tokens = tokens_of(sentence)
    edits: dict[int, str] = {}
    changed: list[Verb] = []
    for verb in finite_verbs(tokens):
        if verb.tense != PAST or verb.base == "might":
            continue
        bare = verb.shares and bool(changed) and changed[-1].temporal == verb.temporal and not verb.temporal
        edits |= _present(tokens, verb) if verb.temporal else _future(tokens, verb, bare)
        changed.append(verb)
    return rewritten(sentence, tokens, edits) if edits else NO_PAST


def _future(tokens: Sequence[Token], verb: Verb, bare: bool) -> dict[int, str]:
    """The future of a verb; `bare`: without `will`."""
    place = verb.position
    word, after = tokens[place].lower, following(tokens, place)
    will = "" if bare else "will "
    if word == "could":
        able = "be able to" if bare else "will be able to"
        return {place: able.replace("be", "not be"), place + 1: ""} if after == "not" else {place: able}
    if word == "couldn't":
        return {place: "won't be able to"}
    if word in ("would", "wouldn't"):
        return {place: "will" if word == "would" else "won't"}
    if word in ("didst", "wast", "wert", "hadst"):
        return {place: "wilt" if word == "didst" else f"wilt {verb.base}"}
    if verb.base == "do" and word == "didn't":
        return {place: "won't"}
    if verb.base == "do" and (after == "not" or is_adverb(after) or is_base(after)):
        return {place: "will"}
    if word.endswith("n't"):
        return {place: f"won't {verb.base}"}
    if word == "used" and after == "to":
        return {place: will.strip() or "will", place + 1: ""}
    if (
        verb.base in ("be", "have")
        and after in _BEFORE_BE
        and not (verb.base == "have" and base_of(following(tokens, place + 1)) is None)
    ):
        # "was never" is "will never be".
        return {
            place: will.strip() or tokens[place + 1].text,
            place + 1: f"{tokens[place + 1].text} {verb.base}" if not bare else verb.base,
        }
    adverbs = (
        place - 1
        if place and is_adverb(tokens[place - 1].lower) and tokens[place - 1].lower in _AFTER_WILL and not bare
        else place
    )
    if adverbs < place and verb.base not in ("be", "have"):
        return {adverbs: f"will {_uncapital(tokens, adverbs)}", place: verb.base}
    return {place: f"{will}{verb.base}"}


def _uncapital(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].lower if place == 0 else tokens[place].text


def _present(tokens: Sequence[Token], verb: Verb) -> dict[int, str]:
    """The present of a verb in a clause that says when."""
    place = verb.position
    plural = _is_plural(tokens, verb)
    word = tokens[place].lower
    if verb.base == "be":
        form = "are" if word.startswith("were") else "is"
        return {place: form + ("n't" if word.endswith("n't") else "")}
    if (verb.base == "do" and word != "did") or (verb.base == "do" and following(tokens, place) == "not"):
        return {place: "do" if plural else "does"} if word == "did" else {place: "don't" if plural else "doesn't"}
    if word in ("could", "would", "couldn't", "wouldn't"):
        return {place: {"could": "can", "would": "will", "couldn't": "cannot", "wouldn't": "won't"}[word]}
    return {place: verb.base if plural else third_person(verb.base)}


def _is_plural(tokens: Sequence[Token], verb: Verb) -> bool:
    """Whether the subject of a verb takes the base form, by the pronoun or the ending of the last word before it."""
    if verb.subject is None:
        return False
    word = tokens[verb.subject].lower
    if word in ("he", "she", "it", "who", "which", "that"):
        return False
    if tokens[verb.subject].is_capital and (not verb.subject or tokens[verb.subject - 1].lower != "the"):
        return False  # Thomas, Lagos
    return word in ("they", "we", "i", "you", "these", "those", "people", "men", "women", "children") or (
        word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    )


_BEFORE_BE = word_class("before_be")
_AFTER_WILL = word_class("after_will") - {"then"}
