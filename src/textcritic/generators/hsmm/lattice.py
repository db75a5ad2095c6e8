"""All segmentations of a batch of sequences into rows of a lexicon, as the paths of a graph.

A node is a border in a sequence, an arc a segment between two of them. Only those on a path from the sequence's
beginning to its end are kept. The nodes are sorted by level, the greatest number of segments before them, so a
recursion treats all nodes of a level of all sequences at once: as many steps as the longest sequence has segments
where the segmentation is nearly certain, and never more than it has tokens.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.lexicon import ABSENT

UNREACHED = -1


@dataclass(frozen=True)
class Lattice:
    """The graph of a batch of B sequences, with N nodes, A arcs and U distinct rows of a lexicon.

    The first P nodes are the beginnings of the P parsable sequences and the last P their ends, both in the order of the
    sequences. All tensors are int64 and on one device; the lists are on the host, so that a recursion never waits.

    Attributes:
        parsable: bool [B], whether the sequence has any segmentation; those without one have no nodes.
        tokens: of each sequence [B].
        rows: the lexicon's rows that occur, ascending [U].
        sequence: of each node [N].
        position: tokens before each node [N].
        start: node where each arc begins [A]; arcs are sorted by the nodes where they end, then by where they begin.
        end: node where each arc ends [A].
        row: index into `rows` of each arc [A].
        by_start: the arcs sorted by the nodes where they begin [A].
        node_stops: nodes before each level and in all [levels + 1].
        arc_stops: arcs that end before each level and in all [levels + 1].
        leaving_stops: arcs that begin before each level and in all [levels + 1].
    """

    parsable: torch.Tensor
    tokens: torch.Tensor
    rows: torch.Tensor
    sequence: torch.Tensor
    position: torch.Tensor
    start: torch.Tensor
    end: torch.Tensor
    row: torch.Tensor
    by_start: torch.Tensor
    node_stops: list[int]
    arc_stops: list[int]
    leaving_stops: list[int]

    @classmethod
    def build(cls, rows: np.ndarray, offsets: np.ndarray, sequences: np.ndarray | None = None) -> "Lattice":
        """The lattice of some sequences, on the CPU.

        Args:
            rows: int32 [tokens, D], see `Lexicon.rows`.
            offsets: where each sequence begins among the tokens, and the end of the last, [sequences + 1].
            sequences: the numbers of those that make the batch, int [B]; all of them when None.

        Raises:
            TextcriticError: the batch or a sequence in it is empty, a number is out of range, or the offsets do not
                cut the rows into sequences.
        """
        _check_batch(rows, offsets, sequences)
        first = offsets[:-1] if sequences is None else offsets[:-1][sequences]
        tokens = np.diff(offsets) if sequences is None else np.diff(offsets)[sequences]
        if not len(tokens):
            raise TextcriticError("a batch without sequences has no lattice; give at least one")
        if (tokens == 0).any():
            raise TextcriticError(f"sequence {np.flatnonzero(tokens == 0)[0]} is empty; give at least one token")
        arcs = _padded(rows, first, tokens)
        level = _levels(arcs >= 0, tokens)
        return _assemble(arcs, level, tokens)

    def to(self, device: torch.device | str) -> "Lattice":
        """The same with its tensors on `device`."""
        moved: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            moved[field.name] = value.to(device) if torch.is_tensor(value) else value
        return Lattice(**moved)

    @property
    def levels(self) -> int:
        """Number of levels: beginnings are level 0, ends the last."""
        return len(self.node_stops) - 1

    @property
    def ends(self) -> slice:
        """The nodes where the parsable sequences end."""
        return slice(self.node_stops[-2], self.node_stops[-1])

    @property
    def begins(self) -> slice:
        """The nodes where the parsable sequences begin."""
        return slice(0, self.node_stops[1])


def _check_batch(rows: np.ndarray, offsets: np.ndarray, sequences: np.ndarray | None) -> None:
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != len(rows) or (np.diff(offsets) < 0).any():
        raise TextcriticError(
            f"offsets: do not cut the rows of {len(rows)} tokens into sequences; give 0 ... {len(rows)}"
        )
    if sequences is None:
        return
    outside = sequences[(sequences < 0) | (sequences >= len(offsets) - 1)]
    if len(outside):
        raise TextcriticError(f"sequence {outside[0]} is not there; the sequences are 0 to {len(offsets) - 2}")


def _padded(rows: np.ndarray, first: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The rows by last token, length and sequence, int32 [longest sequence, D, B]."""
    at = np.arange(tokens.max())[:, None]
    inside = at < tokens
    padded = np.where(inside[:, :, None], rows[np.where(inside, first + at, 0)], ABSENT)
    return np.ascontiguousarray(padded.transpose(0, 2, 1))


