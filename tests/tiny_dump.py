"""Articles of a small wiki that several test files share."""

import random
from pathlib import Path

from textcritic.rehearsal.dump import page

WORDS = [
    "river",
    "the",
    "of",
    "was",
    "born",
    "city",
    "[[link]]",
    "'''bold'''",
    "école",
    "語",
    "&",
    "<b>x</b>",
    "{{cite}}",
]


def article(number: int, sections: int = 3, words: int = 30) -> str:
    """A page that is an article, the same for the same number."""
    draw = random.Random(number)
    texts = [" ".join(draw.choices(WORDS, k=words)) for _ in range(sections + 1)]
    text = "\n".join([texts[0], *(f"== Title {n} ==\n{text}" for n, text in enumerate(texts[1:], 1))])
    return page(number, f"Article {number}", text)


def write(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    """Write it and return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path
