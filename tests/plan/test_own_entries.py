"""The example in docs/extend.md of a kind of experiment that brings a kind of entry."""

import re
import sys

import pytest
from own_study import ROOT, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.plan.entries import REGISTRIES, read_entry

SOURCES = [{"corpora": ["docstrings"], "generators": ["ngram-3"], "decodings": ["demo"]}]
BLOCK = {"kind": "syllables", "critic": "latin", "sources": SOURCES}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the files of the page."""
    text = (ROOT / "docs/extend.md").read_text(encoding="utf-8")
    files = re.findall(r"^`([\w./]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    made = own_folder(tmp_path, study(BLOCK))
    for path, content in files:
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(content)
    for name in ("tables", "section"):
        (made / f"mylab/syllables/{name}.py").touch()
    monkeypatch.setattr(sys, "path", [str(made), *sys.path])
    before, loaded = dict(REGISTRIES), set(sys.modules)
    yield made
    REGISTRIES.update(before)
    for name in set(sys.modules) - loaded:
        if name.startswith("mylab"):
            del sys.modules[name]


def planned(folder, **config):
    return project(folder, experiment_packages=["mylab.syllables"], **config)


def test_its_entries_are_like_all_others(folder):
    made = planned(folder)
    experiment = made.studies["own"].experiments["syllables"]
    assert made.registries.entry("critics", experiment.block.critic).vowels == "aeiou"
    assert made.registries.spec("critics", "latin") == '{"kind": "syllables", "vowels": "aeiou"}'
    assert made.registries.names("critics", kind=["syllables"]) == "latin"
    assert made.describe("own")["registry"]["critics"] == {"latin": {"kind": "syllables", "vowels": "aeiou"}}
    over = planned(folder, registry={"critics": {"latin": {"vowels": "aeiouy"}}})
    assert over.registries.spec("critics", "latin") == '{"kind": "syllables"}'


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "syllables", "vowel": "a"}, r"critics.yaml: latin: unknown key 'vowel'; did you mean 'vowels'\?"),
        ({"kind": "syllabels"}, r"critics.yaml: latin: kind: 'syllabels' is not one of transitions, .*, syllables"),
        ({"kind": "order"}, r"experiments.1 \(syllables\): critic: latin is of kind order; name an entry of kind syll"),
    ],
)
def test_a_bad_entry_is_one_line(folder, entry, message):
    write(folder / "registry/critics.yaml", {"latin": entry})
    with pytest.raises(TextcriticError, match=message) as refused:
        planned(folder)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{"critics": ', '{"critic": ', r"entries: 'critic' is not one of classifiers, critics, .*, which have kinds"),
        ('{"critics": ', '{"corpora": ', r"entries: 'corpora' is not one of classifiers, critics, "),
        (
            'kind: Literal["syllables"] = key("how',
            'kind: Literal["order"] = key("how',
            r"experiment_packages: mylab.syllables: entries: critics has a kind 'order' already; rename it",
        ),
        (
            'kind: Literal["syllables"] = key("how',
            'kind: str = key("how',
            r"entries: Syllables should have a key kind: Literal\[...\]",
        ),
    ],
)
def test_a_model_that_does_not_fit_is_one_line(folder, old, new, message):
    plan = folder / "mylab/syllables/plan.py"
    assert old in plan.read_text()
    plan.write_text(plan.read_text().replace(old, new))
    with pytest.raises(TextcriticError, match=message):
        planned(folder)


def test_its_entries_are_known_once_and_its_kind_is_not_without_it(folder):
    planned(folder)
    planned(folder)  # the same model once more changes nothing
    assert read_entry({"kind": "syllables"}, "critics", "here").plain()["vowels"] == "aeiouy"
    write(folder / "registry/critics.yaml", {})
    with pytest.raises(TextcriticError, match=r"kind: 'syllables' is not one of coherence, "):
        project(folder)
