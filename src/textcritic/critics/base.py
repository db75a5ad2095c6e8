"""What every critic can do: be saved and loaded whole, and score the latents of a set of documents."""

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import pyarrow as pa


@runtime_checkable
class Critic(Protocol):
    """A latent process `P_c(z)` fitted on real text (paper, section 2).

    `T_c(x) = -E_{z ~ P_c(z|x)} log P_c(z)` in nats is what `score` gives for each document. What one *step* of `z` is
    differs from critic to critic and is said in its class docstring.
    """

    kind: ClassVar[str]

    @classmethod
    def fit(cls, train: Any, validation: Any = None) -> Self:
        """Fit on the training split; keyword arguments say which hyperparameters to try on validation."""
        ...

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved critic; a truncated or foreign file raises TextcriticError."""
        ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the critic, whole or not at all."""
        ...

    def score(self, ids: Sequence[str], latents: Any, rejected: Sequence[tuple[str, str]] = ()) -> pa.Table:
        """One row per document, schema `textcritic.critics.SCORES_SCHEMA`; `rejected` are (id, why) of unread ones."""
        ...
