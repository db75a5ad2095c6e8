"""How likely a pronoun means an entity that was mentioned before: a sum of weights.

The weights, but for `SAME_CLAUSE`, are those of a conditional logit model (which of the entities that agree with a
pronoun it means), fitted to the 3,045 pronouns with two or more of them in every other document of LitBank, by name,
from the first one on, with a quadratic penalty of 1.5; rounded. Tables are indexed by what their comment says.
"""

from textcritic.latents.resolvers.phrases import NOUN, PRONOUN, Phrase

REFLEXIVE = 3
INDEFINITE = 3

# Sentences since the last mention.
DISTANCE = (1.3, 1.2, -0.1, -0.2, -0.6, -0.6, -1.1)
# Entities that agree with the pronoun and were mentioned since.
RANK = (1.1, 0.1, -0.2, -0.5, -0.6)
# Role of the last mention, role of the pronoun.
ROLES = ((0.1, 0.1, 0.2), (-0.2, -0.4, -0.1), (0.1, 0.2, -0.1))
# Kind of the last mention: name, noun, pronoun, noun with an indefinite determiner.
KIND = (0.3, -0.1, 0.9, -1.1)
# Bits of the number of mentions: 0, 1, 2 or 3, 4 to 7, ...
COUNT = (-0.5, -0.5, -0.2, 0.0, 0.1, 0.2, 0.5)
# In the same sentence or not, last mention inside quotation marks or not, pronoun inside them or not.
QUOTED = (((0.2, -1.2), (-1.0, 0.6)), ((1.6, -1.1), (-0.8, 1.6)))
# Role of the pronoun, if the entity is the subject of its clause, or of the sentence before.
SUBJECT_OF_CLAUSE = (0.3, -0.5, 0.6, 0.6)
SUBJECT_BEFORE = (0.4, 0.2, 0.0, 0.2)
# An object that is no reflexive and the subject of its own clause ("he saw him") are not the same.
SAME_CLAUSE = -4.0
UNKNOWN_GENDER = -0.4
SAME_PRONOUN = 0.4


def role_of(phrase: Phrase) -> int:
    """The role of a pronoun in the tables that tell reflexives apart."""
    return REFLEXIVE if phrase.reflexive else phrase.role


def salience(phrase: Phrase, last: Phrase, distance: int, rank: int, count: int) -> float:
    """The weights that come from an entity's last mention and its place among the others.

    Args:
        phrase: the pronoun.
        last: the entity's last mention.
        distance: sentences since then.
        rank: entities that agree and were mentioned since.
        count: the entity's mentions.
    """
    indefinite = last.kind == NOUN and not last.definite
    total = (
        DISTANCE[distance if distance < 6 else 6]
        + RANK[rank if rank < 4 else 4]
        + ROLES[last.role][phrase.role]
        + KIND[INDEFINITE if indefinite else last.kind]
        + COUNT[min(count.bit_length(), 6)]
        + QUOTED[distance == 0][last.quoted][phrase.quoted]
    )
    if last.kind == PRONOUN and last.parts == phrase.parts:
        total += SAME_PRONOUN
    return total
