"""Files that a user must bring: what is left out of a study without them, how that is said, and when it is decided."""

import json
from pathlib import Path

import pandas as pd
import pytest
from own_study import ROOT, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.missing import recorded, without
from textcritic.plan.project import Project
from textcritic.report.make import make_tables

STUDIES = ("model-criticism", "beyond-perplexity", "latent-lms", "document-coherence")
TOPICS = {"kind": "topics", "critic": "ctm-demo"}
SAMPLES = {
    "corpora": ["docstrings", "mine"],
    "settings": ["wo-title"],
    "generators": ["ngram-3"],
    "decodings": ["demo"],
}
NLL = {"name": "table2", "of": "nll", "caption": "Topics"}
ALONE = {"name": "table3", "of": "nll", "caption": "Mine", "corpora": ["mine"]}
CORPUS = {"mine": {"extractor": "jsonl", "options": {"paths": ["data/mine.jsonl"]}, "label": "Mine", "bring": "ask me"}}
RAW = "results/raw/downloads"
DETECTOR = {
    "model": {"transformer": {"init": {"folder": "models/own"}}},
    "training": {"learning_rate": 0.1, "epochs": 1},
}
CAUSAL = {"kind": "causal", "encoding": "gpt2", "training": {"context": 8, "learning_rate": 0.1, "steps": 1}}
WHY = "there is no data/mine.jsonl (ask me)"


@pytest.fixture
def folder(tmp_path):
    """A study of a corpus that is made of installed packages, and one of a file that is not there."""
    return own_folder(tmp_path, study(TOPICS | {"sources": [SAMPLES], "tables": [NLL, ALONE]}), corpora=CORPUS)


