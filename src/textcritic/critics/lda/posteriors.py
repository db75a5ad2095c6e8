"""The file of the posteriors of a set of documents: results/topics/{critic}/{corpus}/.../{source}.npz."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.arrays import Arrays
from textcritic.critics.lda.model import Array
from textcritic.critics.lda.posterior import Posterior
from textcritic.errors import TextcriticError


@dataclass(frozen=True, eq=False)
class Posteriors(Arrays):
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
    what: ClassVar[str] = "file of posteriors"

    def __post_init__(self) -> None:
        lengths = {len(getattr(self, field.name)) for field in fields(self)}
        if len(lengths) > 1 or self.draws.ndim != 3:
            raise TextcriticError("arrays that do not go together; delete it and rerun the rule that makes it")

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

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several as one, in order."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))
