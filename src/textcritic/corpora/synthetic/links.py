"""Made-up texts whose mentions are linked to a small made-up graph: persons, teams, cities, and facts about them.

A text is a few sentences. Each states one fact of the graph: the subject is an entity mentioned before or a new person,
the object is where the fact leads. So who follows whom is known, and names are copied from the graph.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textcritic.corpora.structured.links import REFLEXIVE
from textcritic.corpora.structured.texts import Edge, Mention, Structured
from textcritic.errors import TextcriticError

FIRST = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana")
LAST = ("Adler", "Brook", "Cole", "Dunn", "Ellis", "Frost", "Grant", "Hale", "Irwin", "Joyce", "Kent", "Lane")
TEAMS = ("Red Foxes", "Blue Herons", "Iron Bears", "Lake Otters", "North Stars")
CITIES = ("Ashford", "Bergen", "Calder", "Port Dover")
PHRASES = {
    "member of": ("plays for", "joined", "is the captain of"),
    "born in": ("was born in", "grew up in"),
    "lives in": ("lives in", "has a house in"),
    "home": ("come from", "play all games in"),
}
CLOSINGS = ((), ("today",), ("since", "last", "year"), (",", "as", "everybody", "knows"))
GRAPH_SEED = 0
"""The graph is always the same one; the seed of `draw_linked_texts` is that of the texts."""


def draw_linked_texts(count: int, seed: int) -> list[Structured]:
    """Draw texts of two to five sentences, 10 to 60 tokens, with their mentions and edges.

    A mention has an edge from every entity before that the graph leads from, and one of REFLEXIVE where the entity
    itself was mentioned before.

    Args:
        count: texts.
        seed: of the texts.

    Raises:
        TextcriticError: `count` is below 1.
    """
    if count < 1:
        raise TextcriticError(f"{count} texts cannot be drawn; give a count of at least 1")
    facts = made_up_facts()
    rng = np.random.default_rng(seed)
    return [_text(f"made up {number}", facts, rng) for number in range(count)]


@dataclass(frozen=True, slots=True)
class Fact:
    """An edge of the made-up graph."""

    subject: str
    relation: str
    object: str


def made_up_facts() -> tuple[Fact, ...]:
    """The graph: a team and one or two cities for each person, a city for each team.

    Some persons live where they were born: two edges lead from them to one city.
    """
    rng = np.random.default_rng(GRAPH_SEED)
    facts = [Fact(team, "home", str(rng.choice(CITIES))) for team in TEAMS]
    for number, last in enumerate(LAST):
        person = f"{FIRST[number % len(FIRST)]} {last}"
        born, lives = rng.choice(CITIES, 2)
        facts.append(Fact(person, "member of", str(rng.choice(TEAMS))))
        facts += [Fact(person, "born in", str(born)), Fact(person, "lives in", str(lives))]
    return tuple(facts)


def _text(name: str, facts: tuple[Fact, ...], rng: np.random.Generator) -> Structured:
    tokens: list[str] = []
    mentions: list[Mention] = []
    persons = sorted({fact.subject for fact in facts if fact.relation != "home"})
    for _ in range(rng.integers(2, 6)):
        for part in _sentence(facts, persons, [mention.entity for mention in mentions], rng):
            start = len(tokens)
            if isinstance(part, str):
                before = {mention.entity for mention in mentions}
                tokens += _name(part, part in before, rng)
                mentions.append(Mention(start, len(tokens), part, _edges(facts, before, part)))
            else:
                tokens += part
    return Structured(name, tuple(tokens), mentions=tuple(mentions))


def _sentence(
    facts: tuple[Fact, ...], persons: list[str], mentioned: list[str], rng: np.random.Generator
) -> Iterator[str | tuple[str, ...]]:
    """Its parts: an entity as a string, and words between as tuples."""
    recent_subjects = sorted({fact.subject for fact in facts} & set(mentioned[-3:]))
    subject = str(rng.choice(recent_subjects if recent_subjects and rng.random() < 0.7 else persons))
    possible = [fact for fact in facts if fact.subject == subject]
    fact = possible[rng.integers(len(possible))]
    phrases = PHRASES[fact.relation]
    yield subject
    yield tuple(phrases[rng.integers(len(phrases))].split())
    yield fact.object
    yield (*CLOSINGS[rng.integers(len(CLOSINGS))], ".")


def _name(entity: str, again: bool, rng: np.random.Generator) -> list[str]:
    """The whole name, or often the last word of it where the entity is mentioned again."""
    words = entity.split()
    return words[-1:] if again and rng.random() < 0.7 else words


def _edges(facts: tuple[Fact, ...], before: set[str], entity: str) -> tuple[Edge, ...]:
    again = (Edge(entity, REFLEXIVE),) if entity in before else ()
    return again + tuple(
        Edge(fact.subject, fact.relation) for fact in facts if fact.subject in before and fact.object == entity
    )
