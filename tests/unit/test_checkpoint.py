import errno
import fcntl
import json
import logging
import os
import signal
import socket
import subprocess

import pytest
import torch
from forks import forked, forking_python

from textcritic.errors import TextcriticError
from textcritic.training.checkpoint import Checkpoints, file_digests
from textcritic.training.lock import locked
from textcritic.training.processes import terminated


def states(folder):
    return sorted(path.name for path in folder.glob("*.pt"))


def filled(folder, steps=3):
    checkpoints = Checkpoints(folder, {"rate": 1.0})
    for step in range(1, steps + 1):
        checkpoints.save_best({"w": torch.tensor(float(step))}, step)
        checkpoints.record({"step": step})
        checkpoints.save({"step": step, "w": torch.full((4,), float(step))}, step, step)
    return checkpoints


def test_the_last_two_states_are_kept_with_the_best_weights_they_refer_to(tmp_path):
    filled(tmp_path)
    assert states(tmp_path) == ["best-2.pt", "best-3.pt", "state-2.best-2.pt", "state-3.best-3.pt"]
    again = Checkpoints(tmp_path, {"rate": 1.0})
    assert again.load()["step"] == 3
    assert again.load_best(3)["w"] == 3.0
    again.save({"step": 4}, 4, 3)
    again.save({"step": 5}, 5, 3)
    assert states(tmp_path) == ["best-3.pt", "state-4.best-3.pt", "state-5.best-3.pt"]


@pytest.mark.parametrize("damaged", ["state-3.best-3.pt", "best-3.pt"])
@pytest.mark.parametrize("length", [0, 100, 900])
def test_a_truncated_newest_state_falls_back_to_the_one_before(tmp_path, caplog, damaged, length):
    filled(tmp_path)
    path = tmp_path / damaged
    path.write_bytes(path.read_bytes()[:length])
    with caplog.at_level(logging.INFO, "textcritic"):
        assert Checkpoints(tmp_path, {"rate": 1.0}).load()["step"] == 2
    assert f"{damaged}: not a whole checkpoint; it is removed, the one before is tried" in caplog.text
    assert "resuming from step 2" in caplog.text
    assert "state-3.best-3.pt" not in states(tmp_path)


def test_nothing_readable_means_a_fresh_start(tmp_path):
    filled(tmp_path)
    for path in tmp_path.glob("state-*"):
        path.write_bytes(b"")
    assert Checkpoints(tmp_path, {"rate": 1.0}).load() is None
    assert Checkpoints(tmp_path / "new", {}).load() is None


def test_another_specification_removes_the_old_state_and_says_what_changed(tmp_path, caplog):
    Checkpoints(tmp_path, {"training": {"rate": 1.0, "steps": 5}, "seed": 1}).save({"step": 1}, 1, 0)
    with caplog.at_level(logging.INFO, "textcritic"):
        changed = Checkpoints(tmp_path, {"training": {"rate": 2.0, "steps": 5}, "seed": 1})
    assert "the training was changed (training.rate): its old state is removed" in caplog.text
    assert changed.load() is None
    assert states(tmp_path) == []
    changed.save({"step": 7}, 7, 0)
    assert Checkpoints(tmp_path, {"seed": 1, "training": {"steps": 5, "rate": 2.0}}).load()["step"] == 7


def test_what_a_kill_left_half_written_is_removed(tmp_path):
    filled(tmp_path)
    (tmp_path / ".state-4.best-3.pt.77.tmp").write_bytes(b"half")
    (tmp_path / "train.jsonl").open("a").write('{"step": 4}\n{"st')
    checkpoints = Checkpoints(tmp_path, {"rate": 1.0})
    assert not list(tmp_path.glob(".*"))
    assert [point["step"] for point in checkpoints.curve()] == [1, 2, 3, 4]
    checkpoints.rewind_curve(2)
    assert checkpoints.curve_path.read_text() == '{"step": 1}\n{"step": 2}\n'


def test_digests_follow_content_and_name_a_missing_file(tmp_path):
    path = tmp_path / "tokens.npy"
    path.write_bytes(b"abc")
    before = file_digests({"train": path})
    path.write_bytes(b"abd")
    assert list(before) == ["train/tokens.npy"]
    assert before != file_digests({"train": path})
    with pytest.raises(TextcriticError, match=r"gone\.npy: no such file"):
        file_digests({"train": tmp_path / "gone.npy"})


@pytest.mark.parametrize("changed", ["tokenizer", "init"])
def test_digests_follow_both_of_two_folders_with_files_of_one_name(tmp_path, changed):
    roles = {role: tmp_path / role for role in ("tokenizer", "init")}
    for role, folder in roles.items():
        folder.mkdir()
        (folder / "tokenizer.json").write_text(role)
    before = file_digests(roles)
    (roles[changed] / "tokenizer.json").write_text("another")
    after = file_digests(roles)
    assert [key for key in after if after[key] != before[key]] == [f"{changed}/tokenizer.json"]


def test_a_stop_within_another_is_the_same_one():
    before = signal.getsignal(signal.SIGTERM)
    with terminated() as outer:
        with terminated() as inner:
            os.kill(os.getpid(), signal.SIGTERM)
            assert inner is outer
        assert outer.wait(5)
        os.kill(os.getpid(), signal.SIGTERM)  # what is around still holds it off
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_live_job_keeps_others_out_and_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    path = tmp_path / "lock.json"
    holder = rf"lock\.json: process {os.getpid()} on {socket.gethostname()}, SLURM job 4711, since .* is at work"
    with locked(path):
        with pytest.raises(TextcriticError, match=holder), locked(path):
            pass
        path.unlink()
        with pytest.raises(TextcriticError, match="another job, is at work in this folder; wait for it or stop it"):
            locked(path).__enter__()
    assert not list(tmp_path.iterdir())
    with locked(path):
        pass


def holding(path, flock):
    """A process that holds a lock until it is killed; without `flock`, as on a file system that has none."""
    code = f"""
import errno, fcntl, pathlib, time
from textcritic.training.lock import locked

def refused(*_):
    raise OSError(errno.ENOLCK, "No locks available")

if not {flock}:
    fcntl.flock = refused
with locked(pathlib.Path({str(path)!r})):
    print("held", flush=True)
    time.sleep(100)
"""
    process = subprocess.Popen([forking_python(), "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def without_flock(*_):
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.parametrize("flock", [True, False])
def test_the_lock_of_a_killed_process_is_taken_over(tmp_path, monkeypatch, flock):
    path = tmp_path / "a.parquet.lock.json"
    process = holding(path, flock)
    if not flock:
        monkeypatch.setattr(fcntl, "flock", without_flock)
    dead = "wait for it or stop it and rerun" + (
        "" if flock else rf", or, if it is dead, delete {tmp_path}/a.parquet.lock"
    )
    with pytest.raises(TextcriticError, match=rf"process {forked(process.pid)} on .* {dead}$"), locked(path):
        pass
    os.kill(forked(process.pid), signal.SIGKILL)
    process.wait()
    with locked(path):
        assert json.loads(path.read_text())["pid"] == os.getpid()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_went_away_meanwhile_is_named(tmp_path):
    with (
        pytest.raises(TextcriticError, match="another job finished this work meanwhile"),
        locked(tmp_path / "x/lock.json"),
    ):
        pass
