"""A training killed with SIGKILL and run again gives exactly what an uninterrupted one gives, dropout included."""

import inspect
import json
import logging
import os
import signal
import subprocess
import sys
import time

import torch
from safetensors.torch import load_file

from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.training.loop import Run


def fit(train, validation, tokenizer, folder):
    config = {"model_type": "gpt2", "n_layer": 1, "n_embd": 32, "n_head": 2, "n_positions": 32}  # dropout 0.1
    training = Training(
        context=32,
        batch_size=4,
        learning_rate=5e-3,
        schedule="cosine",
        warmup_steps=5,
        steps=40,
        evaluate_every=7,
    )
    run = Run(f"{folder}/model", f"{folder}/training.json", threads=1, checkpoint_seconds=0)
    train_causal(Encoded(train, validation, tokenizer), {"config": config}, training, 3, run)


PROGRAM = f"""
import sys
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.generators.train import Encoded, train_causal
from textcritic.training.loop import Run
{inspect.getsource(fit)}
fit(*sys.argv[1:])
"""


def kill_in_mid_training(arguments, folder, step):
    """Train in a process of its own, and kill that as soon as a state at or past `step` is on disk."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *map(str, arguments)])
    deadline = time.monotonic() + 300  # on a machine with much else to do
    while process.poll() is None and time.monotonic() < deadline and not any(at >= step for at in states(folder)):
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def states(folder):
    """Path of the state after each step, newest last."""
    paths = {
        int(path.name.split(".")[0].removeprefix("state-")): path for path in folder.glob("checkpoints/state-*.pt")
    }
    return dict(sorted(paths.items()))


def test_a_kill_leaves_no_trace_in_losses_and_weights(tiny_encoding, tmp_path, caplog):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    inputs = (tiny_encoding.train, tiny_encoding.validation, tiny_encoding.tokenizer)
    fit(*inputs, whole)
    kill_in_mid_training((*inputs, broken), broken, 17)
    assert not (broken / "model").exists()
    *_, before, newest = states(broken)
    path = states(broken)[newest]
    path.write_bytes(path.read_bytes()[:1000])  # and the disk lost the end of the newest state
    with caplog.at_level(logging.INFO, "textcritic"):
        fit(*inputs, broken)
    assert "not a whole checkpoint; it is removed, the one before is tried" in caplog.text
    assert f"resuming from step {before}" in caplog.text
    reports = [json.loads((folder / "training.json").read_text()) for folder in (whole, broken)]
    for key in ("steps", "best_step", "validation_loss", "curve"):
        assert reports[0][key] == reports[1][key]
    weights = [load_file(folder / "model" / "model.safetensors") for folder in (whole, broken)]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    assert (broken / "checkpoints/finished").is_file()
