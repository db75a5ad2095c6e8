"""bf16 autocast beside fp32, on the CPU: at the same weights, losses and scores agree to the digits stated here.

bf16 keeps 8 bits, so that a number is rounded by at most 1 part in 512 (0.2%).
"""

import json

import numpy as np
import pytest
import test_causal_on_card as causal
import test_detectors_on_card as detectors
import test_fairseq_on_card as fairseq
import test_latent_on_card as latent

LOSS = 0.005  # relative; the largest seen was 0.0021, of fairseq's adaptive softmax

NO_LSTM = "could not create a primitive descriptor for the LSTM"


def assert_close(train, tmp_path):
    """`train(folder, precision)`: losses differ, as bf16 was really used, but not in the digits that are stated."""
    curves = {}
    for precision in ("fp32", "bf16"):
        try:
            train(tmp_path / precision, precision)
        except RuntimeError as error:
            if precision != "bf16" or NO_LSTM not in str(error):
                raise
            pytest.skip("oneDNN has no LSTM in bf16 for this CPU, which lacks AVX-512")
        curve = (tmp_path / precision / "checkpoints/train.jsonl").read_text().splitlines()
        points = [json.loads(point) for point in curve]
        curves[precision] = np.array([point.get("train_loss") or point["validation_loss"] for point in points])
    differences = abs(curves["bf16"] / curves["fp32"] - 1)
    assert 0 < differences.max() < LOSS


@pytest.mark.parametrize("architecture", causal.ARCHITECTURES)
def test_causal_models(architecture, tiny_encoding, tmp_path):
    training = causal.TRAINING.changed(steps=2, evaluate_every=1)
    assert_close(
        lambda folder, precision: causal.fit(
            tiny_encoding, folder, training.changed(precision=precision), architecture
        ),
        tmp_path,
    )


@pytest.mark.parametrize("kind", detectors.DETECTORS)
def test_detectors(kind, few_intruders, tmp_path):
    assert_close(lambda *how: detectors.fit_detector(kind, few_intruders, *how), tmp_path)


LEARNERS = {
    learner.kind: (kind, learner, settings)
    for kind in latent.KINDS.values()
    for learner, settings in ((kind.model, kind.settings), (kind.proposal, kind.proposed))
    if learner
}


@pytest.mark.parametrize("name", LEARNERS)
def test_latent_models(name, tmp_path):
    kind, learner, settings = LEARNERS[name]
    inputs = latent.written(kind, tmp_path)
    assert_close(lambda *how: latent.fit(learner, settings, inputs, *how), tmp_path)


@pytest.mark.skipif(not fairseq.installed(), reason="run make fairseq")
@pytest.mark.parametrize("name", fairseq.CHOICES)
def test_fairseq(name, letters, tmp_path):
    assert_close(lambda *how: fairseq.fit(name, letters, *how), tmp_path)
