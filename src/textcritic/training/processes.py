"""The processes of one training on one node: started together, watched, ended together, and what they agree on.

torchrun is not used because it kills what is still at work 30 seconds after a SIGTERM, too soon for a large
checkpoint, and because a rule's script should end with one clear line.
"""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NoReturn, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import textcritic
from textcritic.errors import TextcriticError, first_line
from textcritic.runlog import log
from textcritic.training.hardware import cards, join_cards
from textcritic.values import JsonObject

TIMEOUT = timedelta(hours=1)  # the others wait while the first writes a checkpoint; one that dies is noticed at once
LOOPBACK = "lo"
POLL_SECONDS = 0.2
GRACE_SECONDS = 1.0  # for the others to report their own fault, after one has failed
CHILD = f"from {__name__} import child_main; child_main()"

Value = TypeVar("Value")
Items = TypeVar("Items", np.ndarray, range, list[np.ndarray])
Messages = SimpleQueue[tuple[int, JsonObject | None]]  # of the processes by rank; None: that process has ended


@dataclass(frozen=True)
class Ranks:
    """One process among `size`; a process alone, the default, shares and agrees with itself.

    Every method but `part` is collective: all processes call it at the same point.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files and logs."""
        return self.rank == 0

    def part(self, items: Items) -> Items:
        """Every `size`-th of a sequence or array, a share of its own for each process."""
        return items[self.rank :: self.size]

    def sum(self, *values: float) -> list[float]:
        """The sum of each value over the processes, in float64."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total)
        return [float(value) for value in total.tolist()]

    def any(self, *flags: bool) -> list[bool]:
        """Of each flag, whether some process raised it. The flags are on the CPU, so no GPU is waited for."""
        return [count > 0 for count in self.sum(*map(float, flags))]

    def mean_(self, values: torch.Tensor) -> None:
        """Put the mean over the processes into `values`, on whatever device they are."""
        if self.size > 1:
            dist.all_reduce(values)
            values /= self.size

    def gather(self, value: Value) -> list[Value]:
        """Everyone's value, in order of rank."""
        if self.size == 1:
            return [value]
        values = [value] * self.size
        dist.all_gather_object(values, value)
        return values

    def share(self, value: Value) -> Value:
        """The value of the process that leads."""
        return self.gather(value)[0]

    def wait(self) -> None:
        """Wait here until all processes have come here."""
        self.gather(None)

    def wrap(self, model: torch.nn.Module) -> torch.nn.Module:
        """The model, made to average its gradients over the processes in each backward pass."""
        if self.size == 1:
            return model
        return DistributedDataParallel(model, gradient_as_bucket_view=True, forward_sync_buffers=False)

    def averaging(self, wrapped: torch.nn.Module, last: bool) -> AbstractContextManager[None]:
        """Around a forward and backward pass: only in the last one of a step are gradients averaged."""
        if isinstance(wrapped, DistributedDataParallel) and not last:
            held: AbstractContextManager[None] = wrapped.no_sync()
            return held
        return nullcontext()


class _Stop(threading.Event):
    """An event that is its own signal handler."""

    def __call__(self, *_: object) -> None:
        self.set()


@contextmanager
def terminated() -> Iterator[threading.Event]:
    """An event that SIGTERM sets (SLURM's preemption and scancel) instead of ending the process at once.

    Within another `terminated`, it is that one's event.
    """
    before, event = signal.getsignal(signal.SIGTERM), _Stop()
    if isinstance(before, _Stop) or threading.current_thread() is not threading.main_thread():
        yield before if isinstance(before, _Stop) else event
        return
    signal.signal(signal.SIGTERM, event)
    try:
        yield event
    finally:
        signal.signal(signal.SIGTERM, before)


def run_together(function: str, arguments: JsonObject, processes: int, what: str) -> None:
    """Call a function in several processes at once, each with its `Ranks` and with the same arguments.

    What the first process logs goes to this one's log. SIGTERM is passed on to all, and all are waited for: the
    function decides when to end. When one fails, the others are killed; when this process is killed, they end too.

    Args:
        function: `module:name` of a function whose first parameter is the `Ranks`.
        arguments: its other parameters, as JSON values.
        processes: how many; on a machine with GPUs, each gets one.
        what: a few words for error lines, e.g. "training gpt2-xl".

    Raises:
        TextcriticError: one of a process, or a process was killed, or there are too few GPUs.
        RuntimeError: any other exception of a process, with its traceback.
    """
    gpus = cards()
    if 0 < gpus < processes:
        raise TextcriticError(f"{what}: {processes} GPUs are asked for, {gpus} can be seen; lower the entry's gpu")
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=TIMEOUT)
    job = {"function": function, "arguments": arguments, "size": processes, "port": store.port}
    messages: Messages = SimpleQueue()
    children: list[subprocess.Popen[bytes]] = []
    with terminated() as stop:
        try:
            for rank in range(processes):
                children.append(_start({**job, "rank": rank}, messages))
            _watch(children, messages, stop, what)
        finally:
            for child in children:
                child.kill()
                child.wait()


