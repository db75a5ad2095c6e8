"""Work done by other processes, in order and with a bounded part of it in memory."""

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

Task = TypeVar("Task")
Result = TypeVar("Result")
IN_FLIGHT = 4  # tasks a worker: enough that none waits while the oldest task is a long one


def in_order(function: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Iterator[Result]:
    """`map(function, tasks)` by `workers` processes, of which there are none but this one if `workers` is 1.

    At most `IN_FLIGHT` tasks a worker are taken ahead of the result that is waited for. The workers are forked: a
    script of Snakemake's could not be imported by another process. They end with this process, even if it is killed.

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
            "a worker process was killed, likely for want of memory; raise the corpus' mem_mb, or lower its threads"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


_function: Callable[[Any], Any] | None = None


def _begin(function: Callable[[Any], Any]) -> None:
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everyone; the parent tells the workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _do(task: Any) -> Any:
    assert _function is not None
    return _function(task)
