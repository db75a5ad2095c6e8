"""A lock with a heartbeat, so that two jobs never train into one folder.

A restarted workflow controller does not know the jobs that the previous one queued, and would start the same training
again beside the first.
"""

import json
import os
import socket
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.runlog import duration, log

HEARTBEAT_SECONDS = 30.0
STALE_SECONDS = 180.0


class Lock:
    """Holds `path` while in a `with` block; a thread renews the file's modification time.

    A lock left behind is taken over when its process is dead (same host), when its job is this very SLURM job (which
    was requeued), or when it has had no heartbeat for `stale_seconds` (its node may have crashed). A job on another
    host is watched for a while: if its heartbeat comes, it is alive.

    Args:
        path: the lock file; its folder must exist.
        heartbeat_seconds: seconds between two renewals.
        stale_seconds: age of the last heartbeat after which the holder counts as dead.

    Raises:
        TextcriticError: on entering, when a live job holds the lock; the line says which, and what to do.
    """

    def __init__(
        self, path: Path, heartbeat_seconds: float = HEARTBEAT_SECONDS, stale_seconds: float = STALE_SECONDS
    ) -> None:
        self.path, self.heartbeat_seconds, self.stale_seconds = path, heartbeat_seconds, stale_seconds
        self._token = uuid.uuid4().hex
        self._watching = False
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lock heartbeat", daemon=True)

    def __enter__(self) -> "Lock":
        while not self._create():
            self._clear_if_dead()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._released.set()
        self._thread.join()
        if self._mine():
            self.path.unlink(missing_ok=True)

    def check(self) -> None:
        """Make sure that this process still holds the lock.

        Raises:
            TextcriticError: another job took it over, because this one was suspended for longer than `stale_seconds`.
        """
        if not self._mine():
            raise TextcriticError(f"{self.path}: another job took the training over; this one stops")

    def _create(self) -> bool:
        holder = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "slurm_job": os.environ.get("SLURM_JOB_ID"),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            "token": self._token,
        }
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            return False
        except FileNotFoundError as error:
            raise TextcriticError(f"{self.path}: another job finished this work meanwhile; rerun to go on") from error
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(holder, file)
        return True

    def _clear_if_dead(self) -> None:
        holder = _read(self.path)
        try:
            age = time.time() - self.path.stat().st_mtime
        except FileNotFoundError:
            return
        here = holder.get("host") == socket.gethostname()
        why = ""
        if here and not _alive(holder["pid"]):
            why = "its process is dead"
        elif not here and holder.get("slurm_job") and holder["slurm_job"] == os.environ.get("SLURM_JOB_ID"):
            why = "it is this SLURM job before it was requeued"
        elif age > self.stale_seconds:
            why = f"it has had no heartbeat for {duration(age)}"
        elif not here and self._silent_so_far(holder):
            return
        if not why:
            raise TextcriticError(
                f"{self.path}: {_describe(holder)}, is at work in this folder; wait for it or stop it and rerun "
                f"(after a crash the lock is taken over {duration(self.stale_seconds)} after its last heartbeat)"
            )
        log.info("taking over the lock of %s: %s", _describe(holder), why)
        # Renaming first lets only one of several waiting jobs remove this very file.
        aside = self.path.with_name(f"{self.path.name}.{self._token}")
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return
        aside.unlink()

    def _silent_so_far(self, holder: dict[str, Any]) -> bool:
        """Watch the lock of another host for one and a half heartbeats: whether none came."""
        last = self.path.stat().st_mtime
        if not self._watching:
            log.info("%s: waiting for a sign of life of %s", self.path, _describe(holder))
            self._watching = True
        self._released.wait(1.5 * self.heartbeat_seconds)
        return not self.path.exists() or self.path.stat().st_mtime == last

    def _beat(self) -> None:
        while not self._released.wait(self.heartbeat_seconds):
            if not self._mine():
                return
            with suppress(FileNotFoundError):
                os.utime(self.path)

    def _mine(self) -> bool:
        return _read(self.path).get("token") == self._token


def _read(path: Path) -> dict[str, Any]:
    """Who holds the lock; empty when the file is gone or still being written."""
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _describe(holder: dict[str, Any]) -> str:
    if not holder:
        return "another job"
    job = f", SLURM job {holder['slurm_job']}" if holder.get("slurm_job") else ""
    return f"process {holder.get('pid')} on {holder.get('host')}{job}, since {holder.get('since')}"
