"""A file of the registry `downloads` that is there: whether it is that of its entry, however it came."""

import hashlib
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.plan.entries import Download
from textcritic.values import JsonObject


def check_by_hand(entry: Download, path: Path) -> None:
    """Check a file that a user put in the place of a download; it is read once, because its checksum is then noted.

    Args:
        entry: of the file.
        path: of the file, which may be missing.

    Raises:
        TextcriticError: the file is empty, or its checksum is not that of the entry.
    """
    if not path.is_file():
        return
    size, note = path.stat().st_size, Path(f"{path}.json")
    known = note.is_file() and read_json(note).get("bytes") == size
    fault = "" if size else "is empty"
    if size and not known and (entry.sha256 or entry.sha1):
        record, fault = compared(path, entry)
        if not fault:
            write_json(note, record)
    if fault:
        raise TextcriticError(f"{path}: {fault}; delete it, and it is downloaded, or put the right one there")


def compared(path: Path, entry: Download) -> tuple[JsonObject, str]:
    """The record of a file of an entry, and in words how it differs from the entry."""
    right = {"sha256": entry.sha256, "sha1": entry.sha1}
    found = {name: _checksum(path, name) for name in right if name == "sha256" or right[name]}
    faults = [
        f"its {name} is {was}, not {right[name]}" for name, was in found.items() if right[name] not in (None, was)
    ]
    return {"url": entry.url, **found, "bytes": path.stat().st_size}, next(iter(faults), "")


def _checksum(path: Path, name: str) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, name).hexdigest()
