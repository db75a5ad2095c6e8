"""Trainings of fairseq's models: several processes, reports, perplexity, and what is refused."""

import json
import math

import numpy as np
import pytest
import torch
from tiny_fairseq import AT_ONCE, LANGUAGE_MODELS, TRANSLATORS, split_of, tiny_data

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.data import Batches, load_examples
from textcritic.generators.fairseq.models import load_model
from textcritic.generators.fairseq.score import measure_fairseq
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.fairseq.train import Architecture, Splits, train_fairseq
from textcritic.generators.pairs import Pairs
from textcritic.plan.entries.generators import FairseqTraining
from textcritic.training.loop import Run

pytestmark = pytest.mark.skipif(not installed(), reason="run make fairseq")

STILL = {"dropout": 0.0, "attention_dropout": 0.0}
LEARNER = STILL | {
    **{f"{side}_layers": 1 for side in ("encoder", "decoder")},
    **{f"{side}_{part}_dim": 32 for side in ("encoder", "decoder") for part in ("embed", "ffn_embed")},
    "share_all_embeddings": True,
}
TRAINING = FairseqTraining(max_tokens=300, learning_rate=1e-2, steps=6, warmup_steps=2, evaluate_every=3)


@pytest.fixture(scope="module")
def data(shared_folder):
    return shared_folder("fairseq-data", tiny_data)


def fit(data, choice, folder, training=TRAINING, seed=1, processes=1):
    splits = Splits(split_of(data, choice, "train"), split_of(data, choice, "validation"), data / "tokenizer")
    run = Run(folder / "model", folder / "training.json", threads=1)
    return train_fairseq(splits, Architecture(*choice), training, seed, run, processes)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """A small translator, trained until it knows most letters, and its report."""
    choice = ("transformer", LEARNER)
    folder = tmp_path_factory.mktemp("trained")
    report = fit(
        data, choice, folder, TRAINING.changed(steps=200, warmup_steps=100, evaluate_every=100, learning_rate=2e-2)
    )
    return folder, report


def test_a_translator_learns_what_there_is_to_learn(trained):
    """A letter says the letter that translates it; without the source it is one of 13, 2.56 nats."""
    _, report = trained
    assert report["validation_loss"] < 1.5 < 2.5 < report["curve"][0]["train_loss"]


def test_a_model_that_writes_at_once_learns_it_too(data, tmp_path):
    """Tokens are independent here, given the source."""
    copies = {"src_embedding_copy": True, "encoder_learned_pos": True, "decoder_learned_pos": True}
    report = fit(data, ("nonautoregressive_transformer", LEARNER | copies), tmp_path, TRAINING.changed(steps=60))
    assert report["validation_loss"] < 1.0


def test_the_report_has_the_keys_of_other_trainings(trained):
    _, report = trained
    keys = "steps best_step validation_loss tokens_seen parameters curve seconds"
    keys += " tokens_per_second flops_per_token mfu device processes"
    assert " ".join(report) == keys
    assert report["steps"] == 200
    assert [point["step"] for point in report["curve"] if "validation_loss" in point] == [100, 200]


def test_perplexity_is_the_likelihood_of_the_split(trained, data, tmp_path):
    folder, _ = trained
    pairs = Pairs.load(data / "test.npz")
    found = measure_fairseq(folder / "model", data / "test.npz", tmp_path / "perplexity.json", 100, threads=1)
    assert json.loads((tmp_path / "perplexity.json").read_text()) == found
    model = load_model(folder / "model")
    total = 0.0
    for number in range(len(pairs)):
        source, target = (torch.cat([model.to_fairseq(side), torch.tensor([2])])[None] for side in pairs.pair(number))
        with torch.no_grad():
            output = model.module(source, torch.tensor([source.shape[1]]), target.roll(1))
        log_probs = torch.log_softmax(output[0][0].double(), -1)
        total -= float(log_probs.gather(1, target[0][:, None]).sum())
    assert found["all"]["nll"] == pytest.approx(total, rel=1e-5)
    assert found["all"]["tokens"] == len(pairs.target) + len(pairs)
    assert found["body"]["tokens"] == len(pairs.target)
    assert found["all"]["ppl"] == pytest.approx(math.exp(total / found["all"]["tokens"]), rel=1e-5)
    assert found["documents"] == len(set(pairs.sentence))  # translations of a sentence are drawn together
    assert found["windows"].startswith("each translation by itself, a token from the whole source")
    larger = measure_fairseq(folder / "model", data / "test.npz", tmp_path / "again.json", 10_000, threads=1)
    assert larger["all"]["nll"] == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize(
    ("choice", "words"),
    [(AT_ONCE["cmlm_transformer"], "in one pass: its length"), (LANGUAGE_MODELS["fconv_lm"], "each article by itself")],
)
def test_perplexity_says_what_tokens_are_predicted_from(choice, words, data, tmp_path):
    fit(data, choice, tmp_path)
    found = measure_fairseq(tmp_path / "model", split_of(data, choice, "test"), tmp_path / "p.json", 300, threads=1)
    assert words in found["windows"]
    assert found["all"]["tokens"] == found["body"]["tokens"] + 30
    assert 1 < found["all"]["ppl"] < 100


