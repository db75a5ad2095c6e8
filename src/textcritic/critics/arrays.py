"""Models and posteriors that are nothing but arrays, and their files."""

import os
from dataclasses import dataclass, fields
from typing import ClassVar, Self

from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays


@dataclass(frozen=True, eq=False)
class Arrays:
    """Base of frozen dataclasses whose fields are all arrays; they check themselves when they are made.

    Attributes:
        what: what the file holds, for error lines, e.g. "topic model".
    """

    what: ClassVar[str]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file, whole or not at all."""
        write_arrays(path, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises:
            TextcriticError: the file is missing, truncated or something else, or its numbers are not valid.
        """
        with arrays_of(path, f"not a whole {cls.what}; delete it and rerun the rule that makes it") as arrays:
            read = {field.name: arrays[field.name] for field in fields(cls)}
        try:
            return cls(**read)
        except TextcriticError as error:
            raise TextcriticError(f"{path}: {error}") from error
