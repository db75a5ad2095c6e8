"""The machine that a process runs on, and the time that the process took: for the records of job outputs."""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from textcritic.values import JsonObject

CPU_NAME = "model name"
SINGLE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""The environment of a process that should use one thread for linear algebra."""


@cache
def cpu_name() -> str:
    """The name of the processor, as its maker gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(CPU_NAME))
    return next(named, "") or platform.processor() or platform.machine()


def card_name() -> str:
    """The name of the first GPU, if this process has loaded torch and sees one; nothing else."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.accelerator.is_available():
        return ""
    return str(torch.get_device_module(torch.accelerator.current_accelerator()).get_device_name(0))


def params_digest(params: Iterable[tuple[str | None, object]]) -> str:
    """One digest of the parameters of a job: two jobs of a rule with the same do the same work on the same files."""
    named = sorted((str(name), str(value)) for name, value in params)
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def spent(seconds: float, params: Iterable[tuple[str | None, object]], gpus: int) -> JsonObject:
    """The time and the hardware of this process, for the record of its outputs.

    Args:
        seconds: of wall-clock time.
        params: of the job, by name.
        gpus: number of cards that it used.
    """
    times = os.times()
    cpu = times.user + times.system + times.children_user + times.children_system
    card = card_name() if gpus else ""
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "cpu": cpu_name(),
        **({"card": card, "gpus": gpus} if card else {}),
        "params": params_digest(params),
    }
