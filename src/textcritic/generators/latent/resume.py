"""What is computed text by text: a killed job goes on with the first text that it had not written."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays
from textcritic.runlog import Progress, log
from textcritic.training.checkpoint import file_digests
from textcritic.values import JsonObject

Floats = npt.NDArray[np.float64]
SAVE_SECONDS = 60.0  # at most so much is lost when a job is killed


@dataclass(frozen=True, slots=True)
class Partial:
    """What a killed job has left: the first rows, of the same files and the same draws.

    Attributes:
        path: .npz with `done`, an array of the first texts, and `of`, what decides them.
        of_what: what decides them, as JSON text.
    """

    path: Path
    of_what: str

    @classmethod
    def of(
        cls, out: str | os.PathLike[str], files: Mapping[str, str | os.PathLike[str] | None], draws: JsonObject
    ) -> "Partial":
        """What is left of a job whose result is `out`.

        Args:
            out: its result; the partial file is in the same folder.
            files: the files that decide the rows, by their role; None if there is no such file.
            draws: what else decides the rows, JSON values.

        Raises:
            TextcriticError: a file is missing.
        """
        given = {key: value for key, value in files.items() if value is not None}
        decides = {"draws": draws, "files": file_digests(given)}
        return cls(Path(out).with_suffix(".partial.npz"), json.dumps(decides, sort_keys=True))

    def read(self, shape: tuple[int, ...]) -> Floats:
        """The rows that are done, [rows, *shape]; none where they are of something else, or damaged."""
        nothing = np.empty((0, *shape))
        if not self.path.is_file():
            return nothing
        try:
            with arrays_of(self.path, "is damaged") as arrays:
                done, of_what = arrays["done"], str(arrays["of"])
        except TextcriticError:
            return nothing
        return done if of_what == self.of_what and done.shape[1:] == shape else nothing

    def write(self, done: Floats) -> None:
        """Keep the first rows."""
        write_arrays(self.path, {"done": done, "of": np.array(self.of_what)})


def resumed(of_text: Callable[[int], Floats], texts: int, shape: tuple[int, ...], partial: Partial) -> Floats:
    """What a function gives for each text, [texts, *shape]; what a killed job has done is not done again."""
    values = np.empty((texts, *shape))
    done = partial.read(shape)
    values[: len(done)] = done
    if len(done):
        log.info("going on after %s of %s texts", f"{len(done):,}", f"{texts:,}")
    progress, saved = Progress("weighing", texts, "texts", done=len(done)), time.monotonic()
    for row in range(len(done), texts):
        values[row] = of_text(row)
        progress.advance()
        if time.monotonic() - saved > SAVE_SECONDS:
            partial.write(values[: row + 1])
            saved = time.monotonic()
    return values
