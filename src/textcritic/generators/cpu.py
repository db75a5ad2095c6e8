"""How torch uses the CPU: its threads, its smallest numbers, and memory that is kept instead of being given back."""

import ctypes
import sys

import torch

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # malloc.h


def prepare_cpu(threads: int | None = None) -> None:
    """Call once, before a model is loaded.

    Every step of a small model allocates and frees tensors of a few megabytes. glibc returns such blocks to the system
    at once and the next step pays for their page faults: a fifth of the time of a training step of the demo's GPT-2.
    Numbers too small to be normalised, of which the tables of a hidden semi-Markov model have many, are taken as zero:
    a CPU is up to a hundred times slower with them.

    Args:
        threads: CPU threads of torch; None leaves torch's own number.
    """
    if threads:
        torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    if sys.platform == "linux" and not torch.cuda.is_available():
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # absent where the C library is not glibc
        if mallopt is not None:
            mallopt(M_MMAP_MAX, 0)
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(M_TOP_PAD, 64 * 2**20)
