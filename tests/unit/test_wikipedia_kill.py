"""Extractions that are killed, and the workflow around them: nothing half-written, left alive, or redone."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from forks import forking_python
from tiny_dump import article, write

from textcritic.corpora import read_articles
from textcritic.rehearsal.dump import dump, multistream

ROOT = Path(__file__).parents[2]
SCRIPT = """
import json, sys
from textcritic.corpora.wikipedia import Shard, extract_shard
from textcritic.plan.entries.extraction import CorpusOptions
options = CorpusOptions(disambiguation_templates=[], skip_titles=[])
extract_shard(Shard([sys.argv[1]], 0, 1), options, sys.argv[2], sys.argv[2] + ".json", workers=2)
"""


def start(*arguments, cwd, code=SCRIPT):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    )


def wait_for(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"no {what} within {seconds} s"
        time.sleep(0.02)
    return found


def children(pid):
    """Numbers of a process' children that are alive."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture(scope="module")
def long_dump(tmp_path_factory):
    """A second's work."""
    pages = [article(number, sections=6, words=3000) for number in range(60)]
    return write(tmp_path_factory.mktemp("long") / "dump", multistream(pages))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")
def test_a_killed_extraction_leaves_no_worker_and_no_file_behind(long_dump, tmp_path):
    out = tmp_path / "out.parquet"
    process = start(long_dump, out, cwd=tmp_path)
    workers = wait_for(lambda: (found := children(process.pid)) and len(found) == 2 and found, "two workers")
    wait_for(lambda: list(tmp_path.glob(".out.parquet.*.tmp")), "output")
    assert all(map(runs, workers))
    process.kill()
    process.wait()
    wait_for(lambda: not any(map(runs, workers)), "end of the workers")
    assert not out.exists()
    assert not (tmp_path / "out.parquet.json").exists()
    again = start(long_dump, out, cwd=tmp_path)
    assert again.wait(timeout=120) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.parquet", "out.parquet.json"]
    assert [found.id for found in read_articles(out)] == [str(number) for number in range(60)]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")
def test_an_extraction_whose_worker_is_killed_ends(long_dump, tmp_path):
    process = start(long_dump, tmp_path / "out.parquet", cwd=tmp_path)
    workers = wait_for(lambda: (found := children(process.pid)) and len(found) == 2 and found, "two workers")
    os.kill(workers[0], signal.SIGKILL)
    assert process.wait(timeout=60) == 1
    assert not any(map(runs, workers))
    assert list(tmp_path.iterdir()) == []


# The workflow.


def snakemake(folder, *arguments, python=sys.executable):
    command = [python, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
    triggers = ["mtime", "params", "input", "software-env"]
    command += [
        "--configfile",
        folder / "config.yaml",
        "--cores",
        "2",
        "--rerun-incomplete",
        "--rerun-triggers",
        *triggers,
    ]
    command += ["--", "results/corpora/tiny/statistics.json"]
    head, tail = command[:-2], command[-2:]
    return list(map(str, [*head, *arguments, *tail]))


def run(folder, *arguments):
    done = subprocess.run(
        snakemake(folder, *arguments, python=forking_python()),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=170,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def registry(folder, **options):
    """A registry with one corpus, and the study of the configuration that nobody builds here."""
    threads = options.pop("threads", 1)
    entry = {
        "extractor": "wikipedia",
        "options": {"paths": ["dump.xml"], **options},
        "sections": {"minimum": 2, "minimum_tokens": 1},
        "threads": threads,
    }
    (folder / "registry").mkdir(exist_ok=True)
    write(folder / "registry/corpora.yaml", yaml.safe_dump({"tiny": entry}))
    write(
        folder / "config.yaml",
        yaml.safe_dump({"studies": ["demo"], "registry_folders": ["config/registry", "registry"]}),
    )


def jobs(output):
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)}


def test_the_workflow_extracts_by_shards_and_what_has_no_effect_reruns_nothing(tmp_path):
    write(tmp_path / "dump.xml", dump([article(number) for number in range(40)]))
    registry(tmp_path, shards=2, threads=2)
    run(tmp_path)
    corpus = tmp_path / "results/corpora/tiny"
    statistics = json.loads((corpus / "statistics.json").read_text())
    assert statistics["extracted"] == 40
    assert statistics["provenance"]["dump"]["files"] == ["dump.xml"]
    assert not (corpus / "shards").exists() or not list((corpus / "shards").iterdir())
    registry(tmp_path, shards=3, threads=1)
    assert "Nothing to be done" in run(tmp_path, "--dry-run")
    # What has an effect makes it anew, in as many shards as before.
    registry(tmp_path, shards=3, skip_titles=["Article 7"])
    output = run(tmp_path)
    assert jobs(output)["extract_wikipedia"] == 2
    assert json.loads((corpus / "statistics.json").read_text())["skipped"] == {"a title of skip_titles": 1}
    # In the number of shards that is asked for, once there is no corpus any more.
    for name in ("extracted.json", "extracted.parquet"):
        (corpus / name).unlink()
    assert jobs(run(tmp_path, "--dry-run"))["extract_wikipedia"] == 3


def test_a_killed_workflow_goes_on_behind_the_finished_shards(tmp_path):
    pages = [article(number, sections=6, words=3000 if number >= 20 else 10) for number in range(60)]
    write(tmp_path / "dump.xml", dump(pages))
    registry(tmp_path, shards=4)
    log = tmp_path / "log"
    with log.open("w") as handle:
        process = subprocess.Popen(
            snakemake(tmp_path), cwd=tmp_path, stdout=handle, stderr=handle, start_new_session=True
        )
    wait_for(lambda: "steps (" in log.read_text(), "finished shard", 120)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = len(re.findall(r"of 6 steps \(", log.read_text()))
    assert 1 <= finished < 4
    for lock in (tmp_path / ".snakemake/locks").glob("*"):
        lock.unlink()
    output = run(tmp_path)
    assert jobs(output)["extract_wikipedia"] <= 4 - finished
    assert json.loads((tmp_path / "results/corpora/tiny/statistics.json").read_text())["extracted"] == 60
