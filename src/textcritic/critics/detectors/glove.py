"""Word vectors in the text format of GloVe (Pennington et al. 2014), of which a few words are kept."""

import os
import re
from collections.abc import Container
from pathlib import Path

import numpy as np

from textcritic.errors import TextcriticError

# As GloVe's tokenizer cuts them: clitics such as 's and n't are words, and so is every punctuation mark.
WORD = re.compile(r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|m|d|re|ve|ll)\b|\w+(?:[-.]\w+)*|[^\w\s]")


def read_vectors(path: str | os.PathLike[str], words: Container[str], size: int) -> dict[str, np.ndarray]:
    """The vectors of some words, float32 [size] each; the file is read line by line, and nothing else of it is kept.

    A line is a word, a space and `size` numbers with spaces between them. A word may hold spaces itself, as some of
    glove.840B.300d do; such words, and a word's second line, are passed over. A first line of two numbers, as word2vec
    writes, is one too.

    Args:
        path: of the file.
        words: those wanted; in the file's own spelling, upper case and all.
        size: numbers of a vector.

    Raises:
        TextcriticError: the file is missing, or a line has another number of numbers, or text in their place; no word
            of these occurs.
    """
    found: dict[str, np.ndarray] = {}
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                parts = line.rstrip(b" \r\n").split(b" ")
                if number == 1 and len(parts) == 2 and size != 1:
                    continue
                if len(parts) <= size:
                    raise TextcriticError(
                        f"{path}, line {number}: {len(parts) - 1} numbers, {size} are wanted; set `size`, or fetch the"
                        " file again if it is cut off"
                    )
                word = b" ".join(parts[:-size]).decode("utf-8", errors="replace")
                if word in words and word not in found:
                    found[word] = _numbers(parts[-size:], f"{path}, line {number}")
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not found:
        raise TextcriticError(f"{path}: has a vector of no word of the corpus; give vectors of its language")
    return found


def _numbers(parts: list[bytes], where: str) -> np.ndarray:
    try:
        values = np.array([float(part) for part in parts], np.float32)
    except ValueError as error:
        raise TextcriticError(f"{where}: not numbers behind the word; set `size` to how many there are") from error
    if not np.isfinite(values).all():
        raise TextcriticError(f"{where}: a number is not finite")
    return values
