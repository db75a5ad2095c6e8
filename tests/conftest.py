"""Fixtures that several test files share, and settings of all tests."""

import bz2
import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

# Such small tensors are slower with more than one thread, and several tests run at a time. This is set before torch,
# numpy and nltk are imported; the processes that tests start inherit it.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # otherwise each of hundreds of processes compiles textcritic
os.environ["NLTK_DATA"] = str(Path(__file__).parent / "data" / "nltk_data")

import pytest
from hypothesis import settings
from samples import LARGE, SMALL

# torch and transformers take seconds to load, even for one small test: modules that need them are imported in fixtures.
if TYPE_CHECKING:
    from tiny import TinyEncoding
    from tiny_process import TinyProcess

# The time of an example is not a result, and a machine under load is slow.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

NEVER_RAN: list[str] = []
# The files that take longest, the longest first. They start first, so that no worker ends alone on a slow file. They
# are marked `slow`: `make test-fast` leaves them out.
SLOW = (
    *(
        "e2e/test_rehearsals",
        "experiments/test_contract",
        "e2e/test_micro",
        "e2e/test_criticise",
        "oracle/test_processes_oracle",
    ),
    *("dag/test_dag", "e2e/test_films", "e2e/test_scientific", "e2e/test_wheel", "e2e/test_mixing"),
    *("unit/test_environments", "e2e/test_pretrained_models", "e2e/test_criticise_model", "unit/test_hsmm_jobs"),
    *("unit/test_ctm_resume", "unit/test_launch", "e2e/test_checkout", "e2e/test_wikipedia_corpora"),
    *("oracle/test_wikipedia_oracle", "oracle/test_ctm_bound", "oracle/test_ctm_fit", "oracle/test_own_texts"),
    *("unit/test_wikipedia_kill", "experiments/test_new_experiment", "unit/test_classifier"),
    *("oracle/test_sample_oracle", "coherence/test_papers", "oracle/test_fairseq_losses", "oracle/test_hsmm_precision"),
    *(
        "oracle/test_beam_sampling",
        "oracle/test_fairseq_sampling",
        "unit/test_wikitext",
        "unit/test_corpora_docstrings",
    ),
    *("unit/test_fairseq_training", "unit/test_corpora_titles", "unit/test_ctm_covariances"),
    *("unit/test_fairseq_samples", "annotation/test_browser", "annotation/test_store", "annotation/test_load"),
    *("annotation/test_attacks", "e2e/test_pages", "e2e/test_metrics_command"),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not LARGE.is_dir():
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("large")])
        items[:] = [item for item in items if not item.get_closest_marker("large")]
    places = {name: place for place, name in enumerate(SLOW)}
    place_of = {item: places.get(f"{item.path.parent.name}/{item.path.stem}", len(places)) for item in items}
    items.sort(key=place_of.__getitem__)
    for item in items:
        if place_of[item] < len(places):
            item.add_marker("slow")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """`make test` fails if there is a rule that no workflow of its tests has run."""
    place = os.environ.get("RULES_RAN")
    if place and exitstatus == 0 and not hasattr(session.config, "workerinput"):
        from textcritic.generators.fairseq.shim import installed
        from textcritic.rehearsal.rules import never_ran_in

        NEVER_RAN.extend(never_ran_in(Path(place).iterdir()) if installed() else ())
        session.exitstatus = pytest.ExitCode.TESTS_FAILED if NEVER_RAN else pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not LARGE.is_dir():
        terminalreporter.write_line(f"left out: tests marked `large`, which need the real texts of {LARGE}")
    for rule in NEVER_RAN:
        terminalreporter.write_line(f"no workflow of the tests has run the rule {rule}, and read what it makes")


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """`shared_folder(name, make)`: a folder that `make(folder)` fills once for all workers; they only read it."""
    base = tmp_path_factory.getbasetemp()
    # A worker's base folder is inside the one of the whole run.
    place = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def shared(name: str, make: Callable[[Path], object]) -> Path:
        folder = place / f"shared-{name}"
        with (place / f"shared-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
            if not folder.exists():
                making = place / f"shared-{name}.making"
                shutil.rmtree(making, ignore_errors=True)  # left by a worker that failed: the next one tries again
                making.mkdir()
                make(making)
                making.rename(folder)
        return folder

    return shared


@pytest.fixture(scope="session")
def tiny_encoding(shared_folder) -> "TinyEncoding":
    from tiny import TinyEncoding, tiny_articles

    from textcritic.corpora import read_articles, render, write_articles
    from textcritic.generators.encode import encode_split
    from textcritic.training.load import train_tokenizer

    def make(folder: Path) -> None:
        tiny = encoding_in(folder)
        for split, count, seed in (("train", 60, 1), ("validation", 12, 2)):
            write_articles(tiny.articles(split), tiny_articles(count, seed))
        train_tokenizer((render(a, "w-title") for a in read_articles(tiny.articles("train"))), tiny.tokenizer, 300)
        encode_split(tiny.articles("train"), tiny.tokenizer, "w-title", "single", tiny.train, shuffle_seed=1)
        encode_split(tiny.articles("validation"), tiny.tokenizer, "w-title", "single", tiny.validation)

    def encoding_in(folder: Path) -> TinyEncoding:
        return TinyEncoding(folder, folder / "tokenizer", folder / "train", folder / "validation")

    return encoding_in(shared_folder("tiny", make))


@pytest.fixture(scope="session")
def small_process(tmp_path_factory: pytest.TempPathFactory) -> "TinyProcess":
    from tiny_process import tiny_process

    return tiny_process(tmp_path_factory.mktemp("small-process"))


@pytest.fixture(scope="session")
def wiki_counts(shared_folder) -> Path:
    """Counts of words of 819 sections of Wikipedia, an LDA-C file."""
    content = bz2.decompress((SMALL / "topics/wiki.dat.bz2").read_bytes())
    return shared_folder("topics", lambda folder: (folder / "wiki.dat").write_bytes(content)) / "wiki.dat"
