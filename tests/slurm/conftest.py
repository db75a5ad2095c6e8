"""A real SLURM of one node with fake GPUs."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CANNOT = 3  # exit code of start.sh where SLURM cannot be had


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """A running cluster; one that somebody had started with start.sh is used, and left running."""
    pytest.importorskip("snakemake_executor_plugin_slurm")
    was_up = bool(shutil.which("scontrol")) and not subprocess.run(["scontrol", "ping"], capture_output=True).returncode
    started = subprocess.run([HERE / "start.sh"], capture_output=True, text=True, timeout=600, check=False)
    if started.returncode == CANNOT:
        pytest.skip(started.stderr.strip().splitlines()[-1])
    if started.returncode:
        pytest.fail(started.stderr)
    yield
    if not was_up:
        subprocess.run([HERE / "stop.sh"], check=True, timeout=120)