def test_texts_that_were_left_out_are_counted_where_perplexity_is_told(data, tmp_path):
    architecture, options = LANGUAGE_MODELS["lstm_lm"]
    choice = (architecture, options | {"max_target_positions": 6})
    fit(data, choice, tmp_path)
    found = measure_fairseq(tmp_path / "model", data / "test", tmp_path / "p.json", 300, threads=1)
    lengths = np.diff(Pairs.load(data / "test.npz").source_offsets)
    assert found["windows"].endswith(f"; {(lengths > 5).sum()} texts are left out, too long for the model")


def test_two_processes_share_the_batches_of_a_step(data, tmp_path):
    """With clusters of the adaptive softmax that a process may have no token of."""
    architecture, options = LANGUAGE_MODELS["adaptive transformer_lm"]
    choice = (architecture, options | STILL | {"activation_dropout": 0.0, "adaptive_softmax_dropout": 0.0})
    training = TRAINING.changed(max_tokens=100, accumulation=4)
    reports = [fit(data, choice, tmp_path / str(n), training, processes=n) for n in (1, 2)]
    assert [report["processes"] for report in reports] == [1, 2]
    assert reports[0]["tokens_seen"] == reports[1]["tokens_seen"]
    for key in ("train_loss", "validation_loss"):
        curves = [[point[key] for point in report["curve"] if key in point] for report in reports]
        np.testing.assert_allclose(*curves, rtol=1e-5)


def test_the_number_of_forward_passes_of_a_step_only_changes_its_size(data, tmp_path):
    """A step of many batches has the mean over all their tokens, not of their means."""
    architecture, options = LANGUAGE_MODELS["lstm_lm"]
    choice = (architecture, options | {"dropout": 0.0})
    one = TRAINING.changed(max_tokens=10_000, steps=1, evaluate_every=1)  # all examples in one batch
    whole = fit(data, choice, tmp_path / "whole", one)
    model = load_model(tmp_path / "whole/model")
    several = one.changed(max_tokens=300, accumulation=len(Batches(model, load_examples(data / "train", model), 300)))
    parts = fit(data, choice, tmp_path / "parts", several)
    assert parts["tokens_seen"] == whole["tokens_seen"]
    assert parts["curve"][0]["train_loss"] == pytest.approx(whole["curve"][0]["train_loss"], rel=1e-5)


def test_epochs_are_counted_in_steps(data, tmp_path):
    choice = LANGUAGE_MODELS["lstm_lm"]
    report = fit(data, choice, tmp_path, TRAINING.changed(steps=None, epochs=0.5, evaluate_every=None))
    lengths = np.diff(Pairs.load(data / "train.npz").source_offsets) + 1
    assert 0.4 < report["tokens_seen"] / lengths.sum() < 0.7


@pytest.mark.parametrize(
    ("choice", "changes", "message"),
    [
        (TRANSLATORS["transformer"], {"steps": None}, "training: give steps or epochs, one of the two"),
        (
            TRANSLATORS["transformer"],
            {"max_tokens": 8},
            "training.max_tokens: 8 is less than the longest text, 9 tokens",
        ),
        (TRANSLATORS["transformer"], {"learning_rate": 1e30}, "lower training.learning_rate"),
        (
            LANGUAGE_MODELS["adaptive transformer_lm"],
            {"label_smoothing": 0.1},
            "an adaptive softmax is trained without",
        ),
    ],
)
def test_faults_of_a_training_are_told_in_one_line(choice, changes, message, data, tmp_path):
    with pytest.raises(TextcriticError, match=message):
        fit(data, choice, tmp_path, TRAINING.changed(**changes))


def test_forward_passes_that_gpus_cannot_share_are_refused(data, tmp_path):
    with pytest.raises(TextcriticError, match=r"training.accumulation: 3 forward passes cannot be shared evenly by 2"):
        fit(data, TRANSLATORS["transformer"], tmp_path, TRAINING.changed(accumulation=3), processes=2)


def test_a_translator_is_not_trained_on_text_nor_a_language_model_on_pairs(data, tmp_path):
    run = Run(tmp_path / "model", tmp_path / "training.json")
    for name, split, message in (
        ("transformer", "train", "transformer is trained on pairs of a parallel corpus; .*train.tokens.npy is text"),
        ("transformer_lm", "train.npz", "transformer_lm is trained on text; .*train.npz is a parallel corpus"),
    ):
        splits = Splits(data / split, data / split, data / "tokenizer")
        with pytest.raises(TextcriticError, match=message):
            train_fairseq(splits, Architecture(name), TRAINING, 1, run)
