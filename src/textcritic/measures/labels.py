"""The labels of corpora, decodings and other entries of the registries, for texts that people read.

Rows, files and published values know entries by their names, which are parts of paths: `bible-intruders-rank1`. Tables,
figures and sections write labels: "the likeliest passage". A job gets the labels of its experiment
(`Experiment.labels`) and writes all of its output inside `labelled`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import pandas as pd

Labels = Mapping[str, Mapping[str, str]]
"""For each registry, the labels of its entries by their names."""

_labels: ContextVar[Labels] = ContextVar("labels")
_controls: ContextVar[frozenset[str]] = ContextVar("controls")


@contextmanager
def labelled(labels: Labels, controls: Iterable[str] = ()) -> Iterator[None]:
    """Context in which entries have these labels, and these generators are controls: other real text."""
    tokens = _labels.set(labels), _controls.set(frozenset(controls))
    try:
        yield
    finally:
        _labels.reset(tokens[0])
        _controls.reset(tokens[1])


def is_control(generator: str) -> bool:
    """Whether the samples of a generator are a control: other real text, shown next to the samples of models."""
    return generator in _controls.get(frozenset())


def corpus_name(corpus: str) -> str:
    """A corpus in words; its name where no label is known."""
    return entry_name("corpora", corpus)


def of_corpus(rows: pd.DataFrame, corpus: str, name: str) -> str:
    """The name of a row or a column of a table, after that of its corpus if the rows have several."""
    return f"{corpus_name(corpus)}: {name}" if rows["corpus"].nunique() > 1 else name


def decoding_name(decoding: str) -> str:
    """A way of drawing samples in words; its name where no label is known."""
    return entry_name("decodings", decoding)


def entry_name(registry: str, name: str) -> str:
    """An entry of a registry in words; its name where no label is known."""
    return _labels.get({}).get(registry, {}).get(name, name)
