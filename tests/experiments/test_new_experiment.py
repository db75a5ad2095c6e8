"""docs/new-experiment.md is the acceptance test of the contract: its files are written out as they stand, and built."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from snake import ROOT, dry_run, snakemake

from textcritic.inference import Number, gap, verdict
from textcritic.measures.numbers import interval, number
from textcritic.measures.sentences import SIGNS

PAGE = ROOT / "docs/new-experiment.md"
MOST_LINES = 150
MOST_CODE = 95  # lines of Python, blank ones not counted


def blocks():
    """The files of the page: (path, text)."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"^`([\w./]+)`:[^\n]*\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working directory with the files of the page, on a corpus of seconds in place of the docstrings."""
    sys.path.insert(0, str(ROOT / "tests/micro"))
    from recipes import write

    folder = tmp_path_factory.mktemp("stranger")
    for path, text in blocks():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.replace("docstrings", "recipes").replace("ngram-3", "ngram-2"))
    study = folder / "studies/readable.yaml"
    study.write_text(study.read_text().replace("[demo]", "[micro]"))
    config = folder / "readable.config.yaml"
    micro = {"registry_folders": [str(ROOT / "tests/micro/registry")], "resamples": 200}
    config.write_text(config.read_text() + yaml.safe_dump(micro))
    write(folder)
    run = snakemake(folder, configfile=config)
    assert run.returncode == 0, run.stderr
    return folder


def test_the_example_is_short_and_complete():
    files = dict(blocks())
    package = {path: text for path, text in files.items() if path.startswith("mylab")}
    assert {"plan.py", "rules.smk", "measure.py", "tables.py", "section.py"} == {Path(path).name for path in package}
    assert sum(len(text.splitlines()) for text in files.values()) < MOST_LINES
    code = [line for path, text in package.items() if path.endswith((".py", ".smk")) for line in text.splitlines()]
    assert sum(bool(line.strip()) for line in code) <= MOST_CODE


def test_the_study_of_a_kind_from_outside_is_built(folder):
    with (folder / "results/studies/readable/readability/tables/words.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert [row["label"] for row in rows] == ["real text", "ngram-2"]
    assert all(float(row["ci_low"]) < float(row["words_per_sentence"]) < float(row["ci_high"]) for row in rows)
    for table in ("words", "table1"):
        for suffix in ("csv", "tex", "html"):
            assert (folder / f"results/studies/readable/readability/tables/{table}.{suffix}").stat().st_size > 0
    page = (folder / "results/studies/readable/report.html").read_text(encoding="utf-8")
    assert re.search(r'<details class="section" id="readability" open>\s*<summary><h2>Readability</h2>', page)
    assert 'id="readability-table-words"' in page


def test_the_terminal_shows_its_lines(folder):
    command = [sys.executable, "-m", "textcritic.cli", "show", "results/studies/readable"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert re.search(r"^Made-up cookery +Readability\n +Words per sentence$", done.stdout, re.MULTILINE)
    with (folder / "results/studies/readable/readability/tables/words.csv").open() as handle:
        real, sample = csv.DictReader(handle)
    ends = ("words_per_sentence", "ci_low", "ci_high")
    (value, low, high), yardstick = (tuple(float(row[key]) for key in ends) for row in (sample, real))
    apart = gap(Number(value, low, high), Number(*yardstick))
    sign = SIGNS[verdict(float(sample["p_value"]), apart, 0.1 * yardstick[0])]
    for source, cell in (
        ("ngram-2", f"{sign} {number(value)} ({interval(low, high)})"),
        ("real text", f"{number(yardstick[0])} ("),
    ):
        assert re.search(rf"^{source} +{re.escape(cell)}", done.stdout, re.MULTILINE)


def test_it_has_a_target_and_a_stage_of_its_own(folder):
    run = dry_run(folder, "--dry-run", "--force", "readable_table1", configfile=folder / "readable.config.yaml")
    assert run.returncode == 0, run.stderr
    config = yaml.safe_load((folder / "readable.config.yaml").read_text())
    (folder / "again.yaml").write_text(yaml.safe_dump(config | {"stage_versions": {"readability": 2}}))
    run = dry_run(folder, "--dry-run", "--quiet", "rules", configfile=folder / "again.yaml")
    assert "measure_readability" in run.stdout
    assert "fit_ngram" not in run.stdout


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("sources:", "source:", "unknown key 'source'; did you mean 'sources'?"),
        ("recipes", "recipe", "config/registry/corpora.yaml has no entry 'recipe'; did you mean 'recipes'?"),
        ("of: words", "of: letters", "'letters' is not one of words"),
    ],
)
def test_a_fault_in_its_block_is_one_line(folder, tmp_path, old, new, line):
    (tmp_path / "studies").mkdir()
    text = (folder / "studies/readable.yaml").read_text()
    (tmp_path / "studies/readable.yaml").write_text(text.replace(old, new))
    config = yaml.safe_load((folder / "readable.config.yaml").read_text())
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config | {"study_folders": [str(tmp_path / "studies")]}))
    run = dry_run(folder, "--dry-run", configfile=tmp_path / "config.yaml")
    assert run.returncode != 0
    assert line in run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr


def test_a_package_that_is_not_there_is_one_line(folder, tmp_path):
    config = yaml.safe_load((folder / "readable.config.yaml").read_text())
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config | {"experiment_packages": ["mylab.legibility"]}))
    run = dry_run(folder, "--dry-run", configfile=tmp_path / "config.yaml")
    assert run.returncode != 0
    assert "experiment_packages: mylab.legibility: no module 'mylab.legibility'" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("path", "old", "new", "line"),
    [
        (
            "rules.smk",
            'standing("readability")',
            'standing("readabilty")',
            "rules: there is no kind of experiment 'readabilty'; did you mean 'readability'?",
        ),
        (
            "plan.py",
            "class Readability(Experiment[ReadabilityBlock]):",
            "class Readability(Experiment[ReadabilityBlock])",
            "plan.py, line 29: expected ':'",
        ),
        ("tables.py", None, None, "experiment_packages: mylab.readability: no tables.py next to"),
    ],
)
def test_a_fault_in_the_package_is_one_line(folder, tmp_path, path, old, new, line):
    shutil.copytree(folder, tmp_path / "spoilt", ignore=shutil.ignore_patterns("results", ".snakemake"))
    file = tmp_path / "spoilt/mylab/readability" / path
    if old is None:
        file.unlink()
    else:
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
    run = dry_run(tmp_path / "spoilt", "--dry-run", configfile=tmp_path / "spoilt/readable.config.yaml")
    assert run.returncode != 0
    assert line in run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr
