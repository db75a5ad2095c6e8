"""Several processes train the very model that one trains, and survive what it survives: kills, SIGTERM, resumption."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from forks import forked, forking_python
from safetensors.torch import load_file
from transformers import PreTrainedModel

from textcritic.errors import TextcriticError
from textcritic.generators.train import Encoded, train_causal, train_share
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.training import loop
from textcritic.training.loop import Run
from textcritic.training.processes import run_together

MODEL = {"model_type": "gpt2", "n_layer": 2, "n_embd": 32, "n_head": 2, "n_positions": 32}  # dropout 0.1
PLAIN = MODEL | {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
SHORT = {"context": 16, "batch_size": 4, "learning_rate": 1e-3, "steps": 12, "evaluate_every": 5}
# Long enough to be caught in the middle of it.
LONG = SHORT | {"steps": 60, "evaluate_every": 15}


def fit(tiny, folder, training, config=PLAIN, processes=1):
    return train_causal(
        Encoded(tiny.train, tiny.validation, tiny.tokenizer),
        {"config": config},
        Training(**training),
        3,
        Run(f"{folder}/model", f"{folder}/training.json", "tiny", threads=2, checkpoint_seconds=0),
        processes,
    )


@pytest.fixture(scope="module", autouse=True)
def forking():
    """All processes are forked; unit/test_launch starts the interpreter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", forking_python())
        yield


# As a rule's script runs it: the whole is one process to whoever starts, stops or kills it.
PROGRAM = """
import json, sys
from textcritic import runlog
from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.training.loop import Run
inputs, config, training, folder, processes = json.loads(sys.argv[1])
with runlog.job(folder + ".log", "train tiny"):
    run = Run(folder + "/model", folder + "/training.json", "tiny", threads=2, checkpoint_seconds=0)
    train_causal(Encoded(*inputs), {"config": config}, Training(**training), 3, run, processes)
"""


class Job:
    """A training of two processes that is under way."""

    def __init__(self, tiny, folder: Path, training, config=MODEL, processes=2):
        inputs = [str(path) for path in (tiny.train, tiny.validation, tiny.tokenizer)]
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps([inputs, config, training, str(folder), processes])],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.number = forked(self.process.pid)

    def wait_for(self, step):
        """Until a state at or past `step` is on disk."""
        deadline = time.monotonic() + 90
        while self.process.poll() is None and time.monotonic() < deadline:
            if any(int(path.name.split(".")[0][6:]) >= step for path in self.folder.glob("checkpoints/state-*.pt")):
                return self
            time.sleep(0.005)
        raise AssertionError(f"no state of step {step}: {self.process.communicate()[1]}")

    def ranks(self):
        """Process ids of the children, the one that leads first."""
        asked = Path(f"/proc/{self.number}/task/{self.number}/children").read_text().split()
        return [forked(int(process)) for process in sorted(asked, key=int)]

    def end(self):
        """What it said last, and its exit code."""
        said = self.process.communicate(timeout=90)[1]
        return said.splitlines()[-1], self.process.returncode


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids):
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, pids))


def weights(folder):
    return load_file(folder / "model" / "model.safetensors")


def assert_same_training(one, other, **tolerance):
    """Losses and weights of two trainings, exactly or within a tolerance."""
    reports = [json.loads((folder / "training.json").read_text()) for folder in (one, other)]
    assert reports[0]["best_step"] == reports[1]["best_step"]
    for a, b in zip(*(report["curve"] for report in reports), strict=True):
        assert a == (pytest.approx(b, **tolerance) if tolerance else b)
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    for name in first:
        if tolerance:
            torch.testing.assert_close(first[name], second[name], atol=1e-5, rtol=0)
        else:
            assert torch.equal(first[name], second[name]), name


@pytest.fixture(scope="module")
def whole(tiny_encoding, tmp_path_factory):
    """The long training, with dropout, by two processes without interruption."""
    folder = tmp_path_factory.mktemp("whole") / "two"
    fit(tiny_encoding, folder, LONG, MODEL, processes=2)
    return folder


@pytest.fixture(scope="module")
def alone(tiny_encoding, tmp_path_factory):
    """The long training, without dropout, by one process without interruption."""
    folder = tmp_path_factory.mktemp("alone") / "one"
    fit(tiny_encoding, folder, LONG)
    return folder


MORE = {"accumulation": 3, "evaluate_blocks": 7, "activation_checkpointing": True}


