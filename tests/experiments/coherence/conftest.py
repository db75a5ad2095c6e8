"""What the tests of coherence share: files of a small experiment, and published values beside some of its numbers."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from experiments.coherence.tiny import audited, build_coherence, with_second_corpus
from textcritic.experiments.coherence.files import CoherenceFiles
from textcritic.experiments.coherence.rows import coherence_rows
from textcritic.experiments.coherence.tables import NAMES
from textcritic.measures.material import Material
from textcritic.measures.published import read_published

COLUMNS = ("table", "corpus", "setting", "generator", "decoding", "metric", "value", "source", "note")
PUBLISHED = [
    ("2", "docstrings", "", "data", "latent_ppl", "2.0"),
    ("2", "docstrings", "w-title", "gpt2-demo", "latent_ppl", "2.5"),
    ("2", "docstrings", "w-title", "gpt2-demo", "ppl", "20"),
    ("12", "docstrings", "w-title", "gpt2-demo", "total_errors_percent", "5.46"),
    ("12", "docstrings", "w-title", "gpt2-demo", "error_percent: notes > notes", "0.13"),
    ("12", "docstrings", "w-title", "gpt2-demo", "error_percent: summary > parameters", "0.05"),
    ("12", "docstrings", "w-title", "gpt2-demo", "error_percent: summary > plot", "0.04"),
    ("12", "docstrings", "w-title", "gpt2-demo", "repetition_share_percent", "17.89"),
]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> CoherenceFiles:
    """Two generators and two seeds, with titles and without."""
    return build_coherence(tmp_path_factory.mktemp("coherence"), documents=60, seeds=(1, 2), resamples=100)


@pytest.fixture(scope="session")
def wide(files: CoherenceFiles, tmp_path_factory: pytest.TempPathFactory) -> CoherenceFiles:
    """The same with a second corpus and two decodings for the audit."""
    return with_second_corpus(tmp_path_factory.mktemp("other"), audited(files))


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV of `PUBLISHED`."""
    path = tmp_path_factory.mktemp("published") / "published.csv"
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([COLUMNS, *[(*row[:4], "", *row[4:], "a paper", "") for row in PUBLISHED]])
    return path


@pytest.fixture(scope="session")
def rows(files: CoherenceFiles, published: Path) -> pd.DataFrame:
    """Latent PPL and perplexity of every source."""
    return coherence_rows(Material(files, read_published(published), NAMES(files)))
