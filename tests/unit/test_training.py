import json
import logging
import os
import signal
import time

import numpy as np
import pytest
import torch
from tiny import TinyEncoding
from torch.nn.functional import cross_entropy

from textcritic.errors import TextcriticError
from textcritic.generators import causal
from textcritic.generators.causal import CausalJob
from textcritic.generators.encode import block_at, load_encoded
from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.training import gradient
from textcritic.training.hardware import flops_per_token
from textcritic.training.load import load_causal, load_tokenizer, train_tokenizer
from textcritic.training.loop import Loop, Run
from textcritic.training.optimiser import learning_rate, optimiser

MODEL = {"model_type": "gpt2", "n_layer": 1, "n_embd": 16, "n_head": 2, "n_positions": 16}
LOCAL = [[["global", "local"], 2]]
PLAIN = MODEL | {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}


def fit(tiny: TinyEncoding, folder, training: Training, config=MODEL, seed=1, checkpoint_seconds=300):
    encoded = Encoded(tiny.train, tiny.validation, tiny.tokenizer)
    run = Run(folder / "model", folder / "training.json", threads=1, checkpoint_seconds=checkpoint_seconds)
    report = train_causal(encoded, {"config": config}, training, seed, run)
    return report, load_causal({"folder": folder / "model"}, load_tokenizer(folder / "model"))


def validation_loss(model, tiny, context):
    """Mean nats of the predicted tokens, window by window."""
    tokens = torch.from_numpy(np.array(load_encoded(tiny.validation)[0], np.int64))
    nats = []
    with torch.no_grad():
        for start in range(0, len(tokens) - 1, context):
            window = tokens[start : start + context + 1]
            log_prob = model(window[None, :-1]).logits[0].log_softmax(-1)
            nats += (-log_prob[torch.arange(len(window) - 1), window[1:]]).tolist()
    return sum(nats) / len(nats)


def terminate_in_step(monkeypatch, number):
    """Send this process SIGTERM while it computes a step."""
    step = CausalJob.step

    def terminated(job, loop):
        if loop.step + 1 == number:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(job, loop)

    monkeypatch.setattr(CausalJob, "step", terminated)


