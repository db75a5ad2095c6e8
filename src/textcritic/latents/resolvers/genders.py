"""The gender of names that do not show it: it is learnt from the other names and the pronouns of the same article."""

from textcritic.latents.resolvers.language import FEMALE, MALE
from textcritic.latents.resolvers.phrases import NAME, PRONOUN, Phrase

# A pronoun gives its gender to one of the last NAMES names, at most FAR words before it.
NAMES, FAR = 3, 50


def learnt_genders(phrases: list[Phrase]) -> dict[tuple[str, ...], str | None]:
    """The gender of names that do not show it: from the full name for a surname, or from the pronouns after a name.

    A pronoun counts for the nearest name before it whose gender is unknown, unless one of the names near it is known
    to have the pronoun's gender.
    """
    learnt: dict[tuple[str, ...], str | None] = {}
    votes: dict[tuple[str, ...], dict[str, int]] = {}
    names: list[Phrase] = []
    for phrase in phrases:
        if phrase.kind == NAME and phrase.gender is not None and len(phrase.parts) > 1:
            surname = phrase.parts[-1:]
            learnt[surname] = phrase.gender if learnt.get(surname, phrase.gender) == phrase.gender else None
    for phrase in phrases:
        if phrase.kind == NAME:
            names.append(phrase)
        elif phrase.kind == PRONOUN and phrase.gender is not None:
            near = [name for name in names[-NAMES:] if name.head > phrase.head - FAR]
            known = [name.gender or learnt.get(name.parts) for name in near]
            if None in known and phrase.gender not in known:
                name = near[len(known) - 1 - known[::-1].index(None)]
                votes.setdefault(name.parts, {MALE: 0, FEMALE: 0})[phrase.gender] += 1
    for parts, tally in votes.items():
        if max(tally.values()) >= 2 * min(tally.values()):
            learnt.setdefault(parts, max(tally, key=lambda gender: tally[gender]))
    return learnt
