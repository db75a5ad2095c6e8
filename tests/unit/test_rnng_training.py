"""RNNG and its CRF trained on a known grammar: they learn it, resume to the bit, and do not beat the grammar itself."""

import os
import signal

import pytest
import torch
from grammar_oracle import log_probability
from tiny_latent_training import entry_of

from textcritic.corpora.structured.texts import write_structured
from textcritic.corpora.synthetic.grammar import draw_trees, known_grammar
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.generators.latent.rnng.crf import CRF
from textcritic.generators.latent.rnng.model import RNNG
from textcritic.generators.latent.train import Inputs, LatentJob, train_latent
from textcritic.training.loop import Run

SETTINGS = {
    RNNG: {"hidden": 24, "layers": 2, "dropout": 0.1, "tied": True, "end": "stop", "count_end": False},
    CRF: {"hidden": 24, "dropout": 0.1, "longest": 100},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grammar")
    for seed, (split, count) in enumerate({"train": 600, "validation": 80}.items()):
        write_structured(folder / f"{split}.parquet", draw_trees(count, seed), "grammar")
    return Inputs(train=folder / "train.parquet", validation=folder / "validation.parquet")


def fit(learner, files, folder, epochs=0.5, **more):
    training = {"learning_rate": 0.03, "epochs": epochs, "evaluate_every": 8, **more}
    entry = entry_of(learner, SETTINGS[learner], training)
    run = Run(model_dir=folder / "model", report_path=folder / "training.json", name="tiny", threads=1)
    train_latent(files, entry, 1, run)
    return (folder / "model/model.safetensors").read_bytes(), read_json(folder / "training.json")["curve"]


@pytest.mark.parametrize("learner", [RNNG, CRF])
def test_a_training_that_was_stopped_resumes_to_the_bit(learner, files, tmp_path, monkeypatch):
    whole = fit(learner, files, tmp_path / "whole")
    backward = LatentJob.backward

    def stopped(self, loop):
        if loop.step == 10:
            os.kill(os.getpid(), signal.SIGTERM)
        return backward(self, loop)

    with monkeypatch.context() as patch:
        patch.setattr(LatentJob, "backward", stopped)
        with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 11 of 19"):
            fit(learner, files, tmp_path / "stopped")
    assert fit(learner, files, tmp_path / "stopped") == whole


def test_gradient_descent_learns_too(files, tmp_path):
    """By the mean loss of a token, of which the gradient is smaller than by urnng's of a sentence."""
    _, curve = fit(RNNG, files, tmp_path, epochs=1, optimiser="sgd", learning_rate=10.0, schedule="constant")
    losses = [point["validation_loss"] for point in curve if "validation_loss" in point]
    assert losses[-1] < 0.8 * losses[0]


def test_the_trained_model_predicts_sentences_but_not_better_than_the_grammar(files, tmp_path):
    for learner in (RNNG, CRF):
        fit(learner, files, tmp_path / learner.kind, epochs=2)
    model, proposal = (learner.load(tmp_path / learner.kind / "model") for learner in (RNNG, CRF))
    texts = draw_trees(100, 9)
    words = sum(len(text.tokens) for text in texts)
    floor = -float(log_probability(known_grammar(), [text.tokens for text in texts]).sum()) / words
    estimate, right, random = 0.0, 0, torch.Generator().manual_seed(1)
    for text in texts:
        trees, log_q = proposal.draw(text, 20, 1.0, random)
        estimate -= float((model.log_joint(text, trees) - log_q).exp().mean().log()) / words
        right += tuple(proposal.best(text, 1)[0].tolist()) == text.actions
    with torch.no_grad():
        joint = float(model.losses(texts).sum()) / words
    assert floor < estimate < min(joint, 1.4 * floor)  # a model that knows nothing: over 1.7 times the floor
    assert right > 0.5 * len(texts)
    drawn = model.sample(100, 60, torch.Generator().manual_seed(2))
    assert float((log_probability(known_grammar(), [text.tokens for text in drawn]) > -torch.inf).mean()) > 0.1