def test_training_learns_and_reports(tiny_encoding, tmp_path):
    training = Training(context=16, batch_size=8, learning_rate=1e-2, steps=60, evaluate_every=30)
    report, model = fit(tiny_encoding, tmp_path, training)
    assert report == json.loads((tmp_path / "training.json").read_text())
    curve = report["curve"]
    assert [point["step"] for point in curve] == list(range(1, 61))
    assert [point["step"] for point in curve if "validation_loss" in point] == [30, 60]
    assert curve[0]["train_loss"] == pytest.approx(np.log(len(load_tokenizer(tiny_encoding.tokenizer))), rel=0.05)
    assert report["validation_loss"] < 0.8 * curve[0]["train_loss"]
    assert report["tokens_seen"] == 60 * 8 * 16
    assert report["parameters"] == sum(p.numel() for p in model.parameters())
    assert report["device"] == "cpu" or torch.cuda.is_available()
    assert report["mfu"] is None or torch.cuda.is_available()
    assert 0 < report["tokens_seen"] / report["tokens_per_second"] <= report["seconds"] + 0.1
    assert report["flops_per_token"] == flops_per_token(model, 16)
    assert report["processes"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints", "model", "training.json"]


def test_the_speed_is_that_of_the_steps_alone(tiny_encoding, tmp_path, monkeypatch):
    """Of all steps and of no more, also when a training goes on from a checkpoint; by a clock that the test moves on:
    a step takes a second, a validation 10 and a checkpoint 100."""
    clock, spent = [0.0], []

    def takes(seconds, owner, name):
        done = getattr(owner, name)

        def timed(*arguments):
            clock[0] += seconds
            spent.append(seconds)
            return done(*arguments)

        monkeypatch.setattr(owner, name, timed)

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    takes(1, CausalJob, "step")
    takes(10, Loop, "_validate")
    takes(100, Loop, "_save")
    training = Training(context=16, learning_rate=1e-3, steps=8, evaluate_every=4)
    with monkeypatch.context() as stopping:
        terminate_in_step(stopping, 4)
        with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 4"):
            fit(tiny_encoding, tmp_path, training, checkpoint_seconds=10_000)
    report, _ = fit(tiny_encoding, tmp_path, training, checkpoint_seconds=10_000)
    assert spent.count(1) == 8
    assert report["tokens_seen"] / report["tokens_per_second"] == pytest.approx(8)
    # The validation that was put off is validated once, in the rerun.
    assert spent.count(10) >= 2
    assert report["seconds"] >= 8 + 2 * 10 + 100


def test_a_share_of_the_peak_is_not_told_of_two_kinds_of_card(tiny_encoding, tmp_path, monkeypatch):
    monkeypatch.setattr(causal, "in_bf16", lambda *_: True)
    for module in (causal, gradient):
        monkeypatch.setattr(module, "card_name", lambda _: "NVIDIA H200")
    training = Training(context=16, learning_rate=1e-3, steps=4, precision="fp32")

    def resumed_on(card, folder):
        with monkeypatch.context() as first:
            terminate_in_step(first, 2)
            with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 2"):
                fit(tiny_encoding, folder, training)
        for module in (causal, gradient):
            monkeypatch.setattr(module, "card_name", lambda _, card=card: card)
        return fit(tiny_encoding, folder, training)[0]

    assert resumed_on("NVIDIA H200", tmp_path / "same")["mfu"] is not None
    report = resumed_on("NVIDIA H100 80GB HBM3", tmp_path / "another")
    assert (report["mfu"], report["device"]) == (None, "NVIDIA H100 80GB HBM3")


def test_the_best_validated_weights_are_the_ones_saved(tiny_encoding, tmp_path):
    # A rate far too high for the end of training, so that the last validation is not the best.
    training = Training(
        context=16, batch_size=8, learning_rate=0.3, schedule="constant", steps=12, evaluate_every=1, gradient_clip=None
    )
    report, model = fit(tiny_encoding, tmp_path, training)
    losses = {point["step"]: point["validation_loss"] for point in report["curve"]}
    assert report["best_step"] == min(losses, key=losses.get) != 12
    assert report["validation_loss"] == min(losses.values())
    assert validation_loss(model, tiny_encoding, 16) == pytest.approx(report["validation_loss"], rel=1e-6)


def test_accumulated_passes_equal_one_larger_batch(tiny_encoding, tmp_path):
    shared = {"context": 16, "steps": 6, "evaluate_every": 6, "learning_rate": 1e-3}
    whole, one = fit(tiny_encoding, tmp_path / "a", Training(batch_size=8, **shared), PLAIN)
    parts, other = fit(tiny_encoding, tmp_path / "b", Training(batch_size=2, accumulation=4, **shared), PLAIN)
    assert [p["train_loss"] for p in whole["curve"]] == pytest.approx(
        [p["train_loss"] for p in parts["curve"]], rel=1e-5
    )
    assert whole["tokens_seen"] == parts["tokens_seen"]
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=2e-5, rtol=1e-3)


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "gpt2", "n_layer": 4, "n_embd": 64, "n_head": 2},
        {"model_type": "gpt_neo", "num_layers": 4, "hidden_size": 64, "num_heads": 2, "attention_types": LOCAL},
    ],
    ids=lambda config: config["model_type"],
)
def test_activation_checkpointing_keeps_less_for_the_same_gradients(config, tiny_encoding):
    """Dropout included: what is computed again is computed with the same random numbers."""

    def gradients(saving):
        model = load_causal({"config": config}, load_tokenizer(tiny_encoding.tokenizer), seed=1).train()
        if saving:
            model.activation_checkpointing_enable()
        ids = torch.arange(64)[None]
        kept = []
        torch.manual_seed(2)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
            loss = cross_entropy(model(input_ids=ids, use_cache=False).logits.flatten(0, 1), ids.flatten())
        loss.backward()
        return [weight.grad for weight in model.parameters()], sum(kept)

    (whole, all_kept), (saving, few_kept) = gradients(False), gradients(True)
    assert all(torch.equal(a, b) for a, b in zip(whole, saving, strict=True))
    assert few_kept < all_kept / 5


