"""Jobs that are forked: they run as the interpreter runs them, and are killed with whoever asked."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from textcritic.workflow.forks import write_program

SERVE = """
import os, sys
from pathlib import Path
from textcritic.workflow.forks import Server, do_job
folder = Path(sys.argv[1])
server = Server(folder, ["json"])
print("ready", flush=True)
do_job(server.serve(0), folder / "python")
"""
SCRIPT = """
import json, os, sys, time
with open("job.json", "w") as file:
    json.dump([os.getpid(), os.getppid(), sys.argv, sys.executable, os.environ["MARK"]], file)
with open("runs", "a") as file:
    file.write("run ")
print("out", flush=True)
print("err", file=sys.stderr, flush=True)
{end}
"""


@contextmanager
def serving(folder):
    """The program, and its server."""
    folder.mkdir()
    program = write_program(folder)
    command = [sys.executable, "-c", SERVE, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"ready\n"
        yield program, server
        server.stdin.close()


@pytest.fixture
def forks(tmp_path):
    """The program, and its server, which cleans up."""
    with serving(tmp_path / "forks") as (program, server):
        yield program, server
        server.stdin.close()
        assert server.wait(20) == 0
    assert not (tmp_path / "forks").exists()


def started(program, folder, end="", **environment):
    script = folder / "a script.py"
    script.write_text(SCRIPT.format(end=end))
    return subprocess.Popen(
        [program, script, "one", "two words"],
        cwd=folder,
        env={**os.environ, "MARK": "mine", "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def recorded(folder):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        path = folder / "job.json"
        if path.is_file() and path.read_text():
            return json.loads(path.read_text())
        time.sleep(0.01)
    raise AssertionError("the job did not begin")


def gone(process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not Path(f"/proc/{process}").exists():
            return True
        time.sleep(0.01)
    return False


def test_a_job_is_a_process_of_its_own_with_the_arguments_and_streams_of_whoever_asked(forks, tmp_path):
    program, server = forks
    asked = started(program, tmp_path)
    assert asked.communicate(timeout=60) == ("out\n", "err\n")
    assert asked.returncode == 0
    process, parent, arguments, executable, mark = recorded(tmp_path)
    assert parent == server.pid != process
    assert arguments == [str(tmp_path / "a script.py"), "one", "two words"]
    assert (executable, mark) == (str(program), "mine")


@pytest.mark.parametrize(
    ("end", "code"),
    [("sys.exit(3)", 3), ("sys.exit('why')", 1), ("1 / 0", 1), ("os.kill(os.getpid(), 9)", -9), ("os._exit(5)", 5)],
)
def test_whoever_asked_ends_as_the_job_does(end, code, forks, tmp_path):
    asked = started(forks[0], tmp_path, end)
    _, err = asked.communicate(timeout=60)
    assert asked.returncode == code
    assert recorded(tmp_path)[1] == forks[1].pid  # the interpreter has not run it once more
    assert ("ZeroDivisionError" in err) is (end == "1 / 0")
    assert ("why" in err) is ("why" in end)
    assert ("this job was killed (SIGKILL)" in err) is (code == -9)
    assert (tmp_path / "runs").read_text() == "run "


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_is_killed_with_whoever_asked(number, forks, tmp_path):
    asked = started(forks[0], tmp_path, "time.sleep(600)")
    process, *_ = recorded(tmp_path)
    asked.send_signal(number)
    assert asked.wait(60) == -number
    assert gone(process)


def test_a_request_to_stop_can_be_handled_by_the_job(forks, tmp_path):
    end = "import signal; signal.signal(15, lambda *_: sys.exit(7)); print('set', flush=True); time.sleep(600)"
    asked = started(forks[0], tmp_path, end)
    assert [asked.stdout.readline(), asked.stdout.readline()] == ["out\n", "set\n"]
    asked.terminate()
    assert asked.wait(60) == 7


def test_jobs_end_with_the_server_and_are_then_run_by_the_interpreter(forks, tmp_path):
    program, server = forks
    asked = started(program, tmp_path, "time.sleep(600)")
    process, *_ = recorded(tmp_path)
    copy = tmp_path / "kept"
    copy.write_bytes(program.read_bytes())
    copy.chmod(0o700)
    server.stdin.close()
    assert asked.wait(60) == -signal.SIGTERM
    assert gone(process)
    (tmp_path / "job.json").unlink()
    assert started(copy, tmp_path).wait(60) == 0
    assert recorded(tmp_path)[3] == sys.executable


def test_jobs_end_with_a_server_that_is_killed_and_are_not_run_again(tmp_path):
    with serving(tmp_path / "forks") as (program, server):
        asked = started(program, tmp_path, "time.sleep(600)")
        process, *_ = recorded(tmp_path)
        server.kill()
        assert "lost; run the same command again" in asked.communicate(timeout=60)[1]
        assert asked.returncode == 1
        assert gone(process)
    assert (tmp_path / "runs").read_text() == "run "


def test_a_server_whose_terminal_is_closed_ends_with_whoever_started_it_and_leaves_nothing(forks, tmp_path):
    program, server = forks
    assert started(program, tmp_path).wait(60) == 0  # so it is at work
    server.send_signal(signal.SIGHUP)
    assert started(program, tmp_path).wait(60) == 0  # the rest is in the fixture


@pytest.mark.parametrize(("threads", "forked"), [("1", True), ("2", False)])
def test_a_job_of_several_threads_is_run_by_the_interpreter(threads, forked, forks, tmp_path):
    program, server = forks
    assert started(program, tmp_path, OMP_NUM_THREADS=threads).wait(60) == 0
    _, parent, _, executable, _ = recorded(tmp_path)
    assert (parent == server.pid, executable == str(program)) == (forked, forked)


def test_where_a_program_cannot_be_used_there_is_none(tmp_path):
    for name in ("with space", "x" * 120):
        folder = tmp_path / name
        folder.mkdir()
        assert write_program(folder) is None


LOOKS = """
import threading, time
from types import SimpleNamespace
from textcritic.workflow.forks import look_once_a_second
look_once_a_second()
from snakemake.scheduling.job_scheduler import JobScheduler
looks = [SimpleNamespace(_open_jobs=threading.Semaphore(0)) for _ in range(2)]
def plan(times):
    for _ in range(times):
        for scheduler in looks:
            JobScheduler._schedule_reevalutation(scheduler, 0.05)
def seen():
    assert all(one._open_jobs.acquire(timeout=20) for one in looks)
    time.sleep(0.2)
    return [one._open_jobs._value for one in looks]
plan(50)
print(seen())
plan(1)
print(seen())
"""


def test_looks_of_the_scheduler_do_not_add_up():
    """However often a look is planned before it is due, there is one; then the next can be planned."""
    done = subprocess.run([sys.executable, "-c", LOOKS], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "[0, 0]\n[0, 0]\n", done.stderr
