"""Documents as points in a language model's space, as `latents.features` has written them; read without torch."""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.files import arrays_of

DAMAGED = "not whole features; delete it and rerun the rule that makes it"


@dataclass(frozen=True, eq=False)
class Features:
    """The points of one set of documents, in the order of their ids.

    Attributes:
        ids: [N].
        vectors: float32 [N, d].
        groups: [N], of documents that belong together; "" for one that is alone.
    """

    ids: npt.NDArray[np.str_]
    vectors: npt.NDArray[np.float32]
    groups: npt.NDArray[np.str_]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Features":
        """Read a file of `features.embed_articles`.

        Raises:
            TextcriticError: the file is missing or damaged, has a value that is not a number, or is in another order.
        """
        with arrays_of(path, DAMAGED) as arrays:
            read = cls(arrays["ids"], arrays["features"], arrays["groups"])
        if read.vectors.ndim != 2 or not len(read.ids) == len(read.vectors) == len(read.groups):
            raise TextcriticError(f"{path}: {DAMAGED}")
        if not np.isfinite(read.vectors).all():
            raise TextcriticError(f"{path}: a feature is not a number; embed in fp32 (the embedder's key `precision`)")
        if (read.ids[:-1] >= read.ids[1:]).any():
            raise TextcriticError(f"{path}: documents are not in the order of their ids, each once; {DAMAGED}")
        return read
