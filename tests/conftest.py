"""Data that several test files share: a tiny corpus and its encoding."""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from textcritic.corpora import Article, Section, write_articles

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


@pytest.fixture(scope="session")
def tiny_encoding(tmp_path_factory: pytest.TempPathFactory) -> TinyEncoding:
    from textcritic.corpora import read_articles, render
    from textcritic.generators.encode import encode_split
    from textcritic.generators.load import train_tokenizer

    folder = tmp_path_factory.mktemp("tiny")
    tiny = TinyEncoding(folder, folder / "tokenizer", folder / "train", folder / "validation")
    for split, count, seed in (("train", 60, 1), ("validation", 12, 2)):
        write_articles(tiny.articles(split), tiny_articles(count, seed))
    train_tokenizer((render(a, "w-title") for a in read_articles(tiny.articles("train"))), tiny.tokenizer, 300)
    encode_split(tiny.articles("train"), tiny.tokenizer, "w-title", "single", tiny.train, shuffle_seed=1)
    encode_split(tiny.articles("validation"), tiny.tokenizer, "w-title", "single", tiny.validation)
    return tiny
