"""A Python for tests of whole workflows: its processes are forked from one that has the large packages loaded.

Most of what a small study costs is imports, in each of its jobs again. `forking_python()` is a program that takes the
interpreter's place: it asks a server, this module, for a process forked from it, and ends as that one does. Loaded are
packages of others alone; `textcritic` is imported by each process itself.

Two things are not as with the interpreter: a signal to the program does not reach the process that works for it, and
what a package reads from the environment when it is imported is what this process had. So what is killed, and two whole
workflows, are run by the interpreter: e2e/test_wheel and tests/slurm.
"""

import atexit
import gc
import marshal
import os
import runpy
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

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

PROGRAM = """#!{python} -IS
import marshal, os, socket, sys
first = [*sys.argv, ""][1]
if not first or first[0] == "-" and first != "-m":
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = marshal.dumps((sys.argv, os.getcwd(), dict(os.environ)))
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(request)
    code = int(server.recv(16) or 1)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@cache
def forking_python() -> str:
    """The path of the program, which understands `script` and `-m module`, each with arguments.

    Any other way to call it starts the interpreter itself. The server is started first, and ends with this process.
    """
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    program, address = folder / "python", folder / "socket"
    program.write_text(PROGRAM.format(python=sys.executable, address=str(address)))
    program.chmod(0o755)
    command = [sys.executable, __file__, program, address]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.communicate)
    if server.stdout.readline() != b"ready\n":
        raise RuntimeError("the server of forked processes did not start; see stderr")
    return str(program)


def serve(address: str) -> socket.socket:
    """Fork a process for each request until stdin ends, and answer with its exit code.

    Returns in each such process, and there alone: the connection with the request.
    """
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as events:
        listener.bind(address)
        listener.listen(64)
        events.register(listener, selectors.EVENT_READ)
        events.register(0, selectors.EVENT_READ)
        print("ready", flush=True)
        while True:
            for key, _ in events.select():
                if key.fileobj == 0:
                    shutil.rmtree(Path(address).parent)
                    os._exit(0)
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    process = os.fork()
                    if not process:
                        return connection
                    events.register(os.pidfd_open(process), selectors.EVENT_READ, (process, connection))
                else:
                    events.unregister(key.fileobj)
                    os.close(key.fd)
                    _answer(*key.data)


def _answer(process: int, connection: socket.socket) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with connection, suppress(OSError):  # whoever asked may have been killed
        connection.sendall(b"%d" % code)
        connection.shutdown(socket.SHUT_RDWR)  # processes that were forked meanwhile hold it too


def become(program: str, connection: socket.socket) -> None:
    """Take the arguments, folder, environment, stdin, stdout and stderr of the process that asked."""
    size, streams, *_ = socket.recv_fds(connection, 8, 3)
    request = connection.makefile("rb").read(int.from_bytes(size, "big"))
    arguments, folder, environment = marshal.loads(request)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv, sys.executable = arguments[1:], program
    # What was taken from the environment, or drawn at random, when the packages were loaded.
    tempfile.tempdir = None
    sys.modules["numpy"].random.seed()
    sys.modules["torch"].set_num_threads(int(environment.get("OMP_NUM_THREADS", 1)))


def run() -> int:
    """Do what the interpreter does with its arguments; returns the exit code."""
    try:
        if sys.argv[0] == "-m":
            _, module, *_ = sys.argv
            sys.argv, sys.path[0] = sys.argv[1:], str(Path.cwd())
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(sys.argv[0]).parent)
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(code: int) -> NoReturn:
    """End as the interpreter does, but free no objects, of which forked memory would first be copied."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    search = sys.path[:]
    for name in LOADED:
        if find_spec(name.partition(".")[0]):
            import_module(name)
    sys.path[:] = search  # to which Snakemake adds a folder
    gc.collect()
    gc.freeze()
    become(sys.argv[1], serve(sys.argv[2]))
    end(run())
