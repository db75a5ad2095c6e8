"""Kinds of entries that a package of somebody's own adds: the example of docs/extend.md, and what is refused."""

import re
import sys

import pytest
from own_study import ROOT, own_folder, project, study

from textcritic.errors import TextcriticError

PACKAGE = "mylab/readability"
BLOCK = {"kind": "readability", "sources": [{"corpora": ["mine"], "generators": ["theirs"], "decodings": ["given"]}]}


def example(page: str, path: str) -> str:
    """A file that a page of the documentation shows."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^`{path}`:[^\n]*\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A study with a block of the kind of docs/new-experiment.md, whose package has entries.py of docs/extend.md."""
    own_folder(
        tmp_path,
        study(BLOCK),
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}},
        critics={"words": {"kind": "unigram", "added": 0.5, "label": "Words"}},
    )
    (tmp_path / PACKAGE).mkdir(parents=True)
    for name in ("plan.py", "tables.py", "section.py"):
        (tmp_path / PACKAGE / name).write_text(example("new-experiment.md", f"{PACKAGE}/{name}"))
    (tmp_path / PACKAGE / "entries.py").write_text(example("extend.md", f"{PACKAGE}/entries.py"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "mylab"]:
        del sys.modules[name]


def read(folder):
    return project(folder, experiment_packages=["mylab.readability"])


def test_an_entry_is_its_class_and_comes_back_from_the_text_that_a_job_gets(folder):
    registries = read(folder).registries
    entry, spec = registries.entry("critics", "words"), registries.spec("critics", "words")
    assert (type(entry).__name__, entry.added, registries.label("critics", "words")) == ("Unigram", 0.5, "Words")
    assert spec == '{"added": 0.5, "kind": "unigram"}'
    assert type(entry).restore(spec).added == 0.5
    assert registries.names("critics", kind=["unigram"]) == "words"


@pytest.mark.parametrize("values", [{"added": 2}, {"add": 2}])
def test_the_configuration_lays_values_over_it(folder, values):
    config = {"registry": {"critics": {"words": values}}, "experiment_packages": ["mylab.readability"]}
    if "add" in values:
        with pytest.raises(TextcriticError, match=r"critics\.words: unknown key 'add'; did you mean 'added'\?"):
            project(folder, **config)
    else:
        assert project(folder, **config).registries.entry("critics", "words").added == 2


def test_the_kind_of_another_package_is_unknown_without_it(folder):
    (folder / "studies/own.yaml").write_text("title: None\nexperiments: []\n")
    with pytest.raises(TextcriticError, match=r"critics\.yaml: words: kind: 'unigram' is not one of transitions, "):
        project(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("added: 0.5", "added: 0", r"critics\.yaml: words: added: 0 should be more than 0"),
        ("added: 0.5", "aded: 1", r"critics\.yaml: words: unknown key 'aded'; did you mean 'added'\?"),
    ],
)
def test_a_fault_in_an_entry_is_one_line(folder, old, new, message):
    path = folder / "registry/critics.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(TextcriticError, match=message):
        read(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Unigram(Entry,", "class Unigram(Entrie,", "readability: NameError: name 'Entrie' is not defined"),
        ("Literal[", "Literal [[", "entries.py, line 9: "),
        ('"critics"', '"critic"', "ENTRIES: 'critic' is no registry with kinds; these are classifiers, critics, "),
        ('"critics"', '"corpora"', "ENTRIES: 'corpora' is no registry with kinds; these are classifiers, critics, "),
        ("[Unigram]", '["Unigram"]', "ENTRIES: critics: 'Unigram' is no subclass of textcritic"),
        ('"unigram"]', '"lda"]', "ENTRIES: critics: Unigram: there is a kind 'lda' already; rename it"),
        (', title="how frequent words are (kind unigram)"', "", "ENTRIES: critics: Unigram needs a title and a kind"),
        ("ENTRIES = ", "MODELS = ", "ENTRIES should be a mapping of registries to models"),
    ],
)
def test_a_fault_in_entries_py_is_one_line(folder, old, new, message):
    path = folder / PACKAGE / "entries.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(TextcriticError) as refused:
        read(folder)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
