"""What input functions of rules get of a job."""

from collections.abc import Iterable
from typing import Protocol


class Wildcards(Protocol):
    """The wildcards of a job: Snakemake's own, or anything with the same attributes and keys."""

    def __getattr__(self, name: str) -> str: ...

    def __getitem__(self, name: str) -> str: ...

    def keys(self) -> Iterable[str]:
        """Their names."""

    def get(self, name: str, default: str) -> str:
        """The value of one; the default where the job has none of that name."""
