"""Drawing next tokens of the rows of a batch from their logits, by the inverse of the cumulative distribution."""

from collections.abc import Sequence

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.plan.entries import Decoding

BLOCK = 64  # tokens whose mass is summed first


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
    _require_numbers(not bool((tokens >= logits.shape[1]).any()))
    return tokens


def draw_scored(logits: torch.Tensor, uniforms: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw several tokens a row from the model's own distribution, with their log probabilities.

    The first block of tokens whose cumulative mass exceeds the number is looked up, then the first token in it: one
    pass over the vocabulary in float32, and sums in float64.

    Args:
        logits: [rows, vocabulary], any floating type.
        uniforms: numbers in [0, 1), [rows, draws].

    Returns:
        Token ids, int64 [rows, draws], and natural logarithms of their probabilities, float64 [rows, draws]; both on
        the CPU.

    Raises:
        TextcriticError: a row of `logits` holds a NaN or no finite value.
    """
    rows, vocabulary = logits.shape
    peak = logits.amax(dim=1, keepdim=True).float()
    blocks = -(-vocabulary // BLOCK)
    mass = torch.zeros((rows, blocks * BLOCK), device=logits.device)
    torch.sub(logits, peak, out=mass[:, :vocabulary]).exp_()
    mass = mass.view(rows, blocks, BLOCK)
    cumulative = mass.sum(dim=2).double().cumsum_(dim=1)
    at = torch.as_tensor(uniforms, device=logits.device) * cumulative[:, -1:]
    block = torch.searchsorted(cumulative, at, right=True).clamp_(max=blocks - 1)
    rest = at - torch.where(block > 0, cumulative.gather(1, (block - 1).clamp_(min=0)), 0)
    inside = mass.gather(1, block[:, :, None].expand(-1, -1, BLOCK)).double().cumsum_(dim=2)
    # The sum of a block is rounded, so that what is left may be no less than it; a token without mass is never drawn.
    rest = torch.minimum(rest, torch.nextafter(inside[:, :, -1], inside.new_zeros(())))
    tokens = block * BLOCK + torch.searchsorted(inside, rest[:, :, None], right=True).squeeze(2)
    tokens.clamp_(max=vocabulary - 1)
    log_probs = logits.gather(1, tokens).double() - peak - cumulative[:, -1:].log()
    log_probs, tokens = log_probs.cpu(), tokens.cpu()
    _require_numbers(bool(log_probs.isfinite().all()))
    return tokens, log_probs


def log_probs_of(logits: torch.Tensor, tokens: torch.Tensor, temperature: float = 1) -> torch.Tensor:
    """Natural logarithms of the probabilities of one token a row, at a temperature; nothing is cut off.

    Args:
        logits: [rows, vocabulary], any floating type.
        tokens: [rows] ids, on any device.
        temperature: logits are divided by it.

    Returns:
        float64 [rows], on the CPU.
    """
    scaled = logits.float() / temperature if temperature != 1 else logits.float()
    own = scaled.gather(1, tokens.to(logits.device)[:, None])[:, 0]
    return (own.double() - scaled.logsumexp(dim=1)).cpu()


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


def _require_numbers(holds: bool) -> None:
    if not holds:
        raise TextcriticError(
            "model: its logits are not numbers (NaN or infinite); train it again or lower the precision"
        )
