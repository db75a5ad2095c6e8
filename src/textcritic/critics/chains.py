"""Chains of section titles as flat arrays, so that a million documents are counted and scored without a Python loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.errors import TextcriticError

ChainsLike: TypeAlias = Sequence[Sequence[str | None]] | pa.Array | pa.ChunkedArray


@dataclass(frozen=True, slots=True)
class Chains:
    """Titles of all sections of a set of documents, one after the other.

    Attributes:
        titles: [sections] strings; null is a section without a title.
        lengths: int64 [documents], sections per document.
    """

    titles: pa.Array
    lengths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, chains: "ChainsLike | Chains") -> "Chains":
        """From a list of lists of titles, or from a `list<string>` column of a table.

        Raises:
            TextcriticError: something in it is not a list of titles.
        """
        if isinstance(chains, Chains):
            return chains
        column: Any = chains
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            try:
                column = pa.array(chains, pa.list_(pa.string()))
            except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as error:
                raise TextcriticError(
                    f"chains: not lists of section titles ({error}); each must be a list of strings"
                ) from error
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if not (pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type)):
            raise TextcriticError(f"chains: a column of type {column.type}; it must be list<string>")
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(column.flatten(), lengths)

    def vocabulary(self) -> tuple[str, ...]:
        """The distinct titles, sorted."""
        return tuple(sorted(pc.unique(self.titles).drop_null().to_pylist()))

    def codes(self, titles: Sequence[str]) -> npt.NDArray[np.int32]:
        """Index of each section's title in `titles`, -1 where it is absent or null: int32 [sections]."""
        found = pc.index_in(self.titles, value_set=pa.array(titles, pa.string()), skip_nulls=True)
        return pc.fill_null(found, -1).to_numpy(zero_copy_only=False)


@dataclass(frozen=True, slots=True)
class Steps:
    """The K + 1 transitions of every chain of K sections, from the begin state to the end state.

    Attributes:
        source: int32 [steps]; 0 is the begin state, 1 + v title v, -1 an unknown title.
        target: int32 [steps]; v is title v, V the end state, -1 an unknown title.
        document: int64 [steps], the row of the chain.
    """

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    document: npt.NDArray[np.int64]

    @classmethod
    def of(cls, codes: npt.NDArray[np.int32], lengths: npt.NDArray[np.int64], num_titles: int) -> "Steps":
        """Steps of chains of title indices (`Chains.codes`) over `num_titles` titles; a document of none has none."""
        rows = np.flatnonzero(lengths > 0)
        counts = lengths[rows] + 1
        stops = np.cumsum(counts)
        first = np.zeros(int(counts.sum()), dtype=bool)
        first[stops - counts] = True
        last = np.zeros_like(first)
        last[stops - 1] = True
        source = np.zeros(len(first), dtype=np.int32)
        source[~first] = np.where(codes < 0, -1, codes + 1)
        target = np.full(len(first), num_titles, dtype=np.int32)
        target[~last] = codes
        return cls(source, target, np.repeat(rows, counts))

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Steps between two known states: bool [steps]."""
        return (self.source >= 0) & (self.target >= 0)

    def counts(self, num_titles: int, where: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """How often each transition occurs among the steps `where`: int64 [V + 1 sources, V + 1 targets]."""
        width = num_titles + 1
        cells = self.source[where].astype(np.int64) * width + self.target[where]
        return np.bincount(cells, minlength=width * width).reshape(width, width)
