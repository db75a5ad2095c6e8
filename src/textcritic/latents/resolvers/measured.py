"""Figures that were measured of resolvers, and ship with the project: config/measured/resolvers.csv.

The report shows them where a study measures nothing itself. `tools/measure_resolvers.py` writes them.
"""

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import pandas as pd

from textcritic.errors import TextcriticError, first_line
from textcritic.files import write_text
from textcritic.values import JsonObject

DIGITS = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number.

    Attributes:
        resolver: kind of the resolver; of a neural one the hub entry of its model.
        version: of the project.
        annotation: entry of the annotations registry.
        part: `whole`, `people` or `pronouns`.
        metric: as in `quality.summary_of`.
        value: of the metric.
        low: of its 95% interval over documents; NaN where there is none.
        high: likewise.
        n: pronouns; of the other parts the mentions that people marked.
        documents: how many.
        date: of the measurement.
        hardware: it was made on.
    """

    resolver: str
    version: str
    annotation: str
    part: str
    metric: str
    value: float
    low: float
    high: float
    n: int
    documents: int
    date: str
    hardware: str


COLUMNS = [field.name for field in fields(Figure)]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a measurement was of; see `Figure`."""

    resolver: str
    annotation: str
    version: str
    date: str
    hardware: str


def figures_of(summary: JsonObject, about: About) -> Iterator[Figure]:
    """The figures of a summary of `quality.summary_of`, rounded to `DIGITS` digits."""
    for part in ("whole", "people", "pronouns"):
        for metric, row in summary[part].items():
            if isinstance(row, dict):
                n = row["n"] if part == "pronouns" else summary[part]["key_mentions"]
                low, high = (math.nan if row[key] is None else round(row[key], DIGITS) for key in ("low", "high"))
                yield Figure(
                    part=part,
                    metric=metric,
                    value=round(row["value"], DIGITS),
                    low=low,
                    high=high,
                    n=n,
                    documents=summary["documents"],
                    **asdict(about),
                )


def write_figures(path: str | os.PathLike[str], figures: Iterable[Figure]) -> None:
    """Write figures as CSV, whole or not at all."""
    write_text(path, pd.DataFrame(map(asdict, figures), columns=COLUMNS).to_csv(index=False, lineterminator="\n"))


def read_figures(path: str | os.PathLike[str], resolver: str | None = None) -> list[Figure]:
    """Read figures, of one resolver or of all; none if there are none of it.

    Raises:
        TextcriticError: the file is missing, or does not have the columns of `Figure`.
    """
    try:
        table = pd.read_csv(Path(path), dtype={field.name: field.type for field in fields(Figure)})
        figures = [Figure(**row) for row in table[COLUMNS].to_dict("records")]
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (KeyError, ValueError) as error:
        raise TextcriticError(
            f"{path}: no table of figures ({first_line(error)}); its columns are {', '.join(COLUMNS)}"
        ) from error
    return [figure for figure in figures if resolver in (None, figure.resolver)]
