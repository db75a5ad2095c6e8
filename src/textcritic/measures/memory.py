"""Sets of documents in memory: they become scores by the same rows and measures as the files of a study."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from textcritic.measures.material import Material
from textcritic.measures.measure import Measure, Resampling, Scored
from textcritic.measures.names import Names
from textcritic.measures.rows import source_rows
from textcritic.measures.score import Score, scores_of
from textcritic.plan.sources import KEYS, SAMPLE, data_keys
from textcritic.values import Row

REAL = "real text"
"""What real text is called; no sample may be called so."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """A set of documents as a source of `source_rows`.

    Attributes:
        keys: of its row; of a sample the generator is its number.
        scored: what was read of it.
        scores: what it is called in errors.
    """

    keys: Row
    scored: Scored
    scores: str


@dataclass(frozen=True, slots=True)
class _Sets:
    """What `source_rows` reads of the files of an experiment."""

    sources: tuple[InMemory, ...]
    resamples: int
    seed: int

    def groups(self) -> Iterator[tuple[InMemory | None, Sequence[InMemory]]]:
        first = self.sources[0]
        yield first if first.keys == data_keys("") else None, self.sources


def rows_in_memory(
    sets: Mapping[str, Scored], measures: Sequence[Measure], resampling: Resampling, name: str = REAL
) -> pd.DataFrame:
    """A row for each set, as `source_rows` makes them; samples are tested against `REAL`, if it is the first set.

    Args:
        sets: what was read of each, by label.
        measures: what is computed.
        resampling: of intervals and tests.
        name: of real text, for errors.

    Raises:
        TextcriticError: nothing of real text could be scored.
    """
    keys = keys_of(sets)
    sources = [InMemory(keys[label], scored, name if label == REAL else label) for label, scored in sets.items()]
    labels = {str(keys[label]["generator"]): label for label in sets}
    names = Names(labels, frozenset(), frozenset(), several_corpora=False, several_settings=False)
    material = Material(_Sets(tuple(sources), resampling.resamples, resampling.seed), names=names)
    return pd.DataFrame(source_rows(material, lambda source, _: source.scored, measures))


def keys_of(labels: Iterable[str]) -> dict[str, dict[str, object]]:
    """The keys of the row of each set by its label."""
    return {
        label: dict(data_keys(""))
        if label == REAL
        else dict(zip(KEYS, ("", SAMPLE, "", str(number), "", None, None), strict=True))
        for number, label in enumerate(labels)
    }


def scores_of_sets(
    sets: Mapping[str, Scored], measures: Sequence[Measure], resampling: Resampling, name: str = REAL
) -> tuple[Score, ...]:
    """The scores of `rows_in_memory`; raises likewise."""
    return scores_in_memory(rows_in_memory(sets, measures, resampling, name), measures)


def scores_in_memory(rows: pd.DataFrame, measures: Sequence[Measure]) -> tuple[Score, ...]:
    """The scores of each measure in turn, real text first.

    Args:
        rows: as `rows_in_memory` makes them.
        measures: those that are shown.
    """
    labels = dict(zip(rows["generator"], rows["label"], strict=True))
    return tuple(
        score
        for measure in measures
        for score in scores_of(rows, measure, lambda row, **_: str(labels[row["generator"]]), measure.anchor)
    )
