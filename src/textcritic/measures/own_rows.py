"""Estimates the declared measure of a source from the numbers that a function gave its documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from textcritic.inference import Groups, above, median_interval, ratio_of_sums, two_sample_test, unit_of
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.own import REAL, Declared
from textcritic.values import Row

MEDIAN = "median"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The numbers of the documents of a source that were measured.

    Attributes:
        pairs: float64 [values, 2], (numerator, denominator) of each; without a ratio the denominator is 1.
        document: int64 [values], the document of each, from 0.
        groups: [documents], see `Scored.groups`.
        reasons: documents that were left out, by reason.
    """

    pairs: npt.NDArray[np.float64]
    document: npt.NDArray[np.int64]
    groups: Groups = None
    reasons: Mapping[str, int] | None = None

    @classmethod
    def of_documents(cls, pairs: npt.ArrayLike, groups: Groups, reasons: Mapping[str, int] | None = None) -> "Measured":
        """Of documents with one pair each."""
        columns = np.asarray(pairs, dtype=np.float64)
        return cls(columns, np.arange(len(columns)), groups, reasons)

    @property
    def documents(self) -> int:
        """How many were measured."""
        return int(self.document.max(initial=-1)) + 1

    def sums(self) -> npt.NDArray[np.float64]:
        """Sums of numerators and of denominators of each document: [documents, 2]."""
        of_each = [np.bincount(self.document, column, self.documents) for column in self.pairs.T]
        return np.column_stack(of_each)


def measure_of(declared: Declared, value: str = "value", **others: Any) -> Measure:
    """The `Measure` of a declaration.

    Args:
        declared: what is measured.
        value: column of the value, and key of `scored_of`.
        others: further attributes of the measure.
    """
    if declared.statistic == MEDIAN:
        others["estimate"] = partial(_median, value)
    else:
        others["statistic"] = ratio_of_sums
    aim = "" if declared.aim == REAL else declared.aim
    return Measure(name=declared.name, value=value, means=declared.means, aim=aim, **others)


def scored_of(measure: Measure, measured: Measured, more: Row | None = None) -> Scored:
    """A source as `rows.source_rows` takes it."""
    sums, reasons = measured.sums(), dict(measured.reasons or {})
    data: object = measured if measure.estimate is not None else sums
    return Scored({measure.value: data}, len(sums), reasons, more or {}, measured.groups)


def _median(key: str, scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
    """The median; tested by the shares above the median of both sets together."""
    measured: Measured = scored.data[key]
    values = measured.pairs[:, 0]
    interval = median_interval(values, unit_of(measured.groups, measured.documents)[measured.document])
    if real is None:
        return Estimate(interval.estimate, interval.low, interval.high, reason=interval.reason)
    both: Sequence[Measured] = (measured, real.data[key])
    cut = float(np.median(np.concatenate([side.pairs[:, 0] for side in both])))
    first, second = (above(side.pairs[:, 0], side.document, cut) for side in both)
    groups = (scored.groups, real.groups)
    test = two_sample_test(first, second, ratio_of_sums, groups, resampling.resamples, resampling.seed)
    reason = "; ".join(filter(None, (interval.reason, getattr(test, "reason", ""))))
    return Estimate(interval.estimate, interval.low, interval.high, test.p, reason=reason)
