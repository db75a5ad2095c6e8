"""Made-up English for the stand-ins: sentences, sections and articles; the same seed gives the same text."""

import random
from collections.abc import Sequence

NAMES = {"He": ("Adam", "Bruno", "Carl", "David", "Henry"), "She": ("Anna", "Clara", "Emma", "Hannah", "Mary")}
SURNAMES = ("Baker", "Cooper", "Fisher", "Hunter", "Miller", "Walker")
NOUNS = (
    *("river", "house", "garden", "letter", "method", "result", "sample", "study", "window", "bridge", "market"),
    *("school", "patient", "signal", "model", "train", "village", "winter", "teacher", "doctor"),
)
VERBS = ("shows", "follows", "finds", "changes", "describes", "leaves", "opens", "keeps", "measures", "needs")
ADJECTIVES = ("old", "small", "quiet", "new", "common", "green", "early", "strong", "late", "simple")
PLACES = ("in the north", "near the sea", "after the war", "with great care", "in the same year", "for a long time")
TITLES = ("history", "plot", "production", "reception", "cast")


def sentence(draw: random.Random) -> str:
    """A sentence of eight to twelve words."""
    subject, thing = draw.choice(NOUNS), draw.choice(NOUNS)
    first, second = draw.sample(ADJECTIVES, 2)
    return f"The {first} {subject} {draw.choice(VERBS)} the {second} {thing} {draw.choice(PLACES)}."


def about_people(draw: random.Random) -> str:
    """Three sentences with two people, by their names and by pronouns."""
    pronoun = draw.choice(tuple(NAMES))
    one, other = draw.sample(NAMES[pronoun], 2)
    surname = draw.choice(SURNAMES)
    return (
        f"{one} {surname} meets {other} near the {draw.choice(NOUNS)}. {pronoun} {draw.choice(VERBS)} the"
        f" {draw.choice(NOUNS)}, and {other} helps {one}. {surname} {draw.choice(VERBS)} the {draw.choice(NOUNS)}."
    )


def paragraph(draw: random.Random, sentences: int = 2) -> str:
    """Sentences, the first ones about people."""
    return " ".join([about_people(draw), *(sentence(draw) for _ in range(sentences))])


def sections(number: int, titles: Sequence[str] = TITLES, sentences: int = 2) -> list[tuple[str, str]]:
    """The titles and texts of an article: its opening, then three or four sections in order, none of them empty."""
    draw = random.Random(number)
    chosen = [title for place, title in enumerate(titles) if place < 3 or draw.random() < 0.5]
    return [(title, paragraph(draw, sentences)) for title in chosen]


def opening(number: int) -> str:
    """The first section of an article of Wikipedia, every other one about a film."""
    draw = random.Random(-number)
    name = draw.choice(SURNAMES)
    what = "film about" if number % 2 else "village near"
    year = draw.randint(1950, 2020)
    return f"The {name} is a {year} {what} the {draw.choice(NOUNS)}. {paragraph(draw, 4)}"


def corpus(articles: int) -> list[str]:
    """Texts for making tokenizers."""
    return ["\n\n".join([opening(n), *(f"{title}: {text}" for title, text in sections(n))]) for n in range(articles)]


def lessons(articles: int) -> list[str]:
    """Short articles about films as generators with titles see them, for stand-ins that must write such articles."""
    draws = [random.Random(number) for number in range(articles)]
    starts = ("This is a film. ", "")
    return [
        "\n\n".join(
            f"{t}: {start}{about_people(draw)}" for t, start in zip(draw.sample(TITLES, 2), starts, strict=True)
        )
        for draw in draws
    ]
