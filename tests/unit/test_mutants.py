"""Mutants are tried with every file of tests that is about what is mutated, without anybody adding it to a list."""

import tomllib

import pytest
from mutants_files import LEFT_OUT, TESTS, is_chosen, patterns, reaches_mutants

ROOT = TESTS.parent
FILES = {
    "helper": "def made():\n    from textcritic.latents.bags import Vocabulary\n    return Vocabulary\n",
    "experiments/kind/tiny": "import helper\n",
    "unit/test_direct": "from textcritic.critics.tendencies import zipf\n",
    "unit/test_door": "from textcritic.critics import decompose\n",
    "unit/test_name_of_a_module": "from textcritic.generators import sample\n",
    "oracle/test_by_helpers": "from experiments.kind.tiny import helper\n",
    "unit/test_other": "import helpers_that_are_not_there\nfrom textcritic.generators.sample_size import number\n",
    "unit/test_corpora": "from textcritic.corpora import Article\n",
}


@pytest.fixture
def tests(tmp_path):
    """A folder of tests with helpers."""
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", [name for name in FILES if "/test_" in name])
def test_a_file_is_chosen_by_what_it_and_its_helpers_import(tests, name):
    assert is_chosen(tests / f"{name}.py", tests) == (name not in ("unit/test_other", "unit/test_corpora"))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_file_that_is_left_out_is_there_and_would_be_chosen(name):
    path = TESTS / f"{name}.py"
    assert reaches_mutants(path)
    assert not is_chosen(path)


def test_what_is_mutated_is_there_and_whole_folders_are_asked():
    assert all(list(ROOT.glob(pattern)) for pattern in patterns())
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    asked = settings["pytest_add_cli_args_test_selection"]
    assert {"tests/unit", "tests/oracle"} <= set(asked)
    assert all((ROOT / folder).is_dir() for folder in asked)