def _levels(present: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The greatest number of segments before each border, int32 [longest sequence + 1, B].

    `UNREACHED` for borders that are on no path. The ends have one level of their own, which comes last.
    """
    steps, longest, batch = present.shape
    ends = tokens, np.arange(batch)
    level = np.full((longest + steps, batch), UNREACHED, np.int32)  # with as many borders before the beginning
    level[longest - 1] = 0
    for t in range(steps):
        before = level[t : t + longest][::-1]
        level[longest + t] = np.where(present[t] & (before >= 0), before + 1, UNREACHED).max(axis=0)
    level = level[longest - 1 :]

    leaving = np.zeros_like(present)  # the arcs by the border where they begin
    for n in range(1, min(longest, steps) + 1):
        leaving[: steps - n + 1, n - 1] = present[n - 1 :, n - 1]
    useful = np.zeros((steps + longest, batch), bool)
    useful[ends] = True
    for t in reversed(range(steps)):
        useful[t] |= (leaving[t] & useful[t + 1 : t + longest + 1]).any(axis=0)
    # What leads to a useful border is useful, so no level is left without borders.
    level[~useful[: steps + 1]] = UNREACHED

    parsable = level[ends] >= 0
    level[ends] = UNREACHED
    level[ends] = np.where(parsable, level.max() + 1, UNREACHED)
    return level


def _assemble(arcs: np.ndarray, level: np.ndarray, tokens: np.ndarray) -> Lattice:
    position, sequence = np.nonzero(level >= 0)
    order = np.lexsort((position, sequence, level[position, sequence]))
    position, sequence = position[order], sequence[order]
    by_level = level[position, sequence]
    levels = int(by_level.max(initial=0)) + 1
    number = np.full(level.shape, UNREACHED)
    number[position, sequence] = np.arange(len(position))

    last, shorter, batch = np.nonzero(arcs >= 0)
    begin = last - shorter  # the border before the segment; it ends at the border last + 1
    inside = begin >= 0
    last, batch, shorter, begin = last[inside], batch[inside], shorter[inside], begin[inside]
    start, end = number[begin, batch], number[last + 1, batch]
    kept = (start >= 0) & (end >= 0)
    start, end, row = start[kept], end[kept], arcs[last[kept], shorter[kept], batch[kept]]
    order = np.lexsort((start, end))
    start, end, row = start[order], end[order], row[order]
    rows, row = np.unique(row, return_inverse=True)
    by_start = np.argsort(start, kind="stable")

    node_stops = np.searchsorted(by_level, np.arange(levels + 1))
    return Lattice(
        parsable=torch.from_numpy(level[0] >= 0),
        tokens=_long(tokens),
        rows=_long(rows),
        sequence=_long(sequence),
        position=_long(position),
        start=_long(start),
        end=_long(end),
        row=_long(row),
        by_start=_long(by_start),
        node_stops=node_stops.tolist(),
        arc_stops=np.searchsorted(end, node_stops).tolist(),
        leaving_stops=np.searchsorted(start[by_start], node_stops).tolist(),
    )


def _long(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, np.int64))
