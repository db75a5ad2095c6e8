"""The golden losses: fairseq's criteria behind the shim, against the same losses by hand and against kept numbers.

A later torch, or a change of the shim, that changed what fairseq computes would show here.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_fairseq import AT_ONCE, LANGUAGE_MODELS, TRANSLATORS, split_of, tiny_data

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.data import Batches, load_examples, target_streams
from textcritic.generators.fairseq.job import FairseqJob, Objective
from textcritic.generators.fairseq.models import build_model, symbol_order
from textcritic.generators.fairseq.score import iter_nll
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.fairseq.train import Architecture, Splits, train_fairseq
from textcritic.plan.entries.generators import FairseqTraining
from textcritic.training.hardware import autocast
from textcritic.training.load import load_tokenizer
from textcritic.training.loop import Run

pytestmark = pytest.mark.skipif(not installed(), reason="run make fairseq")

CHOICES = {**TRANSLATORS, **LANGUAGE_MODELS, **AT_ONCE}
# Those that are trained here: one of each kind of network and of loss.
TRAINED = (
    "transformer",
    "transformer_lm",
    "adaptive transformer_lm",
    "lstm_lm",
    "fconv_lm",
    "cmlm_transformer",
    "nonautoregressive_transformer",
    "iterative_nonautoregressive_transformer",
)
SMOOTHING = 0.1
# The loss of the first batch before training, summed over tokens (of those that write at once: a mean), and the mean
# training loss of the last five of ten steps: torch 2.13, CPU, seed 1.
GOLDEN = json.loads(Path(__file__).with_name("fairseq_losses.json").read_text())


@pytest.fixture(scope="module")
def data(shared_folder):
    return shared_folder("fairseq-data", tiny_data)


def smoothing_of(name):
    return 0.0 if "adaptive" in name else SMOOTHING


def model_of(data, name):
    tokenizer = load_tokenizer(data / "tokenizer")
    choice = CHOICES[name]
    order = symbol_order(tokenizer, target_streams(split_of(data, choice, "train"), name not in LANGUAGE_MODELS))
    return build_model(*choice, order, 1, tokenizer)


def first_batch(data, name, model):
    examples = load_examples(split_of(data, CHOICES[name], "train"), model)
    batches = Batches(model, examples, 300)
    return batches.collate(batches.at(1, 0))


def fp32():
    return autocast(torch.device("cpu"), "fp32")


def log_softmax(scores):
    scores = scores.detach().numpy().astype(np.float64)
    scores = scores - scores.max(-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(-1, keepdims=True))


def by_hand(model, batch, smoothing):
    """The criterion's loss in float64, from nothing but the scores that the network gives."""
    pad, target = model.dictionary.pad(), batch["target"].numpy()
    counted = target != pad
    if model.autoregressive:
        output = model.module(**batch["net_input"])[0]
        if model.adaptive:
            return -adaptive_log_probs(model, output)[counted, target[counted]].sum()
        log_probs = log_softmax(output)[counted]
        own = -log_probs[np.arange(len(log_probs)), target[counted]].sum()
        # Of `smoothing`, every symbol but the true one has an equal share (fairseq, issue 2384).
        others = -log_probs.sum() - own
        return (1 - smoothing) * own + smoothing / (log_probs.shape[1] - 1) * others
    source = batch["net_input"]
    encoded = model.module.encoder(source["src_tokens"], src_lengths=source["src_lengths"])
    log_probs = log_softmax(model.module.decoder(False, encoded, prev_output_tokens=batch["prev_target"]))
    if "cmlm" in model.architecture:  # only tokens that were masked
        counted = batch["prev_target"].numpy() == model.dictionary.unk()
    chosen = log_probs[counted]
    own = -chosen[np.arange(len(chosen)), target[counted]].mean()
    words = (1 - smoothing) * own - smoothing * chosen.mean()
    lengths = log_softmax(model.module.decoder.forward_length(False, encoded))
    length = (target != pad).sum(1)
    if model.options.get("pred_length_offset"):
        length = length - source["src_lengths"].numpy() + 128
    return words - 0.1 * lengths[np.arange(len(length)), length].mean()


