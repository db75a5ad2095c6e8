"""A training killed with SIGKILL and run again gives exactly what an uninterrupted one gives, dropout included."""

import json
import os
import signal
import subprocess
import sys
import time

import torch
from safetensors.torch import load_file

PROGRAM = """
import json, logging, sys
from textcritic.generators.plan import Training
from textcritic.generators.train import train_causal
logging.basicConfig(level=logging.INFO)
train, validation, tokenizer, folder = sys.argv[1:]
config = {"model_type": "gpt2", "n_layer": 1, "n_embd": 32, "n_head": 2, "n_positions": 32}
training = Training(context=32, batch_size=4, learning_rate=5e-3, schedule="cosine", warmup_steps=5, steps=60,
                    evaluate_every=7, checkpoint_seconds=0)
train_causal(train, validation, tokenizer, {"config": config}, training, 3, f"{folder}/model", f"{folder}/training.json",
             threads=1)
"""


def start(tiny, folder):
    folder.mkdir(exist_ok=True)
    arguments = [tiny.train, tiny.validation, tiny.tokenizer, folder]
    return subprocess.Popen([sys.executable, "-c", PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, text=True)


def kill_after(process, folder, step):
    """SIGKILL as soon as a state at or past `step` is on disk."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        names = [path.name for path in folder.glob("checkpoints/state-*.pt")]
        if any(int(name.split(".")[0].removeprefix("state-")) >= step for name in names):
            break
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_two_kills_leave_no_trace_in_losses_and_weights(tiny_encoding, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    _, said = (process := start(tiny_encoding, whole)).communicate()
    assert process.returncode == 0, said
    for step in (10, 30):
        kill_after(start(tiny_encoding, broken), broken, step)
        assert not (broken / "model").exists()
    newest = max((broken / "checkpoints").glob("state-*.pt"), key=lambda path: int(path.name.split(".")[0][6:]))
    newest.write_bytes(newest.read_bytes()[:1000])  # and the disk lost the end of the last one
    _, said = (process := start(tiny_encoding, broken)).communicate()
    assert process.returncode == 0, said
    assert "its process is dead" in said
    assert "not a whole checkpoint; it is removed, the one before is tried" in said
    assert "resuming from step" in said
    reports = [json.loads((folder / "training.json").read_text()) for folder in (whole, broken)]
    for key in ("steps", "best_step", "validation_loss", "curve"):
        assert reports[0][key] == reports[1][key]
    weights = [load_file(folder / "model" / "model.safetensors") for folder in (whole, broken)]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    assert not (broken / "checkpoints").exists()
