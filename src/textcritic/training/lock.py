"""A lock, so that two jobs never work in one folder.

A restarted workflow controller does not know the jobs that the previous one queued, and would start the same training
again while the first one runs.
"""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.values import JsonObject


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock while in the `with` block; the file `path` says who holds it.

    The lock itself is `path` without its last suffix. It is the kernel's (`flock`), so that it ends with the process,
    however that ends. On file systems that have no such locks the file's existence is the lock: the one that a killed
    job of this machine left is taken over; one that a killed job of another machine left has to be deleted by hand.

    Args:
        path: `lock.json`, or a name that ends in `.lock.json`; its folder must exist.

    Raises:
        TextcriticError: on entering, when another job holds the lock, or the folder cannot be written to; the line
            says which, and what to do.
    """
    held = _acquired(path)
    try:
        write_json(path, _this_process())
        yield
    finally:
        for file in (path, Path(held.lock_file)):
            with suppress(OSError):  # the folder is gone, or read-only: what the job says of that is to be read
                file.unlink()
        held.release()


def _acquired(path: Path) -> BaseFileLock:
    try:
        lock = _kind_of_lock(path.parent)(path.with_suffix(""))
        lock.acquire(blocking=False)
    except Timeout:
        dead = f", or, if it is dead, delete {lock.lock_file}" if isinstance(lock, SoftFileLock) else ""
        raise TextcriticError(
            f"{path}: {_holder(path)}, is at work in this folder; wait for it or stop it and rerun{dead}"
        ) from None
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: another job finished this work meanwhile; rerun to go on") from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be written: {error.strerror or error}") from error
    return lock


def _kind_of_lock(folder: Path) -> type[BaseFileLock]:
    with TemporaryFile(dir=folder) as probe:
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return SoftFileLock
    return FileLock


def _this_process() -> JsonObject:
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _holder(path: Path) -> str:
    """Who holds the lock, in words."""
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        job = f", SLURM job {holder['slurm_job']}" if holder["slurm_job"] else ""
        return f"process {holder['pid']} on {holder['host']}{job}, since {holder['since']}"
    except (OSError, ValueError, TypeError, KeyError):
        return "another job"
