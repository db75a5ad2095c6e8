"""A tiny corpus that several test files share."""

import random
from dataclasses import dataclass
from pathlib import Path

from textcritic.corpora import Article, Section

WORDS = ["the", "a", "model", "article", "begins", "ends", "returns", "array", "with", "text", "value,", "number.", "é"]


@dataclass(frozen=True)
class TinyEncoding:
    """Paths of a tiny corpus' articles, tokenizer and encoded splits in the setting w-title."""

    folder: Path
    tokenizer: Path
    train: Path
    validation: Path

    def articles(self, split: str) -> Path:
        return self.folder / f"{split}.parquet"


def tiny_articles(count: int, seed: int) -> list[Article]:
    """Articles of 2 to 4 sections of random words."""
    draw = random.Random(seed)
    return [
        Article(
            f"{seed}-{number}",
            f"article {number}",
            tuple(
                Section(title, " ".join(draw.choices(WORDS, k=draw.randint(3, 12))))
                for title in ["summary", "parameters", "see also", "notes"][: draw.randint(2, 4)]
            ),
            "tiny",
        )
        for number in range(count)
    ]
