"""What the tests of statistical tendencies share."""

import pytest

from experiments.tendencies.tiny import EMPTY, GENERATORS, build_tendencies
from textcritic.experiments.tendencies.files import TendenciesFiles
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.measures.material import Material
from textcritic.measures.names import Names


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> TendenciesFiles:
    """A sample like real text, two unlike it, and one without a token."""
    sources = [(generator, "drawn", "wo-title") for generator in (*GENERATORS, EMPTY)]
    return build_tendencies(tmp_path_factory.mktemp("tendencies"), sources=sources)


@pytest.fixture(scope="session")
def names(files: TendenciesFiles) -> Names:
    return Names.of(files.samples, REAL)


@pytest.fixture(scope="session")
def material(files: TendenciesFiles, names: Names) -> Material:
    return Material(files, names=names)
