"""What the tests of mixed languages share."""

import pytest

from experiments.mixing.tiny import BROKEN, build_mixing
from textcritic.experiments.mixing.files import MixingFiles
from textcritic.experiments.mixing.read import Compared
from textcritic.experiments.mixing.rows import REAL
from textcritic.measures.names import Names

SOURCES = [
    ("translator", "drawn"),
    ("writer", "drawn"),
    ("refiner", "refined-0"),
    ("refiner", "refined-2"),
    (BROKEN, "drawn"),
]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> MixingFiles:
    """Samples of different mixing, two seeds each, and one of which nothing can be scored."""
    return build_mixing(tmp_path_factory.mktemp("mixing"), sources=SOURCES, seeds=(1, 2), drawn=40)


@pytest.fixture(scope="session")
def compared(files: MixingFiles) -> list[Compared]:
    return [Compared.of(real, files) for real in files.data]


@pytest.fixture(scope="session")
def names(files: MixingFiles) -> Names:
    return Names.of(files.samples, REAL)