def adaptive_log_probs(model, features):
    """Log probabilities of all symbols [rows, columns, symbols]: the head's, and a cluster's times its share."""
    softmax = model.module.decoder.adaptive_softmax
    head = log_softmax(softmax.head(features.flatten(0, 1)).view(*features.shape[:2], -1))
    first = softmax.cutoff[0]
    parts = [head[..., :first]]
    for number, tail in enumerate(softmax.tail):
        parts.append(head[..., first + number, None] + log_softmax(tail(features)))
    return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize("name", [name for name in CHOICES if "iterative" not in name])
def test_the_criterion_of_fairseq_is_the_loss_by_hand(data, name):
    model = model_of(data, name)
    batch = first_batch(data, name, model)
    if not model.autoregressive:
        torch.manual_seed(1)
    objective = Objective(model, smoothing_of(name), fp32())
    with torch.no_grad():
        loss = float(objective(batch))
        assert loss == pytest.approx(by_hand(model, batch, smoothing_of(name)), rel=1e-5)
    assert loss == pytest.approx(GOLDEN[name]["first"], rel=1e-4)


def test_the_adaptive_loss_of_fairseq_leaves_out_the_second_word_of_each_cluster(data):
    """So it is not ours: the number of the word in its cluster is that of <pad>, which fairseq ignores everywhere."""
    from fairseq.criterions.adaptive_loss import AdaptiveLoss

    name = "adaptive transformer_lm"
    model = model_of(data, name)
    batch = first_batch(data, name, model)
    softmax, target = model.module.decoder.adaptive_softmax, batch["target"]
    with torch.no_grad():
        theirs = float(AdaptiveLoss(model.task, sentence_avg=False)(model.module, batch)[0])
        features = model.module(**batch["net_input"])[0]
        left_out = 0.0
        for number, tail in enumerate(softmax.tail):
            chosen = target == softmax.cutoff[number] + 1
            left_out -= log_softmax(tail(features[chosen]))[:, 1].sum() if chosen.any() else 0.0
        assert left_out > 10
        assert theirs + left_out == pytest.approx(by_hand(model, batch, 0.0), rel=1e-5)


def test_the_loss_of_refinement_is_a_mean_over_its_passes(data):
    """Every pass but the first reads what the one before made, here without noise."""
    name = "iterative_nonautoregressive_transformer"
    model = model_of(data, name)
    model.module.dae_ratio = 0.0
    batch = first_batch(data, name, model)
    with torch.no_grad():
        loss = float(Objective(model, 0.0, fp32())(batch))
        alone = []
        for _ in range(model.module.train_step):
            alone.append(by_hand(model, batch, 0.0))
            source = batch["net_input"]
            encoded = model.module.encoder(source["src_tokens"], src_lengths=source["src_lengths"])
            scores = model.module.decoder(False, encoded, prev_output_tokens=batch["prev_target"])
            padding = batch["target"] == model.dictionary.pad()
            batch["prev_target"] = scores.argmax(-1).masked_fill(padding, model.dictionary.pad())
    assert loss == pytest.approx(np.mean(alone), rel=1e-5)


@pytest.mark.parametrize("name", CHOICES)
def test_a_text_is_as_likely_alone_as_in_a_batch_with_padding(data, name):
    """And as the scores by hand say."""
    model = model_of(data, name)
    examples = load_examples(split_of(data, CHOICES[name], "test"), model)
    batches = Batches(model, examples, 300)
    rows = examples.usable[:12]
    together = dict(iter_nll(model, batches.collate(rows), fp32()))
    assert sorted(together) == sorted(rows)
    for row in rows:
        batch = batches.collate([row])
        ((number, alone),) = iter_nll(model, batch, fp32())
        assert number == row
        np.testing.assert_allclose(together[row], alone, rtol=1e-4, atol=1e-5)
        assert len(alone) == len(examples.target.text(row)) + 1
        if model.autoregressive:
            with torch.no_grad():
                assert alone.sum() == pytest.approx(by_hand(model, batch, 0.0), rel=1e-5)