def test_activation_checkpointing_changes_no_loss(tiny_encoding, tmp_path):
    shared = {"context": 16, "learning_rate": 1e-3, "steps": 4}
    plain, _ = fit(tiny_encoding, tmp_path / "a", Training(**shared))
    saving, _ = fit(tiny_encoding, tmp_path / "b", Training(**shared, activation_checkpointing=True))
    assert plain["curve"] == saving["curve"]


def test_bf16_is_close_to_fp32(tiny_encoding, tmp_path):
    shared = {"context": 16, "learning_rate": 1e-3, "steps": 4}
    exact, _ = fit(tiny_encoding, tmp_path / "a", Training(**shared, precision="fp32"), PLAIN)
    rough, model = fit(tiny_encoding, tmp_path / "b", Training(**shared, precision="bf16"), PLAIN)
    a, b = (np.array([p["train_loss"] for p in report["curve"]]) for report in (exact, rough))
    assert (a != b).any()
    assert a == pytest.approx(b, rel=1e-2)
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def test_a_pretrained_folder_is_where_fine_tuning_starts(tiny_encoding, tmp_path):
    report, _ = fit(tiny_encoding, tmp_path / "a", Training(context=16, steps=20, learning_rate=1e-2), PLAIN)
    more = train_causal(
        Encoded(tiny_encoding.train, tiny_encoding.validation, tiny_encoding.tokenizer),
        {"folder": str(tmp_path / "a" / "model")},
        Training(context=16, steps=1, learning_rate=1e-12),
        1,
        Run(tmp_path / "b" / "model", tmp_path / "b" / "training.json"),
    )
    assert more["validation_loss"] == pytest.approx(report["validation_loss"], rel=1e-5)


def test_weights_are_not_fine_tuned_on_ids_of_another_tokenizer(tiny_encoding, tmp_path):
    fit(tiny_encoding, tmp_path / "a", Training(context=16, steps=2, learning_rate=1e-2), PLAIN)
    other = tmp_path / "other"
    train_tokenizer(["other words altogether, other pairs"], other, 300)
    with pytest.raises(TextcriticError, match=r"use an encoding with this model's own tokenizer"):
        train_causal(
            Encoded(tiny_encoding.train, tiny_encoding.validation, other),
            {"folder": str(tmp_path / "a" / "model")},
            Training(context=16, steps=1, learning_rate=1e-3),
            1,
            Run(tmp_path / "b" / "model", tmp_path / "b" / "training.json"),
        )


def test_rates_of_the_schedules():
    def rates(schedule, warmup):
        return [learning_rate(step, 8, 2.0, schedule, warmup) for step in range(8)]

    assert rates("constant", 0) == [2.0] * 8
    assert rates("constant", 4) == [0.5, 1.0, 1.5] + [2.0] * 5
    assert rates("linear", 4) == [0.5, 1.0, 1.5, 2.0, 2.0, 1.5, 1.0, 0.5]
    assert rates("linear", 0) == pytest.approx(np.linspace(2, 0, 9)[:-1])
    assert rates("cosine", 0) == pytest.approx(1 + np.cos(np.pi * np.arange(8) / 8))
    assert rates("inverse_sqrt", 0) == pytest.approx(2 / np.sqrt(np.arange(1, 9)))


def test_the_published_schedule():
    """Warm-up over 4,000 of 120,000 steps to 5e-4, then the inverse square root (fairseq's inverse_sqrt)."""
    rates = [learning_rate(step, 120_000, 5e-4, "inverse_sqrt", 4000) for step in range(120_000)]
    number = np.arange(1, 120_001)
    assert rates == pytest.approx(5e-4 * np.minimum(number / 4000, np.sqrt(4000 / number)))
    assert rates[3999] == max(rates) == 5e-4
    assert rates[15_999] == pytest.approx(2.5e-4)


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine", "inverse_sqrt"])
@pytest.mark.parametrize("total", [1, 2, 5, 40, 41])
def test_a_training_shorter_than_its_warm_up_never_climbs_the_loss(schedule, total):
    rates = [learning_rate(step, total, 1e-3, schedule, 40) for step in range(total)]
    assert all(0 < rate <= 1e-3 for rate in rates)
    assert max(rates) == 1e-3


