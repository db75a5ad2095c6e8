"""A Python for tests of whole workflows: its processes are forked from one that has the large packages loaded.

Most of what a small study costs is imports, in each of its jobs again. `forking_python()` is a program that takes the
interpreter's place, as `textcritic.workflow.forks` has it for jobs: here for Snakemake and for textcritic's commands
too, with torch and transformers loaded.

What a package reads from the environment when it is imported is what this process had. So two whole workflows are run
by the interpreter, e2e/test_wheel and tests/slurm, and trainings of several processes in unit/test_launch.
"""

import atexit
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from textcritic.rehearsal.forks import MOST_THREADS
from textcritic.workflow.forks import Server, do_job, load, look_once_a_second, write_program

# Its command line, and what it loads only once a workflow is there.
SNAKEMAKE = (
    *("snakemake.cli", "snakemake.profiles", "snakemake.workflow", "snakemake.dag", "snakemake.scheduling.greedy"),
    *("snakemake.report.html_reporter", "snakemake.storage", "snakemake.script", "snakemake.benchmark"),
    *("snakemake.executors.local", "nbformat", "nbformat.v4", "smart_open", "argparse_dataclass", "platformdirs"),
)
LOADED = (
    *SNAKEMAKE,
    *("torch", "torch.distributed", "torch.nn.parallel", "torch.utils.data", "safetensors.torch", "tokenizers"),
    *("transformers", "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto"),
    *("transformers.models.gpt2.modeling_gpt2", "transformers.models.bert.modeling_bert"),
    *("numpy", "pandas", "scipy.stats", "scipy.optimize", "scipy.special", "scipy.sparse", "pyarrow.parquet"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf", "fontTools.subset"),
    *("jinja2", "jsonschema", "networkx", "nltk", "sacremoses", "tomotopy", "yaml", "omegaconf", "hydra", "sacrebleu"),
)
# `-c` as a script, which is told who asked.
CODE = """#!/bin/sh
[ "$1" = -c ] && shift && exec {program} {script} code $$ "$@"
exec {program} "$@"
"""


@cache
def forking_python() -> str:
    """The path of the program, which understands `script`, `-m module` and `-c code`, each with arguments.

    Any other way to call it starts the interpreter itself. The server is started first, and ends with this process.
    """
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    program = write_program(folder, MOST_THREADS)
    if program is not None:
        plain = program.rename(folder / "no-code")
        program.write_text(CODE.format(program=plain, script=__file__))
        program.chmod(0o700)
    server = subprocess.Popen([sys.executable, __file__, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.communicate)
    if program is None or server.stdout.readline() != b"ready\n":
        raise RuntimeError("the server of forked processes did not start; see stderr")
    return str(program)


def forked(asked: int) -> int:
    """The process that works for the process `asked`, which was started with `forking_python`; kill this one."""
    path, deadline = Path(forking_python()).parent / str(asked), time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, ValueError):  # it is not there yet, or not yet whole
            return int(path.read_text())
        time.sleep(0.005)
    raise RuntimeError(f"process {asked} has no process that was forked for it")


def run_code(asked: str, code: str, *arguments: str) -> None:
    """Do what the interpreter does with `-c`, with the pipes that were passed on to whoever asked."""
    for descriptor in Path(f"/proc/{asked}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if int(descriptor.name) > 2 and str(descriptor.readlink()).startswith("pipe:"):
                opened = os.open(descriptor, os.O_WRONLY)
                if opened != int(descriptor.name):
                    os.dup2(opened, int(descriptor.name))
                    os.close(opened)
    sys.argv, sys.path[:1] = ["-c", *arguments], ["", *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    exec(compile(code, "<string>", "exec"), globals())


if __name__ == "__main__" and sys.argv[1] == "code":
    run_code(*sys.argv[2:])
elif __name__ == "__main__":
    place = Path(sys.argv[1])
    load(LOADED)
    look_once_a_second()
    listening = Server(place, ())
    print("ready", flush=True)
    do_job(listening.serve(sys.stdin.fileno()), place / "python")
