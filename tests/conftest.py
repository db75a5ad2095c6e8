"""Fixtures that several test files share."""

import pytest
from tiny import TinyEncoding, tiny_articles
from tiny_process import TinyProcess, tiny_process

from textcritic.corpora import write_articles


@pytest.fixture(scope="session")
def tiny_encoding(tmp_path_factory: pytest.TempPathFactory) -> TinyEncoding:
    from textcritic.corpora import read_articles, render
    from textcritic.generators.encode import encode_split
    from textcritic.training.load import train_tokenizer

    folder = tmp_path_factory.mktemp("tiny")
    tiny = TinyEncoding(folder, folder / "tokenizer", folder / "train", folder / "validation")
    for split, count, seed in (("train", 60, 1), ("validation", 12, 2)):
        write_articles(tiny.articles(split), tiny_articles(count, seed))
    train_tokenizer((render(a, "w-title") for a in read_articles(tiny.articles("train"))), tiny.tokenizer, 300)
    encode_split(tiny.articles("train"), tiny.tokenizer, "w-title", "single", tiny.train, shuffle_seed=1)
    encode_split(tiny.articles("validation"), tiny.tokenizer, "w-title", "single", tiny.validation)
    return tiny


@pytest.fixture(scope="session")
def small_process(tmp_path_factory: pytest.TempPathFactory) -> TinyProcess:
    return tiny_process(tmp_path_factory.mktemp("small-process"))