def test_one_step_moves_as_adam_with_the_given_betas_says():
    """Two steps on a line, by hand: m and v decay by 0.9 and beta2, and are divided by the weight they lack."""
    for beta2 in (0.98, 0.999):
        weight = torch.nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
        adam = optimiser(torch.nn.ParameterList([weight]), 0.1, 0.0, beta2)
        m = v = 0.0
        expected = 1.0
        for step, slope in enumerate([3.0, -1.0], start=1):
            weight.grad = torch.tensor([slope], dtype=torch.float64)
            adam.step()
            m, v = 0.9 * m + 0.1 * slope, beta2 * v + (1 - beta2) * slope**2
            expected -= 0.1 * (m / (1 - 0.9**step)) / ((v / (1 - beta2**step)) ** 0.5 + 1e-8)
        assert weight.item() == pytest.approx(expected, rel=1e-9)


def test_one_step_of_sgd_is_the_slope_times_the_rate():
    """Of a matrix with the slope of the penalty besides, of a vector without it."""
    model = torch.nn.ParameterList([torch.tensor([[2.0, -1.0]]), torch.tensor([3.0])])
    sgd = optimiser(model, 0.5, 0.1, method="sgd")
    for weight, slope in zip(model, ([[1.0, 4.0]], [-2.0]), strict=True):
        weight.grad = torch.tensor(slope)
    sgd.step()
    assert model[0].flatten().tolist() == pytest.approx([2 - 0.5 * (1 + 0.2), -1 - 0.5 * (4 - 0.1)], rel=1e-6)
    assert model[1].tolist() == pytest.approx([4.0])


def test_the_optimiser_of_a_training_has_its_betas_and_decay(tiny_encoding, tmp_path, monkeypatch):
    made = []
    kept = gradient.optimiser
    monkeypatch.setattr(gradient, "optimiser", lambda *given: made.append(kept(*given)) or made[-1])
    fit(tiny_encoding, tmp_path / "a", Training(context=16, learning_rate=1e-3, steps=1))
    fit(
        tiny_encoding,
        tmp_path / "b",
        Training(context=16, learning_rate=1e-3, steps=1, adam_beta2=0.98, weight_decay=1e-4),
    )
    assert [group["betas"] for group in made[0].param_groups] == [(0.9, 0.999)] * 2
    assert [group["betas"] for group in made[1].param_groups] == [(0.9, 0.98)] * 2
    assert [group["weight_decay"] for group in made[1].param_groups] == [1e-4, 0.0]


def test_what_decides_a_training_are_the_settings_that_are_not_left_alone():
    training = Training(context=16, learning_rate=1e-3, steps=4)
    assert training.deciding() == {"context": 16, "learning_rate": 1e-3, "steps": 4}
    changed = training.changed(adam_beta2=0.98, gradient_clip=None)
    assert changed.deciding() == training.deciding() | {"adam_beta2": 0.98, "gradient_clip": None}


def test_each_epoch_visits_every_block_once_in_a_new_order():
    first, second = ([block_at(5, epoch * 50 + place, 50) for place in range(50)] for epoch in (0, 1))
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert first == [block_at(5, place, 50) for place in range(50)]
    assert first != [block_at(6, place, 50) for place in range(50)]


def test_epochs_count_passes_over_the_blocks():
    several = Training(context=8, learning_rate=1e-3, batch_size=4, accumulation=2, epochs=3)
    assert several.total_steps(lambda epochs: several.steps_of(epochs, 100)) == 38
    half = Training(context=8, learning_rate=1e-3, epochs=0.5)
    assert half.total_steps(lambda epochs: half.steps_of(epochs, 80)) == 5


