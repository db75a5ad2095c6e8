"""What the tests of topics share: files of a small experiment, its rows, and sums by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.topics.tiny import BROKEN, GENERATORS, build_topics
from textcritic.experiments.topics.files import Documents, TopicsFiles
from textcritic.experiments.topics.rows import topic_rows
from textcritic.files import read_table
from textcritic.measures.material import Material

PUBLISHED = Path(__file__).parents[3] / "config/published/model-criticism/topics.csv"
DOCUMENTS = 60


@pytest.fixture(scope="session")
def topics(tmp_path_factory: pytest.TempPathFactory) -> TopicsFiles:
    """Two models, a baseline, and a model of which nothing can be scored."""
    return build_topics(tmp_path_factory.mktemp("topics"), generators=(*GENERATORS, BROKEN), documents=DOCUMENTS)


@pytest.fixture(scope="session")
def rows(topics: TopicsFiles) -> pd.DataFrame:
    """Latent NLL of every source, and how far its covariances are from real text's."""
    return topic_rows(Material(topics))


def of(rows: pd.DataFrame, generator: str) -> pd.Series:
    """The row of one source."""
    found = rows[rows["generator"] == generator]
    assert len(found) == 1
    return found.iloc[0]


def moments(source: Documents) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances by hand, of the documents that have some."""
    table = read_table(source.posteriors).to_pandas()
    kept = table[table["words"] > 0]
    return np.stack(kept["mean"].to_list()), np.stack(kept["variance"].to_list())


def centred(means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Covariance of the logarithms of all proportions less their mean: [K, K]."""
    means, variances = (np.column_stack([rows, np.zeros(len(rows))]) for rows in (means, variances))
    plain = np.cov(means.T, bias=True) + np.diag(variances.mean(0))
    return plain - plain.mean(0) - plain.mean(1)[:, None] + plain.mean()
