"""Drawing next tokens of the rows of a batch from their logits, by the inverse of the cumulative distribution."""

from collections.abc import Sequence

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.decoding import Decoding


def draw(logits: torch.Tensor, uniforms: Sequence[float] | np.ndarray, decoding: Decoding) -> torch.Tensor:
    """Draw one token a row, or several independently of each other.

    Args:
        logits: [rows, vocabulary], any floating type.
        uniforms: numbers in [0, 1), [rows] or [rows, draws].
        decoding: the scheme.

    Returns:
        Token ids, int64, as many as numbers and in their shape, on the CPU.

    Raises:
        TextcriticError: a row of `logits` holds a NaN or no finite value.
    """
    logits = truncate(logits.double(), decoding)
    cumulative = torch.softmax(logits, dim=-1).cumsum_(dim=-1)
    mass = cumulative[:, -1:]
    numbers = torch.as_tensor(np.asarray(uniforms), dtype=torch.float64, device=logits.device)
    at = numbers.view(len(logits), -1) * mass
    # The first token whose cumulative mass exceeds the number: tokens without mass are never the first.
    tokens = torch.searchsorted(cumulative, at, right=True).view(numbers.shape).cpu()  # the step's only wait for a GPU
    if bool((tokens >= logits.shape[1]).any()):
        raise TextcriticError(
            "model: its logits are not numbers (NaN or infinite); train it again or lower the precision"
        )
    return tokens


def truncate(logits: torch.Tensor, decoding: Decoding) -> torch.Tensor:
    """Logits [rows, vocabulary] after temperature, top-k and top-p in this order; what is cut off becomes -inf.

    Sources: top-k, Fan et al. 2018; nucleus, Holtzman et al. 2020, section 3.1.
    """
    if decoding.temperature != 1:
        logits = logits / decoding.temperature
    if 0 < decoding.top_k < logits.shape[-1]:
        smallest = torch.topk(logits, decoding.top_k, dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < smallest, -torch.inf)
    if decoding.top_p < 1:
        ordered, tokens = torch.sort(logits, dim=-1, descending=True, stable=True)
        probabilities = torch.softmax(ordered, dim=-1)
        before = probabilities.cumsum(dim=-1) - probabilities
        # A token stays while the mass before it falls short of p, so the one that crosses p stays too.
        outside = torch.empty_like(tokens, dtype=torch.bool).scatter_(1, tokens, before >= decoding.top_p)
        logits = logits.masked_fill(outside, -torch.inf)
    return logits