def test_without_a_number_validation_comes_after_each_epoch(tiny_encoding, tmp_path):
    blocks = (len(load_encoded(tiny_encoding.train)[0]) - 1) // 16
    report, _ = fit(tiny_encoding, tmp_path, Training(context=16, learning_rate=1e-3, epochs=2.5))
    an_epoch = -(-blocks // 8)
    assert [p["step"] for p in report["curve"] if "validation_loss" in p] == [an_epoch, 2 * an_epoch, report["steps"]]
    assert report["steps"] == -(-blocks * 5 // 16)


def test_wrong_lengths_of_training_are_refused():
    for wrong in ({}, {"steps": 1, "epochs": 1}):
        with pytest.raises(TextcriticError, match="give steps or epochs, one of the two"):
            Training(context=8, learning_rate=1e-3, **wrong).total_steps(round)
    with pytest.raises(TextcriticError, match="should be above 0"):
        Training(context=8, learning_rate=1e-3, epochs=0).total_steps(round)


def test_a_loss_that_explodes_ends_with_step_and_rate_and_keeps_the_checkpoint(tiny_encoding, tmp_path):
    training = Training(context=16, learning_rate=1e30, schedule="constant", steps=9, gradient_clip=None)
    with pytest.raises(
        TextcriticError, match=r"loss .*nan.* at step \d with learning rate 1e\+30; lower training.learn"
    ):
        fit(tiny_encoding, tmp_path, training, checkpoint_seconds=0)
    assert list((tmp_path / "checkpoints").glob("state-*.pt"))
    assert not (tmp_path / "model").exists()
    assert not (tmp_path / "checkpoints" / "lock.json").exists()


def test_sigterm_finishes_the_step_saves_and_says_so(tiny_encoding, tmp_path, monkeypatch, caplog):
    training = Training(context=16, learning_rate=1e-3, steps=10, evaluate_every=3)
    whole, expected = fit(tiny_encoding, tmp_path / "a", training)
    terminate_in_step(monkeypatch, 6)  # after which a validation is due: it is put off to the rerun
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 6 of 10; the checkpoint is saved, rerun"):
        fit(tiny_encoding, tmp_path / "b", training)
    assert signal.getsignal(signal.SIGTERM) is before
    monkeypatch.undo()
    with caplog.at_level(logging.INFO, "textcritic"):
        report, model = fit(tiny_encoding, tmp_path / "b", training)
    assert "resuming from step 6" in caplog.text
    assert report["curve"] == whole["curve"]
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), expected.parameters(), strict=True))


def test_a_changed_training_starts_afresh(tiny_encoding, tmp_path, monkeypatch, caplog):
    terminate_in_step(monkeypatch, 2)
    with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 2"):
        fit(tiny_encoding, tmp_path, Training(context=16, learning_rate=1e-3, steps=4))
    monkeypatch.undo()
    with caplog.at_level(logging.INFO, "textcritic"):
        fit(tiny_encoding, tmp_path, Training(context=16, learning_rate=1e-3, steps=5), checkpoint_seconds=5)
    assert "the training was changed (training.steps)" in caplog.text
    assert "resuming" not in caplog.text


def test_bad_inputs_are_one_clear_line(tiny_encoding, tmp_path):
    with pytest.raises(TextcriticError, match=r"tokens are less than one block; lower training\.context \(100000\)"):
        fit(
            tiny_encoding,
            tmp_path / "a",
            Training(context=100_000, learning_rate=1e-3, steps=1),
            MODEL | {"n_positions": 100_000},
        )
    with pytest.raises(TextcriticError, match=r"training\.context: 17 is more than the model's positions"):
        fit(tiny_encoding, tmp_path / "b", Training(context=17, learning_rate=1e-3, steps=1))
    other = TinyEncoding(tmp_path, tiny_encoding.tokenizer, tmp_path / "train", tiny_encoding.validation)
    empty = TinyEncoding(tmp_path, tiny_encoding.tokenizer, tiny_encoding.train, tmp_path / "validation")
    for part, kind in (("tokens", np.int32), ("kinds", np.uint8)):
        np.save(tmp_path / f"validation.{part}.npy", np.zeros(1, kind))
    with pytest.raises(TextcriticError, match=r"validation\.tokens\.npy: 1 tokens are too few to predict any"):
        fit(empty, tmp_path / "e", Training(context=16, learning_rate=1e-3, steps=1))
    with pytest.raises(TextcriticError, match=r"train\.tokens\.npy: no such file"):
        fit(other, tmp_path / "c", Training(context=16, learning_rate=1e-3, steps=1))
    np.save(tmp_path / "train.tokens.npy", np.full(100, 5000, np.int32))
    np.save(tmp_path / "train.kinds.npy", np.full(100, 2, np.uint8))
    with pytest.raises(TextcriticError, match="holds token 5000, the tokenizer has 3"):
        fit(other, tmp_path / "d", Training(context=16, learning_rate=1e-3, steps=1))
