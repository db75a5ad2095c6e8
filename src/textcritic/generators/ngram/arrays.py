"""Arrays in files: written piece by piece, and opened without being read."""

from pathlib import Path
from types import TracebackType

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.files import DAMAGED


class ArrayFile:
    """A one-dimensional .npy file that is written in a `with` block, piece by piece.

    Args:
        path: of the file.
        dtype: of its numbers.

    Attributes:
        length: numbers written so far.
    """

    def __init__(self, path: Path, dtype: type) -> None:
        self.length = 0
        self._dtype = np.dtype(dtype)
        self._handle = path.open("wb")
        self._head()

    def append(self, numbers: np.ndarray) -> None:
        """Write a piece [numbers]; it is converted to the dtype."""
        self._handle.write(np.ascontiguousarray(numbers, self._dtype).data)
        self.length += len(numbers)

    def __enter__(self) -> "ArrayFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._handle.seek(0)
            self._head()
        self._handle.close()

    def _head(self) -> None:
        """The header; numpy leaves room in it for any length, so it can be written over."""
        description = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._handle, description)


def open_array(path: Path, otherwise: str) -> np.ndarray:
    """An array that is read from its file where it is looked at; nothing is copied into memory.

    Raises:
        TextcriticError: the file is missing or damaged, with its path and `otherwise`.
    """
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except DAMAGED as error:
        raise TextcriticError(f"{path}: {otherwise}") from error
