"""Run the workflow as a user does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def snakemake(folder, *arguments, configfile, **environment):
    """Snakemake on two cores in `folder`; the finished process, with its output as text."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
    command += ["--configfile", ROOT / configfile, "--cores", "2", *arguments]
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )
