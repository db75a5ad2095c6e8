"""Shards of raw draws: the file a sampler writes, and the partial file that lets a killed sampler go on."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table
from textcritic.runlog import Progress, log
from textcritic.training.lock import locked
from textcritic.values import JsonObject

ENDED, CUT = "end", "length"
SHARD_SCHEMA = pa.schema(
    [
        pa.field("index", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("finish", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True)
class Shard:
    """A part of a sample.

    Attributes:
        seed: of the sample, see `seed_of_draw`; article i depends on (seed, i) and on nothing else that is drawn.
        first: index of the shard's first article.
        count: number of articles.
        path: of the Parquet file: index, text, tokens (drawn, the end token included), finish ("end", or "length" when
            the article did not end within the tokens that the decoding allows).
    """

    seed: int
    first: int
    count: int
    path: str | os.PathLike[str]

    @property
    def indices(self) -> range:
        """The articles' numbers."""
        return range(self.first, self.first + self.count)


@dataclass(frozen=True, slots=True)
class Draw:
    """One raw draw: `tokens` counts what was drawn, the end token included; `finish` is "end" or "length"."""

    index: int
    text: str
    tokens: int
    finish: str


def seed_of_draw(training: int, draw: int) -> int:
    """The seed of a sample's random numbers, from 0 to 2**64 - 1: another for each training and each draw from it.

    Args:
        training: seed of the training.
        draw: number of the draw from what was trained; 0 or more.
    """
    return int(np.random.SeedSequence((training, draw)).generate_state(1, np.uint64)[0])


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
    """A shard that is being drawn, in a `with` block: finished articles are appended to a file as they come.

    The file's first line is a fingerprint of everything the draws depend on, then there is one JSON line an article. A
    file with another fingerprint is discarded, and a last line that a kill cut off is dropped. The file is removed once
    the shard is complete. A lock file next to it keeps two jobs from drawing the same shard.

    Args:
        out_path: the shard; the file of finished articles is `{out_path}.partial.jsonl`.
        fingerprint: JSON-serialisable.

    Attributes:
        draws: the articles finished so far, those of a killed run included.
    """

    def __init__(self, out_path: str | os.PathLike[str], fingerprint: JsonObject) -> None:
        self.out_path, self.path = Path(out_path), Path(f"{out_path}.partial.jsonl")
        self.draws: list[Draw] = []
        self._head = json.dumps(fingerprint, sort_keys=True) + "\n"
        self._resources = ExitStack()

    def __enter__(self) -> "PartialShard":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(locked(Path(f"{self.out_path}.lock.json")))
            whole = self._restore()
            if whole == 0:
                self.path.write_text(self._head, encoding="utf-8")
            else:
                os.truncate(self.path, whole)
                log.info("%s: going on after %d finished articles", self.path, len(self.draws))
            self._handle = stack.enter_context(self.path.open("a", encoding="utf-8"))
            self._resources = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._resources.close()

    def append(self, draw: Draw) -> None:
        """Add a finished article; it survives a kill of this process from here on."""
        self.draws.append(draw)
        self._handle.write(json.dumps(asdict(draw)) + "\n")
        self._handle.flush()

    def fill(self, shard: Shard, unit: str, make: Callable[[list[int]], Iterable[Draw]]) -> None:
        """Draw what is missing of a shard, and write it.

        Args:
            shard: the same one.
            unit: what is drawn, in the plural, for progress lines.
            make: draws the articles of these numbers.
        """
        finished = {done.index for done in self.draws}
        progress = Progress(f"sampling {os.fspath(shard.path)}", shard.count, unit, done=len(finished))
        tokens = 0
        for draw in make([index for index in shard.indices if index not in finished]):
            self.append(draw)
            tokens += draw.tokens
            progress.advance(note=f"{tokens / progress.spent():,.0f} tokens/s")
        self.complete()

    def complete(self) -> None:
        """Write the shard, ordered by index, and remove the partial file."""
        write_shard(self.out_path, self.draws)
        self.path.unlink()

    def _restore(self) -> int:
        """Read back the draws of an earlier run; returns how many bytes of its file are good, 0 for none."""
        if not self.path.exists():
            return 0
        lines = self.path.read_bytes().splitlines(keepends=True)
        if not lines or lines[0] != self._head.encode():
            log.info("%s: from other settings or another model; the shard is drawn from the start", self.path)
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
