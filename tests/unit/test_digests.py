"""Digests of what jobs wrote: damage with the old times is refused by the next job, and named by `verify`."""

import json
import os
import subprocess
import sys

import pytest
from report_jobs import description

from textcritic import cli, digests
from textcritic.errors import TextcriticError
from textcritic.report import make_manifest

SCRIPT = """
from pathlib import Path
from types import SimpleNamespace
from textcritic import runlog
files = {"input": ["results/corpora/a.txt", "mine.txt"], "output": ["results/models/m"]}
snakemake = SimpleNamespace(rule="fit", params={"seed": 1}, **files)
with runlog.job("results/logs/fit.log", "fit a"):
    model = Path(snakemake.output[0])
    model.mkdir(parents=True, exist_ok=True)
    (model / "weights.npy").write_bytes(Path(snakemake.input[0]).read_bytes()[::-1])
    (model / "config.json").write_text("{}")
"""
STUDY = "results/studies/demo"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A corpus that one job wrote, a model that another made from it, and a study with one table made from that."""
    monkeypatch.chdir(tmp_path)
    for path, text in (("results/corpora/a.txt", "abc" * 50), ("mine.txt", "own"), (f"{STUDY}/x/t.csv", "a,b\n1,2\n")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    digests.write_records("build", ["results/corpora/a.txt"], {})
    assert fit() == (0, "")
    digests.write_records("make_tables", [f"{STUDY}/x/t.csv"], digests.checked(["results/models/m"]))
    make_manifest(description(["x"], [1]), ["results/corpora/a.txt"], f"{STUDY}/manifest.json")
    return tmp_path


def fit():
    """Run the script of a job as Snakemake does; its exit code, and what it says to the user but for the last line."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if "done in" not in line]
    return done.returncode, "\n".join(lines)


def verify(capsys, *options):
    code = cli.main(["verify", STUDY, *options])
    return code, capsys.readouterr().out


def spoil(path, change):
    """Change a file and give it the times that it had."""
    about = path.stat()
    path.write_bytes(change(path.read_bytes()))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def flipped(content):
    return content[:20] + bytes([content[20] ^ 1]) + content[21:]


def test_whole_files_are_as_they_were_made(folder, capsys):
    code, out = verify(capsys)
    assert (code, out) == (0, "5 files compared with their digests, 0 differ\n")
    assert json.loads(verify(capsys, "--json")[1])["differences"] == {}


@pytest.mark.parametrize(
    ("change", "fault"),
    [(flipped, "has other bytes, as many as before"), (lambda b: b[:100], "is cut short: 100 bytes in place of 150")],
)
def test_damage_with_the_old_times_is_refused_by_the_next_job_and_named(change, fault, folder, capsys):
    spoil(folder / "results/corpora/a.txt", change)
    code, err = fit()
    assert code == 1
    assert err == (
        f"[fit a] error: results/corpora/a.txt: {fault}; it is not what the job 'build' wrote; delete "
        "results/corpora/a.txt, and the same command makes it again (if you put it there yourself, delete "
        "results/digests/corpora/a.txt.json)"
    )
    spoil(folder / "results/models/m/weights.npy", change)
    code, out = verify(capsys)
    assert code == 2
    assert out.splitlines() == [
        f"results/corpora/a.txt: {fault}",
        f"results/models/m/weights.npy: {fault}",
        "to make them again: snakemake --cores all -R build fit",
        "5 files compared with their digests, 2 differ",
    ]


def test_what_is_gone_or_made_from_something_else_is_named(folder, capsys):
    (folder / "results/models/m/config.json").unlink()
    (folder / "results/corpora/a.txt").write_text("abd" * 50)
    (folder / "mine.txt").write_text("own, changed")
    digests.write_records("build", ["results/corpora/a.txt"], {})
    differences = json.loads(verify(capsys, "--json")[1])["differences"]
    assert differences == {
        "results/models/m/config.json": "is gone or cannot be read",
        "results/models/m": "was made from another version of results/corpora/a.txt",
        "mine.txt": "was changed since results/models/m was made from it",
    }


def test_what_other_code_made_is_named(folder, capsys):
    record = folder / "results/digests/models/m.json"
    made = json.loads(record.read_text())
    record.write_text(json.dumps(made | {"code": "0.0.9, code 1234567890"}))
    code, out = verify(capsys)
    assert code == 2
    assert out.startswith(f"made by other code (0.0.9, code 1234567890; this is {digests.code_version()}): fit\n")


def test_a_large_file_is_read_only_if_it_was_touched(folder):
    path = folder / "results/models/m/weights.npy"
    assert digests.checked(["results/models/m"], at_once=2) == digests.checked(["results/models/m"])
    place = folder / "results/digests/models/m.json"
    record = json.loads(place.read_text())
    for entry in record["files"].values():
        entry["sha256"] = "0"
    place.write_text(json.dumps(record))  # a digest that no file has: the file was not read if nobody minds
    digests.checked(["results/models/m"], at_once=0)
    os.utime(path)
    with pytest.raises(TextcriticError, match=r"weights\.npy: has other bytes"):
        digests.checked(["results/models/m"], at_once=0)


def test_a_folder_without_records_and_a_damaged_record_are_one_line(folder, tmp_path, capsys):
    for name, fault in ((".", "is not the folder of a study"), ("results/studies/none", "has no manifest.json")):
        assert cli.main(["verify", name]) == 2
        assert fault in capsys.readouterr().err
    (folder / "results/digests/models/m.json").write_text("[]")
    assert cli.main(["verify", STUDY]) == 2
    assert "results/digests/models/m.json: is no record of what a job wrote; delete it" in capsys.readouterr().err


def test_an_older_study_is_compared_with_its_manifest(folder, capsys):
    for record in (folder / "results/digests").rglob("*.json"):
        record.unlink()
    assert verify(capsys)[0] == 0
    spoil(folder / "results/corpora/a.txt", flipped)
    code, out = verify(capsys)
    assert code == 2
    assert out.splitlines()[0] == "results/corpora/a.txt: has other bytes, as many as before"
