"""Runs Snakemake so that its jobs are forked from one process that has the large packages loaded.

    python -m textcritic.workflow.forks ARGUMENTS OF SNAKEMAKE

A small job spends most of its time on imports, and every job repeats them. Here a server is forked before anything is
loaded. It loads the packages at the first job, and each job is a process forked from it. Snakemake starts `fork_client`
instead of the interpreter; this asks the server for a process, and ends as the job does. So a job is a separate
process, as always: it has its own memory, log and exit code, can be killed, and is counted in Snakemake's benchmarks.
If the server cannot be reached, the interpreter runs the job.
"""

import atexit
import ctypes
import gc
import marshal
import os
import random
import runpy
import selectors
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, NoReturn

from textcritic.host import SINGLE_THREAD
from textcritic.workflow.fork_client import REFUSED

LOADED = (
    *("snakemake.script", "snakemake.logging", "snakemake.iocontainers", "yaml", "jinja2", "numpy", "pandas"),
    *("pyarrow.parquet", "pyarrow.compute", "pyarrow.dataset", "scipy.special", "scipy.sparse"),
    *("matplotlib.figure", "matplotlib.backends.backend_svg"),
    *("textcritic.runlog", "textcritic.corpora", "textcritic.critics", "textcritic.critics.tendencies.measure"),
    "textcritic.report",
)
"""Modules that many jobs import, except those before whose import a job chooses a device or threads."""
PROGRAM = '#!/bin/sh\nexec {python} -IS {client} {address} {most_threads} "$@"\n'
SOCKET = "socket"
LONGEST_ADDRESS = 100  # characters; a little less than the kernel allows
PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
SECONDS_TO_ASK, SECONDS_TO_END = 10.0, 10.0


def main(modules: Sequence[str] = LOADED, most_threads: int = 1) -> None:
    """Run Snakemake with the arguments of this process.

    Args:
        modules: what the server loads before it forks a job.
        most_threads: jobs that may use more threads are run by the interpreter.
    """
    folder = Path(tempfile.mkdtemp(prefix="textcritic-"))
    program = write_program(folder, most_threads)
    if program is None:
        shutil.rmtree(folder)
    else:
        _start_server(folder, program, modules)
        sys.executable = str(program)
        _count_forked_processes(folder)
    look_once_a_second()
    sys.argv[0] = "snakemake"
    runpy.run_module("snakemake", run_name="__main__", alter_sys=True)


def write_program(folder: Path, most_threads: int = 1) -> Path | None:
    """Write the program that replaces the interpreter, in an empty folder that only this user can enter.

    Args:
        folder: the server's socket is there too.
        most_threads: jobs with more threads use the interpreter.

    Returns:
        Its path. None if it cannot be used: the folder's name is too long for a socket or has white space, which
        Snakemake does not quote, or nothing can be executed there.
    """
    program, client = folder / "python", Path(__file__).with_name("fork_client.py")
    words = {"python": sys.executable, "client": str(client), "address": str(folder / SOCKET)}
    quoted = {name: shlex.quote(word) for name, word in words.items()}
    program.write_text(PROGRAM.format(**quoted, most_threads=most_threads))
    program.chmod(0o700)
    usable = len(words["address"]) <= LONGEST_ADDRESS and not any(map(str.isspace, str(program)))
    return program if usable and os.access(program, os.X_OK) else None


def _start_server(folder: Path, program: Path, modules: Sequence[str]) -> None:
    """Fork the server, which ends before this process; in each process that it forks for a job, do the job."""
    server = Server(folder, modules)
    reader, writer = os.pipe()  # the writer is closed when this process ends, whatever ends it
    if process := os.fork():
        os.close(reader)
        server.close()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)  # a server that was killed leaves it
        atexit.register(os.waitpid, process, 0)
        atexit.register(os.close, writer)  # this runs before the line above
        return
    os.close(writer)
    do_job(server.serve(reader), program)


class Request(NamedTuple):
    """A request of `fork_client`: for a process with its own arguments, folder, environment, stdin, stdout and stderr.

    Attributes:
        process: number of the process that sends the request.
        arguments: of the interpreter.
        streams: descriptors of stdin, stdout and stderr.
    """

    process: int
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    streams: list[int]

    @classmethod
    def read(cls, connection: socket.socket) -> "Request":
        """The request that was sent; raises an error if it is incomplete."""
        size, streams, *_ = socket.recv_fds(connection, 8, 3)
        with connection.makefile("rb") as handle:
            process, arguments, folder, environment = marshal.loads(handle.read(int.from_bytes(size, "big")))
        return cls(process, arguments, folder, environment, streams)

    def close(self) -> None:
        """Close the streams in this process."""
        for stream in self.streams:
            os.close(stream)


