"""CPU time of one call, for all benchmarks that compare two ways in this process."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def cpu_seconds(call: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """CPU seconds of this process for one of `repeats` calls, in the mean, and what the last of them returned."""
    began = time.process_time()
    for _ in range(repeats):
        result = call()
    return (time.process_time() - began) / repeats, result


def fastest(call: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the fastest of several calls."""
    return min(cpu_seconds(call)[0] for _ in range(repeats))
