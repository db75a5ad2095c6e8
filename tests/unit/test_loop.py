"""The training loop alone, with a job of a few lines: kills, SIGTERM, the best model, two jobs in one folder."""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from forks import forking_python

from textcritic.errors import TextcriticError
from textcritic.runlog import taken
from textcritic.training.hardware import cpu_settings, flushes_denormals
from textcritic.training.loop import Job, Run, resumable
from textcritic.training.processes import run_together

LOSSES = [3.0, 1.0, 2.0, 1.5]  # of the validations, every third of twelve steps


class Walk(Job):
    """A random walk: a step adds a random number, a validation has the next of some losses."""

    name, seed, steps, work = "walk", 5, 12, 12

    def __init__(self, at_step=None, losses=LOSSES):
        self.at_step, self.losses = at_step or (lambda number: None), losses
        self.value = torch.zeros(1)

    def step(self, loop):
        self.at_step(loop.step + 1)
        self.value = self.value + torch.rand(1) * loop.ranks.size
        loop.advance(1, f"at {self.value.item():.1f}")

    def validation_is_due(self, step):
        return step % 3 == 0

    def validate(self, loop):
        return None if loop.stopping() else self.losses[loop.step // 3 - 1]

    def weights(self):
        return {"value": self.value}

    def train_loss(self):
        return self.value.item()

    def state(self):
        return {"value": self.value}

    def restore(self, state):
        self.value = state["value"]


class FromAModel(Walk):
    """The same from a start that counts as step 1, in rounds that are long, with a state that is large."""

    unit, step_noun, first_step, saves_every_validation = "units", "round", 1, False
    steps, work = 4, 300

    def begin(self, loop):
        self.value = torch.ones(1)

    def step(self, loop):
        for _ in range(100):
            loop.advance(1, "")
            self.at_step(loop.step)
            loop.check()
        self.value = self.value + torch.rand(1)

    def validation_is_due(self, step):
        return True

    def validate(self, loop):
        return self.losses[loop.step - 1]

    def after_validation(self, loop, loss):
        return loss == 0


def run_in(folder, **more):
    return Run(folder / "model", folder / "report.json", **({"checkpoint_seconds": 0} | more))


def fit(folder, job, ranks=None, **more):
    """Train; the weights that are kept, and the report."""
    with resumable(run_in(folder, **more), {"job": type(job).__name__}, {}, ranks) as loop:
        loop.train(job)
        if not loop.ranks.leads:
            return None
        best, report = loop.best(), {"best_step": loop.best_step, "steps": loop.step, "curve": loop.curve()}
        loop.finish(lambda to: torch.save({"best": best["value"], "last": job.value}, to / "model.pt"), report)
    return torch.load(folder / "model" / "model.pt"), json.loads((folder / "report.json").read_text())


def terminate_at(step):
    return lambda number: os.kill(os.getpid(), signal.SIGTERM) if number == step else None


def saved(folder):
    return sorted(path.name for path in folder.glob("checkpoints/*.pt"))


def test_the_best_model_is_kept_and_the_curve_written(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "textcritic"):
        weights, report = fit(tmp_path, Walk())
    steps = torch.rand(12, generator=torch.Generator().manual_seed(5)).cumsum(0)
    assert (report["best_step"], report["steps"]) == (6, 12)
    torch.testing.assert_close(weights["best"], steps[5:6])
    torch.testing.assert_close(weights["last"], steps[11:])
    assert [(point["step"], point["validation_loss"]) for point in report["curve"]] == list(
        zip((3, 6, 9, 12), LOSSES, strict=True)
    )
    assert "training walk: 12 of 12 steps (100%), 0 s left, at" in caplog.text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints", "model", "report.json"]


def test_a_model_that_is_lost_before_another_job_reads_it_is_not_trained_again(tmp_path):
    """As where the time of a job ran out after its last step: the scheduler says TIMEOUT, and Snakemake removes it."""
    expected = fit(tmp_path, Walk())
    assert saved(tmp_path) == ["best-6.pt", "state-12.best-6.pt"]
    shutil.rmtree(tmp_path / "model")
    (tmp_path / "report.json").unlink()

    def trained_again(number):
        raise AssertionError(f"step {number} is done again")

    assert fit(tmp_path, Walk(trained_again)) == expected
    taken([tmp_path / "model", tmp_path / "report.json"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "report.json"]


def test_checkpoints_of_a_training_at_work_stay_when_an_older_model_is_read(tmp_path):
    fit(tmp_path, Walk())
    with pytest.raises(TextcriticError, match="stopped by SIGTERM"):
        fit(tmp_path, FromAModel(terminate_at(2)))
    before = saved(tmp_path)
    taken([tmp_path / "model"])
    assert saved(tmp_path) == before != []


PROGRAM = f"""
import json, os, signal, sys, torch
from pathlib import Path
sys.path[:0] = {[str(folder) for folder in Path(__file__).parents[:2]]!r}
from test_loop import FromAModel, Walk, fit
fit(Path(sys.argv[1]), Walk(lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == 8 else None))
"""


def test_a_training_that_was_killed_resumes_to_the_same_end(tmp_path, caplog):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    expected = fit(whole, Walk())
    assert subprocess.run([forking_python(), "-c", PROGRAM, str(killed)], check=False).returncode == -signal.SIGKILL
    assert saved(killed) == ["best-6.pt", "state-6.best-6.pt", "state-7.best-6.pt"]
    with caplog.at_level(logging.INFO, "textcritic"):
        assert fit(killed, Walk()) == expected
    assert "resuming from step 7" in caplog.text


@pytest.mark.parametrize("step", [4, 6])
def test_sigterm_finishes_the_step_and_saves_it(tmp_path, step):
    """At step 6 the validation that is due is put off to the rerun."""
    expected, before = fit(tmp_path / "whole", Walk()), signal.getsignal(signal.SIGTERM)
    rare = {"checkpoint_seconds": 1e9}
    message = f"training walk: stopped by SIGTERM after step {step} of 12; the checkpoint is saved, rerun to go on"
    with pytest.raises(TextcriticError, match=message):
        fit(tmp_path / "stopped", Walk(terminate_at(step)), **rare)
    assert signal.getsignal(signal.SIGTERM) is before
    assert saved(tmp_path / "stopped")[-1] == f"state-{step}.best-3.pt"
    assert fit(tmp_path / "stopped", Walk(), **rare) == expected


def test_a_training_from_a_costly_start_saves_it_and_then_what_is_due(tmp_path):
    """A rerun begins from the start that was saved, and saves the first round that it makes."""
    expected = fit(tmp_path / "whole", FromAModel())
    rare, folder = {"checkpoint_seconds": 1e9}, tmp_path / "stopped"
    for number, left in ((2, "state-1.best-1.pt"), (3, "state-2.best-2.pt")):
        message = f"walk: stopped by SIGTERM in round {number}; the last checkpoint is kept"
        with pytest.raises(TextcriticError, match=message):
            fit(folder, FromAModel(terminate_at(number)), **rare)
        assert saved(folder)[-1] == left
    weights, report = fit(folder, FromAModel(), **rare)
    assert (weights, report) == expected
    assert [point["step"] for point in report["curve"]] == [0, 1, 2, 3]


def test_a_job_that_is_settled_ends(tmp_path):
    weights, report = fit(tmp_path, FromAModel(losses=[2.0, 0.0]))
    assert (report["steps"], report["best_step"], len(report["curve"])) == (2, 2, 2)
    assert torch.equal(weights["best"], weights["last"])


def test_a_validation_loss_that_is_not_finite_names_the_step(tmp_path):
    with pytest.raises(TextcriticError, match="training walk: the validation loss is nan after step 6; lower"):
        fit(tmp_path, Walk(losses=[1.0, float("nan")]))
    assert saved(tmp_path)[-1].startswith("state-5.")


def test_two_jobs_in_one_folder_are_refused(tmp_path):
    refused = []

    def second(number):
        if number == 4:
            with pytest.raises(TextcriticError, match="is at work in this folder; wait for it or stop it") as caught:
                fit(tmp_path, Walk())
            refused.append(caught)

    fit(tmp_path, Walk(second))
    assert len(refused) == 1


def test_a_state_that_was_saved_before_all_trainings_shared_the_loop(tmp_path):
    """It has the step and the job's own state alone."""
    whole = fit(tmp_path / "whole", FromAModel())
    with pytest.raises(TextcriticError, match="stopped by SIGTERM in round 3"):
        fit(tmp_path / "old", FromAModel(terminate_at(3)))
    path = max(tmp_path.glob("old/checkpoints/state-*"))
    state = torch.load(path)
    kept = {key: state[key] for key in ("step", "value", "best_step", "best_loss", "settled", "seconds")}
    torch.save({**kept, "rng": state["rng"][0]}, path)
    assert fit(tmp_path / "old", FromAModel()) == whole


def shared(ranks, folder):
    fit(Path(folder), Walk(), ranks)


def test_several_processes_have_streams_of_their_own_and_one_of_them_writes(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, Path(__file__).parents[:2])))
    monkeypatch.setattr(sys, "executable", forking_python())
    with caplog.at_level(logging.INFO, "textcritic"):
        run_together(f"{Path(__file__).stem}:shared", {"folder": str(tmp_path)}, 2, "training walk")
    assert json.loads((tmp_path / "report.json").read_text())["steps"] == 12
    alone, _ = fit(tmp_path / "alone", Walk())
    together = torch.load(tmp_path / "model" / "model.pt")
    torch.testing.assert_close(together["last"], 2 * alone["last"])  # the leader's stream is that of a process alone


def test_torch_is_left_as_it_was(tmp_path):
    torch.manual_seed(3)
    before = (torch.get_rng_state(), torch.get_num_threads(), flushes_denormals())
    within = []

    def look(number):
        within.append((torch.get_num_threads(), flushes_denormals()))

    fit(tmp_path, Walk(look), threads=before[1] + 1)
    assert set(within) == {(before[1] + 1, True)}
    with cpu_settings(), pytest.raises(TextcriticError), cpu_settings(before[1] + 1):
        raise TextcriticError("a fault")
    assert torch.equal(before[0], torch.get_rng_state())
    assert (torch.get_num_threads(), flushes_denormals()) == before[1:]
