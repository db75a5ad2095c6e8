"""How likely a pronoun means an entity that was mentioned before: a sum of weights.

The weights, except `SAME_CLAUSE`, were fitted as those of a conditional logit model (which of the entities that agree
with a pronoun it means), with a quadratic penalty of 1.5, on every other document of LitBank and OntoGUM, sorted by
name, from the first one on; rounded. Features that did not help there were left out. The comment of a table says how it
is indexed.
"""

from textcritic.latents.resolvers.phrases import POSSESSIVE, PRONOUN, SUBJECT, Phrase

# Sentences since the last mention.
DISTANCE = (2.5, 1.2, -0.1, -0.6, -0.9, -1.0, -1.2)
# Bits of the number of mentions: 0, 1, 2 or 3, 4 to 7, ...
COUNT = (-1.4, -0.6, -0.1, 0.3, 0.3, 0.7, 0.8)
# One of the last mention and the pronoun is inside quotation marks, the other one is not.
ONE_QUOTED = -2.5
# The last mention is the subject; a name or noun that possesses something ("Peter's sister").
SUBJECT_BEFORE, POSSESSOR = 0.3, -0.5
# An object that is not reflexive is not the subject of its own clause ("he saw him").
SAME_CLAUSE = -4.0


def salience(phrase: Phrase, last: Phrase, distance: int, count: int) -> float:
    """The weights that come from an entity's last mention.

    Args:
        phrase: the pronoun.
        last: the entity's last mention.
        distance: sentences since then.
        count: the entity's mentions.
    """
    total = DISTANCE[distance if distance < 6 else 6] + COUNT[min(count.bit_length(), 6)]
    if last.quoted != phrase.quoted:
        total += ONE_QUOTED
    if last.role == SUBJECT:
        total += SUBJECT_BEFORE
    elif last.role == POSSESSIVE and last.kind != PRONOUN:
        total += POSSESSOR
    return total
