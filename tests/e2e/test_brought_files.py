"""A file that a user brings appears, and vanishes after use: what runs, and what stands in the report."""

import csv
import sys

import pytest
from own_study import ROOT, own_folder, study, write
from snake import snakemake

sys.path.insert(0, str(ROOT / "tests" / "micro"))

import recipes

KEYS = {"extractor": "jsonl", "sections": {"minimum": 1, "minimum_tokens": 1, "maximum_tokens": 200}}
CORPORA = {
    name: KEYS | {"options": {"paths": [f"data/{name}.jsonl"]}, "titles": {"drop": []}, "bring": "ask me"}
    for name in ("here", "mine")
}
BOTH = {"kind": "corpora", "corpora": ["here", "mine"]}
TABLES = [
    {"name": "table1", "of": "statistics", "caption": "Both"},
    {"name": "table2", "of": "statistics", "caption": "One", "corpora": ["here"]},
]
OF_MINE = {f"{rule}/mine" for rule in ("extract_corpus", "build_corpus", "measure_overlap")}
SHOWN = {"make_corpora_tables/own/corpora", "make_figures/own/corpora/figures", "make_section/own/corpora"}
LINE = "own: mine: there is no data/mine.jsonl (ask me): left out of table1"


@pytest.fixture
def folder(tmp_path):
    """Two experiments, one of two corpora and one of the first alone; the file of the second is in another place."""
    made = own_folder(
        tmp_path,
        study(BOTH | {"tables": TABLES}, {"kind": "corpora", "name": "alone", "corpora": ["here"]}),
        corpora=CORPORA,
    )
    config = {"studies": ["own"], "registry_folders": ["config/registry", "registry"], "study_folders": ["studies"]}
    write(made / "config.yaml", config)
    recipes.write(tmp_path)
    lines = (tmp_path / "recipes.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/here.jsonl").write_text("".join(lines[:60]))
    (tmp_path / "mine.jsonl").write_text("".join(lines[60:120]))
    return made


def run(folder):
    """What a run says, and the logs of the jobs that it ran."""
    logs = folder / "results/logs"
    before = {path: path.stat().st_mtime_ns for path in logs.rglob("*.log")}
    done = snakemake(folder, configfile=folder / "config.yaml")
    assert done.returncode == 0, done.stderr
    written = {path for path in logs.rglob("*.log") if before.get(path) != path.stat().st_mtime_ns}
    return done.stderr, {str(path.relative_to(logs).with_suffix("")) for path in written}


def corpora(folder):
    with (folder / "results/studies/own/corpora/tables/table1.csv").open(newline="") as handle:
        return {row["corpus"] for row in csv.DictReader(handle)}


def test_a_file_that_appears_and_then_vanishes(folder):
    page = folder / "results/studies/own/report.html"
    said, first = run(folder)
    assert LINE in said
    assert not OF_MINE & first
    assert (corpora(folder), LINE.split(": ", 2)[2] in page.read_text()) == ({"here"}, True)
    raw = folder / "data/mine.jsonl"
    raw.write_bytes((folder / "mine.jsonl").read_bytes())
    said, second = run(folder)
    assert "left out" not in said
    assert second == OF_MINE | SHOWN | {"make_part_table/own/corpora/table1", "make_manifest/own", "make_report/own"}
    assert (corpora(folder), "data/mine.jsonl (ask me)" in page.read_text()) == ({"here", "mine"}, False)
    raw.unlink()
    said, third = run(folder)
    assert ("left out" in said, third) == (False, set())
    assert corpora(folder) == {"here", "mine"}
