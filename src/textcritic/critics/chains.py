"""Chains of section titles as flat arrays, so that a million documents are counted and scored without a Python loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

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
        encoded: the same, dictionary-encoded.
        lengths: int64 [documents], sections per document.
    """

    titles: pa.Array
    encoded: pa.DictionaryArray
    lengths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, chains: "ChainsLike | Chains") -> "Chains":
        """From a list of lists of titles, or from a `list<string>` column of a table.

        Raises:
            TextcriticError: something in it is not a list of titles.
        """
        if isinstance(chains, Chains):
            return chains
        column: pa.Array = chains
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            try:
                column = pa.array(chains, pa.list_(pa.string()))
            except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as error:
                raise TextcriticError(
                    f"chains: not lists of section titles ({error}); each must be a list of strings"
                ) from error
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        try:
            column = column.cast(pa.list_(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise TextcriticError(f"chains: a column of type {column.type}; it must be list<string>") from error
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        titles = column.flatten()
        return cls(titles, titles.dictionary_encode(), lengths)

    def vocabulary(self) -> tuple[str, ...]:
        """The distinct titles, sorted."""
        used = self.encoded.dictionary.take(pc.unique(self.encoded.indices).drop_null())
        return tuple(sorted(used.to_pylist()))

    def codes(self, titles: Sequence[str]) -> npt.NDArray[np.int32]:
        """Index of each section's title in `titles`, -1 where it is absent or null: int32 [sections]."""
        places = pc.index_in(self.encoded.dictionary, value_set=pa.array(titles, pa.string()))
        return pc.fill_null(places.take(self.encoded.indices), -1).to_numpy(zero_copy_only=False)


@dataclass(frozen=True, slots=True)
class Steps:
    """The K + 1 transitions of every chain of K sections, from the begin state to the end state.

    Attributes:
        cells: int32 [steps], documents one after the other; source * (V + 1) + target, the cell of a critic's table
            (source 0 is the begin state, 1 + v title v; target v is title v, V the end state); -1 if either title is
            unknown.
        lengths: int64 [documents], steps per document; 0 for one without sections.
        num_titles: V.
    """

    cells: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int64]
    num_titles: int

    @classmethod
    def of(cls, codes: npt.NDArray[np.int32], sections: npt.NDArray[np.int64], num_titles: int) -> "Steps":
        """Steps of chains of title indices (`Chains.codes`), `sections` a document, over `num_titles` titles."""
        lengths = np.where(sections > 0, sections + 1, 0)
        begins = (np.cumsum(lengths) - lengths)[sections > 0]
        # The sources. Moved by one step they are the targets: the next begin state is then the end state.
        states = np.zeros(len(codes) + len(begins) + 1, dtype=np.int32)
        is_section = np.ones(len(states), dtype=bool)
        is_section[begins] = is_section[-1] = False
        states[is_section] = codes + 1
        targets = states[1:] - 1
        targets[begins[1:] - 1] = targets[-1:] = num_titles
        cells = states[:-1] * np.int32(num_titles + 1)
        cells += targets
        if len(codes) and codes.min() < 0:
            # An unknown section is now a 0 that is not a begin state.
            unknown = is_section & (states == 0)
            cells[unknown[:-1] | unknown[1:]] = -1
        return cls(cells, lengths, num_titles)

    @property
    def document(self) -> npt.NDArray[np.int64]:
        """The document of each step: int64 [steps]."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def known(self) -> npt.NDArray[np.int64]:
        """Steps between known states in each document: int64 [documents]."""
        if len(self.cells) and self.cells.min() < 0:
            return np.bincount(self.document[self.cells >= 0], minlength=len(self.lengths))
        return self.lengths

    def usable(self, skip_unknown: bool) -> npt.NDArray[np.bool_]:
        """Documents that count in a score: those with a known step and, unless they are skipped, no unknown one."""
        known = self.known
        return (known > 0) & (skip_unknown | (known == self.lengths))

    def cells_of(self, documents: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Known cells of the chosen documents, in order: int32 [known steps of these]."""
        if documents.all() and (not len(self.cells) or self.cells.min() >= 0):
            return self.cells
        return self.cells[(self.cells >= 0) & np.repeat(documents, self.lengths)]

    def counts(self, documents: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """How often each transition occurs in the chosen documents: int64 [V + 1 sources, V + 1 targets]."""
        width = self.num_titles + 1
        return np.bincount(self.cells_of(documents), minlength=width * width).reshape(width, width)


def pair_counts(
    codes: npt.NDArray[np.int32], sections: npt.NDArray[np.int64], num_titles: int
) -> npt.NDArray[np.int64]:
    """The same as `Steps.counts` of all documents if every title is known, in half the time: no steps are made."""
    width = num_titles + 1
    stops = np.cumsum(sections)[sections > 0]
    starts = stops - sections[sections > 0]
    pairs = (codes[:-1] + 1) * np.int32(width) + codes[1:]
    counts = np.bincount(pairs, minlength=width * width) - np.bincount(pairs[starts[1:] - 1], minlength=width * width)
    table = counts.reshape(width, width)
    table[0, :-1] += np.bincount(codes[starts], minlength=num_titles)
    table[1:, -1] += np.bincount(codes[stops - 1], minlength=num_titles)
    return table