@pytest.mark.parametrize("more", [{}, MORE])
def test_two_processes_train_what_one_trains_and_the_first_is_heard(tiny_encoding, tmp_path, caplog, more):
    one = fit(tiny_encoding, tmp_path / "one", SHORT | more)
    with caplog.at_level(logging.INFO, "textcritic"):
        caplog.clear()
        two = fit(tiny_encoding, tmp_path / "two", SHORT | more, processes=2)
    assert_same_training(tmp_path / "one", tmp_path / "two", rel=1e-6)
    for key in ("steps", "best_step", "tokens_seen", "parameters", "flops_per_token", "device", "mfu"):
        assert one[key] == two[key]
    assert (one["processes"], two["processes"]) == (1, 2)
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["checkpoints", "model", "training.json"]
    validations = [record.getMessage() for record in caplog.records if "validation loss" in record.getMessage()]
    assert [message.split("after ")[1] for message in validations] == ["step 5", "step 10", "step 12"]


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_ends_all_and_the_rerun_leaves_no_trace(tiny_encoding, tmp_path, whole, victim):
    job = Job(tiny_encoding, tmp_path / "broken", LONG).wait_for(25)
    ranks = job.ranks()
    assert len(ranks) == 2
    os.kill(ranks[victim], signal.SIGKILL)
    said, code = job.end()
    assert code == 1
    assert f"error: training tiny: process {victim + 1} was killed by SIGKILL" in said
    assert "the last checkpoint is kept, rerun to go on from there" in said
    wait_until_gone(ranks)
    assert not (tmp_path / "broken/model").exists()
    assert Job(tiny_encoding, tmp_path / "broken", LONG).end()[1] == 0
    assert_same_training(whole, tmp_path / "broken")
    assert "resuming from step" in (tmp_path / "broken.log").read_text()


def test_when_the_starting_process_is_killed_no_other_goes_on(tiny_encoding, tmp_path):
    job = Job(tiny_encoding, tmp_path / "broken", LONG).wait_for(10)
    ranks = job.ranks()
    os.kill(job.number, signal.SIGKILL)
    job.process.communicate()
    wait_until_gone(ranks)
    assert not (tmp_path / "broken/model").exists()


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
def test_sigterm_reaches_all_and_another_number_of_processes_goes_on(tiny_encoding, tmp_path, alone, before, after):
    job = Job(tiny_encoding, tmp_path / "broken", LONG, PLAIN, before).wait_for(18)
    ranks = job.ranks()
    job.process.terminate()
    said, code = job.end()
    assert code == 1
    assert "training tiny: stopped by SIGTERM after step" in said
    assert "the checkpoint is saved, rerun to go on from there" in said
    wait_until_gone(ranks)
    assert not (tmp_path / "broken/checkpoints/lock.json").exists()
    report = fit(tiny_encoding, tmp_path / "broken", LONG, processes=after)
    assert report["processes"] == after
    assert_same_training(alone, tmp_path / "broken", rel=1e-6)


def share_stopped_at_the_end(ranks, **given):
    """`train_share`, in which SIGTERM comes while the model is written, long after the others have nothing to do."""
    write = PreTrainedModel.save_pretrained

    def slowly(*model_and_folder):
        os.kill(int(os.environ["TESTED"]), signal.SIGTERM)
        time.sleep(2)
        write(*model_and_folder)

    PreTrainedModel.save_pretrained = slowly
    train_share(ranks, **given)


def test_sigterm_while_the_model_is_written_loses_nothing(tiny_encoding, tmp_path, monkeypatch):
    function = f"{Path(__file__).stem}:{share_stopped_at_the_end.__name__}"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, Path(__file__).parents[:2])))
    monkeypatch.setenv("TESTED", str(os.getpid()))
    monkeypatch.setattr(loop, "run_together", lambda _, *job: run_together(function, *job))
    fit(tiny_encoding, tmp_path / "stopped", SHORT, processes=2)
    fit(tiny_encoding, tmp_path / "whole", SHORT)
    assert_same_training(tmp_path / "whole", tmp_path / "stopped", rel=1e-6)
    assert sorted(path.name for path in (tmp_path / "stopped").iterdir()) == ["checkpoints", "model", "training.json"]


def test_faults_are_the_line_of_the_process_that_found_them(tiny_encoding, tmp_path):
    with pytest.raises(TextcriticError, match="4 blocks cannot be shared evenly by 3 GPUs; change batch_size or gpu"):
        fit(tiny_encoding, tmp_path / "a", SHORT, processes=3)
    with pytest.raises(TextcriticError, match=r"training\.context: 33 is more than the model's positions"):
        fit(tiny_encoding, tmp_path / "b", SHORT | {"context": 33}, processes=2)
    exploding = SHORT | {"learning_rate": 1e30, "schedule": "constant", "gradient_clip": None}
    with pytest.raises(TextcriticError, match=r"^training tiny: loss .*nan.* lower training.learning_rate"):
        fit(tiny_encoding, tmp_path / "c", exploding, processes=2)
