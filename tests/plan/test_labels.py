"""What corpora and decodings are called in tables and figures: by their label, or by what they are."""

import json

import pytest
import yaml
from own_study import ROOT

from textcritic.errors import TextcriticError
from textcritic.measures.labels import corpus_name, decoding_name, labelled
from textcritic.plan.bundle import join_request
from textcritic.plan.labels import entry_label, labels_of
from textcritic.plan.project import Project
from textcritic.plan.registries import Registries

DECODINGS = {
    "plain": {},
    "again": {"articles": 7},
    "hot": {"temperature": 1.5},
    "top": {"top_k": 50, "top_p": 0.9},
    "opened": {"opening": 32},
    "length": {"stop": "given"},
    "greedy": {"method": "likeliest"},
    "refined": {"method": "likeliest", "iterations": 4},
    "beam": {"method": "likeliest", "beam": 5},
    "drawn-beam": {"method": "beam-sampling", "beam": 3},
    "best": {"method": "best-of", "beam": 2},
    "named": {"label": "as they came"},
}
CORPORA = {name: {"extractor": "jsonl", "options": {"paths": ["a.jsonl"]}} for name in ("my-own", "other")}


def registries_of(folder, **entries):
    for registry, named in entries.items():
        (folder / f"{registry}.yaml").write_text(yaml.safe_dump(named))
    return Registries([folder], folder)


@pytest.fixture
def registries(tmp_path):
    labelled_too = CORPORA | {"labelled": {**CORPORA["other"], "label": "L"}}
    return registries_of(tmp_path, decodings=DECODINGS, corpora=labelled_too)


def test_an_entry_without_a_label_is_called_by_what_it_is(registries):
    assert {name: entry_label("decodings", name, registries) for name in DECODINGS} == {
        "plain": "sampled",
        "again": "sampled",
        "hot": "sampled, temperature 1.5",
        "top": "sampled, top-k 50, nucleus 0.9",
        "opened": "sampled, from 32 given tokens on",
        "length": "sampled, length given",
        "greedy": "likeliest",
        "refined": "likeliest, refined 4 times",
        "beam": "beam search of 5",
        "drawn-beam": "beam sampling of 3",
        "best": "best of 2",
        "named": "as they came",
    }
    labels = [entry_label("corpora", name, registries) for name in ("my-own", "other", "labelled")]
    assert labels == ["my own", "other", "L"]


def test_entries_that_would_be_called_the_same_are_told_apart(registries, tmp_path):
    named = [("decodings", "plain"), ("decodings", "again"), ("corpora", "other"), ("generators", "nobody")]
    found = labels_of(named, registries)
    assert found == {"decodings": {"plain": "sampled (plain)", "again": "sampled (again)"}}
    twice = {name: {**entry, "label": "Both"} for name, entry in CORPORA.items()}
    with pytest.raises(TextcriticError, match=r"corpora.yaml: my-own: has the same label as other, 'Both'"):
        labels_of([("corpora", name) for name in twice], registries_of(tmp_path, corpora=twice))


def test_a_job_knows_the_labels_of_its_experiment(tmp_path):
    project = Project({"studies": ["code-mixing-demo"]}, ROOT, tmp_path)
    (experiment,) = project.studies["code-mixing-demo"].experiments.values()
    labels = join_request(experiment.request())["labels"]
    assert labels["corpora"]["catalogues"] == "messages of programs"
    assert labels["decodings"]["refined-4-demo"] == "likeliest, refined 4 times"
    # A new label makes tables again, and nothing that comes before them.
    assert "messages of programs" not in json.dumps(
        {key: text for key, text in experiment.request().items() if key != "labels"}
    )


def test_labels_hold_inside_their_job_alone():
    labels = {"corpora": {"docs": "documentation"}, "decodings": {"docs": "drawn"}}
    with labelled(labels):
        assert (corpus_name("docs"), decoding_name("docs"), corpus_name("wiki")) == ("documentation", "drawn", "wiki")
    assert corpus_name("docs") == "docs"