class Server:
    """Forks a process for each request.

    Args:
        folder: of the program, see `write_program`; it is removed when the server ends.
        modules: loaded before the first process is forked; those that are not installed are left out.
    """

    def __init__(self, folder: Path, modules: Sequence[str]) -> None:
        self._folder, self._modules = folder, modules
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen(64)
        self._events = selectors.DefaultSelector()
        # Running processes, by the connection of their client.
        self._processes: dict[socket.socket, int] = {}

    def close(self) -> None:
        """Close what is open in this process; the server may go on in another."""
        self._events.close()
        for handle in (self._listener, *self._processes):
            handle.close()

    def serve(self, alive: int) -> Request:
        """Serve until the descriptor `alive` is at its end.

        Returns:
            Only in each forked process: the request.
        """
        held = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # it cleans up, and ends with the process that started it
        before = {number: signal.signal(number, signal.SIG_IGN) for number in held}
        self._events.register(self._listener, selectors.EVENT_READ, self._forked)
        self._events.register(alive, selectors.EVENT_READ, self._end)
        while True:
            for key, _ in self._events.select():
                if (request := key.data()) is not None:
                    for number, handler in before.items():
                        signal.signal(number, handler)
                    return request

    def _forked(self) -> Request | None:
        """Answer a request; in the process that is forked for it, the request, and None in this one."""
        connection, _ = self._listener.accept()
        connection.settimeout(SECONDS_TO_ASK)
        try:
            request = Request.read(connection)
        except (OSError, EOFError, ValueError, TypeError):  # the client was killed
            connection.close()
            return None
        load(self._modules)
        self._modules = ()
        server = os.getpid()
        try:
            process = os.fork()
        except OSError:  # no memory, or too many processes
            with connection, suppress(OSError):
                connection.sendall(REFUSED)
            request.close()
            return None
        if not process:
            _end_with(server)
            self.close()
            connection.close()
            return request
        request.close()
        self._processes[connection] = process
        pidfd = os.pidfd_open(process)
        self._events.register(pidfd, selectors.EVENT_READ, partial(self._ended, connection, pidfd))
        self._events.register(connection, selectors.EVENT_READ, partial(self._signalled, connection))
        return None

    def _signalled(self, connection: socket.socket) -> None:
        """Pass on a signal. If the client is gone, it was killed, and so the process is killed too."""
        if connection not in self._processes:
            return
        number = b""
        with suppress(OSError):
            number = connection.recv(1)
        if not number:
            self._events.unregister(connection)
        os.kill(self._processes[connection], number[0] if number else signal.SIGKILL)

    def _ended(self, connection: socket.socket, pidfd: int) -> None:
        """Give the exit code of a process to its client."""
        code = os.waitstatus_to_exitcode(os.waitpid(self._processes.pop(connection), 0)[1])
        self._events.unregister(pidfd)
        os.close(pidfd)
        if connection in self._events.get_map():
            self._events.unregister(connection)
        with connection, suppress(OSError):
            connection.sendall(b"%d" % code)
            connection.shutdown(socket.SHUT_RDWR)  # processes that were forked meanwhile hold it too

    def _end(self) -> NoReturn:
        """Stop all running processes, and end."""
        shutil.rmtree(self._folder, ignore_errors=True)
        for process in self._processes.values():
            os.kill(process, signal.SIGTERM)
        deadline = time.monotonic() + SECONDS_TO_END
        while self._processes and time.monotonic() < deadline:
            for key, _ in self._events.select(1.0):
                if isinstance(key.fileobj, int) and key.data != self._end:
                    key.data()
        for process in self._processes.values():
            os.kill(process, signal.SIGKILL)
        os._exit(0)


def _end_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however that ends."""
    with suppress(OSError, AttributeError):  # another libc, which may lack the call
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def load(modules: Sequence[str]) -> None:
    """Import modules, with one thread for linear algebra, as far as they are installed."""
    environment, search = dict(os.environ), sys.path[:]
    os.environ.update(SINGLE_THREAD)
    for name in modules:
        with suppress(ImportError):
            import_module(name)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = search  # Snakemake adds a folder to it
    gc.collect()
    gc.freeze()


def do_job(request: Request, program: Path) -> NoReturn:
    """Take the place of the process that asked, and do what the interpreter does with its arguments."""
    _become(request, program)
    code = _run()
    # As the interpreter ends, but no object is freed, because forked memory would first be copied.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _become(request: Request, program: Path) -> None:
    """Take the arguments, folder, environment, stdin, stdout and stderr of the process that asked."""
    for number, stream in enumerate(request.streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    (program.parent / str(request.process)).write_text(str(os.getpid()))
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv, sys.executable = request.arguments, str(program)
    # Repeat what the packages took from the environment, or drew at random, when they were loaded.
    tempfile.tempdir = None
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))


def _run() -> int:
    """Run a module or a script; returns the exit code."""
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


def _count_forked_processes(folder: Path) -> None:
    """Let Snakemake's benchmarks count a forked process as a child of the one that asked for it."""
    import psutil

    own = psutil.Process.children

    def children(process: psutil.Process, recursive: bool = False) -> list[psutil.Process]:
        children = own(process, recursive)
        for asked in (process, *children):
            with suppress(OSError, ValueError, psutil.Error):
                forked = psutil.Process(int((folder / str(asked.pid)).read_text()))
                children = [*children, forked, *own(forked, recursive)]
        return children

    psutil.Process.children = children


def look_once_a_second() -> None:
    """Make Snakemake's scheduler look for jobs to start once a second, and whenever a job ends.

    While jobs wait for a core, the limit of jobs a second makes each look schedule the next one, a second later. So
    looks add up: after 150 jobs there are 150 a second, which cost more than many jobs of a small study do
    (snakemake/snakemake, pull request 3744). Here at most one is scheduled at a time.
    """
    from snakemake.scheduling.job_scheduler import JobScheduler

    planned: set[int] = set()

    def plan(scheduler: JobScheduler, delay: float) -> None:
        def look() -> None:
            planned.discard(id(scheduler))
            scheduler._open_jobs.release()

        if id(scheduler) not in planned:
            planned.add(id(scheduler))
            timer = threading.Timer(delay, look)
            timer.daemon = True  # the end does not wait for it
            timer.start()

    JobScheduler._schedule_reevalutation = plan


if __name__ == "__main__":
    main()
