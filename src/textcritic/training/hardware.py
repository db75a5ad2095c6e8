"""What a job asks of the machine: CPU threads, mixed precision, a GPU and its memory, and how much of it is used.

Only this module (and runlog, below it, which asks whether there is a GPU) knows what GPUs are called: everything else
asks it, or compares with "cpu".
"""

import ctypes
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CARD = "cuda"  # what torch calls a GPU, AMD's too
# Dense bf16, TFLOP/s, by the name that the driver gives the card; the data sheets of the last two print twice as much,
# 1,979, which is with sparsity.
PEAKS = {
    r"NVIDIA A100(?!.*MIG).*": 312.0,  # but no slice of one; NVIDIA A100 Tensor Core GPU, data sheet
    r"NVIDIA H100 80GB HBM3": 989.4,  # H100 SXM; NVIDIA H100 Tensor Core GPU, architecture white paper and data sheet
    r"NVIDIA H200": 989.4,  # H200 SXM; NVIDIA H200 Tensor Core GPU, data sheet
}
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # malloc.h
DENORMAL = 1e-310  # too small for a normalised float64


@contextmanager
def cpu_settings(threads: int | None = None, float32_matmul_precision: str = "highest") -> Iterator[None]:
    """How torch computes within a `with` block: around all work of a job, before a model is loaded.

    Denormal numbers are taken as zero: a CPU is up to a hundred times slower with them, and the tables of a hidden
    semi-Markov model have many. Because this changes last digits, it ends with the block, and so does the number of
    threads. Freed memory is kept for the next step, from the first block to the end of the process.

    Args:
        threads: CPU threads of torch; None leaves torch's own number.
        float32_matmul_precision: of matrix products in fp32, as `torch.set_float32_matmul_precision` takes it: on a GPU
            with tensor cores `high` computes them in TF32, with 10 bits of mantissa in place of 23. A training that
            sets it in the block changes it to the end of the block.
    """
    precision_before = torch.get_float32_matmul_precision()
    threads_before, flushed_before = torch.get_num_threads(), flushes_denormals()
    _keep_freed_memory()
    if threads:
        torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.set_float32_matmul_precision(float32_matmul_precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision_before)
        torch.set_flush_denormal(flushed_before)
        torch.set_num_threads(threads_before)


def flushes_denormals() -> bool:
    """Whether this thread takes numbers that are too small to be normalised as zero."""
    return not bool(torch.tensor(DENORMAL, dtype=torch.float64) * 1.0)


def cards() -> int:
    """How many GPUs torch sees."""
    return int(_card().device_count()) if _card().is_available() else 0


def device() -> torch.device:
    """The GPU when there is one, else the CPU."""
    return torch.device(CARD if cards() else "cpu")


def card_name(on: torch.device) -> str:
    """The GPU's name, or `cpu`."""
    return "cpu" if on.type == "cpu" else str(_card().get_device_name(on))


def join_cards(rank: int) -> str:
    """Give this process the GPU of its number, if there are any; returns torch's names for how processes talk."""
    if not cards():
        return "gloo"
    _card().set_device(rank)
    return f"cpu:gloo,{CARD}:nccl"


def free_memory(on: torch.device) -> int | None:
    """Bytes that are free on a GPU; None on the CPU."""
    return None if on.type == "cpu" else int(_card().mem_get_info(on)[0])


def free_cached_memory() -> None:
    """Give back what torch keeps of a GPU's memory and no tensor holds."""
    _card().empty_cache()


def rng_state() -> dict[str, torch.Tensor]:
    """State of torch's generators, of the GPU's too when there is one."""
    state = {"cpu": torch.get_rng_state()}
    return state | {CARD: _card().get_rng_state()} if cards() else state


def set_rng_state(state: Mapping[str, torch.Tensor]) -> None:
    """Put torch's generators back into a state of `rng_state`."""
    torch.set_rng_state(state["cpu"])
    if CARD in state and cards():
        _card().set_rng_state(state[CARD])


def brought(values: torch.Tensor, on: torch.device) -> torch.Tensor:
    """Values of the CPU on a device; the CPU does not wait until they are there."""
    return values if on.type == "cpu" else values.pin_memory().to(on, non_blocking=True)


class Sent:
    """Values on their way to the CPU, while their device goes on with other work."""

    def __init__(self, values: torch.Tensor) -> None:
        self._values, self._ready = values, None
        if values.device.type != "cpu":
            self._values, self._ready = values.to("cpu", non_blocking=True), _card().Event()
            self._ready.record()

    def tolist(self) -> list[float]:
        """The values, waited for."""
        if self._ready is not None:
            self._ready.synchronize()
        return self._values.tolist()


def autocast(on: torch.device, precision: str) -> torch.autocast:
    """Mixed precision for forward passes: `bf16`, `fp32`, or `auto`, which is bf16 on a GPU that computes in it."""
    return torch.autocast(on.type, torch.bfloat16, enabled=in_bf16(on, precision))


def in_bf16(on: torch.device, precision: str) -> bool:
    """Whether `autocast` computes in bf16."""
    fast = on.type != "cpu" and _card().is_bf16_supported(including_emulation=False)
    return precision == "bf16" or (precision == "auto" and fast)


def flops_per_token(model: "PreTrainedModel", context: int) -> int:
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
    """Share of the peak of so many cards, "model FLOPs utilisation"; None for a card whose peak is not in `PEAKS`.

    Args:
        flops_per_second: of all cards together, see `flops_per_token`.
        card: its name, from `card_name`.
        cards: how many.
    """
    peaks = [peak for name, peak in PEAKS.items() if re.fullmatch(name, card)]
    return flops_per_second / (cards * peaks[0] * 1e12) if peaks else None


def _card() -> ModuleType:
    """What torch has for GPUs: `torch.cuda`."""
    return torch.get_device_module(CARD)


def _keep_freed_memory() -> None:
    """Keep glibc from giving freed blocks back to the system.

    Every step of a small model allocates and frees tensors of a few megabytes. glibc returns such blocks at once, and
    the next step pays for their page faults: a fifth of the time of a training step of the demo's GPT-2.
    """
    if sys.platform == "linux" and not cards():
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # absent where the C library is not glibc
        if mallopt is not None:
            mallopt(M_MMAP_MAX, 0)
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(M_TOP_PAD, 64 * 2**20)
