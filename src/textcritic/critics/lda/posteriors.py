"""The file of the posteriors of a set of documents: results/topics/{critic}/{corpus}/.../{source}.npz."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.lda.model import Array
from textcritic.critics.lda.posterior import Posterior
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays

ARRAYS = ("ids", "mean", "draws", "counts", "tokens")


@dataclass(frozen=True, slots=True, eq=False)
class Posteriors:
    """Posteriors of the documents of a file that have a word of the vocabulary; the others are not here.

    Attributes:
        ids: [N].
        mean: [N, K], of the topic shares theta.
        draws: float32 [N, S, K], of theta.
        counts: float32 [N, K], expected tokens in each topic.
        tokens: int64 [N], with words of the vocabulary.
    """

    ids: npt.NDArray[np.str_]
    mean: Array
    draws: npt.NDArray[np.float32]
    counts: npt.NDArray[np.float32]
    tokens: npt.NDArray[np.int64]

    @classmethod
    def of(cls, ids: pa.Array, posterior: Posterior) -> Self:
        """Those of `posterior` whose documents have a word."""
        known = posterior.tokens > 0
        return cls(
            np.array(ids.to_pylist(), dtype=np.str_)[known],
            posterior.mean[known],
            posterior.draws[known].astype(np.float32),
            posterior.counts[known].astype(np.float32),
            posterior.tokens[known],
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file, whole or not at all."""
        write_arrays(path, {name: getattr(self, name) for name in ARRAYS})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises:
            TextcriticError: the file is missing, truncated, or something else.
        """
        with arrays_of(path, "not a whole file of posteriors; delete it and rerun the rule that makes it") as arrays:
            found = cls(**{name: arrays[name] for name in ARRAYS})
        lengths = {len(getattr(found, name)) for name in ARRAYS}
        if len(lengths) > 1 or found.draws.ndim != 3:
            raise TextcriticError(f"{path}: arrays that do not go together; delete it and rerun the rule that makes it")
        return found

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several as one, in order."""
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS})
