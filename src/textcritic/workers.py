"""Work shared by several processes of one job, in order."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from textcritic.errors import TextcriticError

Item = TypeVar("Item")
Result = TypeVar("Result")

IN_FLIGHT = 4  # tasks a worker: enough that no worker waits while the oldest task is a long one


def in_order(function: Callable[[Item], Result], tasks: Iterable[Item], workers: int) -> Iterator[Result]:
    """`map(function, tasks)` by `workers` processes; by this process alone if `workers` is 1.

    At most `IN_FLIGHT` tasks a worker are read ahead. The workers are forked, because another process cannot import a
    script of Snakemake. They end with this process, even if it is killed.

    Raises:
        TextcriticError: a worker was killed; and whatever `function` raises.
    """
    if workers == 1:
        yield from map(function, tasks)
        return
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, context, _begin, (function,))
    waiting: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(_do, task))
            if len(waiting) >= IN_FLIGHT * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise TextcriticError(
            "a worker process was killed, probably because memory ran out; raise mem_mb of the entry in the registry,"
            " or lower its threads"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


_function: Callable[[Any], object] | None = None


def _begin(function: Callable[[Any], object]) -> None:
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent ends the workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _do(task: object) -> Any:
    assert _function is not None
    return _function(task)
