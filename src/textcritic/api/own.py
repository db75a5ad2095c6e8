"""Measures of one's own as functions and commands take them: functions, `module:function`, or `file.py:function`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from textcritic.errors import TextcriticError
from textcritic.measures.own import Metric, check_names, load_metric, metric_of

GivenMetric: TypeAlias = str | Callable[..., Any]


def metrics_of(given: GivenMetric | Sequence[GivenMetric]) -> tuple[Metric, ...]:
    """The measures that were given.

    Modules are looked for in the working directory, then among those that are installed.

    Raises:
        TextcriticError: as `load_metric`, or two have one name.
    """
    several = [given] if isinstance(given, str) or callable(given) else given
    if not isinstance(several, Sequence):
        raise TextcriticError(f"metrics: {given!r} should be a function, `module:function`, or a list of these")
    metrics = tuple(_metric(one) for one in several)
    check_names(metrics)
    return metrics


def folder_of(metric: Metric) -> Path | None:
    """The folder from which another process can import a measure; None where only this process has the function."""
    module, _, function = metric.name.partition(":")
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if module == "__main__" or file is None or getattr(loaded, function, None) is not metric.function:
        return None
    path = Path(file).resolve()
    return path.parents[module.count(".") + (path.name == "__init__.py")]


def _metric(given: GivenMetric) -> Metric:
    if not isinstance(given, str):
        return metric_of(given)
    place, _, function = given.rpartition(":")
    if place.endswith(".py"):
        path = Path(place).expanduser()
        return load_metric(f"{path.stem}:{function}", [path.parent])
    return load_metric(given)
