"""The flip of conjunctions to their opposites (Shen et al. 2021, section 7.1)."""

from collections.abc import Sequence, Set

from textcritic.corpora.intruders.probes.finite import finite_verbs
from textcritic.corpora.intruders.probes.verb_forms import base_of
from textcritic.corpora.intruders.probes.words import (
    BE,
    DETERMINERS,
    POSSESSIVES,
    RELATIVES,
    SUBJECTS,
    Refused,
    Token,
    following,
    is_adverb,
    quoted,
    rewritten,
    tokens_of,
)

NO_CONNECTIVE = Refused("no conjunction between clauses or verbs")


def flip_connectives(sentence: str) -> str | Refused:
    """And therefore for but, but for and, therefore for although, and back; all between clauses or verbs.

    `but` behind a comma becomes `and`, as in most published pairs, and elsewhere `and therefore`. `and` counts only
    between two clauses or two verbs, not within a list of things. A sentence that opens with `Although` opens with
    `Because` then, and the other way round.
    """
    tokens = tokens_of(sentence)
    skipped = quoted(tokens)
    finite = {verb.position for verb in finite_verbs(tokens)}
    edits: dict[int, str] = {}
    for position in range(len(tokens)):
        if not skipped[position] and position not in edits:
            edits |= _flipped(tokens, position, finite)
    return rewritten(sentence, tokens, edits) if edits else NO_CONNECTIVE


def _flipped(tokens: Sequence[Token], position: int, finite: Set[int]) -> dict[int, str]:
    word, after = tokens[position].lower, following(tokens, position)
    before = tokens[position - 1].lower if position else ""
    if word == "and" and after in ("therefore", "thus", "hence"):
        return {position: "but", position + 1: ""}
    if word == "and" and after == "yet":
        return {position: "and therefore", position + 1: ""}
    if word == "and":
        return {position: "but"} if position and _joins(tokens, position, finite) else {}
    if word == "but":
        if (
            not position
            or before in ("all", "nothing", "anything", "none", "not")
            or after in ("for", "rather", "also")
        ):
            return {}
        return (
            {position: "and"} if before == "," and after not in ("therefore", "also") else {position: "and therefore"}
        )
    if word in ("although", "though") and after != "," and before not in ("even", "as"):
        return {position: "because" if position == 0 else "therefore"}
    if word == "because" and after != "of":
        return {position: "although"}
    if word in ("whereas", "yet") and before == ",":
        return {position: "and therefore"}
    if word == "so" and before == "," and (after in SUBJECTS | DETERMINERS | POSSESSIVES and after != "that"):
        return {position: "but"}
    if word in ("therefore", "thus", "hence", "consequently") and before == ";":
        return {position: "however"}
    if word == "therefore" and before == "," and after in SUBJECTS | DETERMINERS | POSSESSIVES:
        return {position: "although"}
    if word == "however" and before == ";":
        return {position: "therefore"}
    return {}


def _joins(tokens: Sequence[Token], position: int, finite: Set[int]) -> bool:
    """Whether `and` at a position joins clauses, verbs or participles of a passive, and not things of a list."""
    place = position + 1
    while place < len(tokens) and is_adverb(tokens[place].lower):
        place += 1
    if place >= len(tokens) or tokens[place].text in "([":
        return False
    if place in finite or tokens[place].lower in SUBJECTS - {"who", "which"}:
        return True
    comma = position > 0 and tokens[position - 1].text == ","
    if base_of(tokens[place].lower) and _passive_before(tokens, position):
        return True
    # ", and the team won": a finite verb of its own before the next mark.
    for later in range(place, min(place + 9, len(tokens))):
        if tokens[later].text in ",;:" or tokens[later].lower in RELATIVES | {"and", "but", "or"}:
            return False
        if later in finite:
            return comma and any(earlier < position for earlier in finite)
    return False


def _passive_before(tokens: Sequence[Token], position: int) -> bool:
    """Whether a form of be with a participle comes before a position, in the same clause."""
    for place in range(position - 1, max(-1, position - 20), -1):
        if tokens[place].lower in BE and any(
            base_of(tokens[n].lower) for n in range(place + 1, min(place + 4, position))
        ):
            return True
        if tokens[place].lower in RELATIVES or tokens[place].text in ";:":
            return False
    return False
