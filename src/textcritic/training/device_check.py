"""What a person runs on a new GPU before a study: whether its kernels compute, how fast it is and what fits.

All that the tests do without a GPU is proved on a device that is pretended (tests/pretended_card.py); these are what
only a real one can show: its kernels, its memory, its speed, and how several talk to each other.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from textcritic.errors import TextcriticError, first_line
from textcritic.training.hardware import autocast, card_name, cards, device, free_memory, utilisation
from textcritic.training.optimiser import optimiser
from textcritic.training.processes import Ranks, run_together

GIB = 2**30
# Bytes at their highest: measured on a GPU for the first (docs/results/runs.md); for the others 16 a weight (itself,
# its gradient and Adam's two means in fp32) and the logits with their gradients of 8 blocks of 1,024 tokens.
NEEDS = {
    "training an HSMM of 800 states by Adam, 64 sequences an update": int(45.9 * GIB),
    "fine-tuning gpt2-xl": 16 * 1_557_611_200 + 8 * 8 * 1024 * 50_257,
    "fine-tuning gpt2-large": 16 * 774_030_080 + 8 * 8 * 1024 * 50_257,
}
CLOSE = 1e-3  # relative to the largest value; matrix products of fp32 differ by 1e-6, by 1e-3 with TF32


@dataclass(frozen=True, slots=True)
class Size:
    """Of the model whose training is timed: a GPT-2 small, as `benchmarks/test_bench_gpu.py`."""

    width: int = 768
    layers: int = 12
    heads: int = 12
    vocabulary: int = 50_257
    context: int = 1024
    blocks: int = 8
    seconds: float = 20.0


def check_device(size: Size | None = None) -> tuple[list[tuple[str, bool, str]], str]:
    """Check the GPU that jobs would use.

    Args:
        size: of the training that is timed; None: a GPT-2 small for 20 seconds.

    Returns:
        (what, whether it held, figure or fault) of each check, and the card's name.

    Raises:
        TextcriticError: torch sees no GPU.
    """
    if not cards():
        raise TextcriticError(
            "device-check: torch sees no GPU; run it in a job that has one, and nvidia-smi there to see the driver"
        )
    on, rows = device(), list[tuple[str, bool, str]]()
    checks: list[tuple[str, Callable[[], str]]] = [
        *((f"kernel: {name}", partial(_same, run, on)) for name, run in KERNELS.items()),
        *((f"memory: {name}", partial(_room, needed, on)) for name, needed in NEEDS.items()),
        ("training in auto precision", partial(_speed, size or Size(), on)),
    ]
    if cards() > 1:
        checks += [(f"sums over {cards()} GPUs (NCCL)", _sums)]
    for name, check in checks:
        try:
            rows.append((name, True, check()))
        except (RuntimeError, TextcriticError) as fault:  # torch's own faults are RuntimeErrors, out of memory too
            rows.append((name, False, first_line(fault)))
    return rows, card_name(on)


def table(rows: list[tuple[str, bool, str]], card: str) -> str:
    """The checks as lines of text."""
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{name:{width}}  {'ok  ' if passed else 'FAIL'}  {message}" for name, passed, message in rows]
    return "\n".join([f"{card}, {cards()} of them, torch {torch.__version__}", *lines])


def _same(run: Callable[..., torch.Tensor], on: torch.device) -> str:
    """What a kernel computes on the device and on the CPU, forward and backward."""
    results = []
    for place in (torch.device("cpu"), on):
        torch.manual_seed(1)
        x = torch.randn(4, 32, 64).to(place).requires_grad_()
        out = run(x, place)
        out.square().mean().backward()
        gradient = torch.zeros(1) if x.grad is None else x.grad
        results.append((out.detach().cpu().double(), gradient.cpu().double()))
    worst = max(float((a - b).abs().max() / a.abs().max().clamp_min(1e-9)) for a, b in zip(*results, strict=True))
    if not worst < CLOSE:
        raise TextcriticError(f"differs from the CPU by {worst:.1e} of the largest value, {CLOSE:g} is allowed")
    return f"differs from the CPU by {worst:.0e}"


def _module(make: Callable[[], nn.Module]) -> Callable[..., torch.Tensor]:
    def run(x: torch.Tensor, place: torch.device) -> torch.Tensor:
        out = make().to(place)(x)
        return out[0] if isinstance(out, tuple) else out

    return run


def _fused(x: torch.Tensor, place: torch.device) -> torch.Tensor:
    layer = nn.Linear(64, 8).to(place)
    update = optimiser(layer, 0.1, 0.1)
    layer(x.detach()).square().mean().backward()
    update.step()
    return layer(x)


KERNELS: dict[str, Callable[..., torch.Tensor]] = {
    "matrix product": _module(lambda: nn.Linear(64, 64)),
    "attention": lambda x, place: functional.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    "LSTM": _module(lambda: nn.LSTM(64, 32, 2, batch_first=True, bidirectional=True)),
    "convolution": _module(lambda: nn.Conv1d(32, 16, 3)),
    "layer norm": _module(lambda: nn.LayerNorm(64)),
    "scattered sums": lambda x, place: x.new_zeros(4, 5, 64).index_add(1, torch.arange(32).to(place) % 5, x),
    "log-sum-exp in fp64": lambda x, place: x.double().logsumexp(-1).cumsum(-1),
    "fused Adam": _fused,
}


def _room(needed: int, on: torch.device) -> str:
    free = free_memory(on) or 0
    if free < needed:
        raise TextcriticError(
            f"takes {needed / GIB:.1f} GiB, {free / GIB:.1f} GiB are free; free it or use a larger GPU for this one"
        )
    torch.empty(needed, dtype=torch.uint8, device=on)
    return f"{needed / GIB:.1f} of {free / GIB:.1f} GiB"


def card_speed(seconds: float) -> tuple[str, float]:
    """The name of the GPU, and its operations a second in the training of a GPT-2 small; ("", 0.0) without one."""
    if not cards():
        return "", 0.0
    speed, operations = _trained(Size(seconds=seconds), device())
    return card_name(device()), speed * operations


def _speed(size: Size, on: torch.device) -> str:
    speed, operations = _trained(size, on)
    share = utilisation(speed * operations, card_name(on), 1)
    return f"{speed:,.0f} tokens/s" + ("" if share is None else f", {share:.1%} of the card's bf16 peak")


def _trained(size: Size, on: torch.device) -> tuple[float, int]:
    """Tokens a second of a training on one batch, and the operations of a token."""
    from transformers import GPT2Config, GPT2LMHeadModel

    from textcritic.training.hardware import flops_per_token

    config = GPT2Config(
        vocab_size=size.vocabulary, n_positions=size.context, n_embd=size.width, n_layer=size.layers, n_head=size.heads
    )
    config.resid_pdrop = config.embd_pdrop = config.attn_pdrop = 0.0
    model: Any = GPT2LMHeadModel(config)
    model.to(on).train()
    update, precision = optimiser(model, 1e-4, 0.0), autocast(on, "auto")
    ids = torch.randint(size.vocabulary, (size.blocks, size.context)).to(on)
    losses, began, steps = [], 0.0, -2  # two that warm up
    while steps < 1 or time.monotonic() - began < size.seconds:
        with precision:
            loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        update.step()
        update.zero_grad()
        losses.append(float(loss.detach()))  # waits for the device
        steps += 1
        began = time.monotonic() if steps == 0 else began
    if not losses[-1] < losses[0]:
        raise TextcriticError(f"the loss of one batch went from {losses[0]:.3f} to {losses[-1]:.3f}, and should fall")
    return steps * ids.numel() / (time.monotonic() - began), flops_per_token(model, size.context)


def _sums() -> str:
    run_together(f"{__name__}:add_up", {}, cards(), "device-check")
    return "right"


def add_up(ranks: Ranks) -> None:
    """In each of several processes: the mean of their numbers, on their GPUs."""
    values = torch.full((1024,), float(ranks.rank), device=device())
    ranks.mean_(values)
    if not bool((values == (ranks.size - 1) / 2).all()):
        raise TextcriticError(f"process {ranks.rank + 1}: a mean over {ranks.size} GPUs is wrong")
