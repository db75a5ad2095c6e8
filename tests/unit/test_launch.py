"""Several processes for one job: what they agree on, and how the first fault among them is told."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import torch
from forks import forking_python

from textcritic.errors import TextcriticError
from textcritic.runlog import log
from textcritic.training.processes import Ranks, run_together


def agree(ranks, folder):
    mean = torch.tensor([1.0 + ranks.rank])
    ranks.mean_(mean)
    found = {
        "part": ranks.part([10, 11, 12]),
        "sum": ranks.sum(0.5, ranks.rank),
        "any": ranks.any(False, ranks.rank == 1),
        "mean": mean.tolist(),
        "gather": ranks.gather({"rank": ranks.rank}),
        "share": ranks.share("mine" if ranks.leads else "theirs"),
    }
    log.info("process %d", ranks.rank)
    Path(folder, f"{ranks.rank}.json").write_text(json.dumps(found))


def chatter(ranks):
    for _ in range(300):
        print("not", "a", "message")
    os.write(1, b"3\n")
    log.info("heard")


def fail(ranks, how):
    if ranks.rank == 1:
        if how == "exit":
            os._exit(3)
        raise TextcriticError("x.npy: no such file") if "fault" in how else ValueError("a bug\nof ours")
    if how.startswith("first"):  # what is brought about by the loss of another comes later, and is not the cause
        time.sleep(0.3)
        os.abort()
    time.sleep(3600)  # it is not waited for


@pytest.fixture
def together(monkeypatch):
    """Run a function of this file in two processes."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, Path(__file__).parents[:2])))
    return lambda name, **arguments: run_together(f"{Path(__file__).stem}:{name}", arguments, 2, "testing")


@pytest.fixture
def forking(monkeypatch):
    """The processes are forked, in place of starting the interpreter."""
    monkeypatch.setattr(sys, "executable", forking_python())


def test_processes_agree_and_the_first_is_heard(together, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "textcritic"):
        together("agree", folder=str(tmp_path))
    assert [record.getMessage() for record in caplog.records] == ["process 0"]
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert (first.pop("part"), second.pop("part")) == ([10, 12], [11])
    assert (
        first
        == second
        == {
            "sum": [1.0, 1.0],
            "any": [False, True],
            "mean": [1.5],
            "gather": [{"rank": 0}, {"rank": 1}],
            "share": "mine",
        }
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_is_printed_is_not_a_message(together, tmp_path, caplog, capfd, monkeypatch, unbuffered):
    """Neither what the function prints, nor what is printed before it; all of it arrives, line by line."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    (tmp_path / "sitecustomize.py").write_text("print('Hello,')\nprint(4)\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}")
    with caplog.at_level(logging.INFO, "textcritic"):
        together("chatter")
    assert [record.getMessage() for record in caplog.records] == ["heard"]
    out, err = capfd.readouterr()
    assert not out
    assert Counter(err.splitlines()) == {"Hello,": 2, "4": 2, "not a message": 600, "3": 2}
    assert err.count("Hello,\n4\n") == 2


def test_when_one_cannot_be_started_those_that_are_end(together, monkeypatch):
    started, popen = [], subprocess.Popen

    def start(*given, **more):
        if started:
            raise OSError("no more processes")
        started.append(popen(*given, **more))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(OSError, match="no more processes"):
        together("chatter")
    assert started[0].returncode == -signal.SIGKILL


def test_a_process_alone_agrees_with_itself():
    alone, mean = Ranks(), torch.tensor([2.0])
    alone.mean_(mean)
    assert (alone.leads, alone.part([1, 2]), alone.sum(3.0), alone.any(False, True)) == (
        True,
        [1, 2],
        [3.0],
        [False, True],
    )
    assert (mean.item(), alone.gather("x"), alone.share("x")) == (2.0, ["x"], "x")


@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ("fault", TextcriticError, r"^x\.npy: no such file$"),
        ("exit", TextcriticError, "^testing: process 2 ended with code 3; the others are ended"),
        ("bug", RuntimeError, "^testing: process 2: ValueError: a bug$"),
        ("first fault", TextcriticError, r"^x\.npy: no such file$"),
        ("first bug", RuntimeError, "^testing: process 2: ValueError: a bug$"),
    ],
)
@pytest.mark.usefixtures("forking")
def test_one_that_fails_ends_all_and_says_why(together, how, kind, message):
    with pytest.raises(kind, match=message) as raised:
        together("fail", how=how)
    assert "bug" not in how or "in fail" in str(raised.value.__cause__)
