import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from snakemake.iocontainers import Namedlist

from textcritic.errors import TextcriticError
from textcritic.place import PLACE
from textcritic.runlog import Progress, duration, gpus_of, job, log, versions


@pytest.fixture(autouse=True)
def a_log_of_its_own():
    """A job leaves its handlers and its level in the log, as its process ends; other tests are not to meet them."""
    handlers, level = log.handlers, log.level
    yield
    log.handlers = handlers
    log.setLevel(level)


def test_a_known_fault_is_one_line_and_exit_code_1(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop, job(tmp_path / "rule" / "x.log", "build x"):
        raise TextcriticError("x.jsonl:3: not JSON")
    assert stop.value.code == 1
    assert capsys.readouterr().err == "[build x] error: x.jsonl:3: not JSON\n"
    assert "Traceback" not in (tmp_path / "rule" / "x.log").read_text()


def test_a_bug_keeps_its_traceback_in_the_log(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop, job(tmp_path / "x.log", "build x"):
        raise KeyError("titles")
    assert stop.value.code == 1
    assert (
        capsys.readouterr().err
        == f"[build x] unexpected KeyError: 'titles'; the traceback is in {tmp_path / 'x.log'}\n"
    )
    assert "Traceback" in (tmp_path / "x.log").read_text()


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine on which torch, built for GPUs, sees none."""
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name in ("SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(("gpu", "given"), [(1, "0"), (2, "0,1"), (4, "")])
def test_gpus_that_do_not_work_are_refused(no_gpu, tmp_path, capsys, gpu, given):
    no_gpu.setenv("SLURM_JOB_GPUS", given)
    with pytest.raises(SystemExit), job(tmp_path / "x.log", "train x", gpu):
        raise AssertionError("it should not begin")
    assert f"[train x] error: gpu: {gpu} asked for, and torch sees none; run nvidia-smi" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("build", "given", "why"), [("12.8", "", "torch sees none"), (None, "0", "built for the CPU alone")]
)
def test_a_job_that_goes_on_without_its_gpu_says_so(no_gpu, tmp_path, capsys, build, given, why):
    no_gpu.setattr(torch.version, "cuda", build)
    no_gpu.setenv("SLURM_JOB_GPUS", given)
    with job(tmp_path / "x.log", "train x", 1):
        pass
    assert f"{why}: ON THE CPU" in capsys.readouterr().err
    assert " WARNING gpu: 1 asked for" in (tmp_path / "x.log").read_text()


@pytest.mark.parametrize("name", ["SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES"])
def test_a_gpu_that_is_given_and_not_asked_for_is_hidden_with_a_warning(no_gpu, tmp_path, capsys, name):
    no_gpu.setenv("CUDA_VISIBLE_DEVICES", "")  # so that it is put back
    no_gpu.setenv(name, "3")
    with job(tmp_path / "x.log", "train x", 0):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
    assert "GPU 3 was given to this job, which asks for none" in capsys.readouterr().err


def test_progress_says_how_far_and_how_long(caplog):
    caplog.set_level(logging.INFO, "textcritic")
    logging.getLogger("textcritic").propagate = True
    progress = Progress("training", 100, "steps", done=40, every=0)
    progress.advance(10, "loss 3.2")
    assert caplog.messages[-1].startswith("training: 50 of 100 steps (50%), ")
    assert caplog.messages[-1].endswith(" left, loss 3.2")
    assert Progress("x", 10, "steps").line() == "x: 0 of 10 steps (0%), no estimate yet"


@pytest.mark.parametrize(
    ("seconds", "words"), [(8.4, "8 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


def test_versions_of_what_is_installed():
    assert set(versions("numpy", "no-such-package")) == {"numpy"}


@pytest.mark.parametrize(
    ("resources", "gpus"),
    [
        ({"gpu": 2}, 2),
        ({"mem_mb": 4000}, 0),
        ({"gpu": 0, "gres": "gpu"}, 1),
        ({"gpu": 0, "gres": "gpu:a100"}, 1),
        ({"gpu": 0, "gres": "gpu:4"}, 4),
        ({"gpu": 0, "gres": "gpu:a100:2"}, 2),
        ({"gpu": 0, "gres": "lustre:1"}, 0),
    ],
)
def test_gpus_that_a_job_asked_for(resources, gpus):
    assert gpus_of(resources) == gpus


def test_brief_work_says_nothing_and_long_work_ends_with_a_line(caplog):
    caplog.set_level(logging.INFO, log.name)
    brief = Progress("drawing", 2, "resamples", brief=True)
    brief.advance(2)
    assert not caplog.messages
    long = Progress("drawing", 3, "resamples", every=0, brief=True)
    long.advance()
    long.every = 1000
    long.advance()
    long.advance()
    assert [line.split(",")[0] for line in caplog.messages] == [
        "drawing: 1 of 3 resamples (33%)",
        "drawing: 3 of 3 resamples (100%)",
    ]


def test_a_job_with_a_storage_works_in_the_folder_of_its_copies_by_the_names_of_the_rules(tmp_path, monkeypatch):
    place = Path(".snakemake/storage/fs/bucket/results")
    monkeypatch.chdir(tmp_path)
    for path in (place / "results/corpora/a.txt", place / "results/b/1.npy", Path("config/c.csv"), Path("/tmp/other")):
        if not path.is_absolute():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(path.name)
    given = Namedlist([f"{place}/results/corpora/a.txt", f"{place}/results/b/1.npy", "config/c.csv", "/tmp/other"])
    given._set_name("text", 0)
    given._set_name("arrays", 1, end=2)
    made = Namedlist([f"{place}/results/models/m"])
    script = SimpleNamespace(rule="fit", input=given, output=made)
    monkeypatch.setattr(sys.modules["__main__"], "snakemake", script, raising=False)
    monkeypatch.setenv(PLACE, str(place))
    monkeypatch.setattr(sys, "path", [*sys.path])
    with job("results/logs/fit.log", "fit"):
        assert Path.cwd() == tmp_path / place
        assert [*given] == ["results/corpora/a.txt", "results/b/1.npy", "config/c.csv", "/tmp/other"]
        assert (given.text, [*given.arrays]) == ("results/corpora/a.txt", ["results/b/1.npy"])
        assert Path(given[2]).read_text() == "c.csv"
        Path(made[0]).parent.mkdir(parents=True)
        Path(made[0]).write_text("m")
    assert Path.cwd() == tmp_path
    assert (tmp_path / place / "results/models/m").is_file()
    assert "done in" in (tmp_path / "results/logs/fit.log").read_text()
    assert not [*tmp_path.rglob("digests")]
