"""Digests of the files that jobs wrote: kept in results/digests, and compared before other jobs read the files.

Each output of a job has a record at its own path below that folder: the job, the version of the code, size and SHA-256
of each file, and the digest of each input that it was made from.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from textcritic import __version__
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.place import workflow_folder
from textcritic.values import JsonObject

FOLDER = "results/digests"
AT_ONCE = 200 * 2**20  # bytes of its inputs that a job reads for their digests: a quarter of a second


class FileRecord(TypedDict):
    """A file as a job wrote it; `changed`: its time of change then, in nanoseconds since 1970."""

    bytes: int
    sha256: str
    changed: int


class Record(TypedDict):
    """What a job wrote, by path, and what it read: the digest of each input, None if it is not known."""

    job: str
    code: str
    files: dict[str, FileRecord]
    inputs: dict[str, str | None]
    spent: NotRequired[JsonObject]


def checked(paths: Iterable[str | os.PathLike[str]], at_once: int = AT_ONCE) -> dict[str, str | None]:
    """Compare the inputs of a job with the records of the jobs that wrote them.

    A file that is larger than the rest of `at_once` is read only if the file system says that it was touched since (by
    its time of change, which a program cannot set). So damage to such a file below the file system is not noticed.

    Args:
        paths: files and folders, relative to the working directory.
        at_once: bytes that are read in any case.

    Returns:
        The digest of each path; None if it is not known, for a large file without a record, or one from elsewhere.

    Raises:
        TextcriticError: a file is not as its job wrote it.
    """
    digests: dict[str, str | None] = {}
    for path in dict.fromkeys(map(str, paths)):
        known = record_of(path)
        if known is None:
            own = Path(path)
            readable = not own.is_absolute() and own.is_file() and own.stat().st_size <= at_once
            digests[path] = sha256(own) if readable else None
            at_once -= own.stat().st_size if readable else 0
            continue
        output, record = known
        for name, entry in record["files"].items():
            if not Path(name).is_relative_to(path):
                continue
            whole = entry["bytes"] <= at_once
            at_once -= entry["bytes"] if whole else 0
            if fault := difference(Path(name), entry, whole):
                raise TextcriticError(
                    f"{name}: {fault}; it is not what the job {record['job']!r} wrote; delete {output}, and the same "
                    f"command makes it again (if you put it there yourself, delete {_place(output)})"
                )
        digests[path] = digest_of(record)
    return digests


def write_records(
    job: str,
    outputs: Iterable[str | os.PathLike[str]],
    inputs: Mapping[str, str | None],
    spent: JsonObject | None = None,
) -> None:
    """Record what a job has written.

    Args:
        job: its name.
        outputs: files and folders, relative to the working directory.
        inputs: as `checked` returned them.
        spent: time and hardware of the job, see `host.spent`.
    """
    for output in map(str, outputs):
        place = _place(output)
        if place is None:
            continue
        files = {str(path): _entry(path) for path in _files_of(Path(output))}
        record = {"job": job, "code": code_version(), "files": files, "inputs": dict(inputs)}
        write_json(place, record | {"spent": spent} if spent else record)


def record_of(path: str, root: Path = Path()) -> tuple[str, Record] | None:
    """The output that a path is, or is in, with its record; None if there is none.

    Raises:
        TextcriticError: the record is damaged.
    """
    for output in (path, *map(str, Path(path).parents)):
        place = _place(output)
        if place is not None and (root / place).is_file():
            record: Record = read_json(root / place, "delete it")
            if not isinstance(record, dict) or not {"job", "code", "files", "inputs"} <= record.keys():
                raise TextcriticError(f"{root / place}: is no record of what a job wrote; delete it")
            return output, record
    return None


def difference(path: Path, entry: FileRecord, whole: bool = True) -> str:
    """How a file differs from its entry in a record, or nothing.

    Args:
        path: of the file.
        entry: how it was written.
        whole: whether it is read even if the file system says that nobody touched it.
    """
    try:
        about = path.stat()
    except OSError:
        return "is gone or cannot be read"
    if about.st_size != entry["bytes"]:
        how = "is cut short" if about.st_size < entry["bytes"] else "is longer"
        return f"{how}: {about.st_size:,} bytes in place of {entry['bytes']:,}"
    if not whole and about.st_ctime_ns == entry["changed"]:
        return ""
    return "" if sha256(path) == entry["sha256"] else "has other bytes, as many as before"


def digest_of(record: Record) -> str:
    """One digest of all files of an output."""
    files = {name: entry["sha256"] for name, entry in record["files"].items()}
    if len(files) == 1:
        return str(next(iter(files.values())))
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def is_commit(revision: str) -> bool:
    """Whether a revision of a repository of git is a whole commit, SHA-1, and so always the same files."""
    return re.fullmatch(r"[0-9a-f]{40}", revision) is not None


@cache
def code_version() -> str:
    """The version of textcritic and a digest of its code: of the package, and of the scripts of the workflow."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, workflow_folder() / "workflow/scripts"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return f"{__version__}, code {digest.hexdigest()[:10]}"


def _place(output: str) -> Path | None:
    """Where the record of an output is; None of one outside of results/."""
    path = Path(output)
    if path.parts[:1] != ("results",) or ".." in path.parts or len(path.parts) == 1:
        return None
    return Path(FOLDER, *path.parts[1:-1], f"{path.name}.json")


def _files_of(output: Path) -> list[Path]:
    if not output.is_dir():
        return [output] if output.is_file() else []
    return sorted(path for path in output.rglob("*") if path.is_file())


def _entry(path: Path) -> FileRecord:
    about = path.stat()
    return {"bytes": about.st_size, "sha256": sha256(path), "changed": about.st_ctime_ns}
