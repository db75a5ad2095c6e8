"""A latent model or proposal is trained, stopped in the middle, and trained on: it should be as if never stopped."""

import pytest
from safetensors.torch import load_file

from textcritic.corpora.structured.texts import write_structured
from textcritic.files import read_json
from textcritic.generators.latent.model import LatentModel
from textcritic.generators.latent.train import Inputs, LatentJob, train_latent
from textcritic.plan.entries import read_entry
from textcritic.training.loop import Run

TRAINING = {"learning_rate": 0.01, "batch_size": 4, "steps": 8, "evaluate_every": 3}


def entry_of(learner, settings, training, minimum_count=1):
    """The entry of a kind of model or proposal, of mappings."""
    registry = "generators" if issubclass(learner, LatentModel) else "proposals"
    entry = {"kind": learner.kind, "model": settings, "minimum_count": minimum_count, "training": training}
    return read_entry(entry, registry, "here")


def assert_a_stop_leaves_no_trace(learner, settings, texts, folder, monkeypatch):
    inputs = Inputs(train=folder / "train.parquet", validation=folder / "validation.parquet")
    write_structured(inputs.train, texts[3:], "test")
    write_structured(inputs.validation, texts[:3], "test")
    entry = entry_of(learner, settings, TRAINING)

    def fit(name):
        run = Run(folder / name / "model", folder / name / "training.json", threads=1, checkpoint_seconds=0)
        train_latent(inputs, entry, 3, run)
        report = read_json(folder / name / "training.json")
        return load_file(folder / name / "model" / "model.safetensors"), report["curve"]

    weights, curve = fit("whole")
    backward = LatentJob.backward

    def stops(job, loop):
        if loop.step == 5:
            raise InterruptedError
        return backward(job, loop)

    with monkeypatch.context() as patch:
        patch.setattr(LatentJob, "backward", stops)
        with pytest.raises(InterruptedError):
            fit("broken")
    assert list((folder / "broken/checkpoints").glob("state-*.pt"))
    again, same = fit("broken")
    assert same == curve
    assert weights.keys() == again.keys()
    assert all(weights[name].equal(again[name]) for name in weights)
    model = learner.load(folder / "whole/model")
    assert not model.training
    assert model.losses(texts[:2]).isfinite().all()
