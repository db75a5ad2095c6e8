"""A fit of a correlated topic model that is killed goes on where it was, and notices what it must not go on from."""

import inspect
import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ctm_oracle import draw_documents, random_critic
from scipy.sparse import load_npz, save_npz

from textcritic.critics.ctm import FitOptions, fit_ctm
from textcritic.errors import TextcriticError

ROOT = Path(__file__).parents[2]
OPTIONS = FitOptions(num_topics=6, iterations=25, tolerance=1e-12, seed=4)


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
    options = FitOptions(num_topics=6, iterations=25, tolerance=1e-12, seed=4)
    fit_ctm(counts, options, state=Path(state))


PROGRAM = f"""
import sys
from pathlib import Path
from scipy.sparse import load_npz
from textcritic.critics.ctm import FitOptions, fit_ctm
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
    done = fit_ctm(counts, replace(OPTIONS, iterations=1), state=tmp_path / "state")  # nothing is left to do of one
    assert 7 <= len(done.bounds) < OPTIONS.iterations
    again = fit_ctm(counts, OPTIONS, state=tmp_path / "state")
    assert_same(again, whole)
    assert again.seconds > done.seconds
    assert_same(fit_ctm(counts, OPTIONS, state=tmp_path / "state"), whole)


@pytest.mark.parametrize("minibatch", [None, 90])
@pytest.mark.parametrize("stops", [(1, 2, 3), (6,)])
def test_stopping_after_any_iteration_changes_nothing(counts, tmp_path, minibatch, stops):
    options = replace(OPTIONS, iterations=8, tolerance=0.0, minibatch=minibatch)
    for stop in stops:
        fit_ctm(counts, replace(options, iterations=stop), state=tmp_path)
    assert_same(fit_ctm(counts, options, state=tmp_path, workers=2), fit_ctm(counts, options))


@pytest.mark.parametrize("name", ["standing.npz", "posteriors-1.npy"])
@pytest.mark.parametrize("how", ["cut short", "empty", "overwritten"])
def test_a_torn_checkpoint_is_noticed(counts, tmp_path, name, how):
    fit_ctm(counts, replace(OPTIONS, iterations=6), state=tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    broken = {"cut short": content[: len(content) // 2], "empty": b"", "overwritten": bytes(len(content))}
    path.write_bytes(broken[how])
    with pytest.raises(TextcriticError, match=rf"{name}.*delete") as caught:
        fit_ctm(counts, OPTIONS, state=tmp_path)
    assert "\n" not in str(caught.value)


OTHERS = {"seed": 5, "num_topics": 5, "shrinkage": 0.1, "minibatch": 100}


@pytest.mark.parametrize("key", OTHERS)
def test_the_state_of_other_options_is_not_used(counts, tmp_path, caplog, key):
    options = replace(OPTIONS, iterations=4)
    other = replace(options, **{key: OTHERS[key]})
    fit_ctm(counts, other, state=tmp_path)
    with caplog.at_level(logging.INFO, "textcritic"):
        assert_same(fit_ctm(counts, options, state=tmp_path), fit_ctm(counts, options))
    assert "other documents or options; the fit starts anew" in caplog.text


def test_the_state_of_other_documents_is_not_used(counts, tmp_path, caplog):
    options = replace(OPTIONS, iterations=4)
    changed = counts.copy()
    changed.data[-1] += 1
    fit_ctm(changed, options, state=tmp_path)
    with caplog.at_level(logging.INFO, "textcritic"):
        assert_same(fit_ctm(counts, options, state=tmp_path), fit_ctm(counts, options))
    assert "other documents or options; the fit starts anew" in caplog.text
