"""Who is who in a study: files that are not there are named before anything runs."""

import pytest
from own_study import experiment, own_folder, project, study

from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.plan import given_mentions, language_file

SOURCES = [{"corpora": ["mine"], "generators": ["theirs"], "decodings": ["given"]}]
FILES = ("given.jsonl", "words.yml", "gold.conll", "other.yml")


@pytest.fixture
def folder(tmp_path):
    """A study with files of one's own in each place that may name one."""
    for name in FILES:
        (tmp_path / name).write_text("")
    return own_folder(
        tmp_path,
        study(
            {"kind": "coreference", "name": "given", "critic": "given", "sources": SOURCES, "annotated": ["gold"]},
            {"kind": "coreference", "name": "rules", "critic": "rules", "sources": SOURCES},
        ),
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}},
        resolvers={
            "given": {"kind": "given", "files": ["given.jsonl"]},
            "rules": {"kind": "persons", "language": "words.yml"},
        },
        critics={name: {"kind": "mentions", "resolver": name} for name in ("given", "rules")},
        annotations={"gold": {"files": ["gold.conll", "results/raw/downloads/litbank"], "language": "other.yml"}},
    )


def test_a_change_of_a_file_reruns_what_reads_it(folder):
    experiment(folder, "given")
    registries = project(folder).registries
    assert given_mentions("given", registries) == ["given.jsonl"]
    assert given_mentions("rules", registries) == ["words.yml"]
    assert given_mentions("persons", registries) == []
    assert language_file(registries.entry("annotations", "gold")) == ["other.yml"]


@pytest.mark.parametrize(
    ("file", "where"),
    [
        ("given.jsonl", "resolvers.yaml: given: files"),
        ("words.yml", "resolvers.yaml: rules: language"),
        ("gold.conll", "annotations.yaml: gold: files"),
        ("other.yml", "annotations.yaml: gold: language"),
    ],
)
def test_a_file_that_is_not_there(folder, file, where):
    (folder / file).unlink()
    with pytest.raises(TextcriticError) as refused:
        project(folder)
    assert str(refused.value) == f"{folder}/registry/{where}: {file}: no such file, relative to the working directory"


def test_a_fault_in_an_entry_of_one_s_own_names_its_file(folder):
    with (folder / "registry/resolvers.yaml").open("a") as registry:
        registry.write("films: {kind: persons, opening: {matches: '(film'}}\n")
    with pytest.raises(TextcriticError) as refused:
        project(folder)
    start = f"{folder}/registry/resolvers.yaml: films: opening.matches: '(film' is not a regular expression"
    assert str(refused.value).startswith(start)
