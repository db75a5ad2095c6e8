"""A fit of a correlated topic model that is killed goes on where it was, and notices what it must not go on from."""

import inspect
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from ctm_oracle import draw_documents, random_critic
from scipy.sparse import csr_matrix, load_npz, save_npz

from textcritic.critics.ctm import fit_ctm
from textcritic.critics.ctm.train import Checkpoints
from textcritic.errors import TextcriticError
from textcritic.latents.bags import Counts, write_counts
from textcritic.plan.entries import Ctm

ROOT = Path(__file__).parents[2]
OPTIONS = Ctm(kind="ctm", topics=6, iterations=25, tolerance=1e-12, seed=4)


@pytest.fixture(scope="module")
def counts():
    return draw_documents(random_critic(1, 6, 100, sharpness=2.0), [60] * 400, 1).counts


@pytest.fixture(scope="module")
def whole(counts):
    return fit_ctm(counts, OPTIONS)


def assert_same(fit, other):
    for field in ("log_topics", "mean", "covariance"):
        np.testing.assert_array_equal(getattr(fit.critic, field), getattr(other.critic, field))
    assert fit.bounds == other.bounds


def in_own_process(corpus, state):
    counts = load_npz(corpus)
    options = Ctm(kind="ctm", topics=6, iterations=25, tolerance=1e-12, seed=4)
    fit_ctm(counts, options, state=Path(state))


PROGRAM = f"""
import sys
from pathlib import Path
from scipy.sparse import load_npz
from textcritic.critics.ctm import fit_ctm
from textcritic.plan.entries import Ctm
{inspect.getsource(in_own_process)}
if __name__ == "__main__":
    in_own_process(*sys.argv[1:])
"""


def kill_in_mid_fit(folder, checkpoints):
    """Fit in a process of its own, and kill that as soon as so many new checkpoints have been seen on disk."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    state = folder / "state"
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder / "counts.npz"), str(state)], env=environment)
    seen, deadline = {stamp(state)}, time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline and len(seen) <= checkpoints:
        seen.add(stamp(state))
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def stamp(state):
    path = state / "standing.npz"
    return path.stat().st_mtime_ns if path.exists() else None


def test_kills_leave_no_trace(counts, whole, tmp_path):
    save_npz(tmp_path / "counts.npz", counts)
    kill_in_mid_fit(tmp_path, 3)
    kill_in_mid_fit(tmp_path, 4)
    with np.load(tmp_path / "state/standing.npz") as standing:
        bounds, seconds = standing["bounds"], standing["seconds"]
    assert 7 <= len(bounds) < OPTIONS.iterations
    again = fit_ctm(counts, OPTIONS, state=tmp_path / "state")
    assert_same(again, whole)
    assert again.seconds > seconds
    assert_same(fit_ctm(counts, OPTIONS, state=tmp_path / "state"), whole)


@pytest.mark.parametrize("stops", [(1, 2, 3), (6,)])
def test_stopping_after_any_iteration_changes_nothing(counts, tmp_path, stops):
    options = OPTIONS.changed(iterations=8, tolerance=0.0)
    for stop in stops:
        fit_ctm(counts, options.changed(iterations=stop), state=tmp_path)
    assert_same(fit_ctm(counts, options, state=tmp_path, workers=2), fit_ctm(counts, options))


@pytest.mark.parametrize("name", ["standing.npz", "posteriors-1.f8"])
@pytest.mark.parametrize("how", ["cut short", "empty", "overwritten"])
def test_a_torn_checkpoint_is_noticed(counts, tmp_path, name, how):
    fit_ctm(counts, OPTIONS.changed(iterations=6), state=tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    broken = {"cut short": content[: len(content) // 2], "empty": b"", "overwritten": bytes(len(content))}
    path.write_bytes(broken[how])
    # Numbers that are wrong are noticed by the bound.
    told = "bound is not finite.*delete" if (how, name) == ("overwritten", "posteriors-1.f8") else f"{name}.*delete"
    with pytest.raises(TextcriticError, match=told) as caught:
        fit_ctm(counts, OPTIONS, state=tmp_path)
    assert "\n" not in str(caught.value)


OTHERS = {"seed": 5, "topics": 5, "tolerance": 0.1}


@pytest.mark.parametrize("key", OTHERS)
def test_the_state_of_other_options_is_not_used(counts, tmp_path, caplog, key):
    options = OPTIONS.changed(iterations=4)
    other = options.changed(**{key: OTHERS[key]})
    fit_ctm(counts, other, state=tmp_path)
    with caplog.at_level(logging.INFO, "textcritic"):
        assert_same(fit_ctm(counts, options, state=tmp_path), fit_ctm(counts, options))
    assert "other documents or options; the fit begins from the start" in caplog.text


def test_the_state_of_other_documents_is_not_used(counts, tmp_path, caplog):
    options = OPTIONS.changed(iterations=4)
    changed = counts.copy()
    changed.data[-1] += 1
    fit_ctm(changed, options, state=tmp_path)
    with caplog.at_level(logging.INFO, "textcritic"):
        assert_same(fit_ctm(counts, options, state=tmp_path), fit_ctm(counts, options))
    assert "other documents or options; the fit begins from the start" in caplog.text


def test_nothing_of_another_fit_is_left_once_one_starts(counts, tmp_path):
    """Or, were that one killed, the first would go on with posteriors that are not its own."""
    fit_ctm(counts, OPTIONS.changed(iterations=3), state=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    assert Checkpoints(tmp_path, "another").load(10) is None
    assert not list(tmp_path.iterdir())


def test_fewer_iterations_than_there_are_start_anew(counts, tmp_path):
    fit_ctm(counts, OPTIONS.changed(iterations=5), state=tmp_path)
    few = OPTIONS.changed(iterations=2)
    assert_same(fit_ctm(counts, few, state=tmp_path), fit_ctm(counts, few))


FULL = """
import resource, signal, sys
from pathlib import Path
from textcritic.critics.ctm.train import Checkpoints
from textcritic.errors import TextcriticError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
try:
    Checkpoints(Path(sys.argv[1]) if sys.argv[1:] else None, "").posteriors(0, 10_000, 40)
