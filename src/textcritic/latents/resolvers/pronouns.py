"""How many personal pronouns a resolver links to the right person."""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from textcritic.latents.resolvers.language import Language
from textcritic.latents.resolvers.mention import Mention, Resolved
from textcritic.latents.resolvers.people import is_nominal, pronoun_of

KINDS = ("third", "all")
"""Pronouns of the third person singular that tell a gender ("he", "her"); all personal pronouns of people."""
PRONOUN_COUNTS = tuple(f"pronouns_{kind}_{part}" for kind in KINDS for part in ("right", "of", "unnamed"))


def pronoun_counts(
    key: Resolved, response: Resolved, people: Collection[int], language: Language
) -> npt.NDArray[np.float64]:
    """Pronouns of a document, and how many are linked to the right person: float64 [len(PRONOUN_COUNTS)].

    A pronoun of the key counts if its entity is people and has a name or a noun before it; one without is counted in
    `unnamed` alone (a narrator who is "I" throughout). It is right if the resolver has it as a mention of its own, and
    if of the entity that the resolver gives it, the nearest name or noun before it is a mention of the right entity:
    the "inferred antecedent" of Tuggener 2014 (EACL, "Coreference Resolution Evaluation for Higher Level
    Applications"). A mention of the resolver is one of the key if the spans are equal, or the head of each is within
    the other: "Darcy" is "Mr. Darcy, the owner".

    Args:
        key: what people marked.
        response: what the resolver found in the same text.
        people: entities of the key.
        language: of the pronouns.
    """
    counts = dict.fromkeys(PRONOUN_COUNTS, 0)
    nominals = [mention for mention in response.mentions if is_nominal(response, mention, language)]
    named = [mention for mention in key.mentions if is_nominal(key, mention, language)]
    found = {(mention.start, mention.end): mention.entity for mention in reversed(response.mentions)}
    seen: set[tuple[int, int]] = set()
    for mention in key.mentions:
        pronoun = pronoun_of(key, mention, language)
        span = (mention.start, mention.end)
        if pronoun is None or mention.entity not in people or span in seen:
            continue
        seen.add(span)
        own = [name for name in named if name.entity == mention.entity and name.start < mention.start]
        antecedent = _nearest(nominals, found.get(span), mention.start)
        right = antecedent is not None and any(same(antecedent, name) for name in own)
        entry = language.pronouns[pronoun]
        third = entry.person == 3 and not entry.plural and entry.gender is not None
        for kind in KINDS if third else KINDS[1:]:
            counts[f"pronouns_{kind}_{'of' if own else 'unnamed'}"] += 1
            counts[f"pronouns_{kind}_right"] += right
    return np.array(list(counts.values()), np.float64)


def same(one: Mention, other: Mention) -> bool:
    """Whether two mentions are the same: by their spans, or because the head of each is within the other."""
    if (one.start, one.end) == (other.start, other.end):
        return True
    return (
        other.start <= one.head_start
        and one.head_end <= other.end
        and one.start <= other.head_start
        and other.head_end <= one.end
    )


def _nearest(nominals: Sequence[Mention], entity: int | None, before: int) -> Mention | None:
    """The last mention of an entity that begins before a character; None without an entity."""
    candidates = (mention for mention in nominals if mention.entity == entity and mention.start < before)
    return max(candidates, key=lambda mention: mention.start, default=None)
