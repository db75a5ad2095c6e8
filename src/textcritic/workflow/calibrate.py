"""How fast this machine is now at what the demo is made of, measured in a second."""

import os
import subprocess
import sys
import time
from statistics import mean

# Half of a round's time goes into products of matrices of the sizes of the demo's GPT-2 (a segment of 512 tokens, width
# 128, inner width 512), half into plain Python, which starting jobs and reading files is mostly made of.
TOKENS, WIDTH, INNER = 512, 128, 512
PRODUCTS, PYTHON_STEPS = 6, 70_000
# Rounds a second of an idle core of the machine on which `demo.DEMOS` was measured (AMD EPYC, Zen 3, AVX2).
REFERENCE = 100.0
MOST = 16


def speed_of_a_core(cores: int, seconds: float = 1.0) -> float:
    """The mean speed of a core while `cores` of them are at work, as a multiple of that of the reference machine's.

    Measured by a process for each, `MOST` at most: cores may share what they calculate with, and others may be at work.

    Args:
        cores: how many are going to be used.
        seconds: how long to measure.
    """
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-c", f"from {__name__} import rounds_a_second as r; print(r({seconds!r}))"]
    started = [
        subprocess.Popen(command, env={**os.environ, **single}, stdout=subprocess.PIPE, text=True)
        for _ in range(min(cores, MOST))
    ]
    return mean(float(process.communicate()[0]) for process in started) / REFERENCE


def rounds_a_second(seconds: float, cpu: bool = False) -> float:
    """Rounds that this process gets done in a second of the clock on the wall, or of its core.

    Args:
        seconds: of the clock on the wall, how long to measure.
        cpu: whether seconds count in which the core worked for this process alone.
    """
    import numpy as np  # here: the process that asks needs none of it

    left, right = np.ones((TOKENS, WIDTH), np.float32), np.ones((WIDTH, INNER), np.float32)
    product = left @ right
    clock = time.process_time if cpu else time.perf_counter
    started, begun, rounds = time.perf_counter(), clock(), 0
    while not rounds or time.perf_counter() - started < seconds:
        for _ in range(PRODUCTS):
            np.matmul(left, right, out=product)
        total = 0
        for step in range(PYTHON_STEPS):
            total += step * step % 7
        rounds += 1
    return rounds / (clock() - begun)