def put(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("something")


@pytest.mark.parametrize("name", STUDIES)
def test_in_a_clean_clone_every_numbered_target_is_a_file_or_says_what_to_bring(name, tmp_path):
    shipped = Project({"studies": [name]}, ROOT, tmp_path, leave_out=True)
    full, prefix = Project({"studies": [name]}, ROOT, tmp_path), name.replace("-", "_")
    parts = full.studies[name].parts()
    targets = {part: shipped.targets()[f"{prefix}_{part}"] for part in parts}
    assert not any(target.refusal or bool(target.path) == bool(target.left_out) for target in targets.values())
    lost = {part: target.left_out for part, target in targets.items() if target.left_out}
    lines = "\n".join(shipped.said_at_start())
    if name == "latent-lms":
        assert list(lost) == ["figure1", "figure2", "figure3", "figure4"]
        assert "ptb-trees: there is no data/ptb/train.mrg" in lost["figure2"]
        assert "ptb-trees" not in lost["figure3"]
        assert "latent-lms: ptb-trees: there is no data/ptb/train.mrg, data/ptb/valid.mrg and" in lines
        assert "LDC99T42, needs a licence" in lines
        assert list(shipped.studies[name].experiments) == ["truth", "coreference"]
    elif name == "document-coherence":
        assert list(lost) == ["figure3"]
        assert "albert-xxlarge: needs albert-xxlarge-v2: the commit of its revision main is not known (text" in lines
        command = "document-coherence: `textcritic lock document-coherence` looks the commits up, with a network"
        assert lines.splitlines()[-1] == command
        assert "left out of table3, table6, table7 and figure3" in lines
        assert shipped.studies[name].experiments["intruders"].block.judges == ["bert-base"]
    else:
        assert not lines
        assert not lost


def test_a_table_of_which_nothing_is_left_has_the_published_values_and_the_reasons(tmp_path):
    shipped = Project({"studies": ["latent-lms"]}, ROOT, tmp_path, leave_out=True)
    alone = shipped.studies["latent-lms"].experiment("importance", "table1")
    assert alone.paths("table1") == []
    csv, html = make_tables(alone.request("table1"), tmp_path, ROOT / "config/published/latent-lms/importance.csv")[::2]
    rows = pd.read_csv(csv, dtype=str)
    assert rows[(rows["generator"] == "rnng") & (rows["temperature"] == "1.1")]["published"].tolist()[0] == "84.0"
    said = html.read_text()
    assert "Table 1. Perplexity with different proposal distributions" in said
    assert "left out: there is no data/ptb/train.mrg" in said
    assert said.count('class="left-out"') == 3


def test_what_is_missing_goes_out_of_lists_and_of_tables_with_the_reason(folder):
    left = project(folder, leave_out=True).studies["own"]
    assert left.experiments["topics"].corpora() == ["docstrings"]
    assert list(left.experiments["topics"].parts) == ["table2"]
    assert json.loads(left.experiments["topics"].request("table2")["job"])["left_out"] == {"Mine": WHY}
    assert left.reasons() == [f"mine: {WHY}: left out of table2 and table3"]
    described = project(folder, leave_out=True).describe("own")
    assert described["study"]["not_measured"] == {
        "mine": f"{WHY}: left out of table2 and table3",
        "table3": f"mine: {WHY}",
    }


def test_with_the_file_all_is_as_if_it_had_never_been_missing(folder):
    put(folder, "data/mine.jsonl")
    there, plain = project(folder, leave_out=True), project(folder)
    assert there.describe("own") == plain.describe("own")
    assert [e.request() for e in there.studies["own"].experiments.values()] == [
        e.request() for e in plain.studies["own"].experiments.values()
    ]
    assert there.said_at_start() == []


def test_an_empty_file_and_an_empty_folder_are_as_good_as_none(folder):
    put(folder, "data/mine.jsonl")
    (folder / "data/mine.jsonl").write_text("")
    lines = project(folder, leave_out=True).said_at_start()
    assert lines == ["own: mine: nothing is in data/mine.jsonl (ask me): left out of table2 and table3"]
    write(
        folder / "registry/corpora.yaml",
        {"mine": CORPUS["mine"] | {"options": {"paths": ["data/all", "more.jsonl", "more.jsonl"]}}},
    )
    (folder / "data/all").mkdir()
    why = project(folder, leave_out=True).missing.why("corpora", "mine")
    assert why == "there is no more.jsonl and nothing is in data/all (ask me)"


def test_where_nothing_is_left_out_nothing_is_missing(folder):
    """As with a storage of Snakemake's, whose files are not in the working directory; rules ask all the same."""
    write(folder / "registry/corpora.yaml", {"mine": CORPUS["mine"] | {"options": {"paths": ["gone.jsonl"]}}})
    assert project(folder, leave_out=True).missing.why("corpora", "mine") == "there is no gone.jsonl (ask me)"
    there = project(folder, leave_out=False).missing
    assert (there.why("corpora", "mine"), there.gone()) == ("", {})


def test_what_a_rule_makes_is_not_brought(folder):
    write(folder / "registry/corpora.yaml", {"mine": CORPUS["mine"] | {"options": {"paths": ["results/a/b.jsonl"]}}})
    assert project(folder, leave_out=True).missing.why("corpora", "mine") == ""


def test_a_list_that_is_empty_then_is_its_default_or_takes_its_item_along(folder):
    names = {"items": {"registry": "corpora"}, "default": []}
    rules = {"properties": {"more": names, "sources": {"items": {"properties": {"more": names}}}}}
    missing, ours = project(folder, leave_out=True).missing, {"more": ["docstrings"]}
    assert without({"more": ["mine"], "sources": [ours]}, rules, missing) == {"more": [], "sources": [ours]}
    sources = [ours, {"more": ["mine"]}]
    assert without({"more": [], "sources": sources}, rules, missing) == {"more": [], "sources": [ours]}
    assert without({"more": [], "sources": sources[1:]}, rules, missing) is None


def test_a_file_that_vanished_after_use_removes_no_row(folder):
    put(folder, *(f"results/corpora/mine/{split}.parquet" for split in ("train", "validation")))
    assert project(folder, leave_out=True).said_at_start()  # what was made of it is not whole
    put(folder, "results/corpora/mine/test.parquet")
    assert project(folder, leave_out=True).said_at_start() == []


@pytest.mark.parametrize(
    ("registry", "name", "made"),
    [
        ("critics", "own-bert", "results/detectors/own-bert/wiki/seed1/model"),
        ("generators", "own-gpt", "results/generators/docstrings/wo-title/own-gpt/seed1"),
        ("encodings", "own-words", "results/encodings/docstrings/own-words/tokenizer"),
    ],
)
def test_what_was_made_of_a_folder_takes_its_place(folder, registry, name, made):
    """Of each registry in its own folders; another entry's results do not count."""
    init = {"folder": "models/own"}
    write(folder / "registry/critics.yaml", {"own-bert": {"kind": "detector", **DETECTOR}})
    write(folder / "registry/encodings.yaml", {"own-words": {"tokenizer": init}})
    write(folder / "registry/generators.yaml", {"own-gpt": CAUSAL | {"init": init}})
    put(folder, f"{made.replace(name, 'another')}/config.json")
    assert project(folder, leave_out=True).missing.why(registry, name) == "there is no models/own (put it there)"
    put(folder, f"{made}/config.json")
    assert project(folder, leave_out=True).missing.why(registry, name) == ""


def test_jobs_leave_out_what_was_missing_when_their_run_started(folder):
    project(folder, leave_out=True).begin()
    record = folder / "results/studies/own/missing.json"
    written = record.stat().st_mtime_ns
    assert read_json(record) == {"corpora.mine": WHY}
    project(folder, leave_out=True).begin()
    assert record.stat().st_mtime_ns == written
    # Of several studies, those that have no record are decided anew.
    assert recorded(folder, ["own"]) == {"corpora.mine": WHY}
    assert recorded(folder, ["own", "other"]) is None
    put(folder, "data/mine.jsonl")
    job, fresh = project(folder, leave_out=True, begun=True), project(folder, leave_out=True)
    assert job.studies["own"].experiments["topics"].corpora() == ["docstrings"]
    assert fresh.studies["own"].experiments["topics"].corpora() == ["docstrings", "mine"]
    fresh.begin()
    (folder / "data/mine.jsonl").unlink()
    job = project(folder, leave_out=True, begun=True)
    assert job.studies["own"].experiments["topics"].corpora() == ["docstrings", "mine"]


def test_a_wrong_file_in_the_place_of_a_download_is_noticed_before_the_first_job(folder):
    entry = {"url": "http://nowhere/x", "sha256": "0" * 64}
    write(folder / "registry/downloads.yaml", {"theirs": entry})
    write(folder / "registry/corpora.yaml", {"mine": CORPUS["mine"] | {"options": {"paths": [f"{RAW}/theirs"]}}})
    put(folder, f"{RAW}/theirs")
    assert project(folder, leave_out=True).said_at_start() == []
    with pytest.raises(TextcriticError, match=rf"{RAW}/theirs: its sha256 is [0-9a-f]{{64}}, not 0{{64}}; delete it"):
        project(folder, leave_out=True).begin()


def test_a_study_that_has_nothing_and_one_that_refuses_are_one_line(folder):
    with pytest.raises(TextcriticError, match=r"config: missing: refuse: own: mine: there is no data/mine") as refused:
        project(folder, leave_out=True, missing="refuse")
    assert "\n" not in str(refused.value)
    own = Path(folder / "studies/own.yaml")
    own.write_text(own.read_text().replace("- docstrings\n", ""))
    with pytest.raises(TextcriticError, match=r"nothing of this study can be made here: mine: there is no data/mine"):
        project(folder, leave_out=True)