except TextcriticError as error:
    print(error)
"""


@pytest.mark.parametrize("folder", [True, False])
def test_a_full_disk_is_one_line(tmp_path, folder):
    command = [sys.executable, "-c", FULL, *([tmp_path] if folder else [])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == f"{tmp_path}: 3 MiB of posteriors cannot be written there: File too large\n"


MEMORY = """
import re, sys, threading
from textcritic.critics.ctm import fit_ctm
from textcritic.latents.bags import open_counts
from textcritic.plan.entries import Ctm
def private():
    return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
peak, ended = 0, threading.Event()
def watch():
    global peak
    while not ended.wait(0.005):
        peak = max(peak, private())
matrix = open_counts(sys.argv[1]).matrix
fit_ctm(matrix[:200], Ctm(kind="ctm", topics=2, iterations=1))
before = private()
thread = threading.Thread(target=watch)
thread.start()
fit_ctm(matrix, Ctm(kind="ctm", topics=2, iterations=1))
ended.set()
thread.join()
print(peak - before)
"""

# glibc keeps what was freed, how much of it depends on what was freed before: by up to 100 MiB from run to run. Given
# thresholds it gives large blocks back at once.
FIXED = dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), "131072")


def test_memory_does_not_grow_with_the_documents(tmp_path):
    """Eight bytes of each of the 3 million counts that one corpus has more than the other would be 23 MiB."""
    peaks = []
    for documents in (5_000, 20_000):
        folder = tmp_path / str(documents)
        write_counts(folder, [many_counts(documents)], 4000)
        environment = {**os.environ, **FIXED, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", MEMORY, folder]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        peaks.append(float(done.stdout))
    assert peaks[1] - peaks[0] < 8, peaks


def many_counts(documents, each=200, words=4000):
    rng = np.random.default_rng(1)
    first = rng.integers(0, words // each, documents)
    indices = (np.arange(0, words, words // each) + first[:, None]).ravel()
    data = rng.integers(1, 9, len(indices)).astype(np.int32)
    matrix = csr_matrix((data, indices, np.arange(documents + 1) * each), shape=(documents, words))
    return Counts(pa.array([str(n) for n in range(documents)]), np.full(documents, 1000), matrix)
