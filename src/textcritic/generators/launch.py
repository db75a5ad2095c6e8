"""One job as several processes on one node: started together, watched, and ended together.

torchrun is not used because it kills what is still at work 30 seconds after a SIGTERM, too soon for a large
checkpoint, and because a rule's script should end with one clear line.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NoReturn

import torch

import textcritic
from textcritic.errors import TextcriticError, first_line
from textcritic.generators.checkpoint import terminated
from textcritic.generators.ranks import TIMEOUT, join
from textcritic.runlog import log

POLL_SECONDS = 0.2
GRACE_SECONDS = 1.0  # for the others to say what is wrong with them, after one has failed

Said = SimpleQueue[tuple[int, dict[str, Any] | None]]  # messages of the processes by rank; None: there will be no more


def run_together(function: str, arguments: Mapping[str, Any], processes: int, what: str) -> None:
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
    gpus = torch.cuda.device_count()
    if 0 < gpus < processes:
        raise TextcriticError(f"{what}: {processes} GPUs are asked for, {gpus} can be seen; lower the entry's gpu")
    store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=TIMEOUT)
    job = {"function": function, "arguments": dict(arguments), "size": processes, "port": store.port}
    said: Said = SimpleQueue()
    children: list[subprocess.Popen[bytes]] = []
    with terminated() as stop:
        try:
            for rank in range(processes):
                children.append(_start({**job, "rank": rank}, said))
            _watch(children, said, stop, what)
        finally:
            for child in children:
                child.kill()
                child.wait()


def _start(job: Mapping[str, Any], said: Said) -> subprocess.Popen[bytes]:
    # Snakemake tells its scripts where the package is through sys.path, which children do not inherit.
    path = [str(Path(textcritic.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "TORCH_CPP_LOG_LEVEL": "ERROR"}
    messages, channel = os.pipe()
    command = [sys.executable, "-m", __name__, str(channel), json.dumps(job)]
    threading.Thread(target=_listen, args=(job["rank"], messages, said), daemon=True).start()
    try:
        # Whatever is printed is no message: it goes to stderr. The end of stdin tells that this process is gone.
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2, env=environment, pass_fds=[channel])
    finally:
        os.close(channel)


def _watch(children: list[subprocess.Popen[bytes]], said: Said, stop: threading.Event, what: str) -> None:
    """Relay what the processes say until all have ended; raise what the first to fail says."""
    faults: list[dict[str, Any]] = []
    running, told, patience = set(range(len(children))), False, float("inf")
    while running and time.monotonic() < patience:
        if stop.is_set() and not told:
            told = True
            for child in children:
                child.terminate()
        try:
            rank, message = said.get(timeout=POLL_SECONDS)
        except Empty:
            continue
        if message is None:
            running.discard(rank)
            if (code := children[rank].wait()) and not any(fault["rank"] == rank for fault in faults):
                faults.append({"rank": rank, "code": code, "killed": _obituary(rank, code, told)})
        elif "log" in message:
            log.log(message["level"], "%s", message["log"])
        else:
            faults.append({"rank": rank, **message})
        if faults:
            patience = min(patience, time.monotonic() + GRACE_SECONDS)
    if faults:
        _raise(min(faults, key=_brought_about), what)


def _brought_about(fault: Mapping[str, Any]) -> bool:
    """Whether a fault may be no more than what the loss of another process brings about."""
    return "unexpected" in fault or fault.get("code") == -signal.SIGABRT


def _raise(fault: Mapping[str, Any], what: str) -> NoReturn:
    if "unexpected" in fault:
        raise RuntimeError(f"{what}: {fault['unexpected']}") from RuntimeError(fault["trace"])
    raise TextcriticError(fault["error"] if "error" in fault else f"{what}: {fault['killed']}")


def _listen(rank: int, messages: int, said: Said) -> None:
    try:
        with suppress(json.JSONDecodeError), open(messages, encoding="utf-8") as lines:  # the last may be cut by a kill
            for line in lines:
                said.put((rank, json.loads(line)))
    finally:
        said.put((rank, None))


def _obituary(rank: int, code: int, told: bool) -> str:
    if told and code == -signal.SIGTERM:
        return "stopped by SIGTERM while starting; rerun to go on"
    end = f"was killed by {signal.Signals(-code).name} (out of memory?)" if code < 0 else f"ended with code {code}"
    return f"process {rank + 1} {end}; the others are ended, the last checkpoint is kept, rerun to go on from there"


class _Teller(logging.Handler):
    """Sends what is logged, and what went wrong, to the process that started this one."""

    def __init__(self, channel: int) -> None:
        super().__init__()
        self._out = os.fdopen(channel, "w", encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        self.tell({"level": record.levelno, "log": record.getMessage()})

    def tell(self, message: Mapping[str, Any]) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


def _work(channel: int, job: Mapping[str, Any]) -> int:
    """Be one of the processes: do the job, and say how it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the first process, which ends this one
    teller = _Teller(channel)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    log.handlers, log.level = [teller], logging.INFO if job["rank"] == 0 else logging.WARNING
    module, _, name = job["function"].partition(":")
    try:
        ranks = join(job["rank"], job["size"], job["port"])
        getattr(import_module(module), name)(ranks, **job["arguments"])
        ranks.share()
    except TextcriticError as error:
        teller.tell({"error": str(error)})
        return 1
    except Exception as error:
        text = f"process {job['rank'] + 1}: {type(error).__name__}: {first_line(error)}"
        teller.tell({"unexpected": text, "trace": traceback.format_exc()})
        return 1
    return 0


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    with terminated():  # to the very end: one that has ended must not be ended again while the first still writes
        # Without the clean-up of process groups, which can wait for processes that are gone.
        os._exit(_work(int(sys.argv[1]), json.loads(sys.argv[2])))
