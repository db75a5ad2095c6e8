"""The words that a latent language model knows; all others are one word, <unk>."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class Vocabulary:
    """Words by number; number 0 is <unk>.

    Attributes:
        words: UNKNOWN, and then all others.
    """

    words: tuple[str, ...]

    @classmethod
    def count(cls, texts: Iterable[Sequence[str]], minimum: int = 2, always: Sequence[str] = ()) -> "Vocabulary":
        """The words of some texts that occur at least `minimum` times, the commonest first, and those of `always`."""
        counts = Counter(word for text in texts for word in text)
        common = sorted((-count, word) for word, count in counts.items() if count >= minimum)
        return cls(tuple(dict.fromkeys((UNKNOWN, *always, *(word for _, word in common)))))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """Read a file of `write`.

        Raises:
            TextcriticError: it is missing, or not a list of distinct words that begins with <unk>.
        """
        words = read_json(path)
        if not isinstance(words, list) or words[:1] != [UNKNOWN] or len(set(words)) < len(words):
            raise TextcriticError(f"{path}: should be a list of distinct words, the first of them {UNKNOWN}")
        return cls(tuple(words))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the words as JSON."""
        write_json(path, list(self.words))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, tokens: Sequence[str]) -> torch.Tensor:
        """Numbers int64 [tokens]."""
        return torch.tensor([self.numbers.get(token, 0) for token in tokens], dtype=torch.int64)
