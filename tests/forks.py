"""A Python for tests of whole workflows: its processes are forked from one that has the large packages loaded.

Most of what a small study costs is imports, in each of its jobs again. `forking_python()` is a program that takes the
interpreter's place, as `textcritic.workflow.forks` has it for jobs: here for Snakemake and for textcritic's commands
too, with torch and transformers loaded.

What a package reads from the environment when it is imported is what this process had. So two whole workflows are run
by the interpreter: e2e/test_wheel and tests/slurm.
"""

import atexit
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from textcritic.workflow.forks import Server, do_job, load, write_program

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
MOST_THREADS = 1000  # more than any job here has


@cache
def forking_python() -> str:
    """The path of the program, which understands `script` and `-m module`, each with arguments.

    Any other way to call it starts the interpreter itself. The server is started first, and ends with this process.
    """
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    program = write_program(folder, MOST_THREADS)
    server = subprocess.Popen([sys.executable, __file__, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.communicate)
    if program is None or server.stdout.readline() != b"ready\n":
        raise RuntimeError("the server of forked processes did not start; see stderr")
    return str(program)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    load(LOADED)
    listening = Server(place, ())
    print("ready", flush=True)
    do_job(listening.serve(sys.stdin.fileno()), place / "python")