def test_training_goes_on_after_texts_longer_than_before_were_measured(data):
    """fairseq keeps a mask of the longest text so far."""
    name = "transformer_lm"
    model = model_of(data, name)
    examples = load_examples(data / "train", model)
    batches = Batches(model, examples, 300)
    in_order = batches.in_order()
    list(iter_nll(model, batches.collate(in_order[-1]), fp32()))
    Objective(model, 0.0, fp32())(batches.collate(in_order[0])).backward()


@pytest.mark.parametrize("name", ["transformer_lm", "adaptive transformer_lm"])
def test_the_likelihoods_of_all_next_symbols_add_up_to_one(data, name):
    model = model_of(data, name)
    examples = load_examples(data / "test", model)
    batch = Batches(model, examples, 300).collate(examples.usable[:1])
    total = 0.0
    for symbol in range(len(model.dictionary)):
        if symbol == model.dictionary.pad():
            with torch.no_grad():
                output = model.module(**batch["net_input"])
            total += float(model.module.get_normalized_probs(output, log_probs=False)[0, 0, symbol])
            continue
        batch["target"][0, 0] = symbol
        ((_, nll),) = iter_nll(model, batch, fp32())
        total += np.exp(-nll[0])
    assert total == pytest.approx(1, abs=1e-5)


def fit(data, name, folder, checkpoint_seconds=300):
    """Ten steps of two forward passes each, dropout included."""
    choice = CHOICES[name]
    splits = Splits(split_of(data, choice, "train"), split_of(data, choice, "validation"), data / "tokenizer")
    how = {"accumulation": 2, "warmup_steps": 5, "steps": 10, "evaluate_every": 5}
    training = FairseqTraining(max_tokens=200, learning_rate=5e-3, label_smoothing=smoothing_of(name), **how)
    run = Run(folder / "model", folder / "training.json", threads=1, checkpoint_seconds=checkpoint_seconds)
    return train_fairseq(splits, Architecture(*choice), training, 1, run)


def same_results(one, other):
    reports = [json.loads((folder / "training.json").read_text()) for folder in (one, other)]
    for key in ("steps", "best_step", "validation_loss", "tokens_seen", "curve"):
        assert reports[0][key] == reports[1][key]
    weights = [load_file(folder / "model/model.safetensors") for folder in (one, other)]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_gives_the_kept_losses_and_the_same_after_a_stop(data, name, tmp_path, monkeypatch):
    report = fit(data, name, tmp_path / "whole")
    last = np.mean([point["train_loss"] for point in report["curve"] if point["step"] > 5])
    assert last == pytest.approx(GOLDEN[name]["last"], rel=1e-4)
    first, last = (point["validation_loss"] for point in report["curve"] if "validation_loss" in point)
    assert last < first
    kept = FairseqJob.step

    def stopped(self, loop):
        kept(self, loop)
        if loop.step == 6:
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as first:
        first.setattr(FairseqJob, "step", stopped)
        with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 7 of 10"):
            fit(data, name, tmp_path / "stopped")
    fit(data, name, tmp_path / "stopped")
    same_results(tmp_path / "whole", tmp_path / "stopped")


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from oracle.test_fairseq_losses import fit
fit(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), 0)
"""


def test_a_training_that_was_killed_goes_on_as_if_it_had_not(data, tmp_path):
    """The refining model, whose targets are spoilt at random."""
    name = "iterative_nonautoregressive_transformer"
    fit(data, name, tmp_path / "whole")
    broken = tmp_path / "broken"
    tests = Path(__file__).parents[1]
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tests), str(data), name, str(broken)])
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline and not list(broken.glob("checkpoints/state-*.pt")):
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (broken / "model").exists()
    fit(data, name, broken)
    same_results(tmp_path / "whole", broken)
