"""Small documents with and without intruder sentences, obvious or such that nothing gives them away."""

import random
from collections.abc import Iterable
from pathlib import Path

from textcritic.corpora.intruders.documents import Document, write_documents
from textcritic.plan.entries import Detector

TOPICS = [[f"{letter}{n}" for n in range(8)] for letter in ("ba", "du", "ki", "lo", "me", "ru")]


def sentence(draw: random.Random, words: list[str]) -> str:
    return " ".join(draw.choices(words, k=draw.randint(3, 6))) + "."


def planted(count: int, seed: int, marked: bool = False) -> list[Document]:
    """Every document has one topic; every other one has a sentence of another. `marked`: with a word of its own."""
    draw = random.Random(seed)
    documents = []
    for number in range(count):
        topic, other = draw.sample(TOPICS, 2)
        sentences = [sentence(draw, topic) for _ in range(draw.randint(3, 5))]
        place = draw.randrange(1, len(sentences)) if number % 2 else None
        if place is not None:
            sentences[place] = "stranger " * marked + sentence(draw, other)
        documents.append(Document(f"{seed}-{number}", tuple(sentences), place))
    return documents


def without_signal(count: int, seed: int) -> list[Document]:
    """All sentences are drawn alike; which one is called an intruder is drawn too."""
    draw = random.Random(seed)
    words = [word for topic in TOPICS for word in topic]
    return [
        Document(f"{seed}-{n}", tuple(sentence(draw, words) for _ in range(4)), draw.randrange(1, 4) if n % 2 else None)
        for n in range(count)
    ]


def written(path: Path, documents: Iterable[Document]) -> Path:
    write_documents(path, documents, "tiny")
    return path


def entry_of(model: dict, **more: object) -> Detector:
    return Detector.read({"kind": "detector", "model": model, **more}, "test")