def child_main() -> None:
    """The whole life of one of the processes that `run_together` starts."""
    if isinstance(sys.stdout, TextIOWrapper):
        # Each line is one write, so that lines of two processes do not mingle; so is what was printed before.
        sys.stdout.reconfigure(line_buffering=True, write_through=False)
    with terminated():  # to the very end: one that has ended must not be ended again while the first still writes
        code = _work(int(sys.argv[1]), json.loads(sys.argv[2]))
        sys.stdout.flush()
        # Without the clean-up of process groups, which can wait for processes that are gone.
        os._exit(code)


def _start(job: JsonObject, messages: Messages) -> subprocess.Popen[bytes]:
    # Snakemake tells its scripts where the package is through sys.path, which children do not inherit.
    path = [str(Path(textcritic.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "TORCH_CPP_LOG_LEVEL": "ERROR"}
    environment.pop("PYTHONUNBUFFERED", None)  # it would write a line and its end one after the other
    source, channel = os.pipe()
    command = [sys.executable, "-c", CHILD, str(channel), json.dumps(job)]
    threading.Thread(target=_listen, args=(job["rank"], source, messages), daemon=True).start()
    try:
        # What a child prints is not a message: it goes to stderr. The end of its stdin says that this process is gone.
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2, env=environment, pass_fds=[channel])
    finally:
        os.close(channel)


def _listen(rank: int, source: int, messages: Messages) -> None:
    try:
        with suppress(json.JSONDecodeError), open(source, encoding="utf-8") as lines:  # the last may be cut by a kill
            for line in lines:
                messages.put((rank, json.loads(line)))
    finally:
        messages.put((rank, None))


def _watch(children: list[subprocess.Popen[bytes]], messages: Messages, stop: threading.Event, what: str) -> None:
    """Pass on what the processes log until all have ended; raise the fault of the first to fail."""
    faults: list[JsonObject] = []
    running, stopping, patience = set(range(len(children))), False, float("inf")
    while running and time.monotonic() < patience:
        if stop.is_set() and not stopping:
            stopping = True
            for child in children:
                child.terminate()
        try:
            rank, message = messages.get(timeout=POLL_SECONDS)
        except Empty:
            continue
        if message is None:
            running.discard(rank)
            if (code := children[rank].wait()) and not any(fault["rank"] == rank for fault in faults):
                faults.append({"rank": rank, "code": code, "killed": _how_it_ended(rank, code, stopping)})
        elif "log" in message:
            log.log(message["level"], "%s", message["log"])
        else:
            faults.append({"rank": rank, **message})
        if faults:
            patience = min(patience, time.monotonic() + GRACE_SECONDS)
    if faults:
        _raise(min(faults, key=_is_a_consequence), what)


def _is_a_consequence(fault: JsonObject) -> bool:
    """Whether a fault may be only a consequence of the loss of another process."""
    return "unexpected" in fault or fault.get("code") == -signal.SIGABRT


def _raise(fault: JsonObject, what: str) -> NoReturn:
    if "unexpected" in fault:
        raise RuntimeError(f"{what}: {fault['unexpected']}") from RuntimeError(fault["trace"])
    raise TextcriticError(fault["error"] if "error" in fault else f"{what}: {fault['killed']}")


def _how_it_ended(rank: int, code: int, stopping: bool) -> str:
    if stopping and code == -signal.SIGTERM:
        return "stopped by SIGTERM while starting; rerun to go on"
    end = f"was killed by {signal.Signals(-code).name} (out of memory?)" if code < 0 else f"ended with code {code}"
    return f"process {rank + 1} {end}; the others are ended, the last checkpoint is kept, rerun to go on from there"


class _ToParent(logging.Handler):
    """Sends what is logged, and what went wrong, to the process that started this one."""

    def __init__(self, channel: int) -> None:
        super().__init__()
        self._out = os.fdopen(channel, "w", encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        self.send({"level": record.levelno, "log": record.getMessage()})

    def send(self, message: JsonObject) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


def _work(channel: int, job: JsonObject) -> int:
    """Do the job as one of the processes, and report how it ended; returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the first process, which ends this one
    parent = _ToParent(channel)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    log.handlers, log.level = [parent], logging.INFO if job["rank"] == 0 else logging.WARNING
    module, _, name = job["function"].partition(":")
    try:
        ranks = _join(job["rank"], job["size"], job["port"])
        getattr(import_module(module), name)(ranks, **job["arguments"])
        ranks.wait()
    except TextcriticError as error:
        parent.send({"error": str(error)})
        return 1
    except Exception as error:
        text = f"process {job['rank'] + 1}: {type(error).__name__}: {first_line(error)}"
        parent.send({"unexpected": text, "trace": traceback.format_exc()})
        return 1
    return 0


def _join(rank: int, size: int, port: int) -> Ranks:
    """Make this process one of `size` on this node that meet at a TCPStore on `port`; it gets the GPU of its rank."""
    if LOOPBACK in {name for _, name in socket.if_nameindex()}:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", LOOPBACK)
    store = dist.TCPStore("127.0.0.1", port, is_master=False, timeout=TIMEOUT)
    dist.init_process_group(join_cards(rank), store=store, rank=rank, world_size=size, timeout=TIMEOUT)
    return Ranks(rank, size)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)
