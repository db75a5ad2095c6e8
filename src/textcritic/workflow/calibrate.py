"""How fast this machine is now at the work of the demo, measured in a second."""

import os
import subprocess
import sys
import time
from statistics import mean

from textcritic.host import SINGLE_THREAD

# Half of a round's time goes into products of matrices of the sizes of the demo's GPT-2 (a segment of 512 tokens, width
# 128, inner width 512), half into plain Python, which takes most of the time of starting jobs and reading files.
TOKENS, WIDTH, INNER = 512, 128, 512
PRODUCTS, PYTHON_STEPS = 6, 70_000
# Rounds a second of an idle core of the machine on which `demo.DEMOS` was measured (AMD EPYC, Zen 3, AVX2).
REFERENCE = 100.0
MOST = 16


def speed_of_a_core(cores: int, seconds: float = 1.0) -> float:
    """The mean speed of a core while `cores` of them work, as a multiple of the speed of the reference machine's core.

    Measured with one process a core, at most `MOST`: cores may share arithmetic units, and other programs may run.

    Args:
        cores: how many are going to be used.
        seconds: how long to measure.
    """
    command = [sys.executable, "-c", f"from {__name__} import rounds_a_second as r; print(r({seconds!r}))"]
    started = [
        subprocess.Popen(command, env=os.environ | SINGLE_THREAD, stdout=subprocess.PIPE, text=True)
        for _ in range(min(cores, MOST))
    ]
    return mean(float(process.communicate()[0]) for process in started) / REFERENCE


def rounds_a_second(seconds: float, cpu: bool = False) -> float:
    """Rounds that this process does in a second of wall-clock time, or of CPU time.

    Args:
        seconds: of wall-clock time, how long to measure.
        cpu: whether CPU time of this process counts, and not wall-clock time.
    """
    import numpy as np  # here: the process that starts the measurement does not need it

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
