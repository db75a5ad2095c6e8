"""The overview: in which tendencies samples differ, and how many times as far as documents exchanged at random."""

from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from textcritic.critics.tendencies.verdicts import DIFFERS, KEPT, MISSING, TENDENCIES
from textcritic.experiments.tendencies.panels import NARROW_BELOW
from textcritic.experiments.tendencies.sheets import UNCLEAR
from textcritic.measures.names import Names
from textcritic.measures.numbers import number
from textcritic.plan.sources import GROUP
from textcritic.report.charts import CHARACTER
from textcritic.report.palette import INK, MUTED
from textcritic.report.style import SEQUENTIAL, new_figure, style

CELL = 0.4  # inches
FARTHEST = 100  # times as far as chance, from which the colour is the same


def overview_chart(rows: pd.DataFrame, names: Names, width: float) -> Figure:
    """A row for each sample, a column for each tendency: how many times as far as chance it is, or the verdict.

    In a narrow figure samples are numbered columns under a list of their names, and tendencies are rows.

    Args:
        rows: as `rows.tendency_rows` makes them; of several seeds the mean of those that differ is shown.
        names: of the sources.
        width: inches.
    """
    groups = list(rows.groupby(GROUP, sort=False))
    labels = [names.source(group.iloc[0].to_dict(), seed=False) for _, group in groups]
    titles = [tendency.title for tendency in TENDENCIES]
    cells = [[_cell(group[group["tendency"] == tendency.name]) for tendency in TENDENCIES] for _, group in groups]
    narrow = width < NARROW_BELOW
    with style():
        if narrow:
            return _narrow(labels, titles, cells, width)
        left = 0.25 + CHARACTER * max(map(len, labels))
        height = CELL * len(labels) + 0.75
        figure = new_figure(width, height)
        axes = figure.add_axes((left / width, 0.1 / height, 1 - (left + 0.1) / width, CELL * len(labels) / height))
        _draw(axes, cells)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_xticks(range(len(titles)), [fill(title, 11) for title in titles], fontsize=8.5)
    return figure


def _narrow(labels: list[str], titles: list[str], cells: list[list[tuple[float, str]]], width: float) -> Figure:
    lines = [f"{place}  {label}" for place, label in enumerate(labels, start=1)]
    head = 0.2 * len(lines) + 0.35
    height = CELL * len(titles) + head + 0.1
    figure = new_figure(width, height)
    for place, line in enumerate(lines):
        figure.text(0.02, 1 - (0.16 + 0.2 * place) / height, line, fontsize=9, color=INK)
    left = 1.15
    axes = figure.add_axes((left / width, 0.05 / height, 1 - (left + 0.1) / width, CELL * len(titles) / height))
    _draw(axes, [list(column) for column in zip(*cells, strict=True)], 7 if len(labels) > 4 else 9)
    axes.set_yticks(range(len(titles)), [fill(title, 16) for title in titles], fontsize=8)
    axes.set_xticks(range(len(labels)), [str(place) for place in range(1, len(labels) + 1)])
    return figure


def _draw(axes: Axes, cells: list[list[tuple[float, str]]], size: float = 9) -> None:
    shade = np.array([[value for value, _ in row] for row in cells], dtype=float)
    axes.imshow(np.clip(shade, 1, FARTHEST), cmap=SEQUENTIAL, norm=LogNorm(1, FARTHEST), aspect="auto")
    for y, row in enumerate(cells):
        for x, (value, words) in enumerate(row):
            colour = MUTED if words in (KEPT, UNCLEAR, MISSING) else "white" if value > 25 else INK
            small = size - 2 if words in (UNCLEAR, MISSING) else size
            axes.text(x, y, fill(words, 8), ha="center", va="center", fontsize=small, color=colour)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cell(group: pd.DataFrame) -> tuple[float, str]:
    """How dark a cell is, and what stands in it."""
    if group["value"].isna().all():
        return 1.0, MISSING
    differs = group[group["verdict"] == DIFFERS]
    if differs.empty:
        return 1.0, KEPT if (group["verdict"] == KEPT).all() else UNCLEAR
    if differs["times"].isna().all():  # documents that are exchanged are no apart
        return 1.0, DIFFERS
    times = float(differs["times"].mean())
    return times, f"{number(times, 2)}×"
