"""How much of a GPU a training uses: floating-point operations that its tokens need, against what the card can do."""

import re
from typing import Any

import torch
from torch import nn

# Dense bf16, TFLOP/s, by the name that the driver gives the card; the data sheets of the last two print twice as much,
# 1,979, which is with sparsity.
PEAKS = {
    r"NVIDIA A100(?!.*MIG).*": 312.0,  # but no slice of one; NVIDIA A100 Tensor Core GPU, data sheet
    r"NVIDIA H100 80GB HBM3": 989.4,  # H100 SXM; NVIDIA H100 Tensor Core GPU, architecture white paper and data sheet
    r"NVIDIA H200": 989.4,  # H200 SXM; NVIDIA H200 Tensor Core GPU, data sheet
}


def flops_per_token(model: Any, context: int) -> int:
    """Floating-point operations that training needs for each token: 6 N + 12 L d context (PaLM, appendix B).

    N counts every parameter but those that are only looked up: position embeddings, and token embeddings unless they
    are the output matrix as well, as in GPT-2. L is the number of layers, d their width; attention counts as if every
    token saw all `context` tokens. What activation checkpointing computes twice counts once.

    Args:
        model: a causal language model of transformers.
        context: tokens in a block.
    """
    output = model.get_output_embeddings().weight
    tables = {module.weight for module in model.modules() if isinstance(module, nn.Embedding)}
    looked_up = sum(table.numel() for table in tables if table is not output)
    config = model.config
    attention = 12 * config.num_hidden_layers * config.hidden_size * context
    return int(6 * (model.num_parameters() - looked_up) + attention)


def utilisation(flops_per_second: float, card: str, cards: int) -> float | None:
    """Share of the peak of so many cards, "model FLOPs utilisation"; None for a card whose peak is not known here.

    Args:
        flops_per_second: of all cards together, see `flops_per_token`.
        card: its name, from `torch.cuda.get_device_name`.
        cards: how many.
    """
    known = [peak for name, peak in PEAKS.items() if re.fullmatch(name, card)]
    return flops_per_second / (cards * known[0] * 1e12) if known else None


def card_name(on: torch.device) -> str:
    """The GPU's name, or `cpu`."""
    return torch.cuda.get_device_name() if on.type == "cuda" else "cpu"
