"""A user's own measures as functions and commands take them: functions, `module:function`, or `file.py:function`."""

import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TypeAlias, TypeGuard

from textcritic.errors import TextcriticError
from textcritic.measures.own import Metric, load_metric, metric_of

GivenMetric: TypeAlias = str | Callable[..., object]


def metrics_of(given: object) -> tuple[Metric, ...]:
    """The measures that were given.

    Modules are looked for in the working directory, then among those that are installed.

    Raises:
        TextcriticError: as `load_metric`, or two have one name.
    """
    several = [given] if isinstance(given, str) or callable(given) else given
    if not isinstance(several, Sequence):
        raise TextcriticError(f"metrics: {given!r} should be a function, `module:function`, or a list of these")
    files = list(dict.fromkeys(Path(one.rpartition(":")[0]).expanduser() for one in several if _is_file(one)))
    for file, other in combinations(files, 2):
        if file.stem == other.stem and file.absolute() != other.absolute():
            raise TextcriticError(f"metrics: {file} and {other} are two modules of one name; rename one of the files")
    metrics = tuple(_metric(one) for one in several)
    _check_names(metrics)
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


def _is_file(given: GivenMetric) -> TypeGuard[str]:
    """Whether it is `file.py:function`."""
    return isinstance(given, str) and given.rpartition(":")[0].endswith(".py")


def _metric(given: GivenMetric) -> Metric:
    if not isinstance(given, str):
        return metric_of(given)
    if _is_file(given):
        place, _, function = given.rpartition(":")
        path = Path(place).expanduser()
        return load_metric(f"{path.stem}:{function}", [path.parent])
    return load_metric(given)


def _check_names(metrics: Sequence[Metric]) -> None:
    """Check that measures differ in the names of their functions and in their titles.

    Raises:
        TextcriticError: two do not.
    """
    for names in ([metric.key for metric in metrics], [metric.declared.name for metric in metrics]):
        if twice := next((name for name in names if names.count(name) > 1), None):
            both = " and ".join(metric.name for metric, name in zip(metrics, names, strict=True) if name == twice)
            raise TextcriticError(f"metrics: several measures have the name {twice!r} ({both}); rename all but one")
