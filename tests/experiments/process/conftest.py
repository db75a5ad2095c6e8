"""What the tests of known processes share: files of a small experiment and its rows."""

from pathlib import Path

import pandas as pd
import pytest

from experiments.process.tiny import NOTHING, SAMPLES, build_process
from textcritic.experiments.process.files import ProcessFiles
from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.rows import perplexity_rows
from textcritic.measures.material import Material
from textcritic.measures.published import read_published

PUBLISHED = Path(__file__).parents[3] / "config/published/model-criticism/process.csv"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> ProcessFiles:
    """Two models, one of them drawn from in two ways, and a third of which nothing could be read."""
    return build_process(tmp_path_factory.mktemp("process"), samples=(*SAMPLES, NOTHING))


@pytest.fixture(scope="session")
def rows(files: ProcessFiles) -> pd.DataFrame:
    """Perplexity and Latent PPL of every source, beside the published values."""
    return perplexity_rows(Material(files, read_published(PUBLISHED), ProcessNames.of(files)))


def of(rows: pd.DataFrame, generator: str, decoding: str = "sequences", seed: int = 1) -> pd.Series:
    """The row of one sample."""
    keys = (rows["generator"] == generator) & (rows["decoding"] == decoding) & (rows["seed"] == seed)
    assert keys.sum() == 1
    return rows[keys].iloc[0]
