"""Operations per token and share of a card's peak, against numbers worked out by hand."""

import pytest
from transformers import AutoConfig, AutoModelForCausalLM

from textcritic.training.hardware import flops_per_token, utilisation


def model(model_type, **config):
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **config))


def test_gpt2_small_by_hand():
    """124,439,808 parameters, of which 1,024 x 768 are positions; 12 layers of width 768 and 1,024 tokens."""
    small = model("gpt2")
    assert small.num_parameters() == 124_439_808
    assert flops_per_token(small, 1024) == 6 * 123_653_376 + 12 * 12 * 768 * 1024 == 855_166_464
    assert flops_per_token(small, 512) == 855_166_464 - 12 * 12 * 768 * 512


def test_what_is_only_looked_up_does_not_count():
    shape = {"n_layer": 2, "n_embd": 64, "n_head": 2, "vocab_size": 1000, "n_positions": 128}
    layers = 2 * (12 * 64 * 64 + 13 * 64) + 2 * 64
    attention = 12 * 2 * 64 * 100
    assert flops_per_token(model("gpt2", **shape), 100) == 6 * (layers + 64_000) + attention
    # Embeddings that are not the output matrix are looked up; the output matrix is multiplied with.
    assert flops_per_token(model("gpt2", **shape, tie_word_embeddings=False), 100) == 6 * (layers + 64_000) + attention


@pytest.mark.parametrize(
    ("card", "peak"),
    [
        ("NVIDIA A100-SXM4-80GB", 312e12),
        ("NVIDIA A100-PCIE-40GB", 312e12),
        ("NVIDIA A100 80GB PCIe", 312e12),
        ("NVIDIA H100 80GB HBM3", 989.4e12),
        ("NVIDIA H200", 989.4e12),
    ],
)
def test_share_of_the_peak(card, peak):
    assert utilisation(0.4 * peak, card, 1) == pytest.approx(0.4)
    assert utilisation(0.4 * peak, card, 4) == pytest.approx(0.1)


# PCIe and NVL are slower than SXM, and a slice is a part of a card.
@pytest.mark.parametrize(
    "card",
    [
        "cpu",
        "Tesla T4",
        "NVIDIA H100 PCIe",
        "NVIDIA H200 NVL",
        "NVIDIA A100-SXM4-40GB MIG 3g.20gb",
        "NVIDIA H200 MIG 1g.18gb",
    ],
)
def test_a_card_whose_peak_is_not_known_has_no_share(card):
    assert utilisation(1e12, card, 1) is None
