"""Shards of raw draws: the file a sampler writes, and the partial file that lets a killed sampler go on."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table
from textcritic.runlog import log

ENDED, CUT = "end", "length"
SHARD_SCHEMA = pa.schema(
    [
        pa.field("index", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("finish", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class Draw:
    """One raw draw: `tokens` counts what was drawn, the end token included; `finish` is "end" or "length"."""

    index: int
    text: str
    tokens: int
    finish: str


def write_shard(path: str | os.PathLike[str], draws: Iterable[Draw]) -> None:
    """Write draws, ordered by index, as Parquet, whole or not at all."""
    rows = [asdict(draw) for draw in sorted(draws, key=lambda draw: draw.index)]
    write_table(path, pa.Table.from_pylist(rows, schema=SHARD_SCHEMA))


def read_shard(path: str | os.PathLike[str]) -> list[Draw]:
    """Read a shard.

    Raises:
        TextcriticError: the file is missing, truncated, or no shard of draws.
    """
    table = read_table(path)
    if not table.schema.equals(SHARD_SCHEMA):
        columns = ", ".join(f"{field.name} {field.type}" for field in SHARD_SCHEMA)
        raise TextcriticError(f"{path}: not a shard of draws; its columns should be {columns}")
    return [Draw(**row) for row in table.to_pylist()]


class PartialShard:
    """Finished articles of a shard that is not whole yet: one JSON line each, appended as they come.

    The first line is a fingerprint of everything the draws depend on. A file with another fingerprint is discarded; a
    last line that was cut off by a kill is dropped.

    Args:
        out_path: the shard; the partial file lies beside it as `{out_path}.partial.jsonl`.
        fingerprint: JSON-serialisable.
    """

    def __init__(self, out_path: str | os.PathLike[str], fingerprint: Mapping[str, Any]) -> None:
        self.path = Path(f"{out_path}.partial.jsonl")
        self.draws: list[Draw] = []
        self.path.parent.mkdir(parents=True, exist_ok=True)
        head = json.dumps(fingerprint, sort_keys=True)
        whole = self._restore(head)
        if whole == 0:
            self.path.write_text(head + "\n", encoding="utf-8")
        else:
            os.truncate(self.path, whole)
            log.info("%s: going on after %d finished articles", self.path, len(self.draws))
        self._handle = self.path.open("a", encoding="utf-8")

    def append(self, draw: Draw) -> None:
        """Add a finished article; it survives a kill of this process from here on."""
        self.draws.append(draw)
        self._handle.write(json.dumps(asdict(draw)) + "\n")
        self._handle.flush()

    def close(self, *, remove: bool = False) -> None:
        """Close the file, and remove it once the whole shard is written."""
        self._handle.close()
        if remove:
            self.path.unlink()

    def _restore(self, head: str) -> int:
        """Read back the draws of an earlier run; returns how many bytes of its file are good, 0 for none."""
        if not self.path.exists():
            return 0
        lines = self.path.read_bytes().splitlines(keepends=True)
        if not lines or lines[0] != f"{head}\n".encode():
            log.info("%s: from other settings or another model; starting the shard anew", self.path)
            return 0
        whole = len(lines[0])
        for line in lines[1:]:
            try:
                draw = Draw(**json.loads(line)) if line.endswith(b"\n") else None
            except (ValueError, TypeError):
                draw = None
            if draw is None:
                break
            self.draws.append(draw)
            whole += len(line)
        return whole


def folder_digest(folder: str | os.PathLike[str]) -> str:
    """SHA-256 over the names and contents of a folder's files, for fingerprints."""
    digest = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode())
            with path.open("rb") as handle:
                digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()
