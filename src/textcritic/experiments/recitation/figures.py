"""The figure of recitation: the share of n-grams that occur in the training text against n."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import LineStyleType

from textcritic.critics.recitation.scoring import MAIN_LENGTH
from textcritic.experiments.recitation.files import RecitationFiles
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.plan.sources import GROUP
from textcritic.report.cells import unique
from textcritic.report.charts import legend_above, stacked_panels
from textcritic.report.drawings import Drawing
from textcritic.report.palette import INK, LINE_COLOURS, RULE
from textcritic.report.style import DASHES, percent_label

CHART = "recitation-lengths"
HEIGHT = 2.8  # inches
LEFT, RIGHT = 0.75, 0.15


@dataclass(frozen=True, slots=True)
class Look:
    """How the line of a source is drawn."""

    colour: str
    dashes: LineStyleType
    width: float = 1.4


def figures(files: RecitationFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """recitation-lengths: a line for each source, of several seeds their mean, with its 95% interval as a band."""
    table, names = rows["recitation-lengths"], Names.of(files.samples)
    yield CHART, partial(lengths_chart, table, names)


FIGURES = {"figures": figures}


def lengths_chart(table: pd.DataFrame, names: Names, width: float) -> Figure:
    """A panel for each corpus, `width` inches wide; the legend is above the first."""
    panels = list(table.groupby("corpus", sort=False))
    looks = _looks(table, names)
    figure, places = stacked_panels(width, [HEIGHT] * len(panels), LEFT, RIGHT)
    for axes, (corpus, rows) in zip(places, panels, strict=True):
        _panel(axes, rows, names, looks)
        axes.set_title(corpus_name(corpus) if len(panels) > 1 else "")
    handles = [
        Line2D([], [], color=look.colour, linestyle=look.dashes, linewidth=look.width) for look in looks.values()
    ]
    legend_above(figure, handles, list(looks))
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, names: Names, looks: Mapping[str, Look]) -> None:
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        look = looks[_label(group, names)]
        points = group.groupby("n")[["share", "ci_low", "ci_high"]].mean()
        axes.fill_between(points.index, points["ci_low"], points["ci_high"], color=look.colour, alpha=0.13, linewidth=0)
        axes.plot(points.index, points["share"], color=look.colour, linestyle=look.dashes, linewidth=look.width)
    axes.axvline(MAIN_LENGTH, color=RULE, linewidth=0.8, zorder=0)
    axes.set_xlim(rows["n"].min(), rows["n"].max())
    axes.set_ylim(0, None)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(percent_label)
    axes.grid(axis="y")
    axes.set_xlabel("n, words in a row")
    axes.set_ylabel("in the training text")


def _looks(table: pd.DataFrame, names: Names) -> dict[str, Look]:
    """By label: a colour is a generator with a decoding, dashes are a setting, real text is black."""
    samples = table[table["generator"] != "data"]
    drawn, settings = unique(_drawn_by(samples)), unique(samples["setting"])
    looks = {}
    for _, group in table.groupby(["source", *GROUP], sort=False):
        if group["generator"].iloc[0] == "data":
            looks[_label(group, names)] = Look(INK, "-", 1.8)
            continue
        (of,) = unique(_drawn_by(group))
        dashes = DASHES[settings.index(group["setting"].iloc[0]) % len(DASHES)]
        looks[_label(group, names)] = Look(LINE_COLOURS[drawn.index(of) % len(LINE_COLOURS)], dashes)
    return looks


def _drawn_by(rows: pd.DataFrame) -> Sequence[tuple[str, str]]:
    return list(zip(rows["generator"], rows["decoding"], strict=True))


def _label(group: pd.DataFrame, names: Names) -> str:
    return names.source(group.iloc[0].to_dict(), corpus=False, seed=False)
