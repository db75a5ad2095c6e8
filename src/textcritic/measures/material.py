"""What the rows of an experiment are made of: its files, published values, and the names of its sources."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from textcritic.measures.measure import Scored
from textcritic.measures.names import Names
from textcritic.measures.published import Published
from textcritic.plan.sources import KEYS, RUN
from textcritic.values import Row

Shared = TypeVar("Shared")
FilesOf = TypeVar("FilesOf", covariant=True)

TEXT = (*(key for key in KEYS if key not in RUN), "label", "rejected_by_reason")
"""Columns that are text in the tables of every kind: an empty cell there is an empty text, not a missing number."""


class Keyed(Protocol):
    """Real text, a sample, or something else that rows are about."""

    @property
    def keys(self) -> Row:
        """The key columns of a row about it."""


class Material(Generic[FilesOf]):
    """What the tables of one experiment are made of; what several of them share is computed once.

    Args:
        files: what is read, the files of the kind.
        published: published values, which tables show next to ours.
        names: what the sources are called; by default as `Names.of` calls the samples.
        crossed: results of cross-fitting for sources, by the paths of their scores.
        paired: whether documents of several samples with one group are compared by pairs.
    """

    def __init__(
        self,
        files: FilesOf,
        published: Published | None = None,
        names: Any = None,
        crossed: Mapping[str, Scored] | None = None,
        paired: bool = True,
    ) -> None:
        self.crossed, self.paired = crossed or {}, paired
        self.files, self.published = files, published or Published({})
        self.names: Any = names if names is not None else Names.of(getattr(files, "samples", ()))
        self._got: dict[object, Any] = {}

    def get(self, function: Callable[["Material[FilesOf]"], Shared]) -> Shared:
        """What a function computes from this, such as rows; computed once, on the first call."""
        if function not in self._got:
            self._got[function] = function(self)
        shared: Shared = self._got[function]
        return shared

    def start(self, source: Keyed, **named: bool) -> dict[str, object]:
        """The first columns of a row: the keys, and the `label` without its corpus, see `Names.source` for `named`."""
        return {**source.keys, "label": self.names.source(source.keys, corpus=False, **named)}
