"""Costs that were measured: of jobs that ran here before, and of a node, by `textcritic plan --calibrate`."""

import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textcritic.digests import record_of
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.host import SINGLE_THREAD, cpu_name, params_digest
from textcritic.plan.costs.stages import MEASURED, Cost
from textcritic.values import JsonObject

FILE = "textcritic-node.json"
KEYS = {"cpu": str, "core_factor": float, "card": str, "operations": float, "measured": str}
SECONDS = 20.0  # of each measurement: less than two minutes in all


@dataclass(frozen=True, slots=True)
class Node:
    """A machine that is planned for.

    Args:
        cpu: its processor's name.
        core_factor: seconds of its core for one of the reference machine's.
        card: the name of its GPU; none if it was not seen.
        operations: a second that a training reaches on that; 0 if it was not measured.
        source: where this is from, in words.
    """

    cpu: str
    core_factor: float = 1.0
    card: str = ""
    operations: float = 0.0
    source: str = "not calibrated: factors are 1; `textcritic plan --calibrate` measures them"


def node_of(folder: Path, anyhow: bool = False) -> Node:
    """The node that a folder's calibration file describes; this machine, with factors of 1, where there is none.

    A file of another machine counts if `anyhow` says so, as on a login node whose compute nodes differ.

    Raises:
        TextcriticError: the file is broken.
    """
    path, here = folder / FILE, cpu_name()
    if not path.is_file():
        return Node(here)
    payload = read_json(path, "delete it, or run `textcritic plan --calibrate` again")
    bad = [key for key, kind in KEYS.items() if not _is(payload, key, kind)]
    if bad:
        raise TextcriticError(f"{path}: {bad[0]}: is missing or wrong; run `textcritic plan --calibrate` again")
    if payload["cpu"] != here and not anyhow:
        why = f"not used: {path.name} is of another machine ({payload['cpu']}); --other-node uses it all the same"
        return Node(here, source=why)
    source = f"{path.name}, measured {payload['measured']} on {payload['cpu']}"
    return Node(payload["cpu"], payload["core_factor"], payload["card"], payload["operations"], source)


def _is(payload: object, key: str, kind: type) -> bool:
    value = payload.get(key) if isinstance(payload, dict) else None
    if kind is float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            return False
        return value > 0 if key == "core_factor" else value >= 0
    return isinstance(value, kind)


def calibrate(folder: Path, card: tuple[str, float], seconds: float = SECONDS) -> Path:
    """Measure a core of this machine, and write the file.

    Args:
        folder: where it goes.
        card: the name of its GPU and operations a second that a training reaches on it, see `device_check.card_speed`.
        seconds: of the measurement.
    """
    command = "from textcritic.workflow.calibrate import REFERENCE, rounds_a_second as r"
    command += f"; print(r({seconds!r}, cpu=True) / REFERENCE)"
    done = subprocess.run(
        [sys.executable, "-c", command], env=os.environ | SINGLE_THREAD, stdout=subprocess.PIPE, text=True, check=True
    )
    write_json(
        folder / FILE,
        {
            "cpu": cpu_name(),
            "core_factor": round(1 / float(done.stdout), 3),
            "card": card[0],
            "operations": card[1],
            "measured": datetime.now(UTC).date().isoformat(),
            "host": platform.node(),
        },
    )
    return folder / FILE


def measured_cost(
    rule: str, outputs: Iterable[str], params: Iterable[tuple[str | None, Any]], node: Node, gpus: int
) -> Cost | None:
    """What the same job took when it ran before on the same kind of processor, or of card if it asks for one.

    Args:
        rule: of the job.
        outputs: its files; a record of any of them counts.
        params: its parameters.
        node: that is planned for.
        gpus: that it asks for.
    """
    digest = params_digest(params)
    for output in outputs:
        recorded = _spent(output)
        if recorded is None or recorded[0] != rule or recorded[1].get("params") != digest:
            continue
        took = recorded[1]
        if gpus and (not took.get("card") or took["card"] != node.card or took.get("gpus") != gpus):
            continue
        if not gpus and (took.get("card") or took.get("cpu") != node.cpu):
            continue
        return Cost(took["cpu_seconds"], took["seconds"] * gpus, took["seconds"], MEASURED)
    return None


def _spent(output: str) -> tuple[str, JsonObject] | None:
    try:
        known = record_of(output)
    except TextcriticError:  # a damaged record: the job that reads it says so
        return None
    if known is None or known[0] != output or not isinstance(known[1].get("spent"), dict):
        return None
    return str(known[1]["job"]), known[1]["spent"]
