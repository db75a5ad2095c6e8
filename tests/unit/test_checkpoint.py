import errno
import fcntl
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

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


def test_the_curve_is_on_disk_before_the_state_that_counts_its_points(tmp_path, monkeypatch):
    """What a power failure may take is what was not synchronised."""
    synchronised, fsync = [], os.fsync

    def noted(descriptor):
        synchronised.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    filled(tmp_path, steps=1)
    curve = synchronised.index("train.jsonl")
    assert any("state-1" in name for name in synchronised[curve:])


def test_a_hole_in_the_curve_is_said(tmp_path, caplog):
    filled(tmp_path).rewind_curve(3)
    assert not caplog.text
    Checkpoints(tmp_path, {"rate": 1.0}).rewind_curve(5)
    assert "train.jsonl: 2 of 5 points are lost" in caplog.text


FULL = """
import resource, signal, sys, torch
from pathlib import Path
from safetensors.torch import save_file
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder
from textcritic.training.checkpoint import Checkpoints
weights, folder = {"w": torch.zeros(int(sys.argv[1]))}, Path(sys.argv[2])
checkpoints = Checkpoints(folder, {})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for name in ("state-1.best-1.pt", "model"):
    try:
        if name == "model":
            with whole_folder(folder / name) as temporary:
                save_file(weights, temporary / "model.safetensors")
        else:
            checkpoints.save(weights, 1, 1)
    except TextcriticError as error:
        assert str(error) == f"{folder / name}: cannot be written: File too large", error
    else:
        sys.exit(f"{name}: it was written")
"""


@pytest.mark.parametrize("numbers", [26_000, 1_000_000])
def test_what_torch_and_safetensors_cannot_write_is_one_line(numbers, tmp_path):
    """A disk that is full at 100 kB, with the error that a limit of the size of files gives."""
    done = subprocess.run([sys.executable, "-c", FULL, str(numbers), str(tmp_path)], capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert not list(tmp_path.glob("*.pt"))
    assert not list(tmp_path.glob(".*"))


def test_a_lock_where_nothing_can_be_written_is_one_line():
    """In /sys nobody can make a file, root included."""
    with pytest.raises(TextcriticError, match=r"^/sys/kernel/lock\.json: cannot be written"):
        locked(Path("/sys/kernel/lock.json")).__enter__()


def loses_its_lock(folder):
    """A job whose folder goes away, with a file in its place, and that then says what is wrong."""
    with locked(folder / "lock.json"):
        folder.rename(folder.with_name("elsewhere"))
        folder.touch()
        raise TextcriticError("the first fault")


def test_the_first_fault_is_told_where_the_lock_cannot_be_removed(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(TextcriticError, match="the first fault"):
        loses_its_lock(tmp_path / "checkpoints")


@pytest.mark.parametrize("left", [["lock.json"], ["lock"], ["lock", "lock.json"]])
def test_an_empty_lock_that_a_crash_left_holds_nobody_up(left, tmp_path):
    for name in left:
        (tmp_path / name).touch()
    with locked(tmp_path / "lock.json"):
        assert json.loads((tmp_path / "lock.json").read_text())["pid"] == os.getpid()


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
