"""Fixtures that several test files share, and what all tests run under."""

import bz2
import os
from pathlib import Path

# Tensors as small as here are slower with more threads than one, and several tests run at a time. Before torch, numpy
# and nltk are imported; the processes that tests start inherit it.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
os.environ["NLTK_DATA"] = str(Path(__file__).parent / "data" / "nltk_data")

import pytest
from samples import SMALL
from tiny import TinyEncoding, tiny_articles
from tiny_process import TinyProcess, tiny_process

from textcritic.corpora import write_articles

# Which folder is begun first, and of each which files: the longest, so that no worker is left alone with one of them.
FOLDERS = ("e2e", "dag", "oracle", "unit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: FOLDERS.index(item.path.parent.name) if item.path.parent.name in FOLDERS else 0)


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


@pytest.fixture(scope="session")
def small_process(tmp_path_factory: pytest.TempPathFactory) -> TinyProcess:
    return tiny_process(tmp_path_factory.mktemp("small-process"))


@pytest.fixture(scope="session")
def wiki_counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts of words of 819 sections of Wikipedia, an LDA-C file."""
    path = tmp_path_factory.mktemp("topics") / "wiki.dat"
    path.write_bytes(bz2.decompress((SMALL / "topics/wiki.dat.bz2").read_bytes()))
    return path
