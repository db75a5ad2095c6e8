"""Power curves: the share of pronouns that are wrong against the share of tests that notice."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from textcritic.critics.mentions.power import ALPHA
from textcritic.experiments.coreference.power import NOTICED
from textcritic.latents.mentions.exchange import KINDS
from textcritic.report.cells import unique
from textcritic.report.charts import stacked_panels
from textcritic.report.numbers import percent
from textcritic.report.style import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER, style

HEIGHT = 1.9  # inches, of a panel
# By the number of articles, the smallest first; more than these begin anew.
LOOKS = (("o", ":", ORANGE), ("s", "--", GREEN), ("^", "-.", BLUE), ("D", "-", INK))
TITLES: Mapping[str, str] = {"regendered": "Regendered (he for she)", "relinked": "Relinked (he is another person)"}
LABELS = (0.3, 0.75)  # heights of the labels of the first and the last line
TICKS_APART, TICKS_APART_NARROW = 1.4, 1.9  # least ratio of two ticks


def power_chart(rows: pd.DataFrame, width: float = 8.2) -> Figure:
    """A panel for each corpus and kind of exchange, a line for each number of articles, with 95% intervals.

    The number of articles stands on its line.

    Args:
        rows: as `power_rows` makes them.
        width: inches; below 5 fewer shares have a tick.
    """
    apart = TICKS_APART_NARROW if width < 5 else TICKS_APART
    corpora = unique(rows["corpus"])
    panels = [(corpus, kind) for corpus, kind in product(corpora, KINDS)]
    with style():
        figure, places = stacked_panels(width, [HEIGHT] * len(panels), 0.62, 0.72)
        for axes, (corpus, kind) in zip(places, panels, strict=True):
            _panel(axes, rows[(rows["corpus"] == corpus) & (rows["kind"] == kind) & (rows["share"] > 0)], apart)
            axes.set_title(f"{corpus}: {TITLES[kind].lower()}" if len(corpora) > 1 else TITLES[kind], pad=7)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, apart: float) -> None:
    shares = sorted(rows["share"].unique())
    sizes = sorted(rows["articles"].unique())
    axes.axhline(ALPHA, color=MUTED, linewidth=1.0, linestyle=(0, (2, 2)), zorder=0.5)
    axes.axhline(NOTICED, color=FAINT, linewidth=1.0, zorder=0.5)
    axes.annotate(
        f"chance: {ALPHA:.0%}",
        (1, ALPHA),
        (4, 0),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        va="center",
        color=MUTED,
        fontsize=8,
    )
    for number, size in enumerate(sizes):
        marker, dashes, colour = LOOKS[number % len(LOOKS)]
        curve = rows[rows["articles"] == size].sort_values("share")
        x, y = (curve[key].to_numpy(dtype=float) for key in ("share", "detected"))
        low, high = (curve[key].to_numpy(dtype=float) for key in ("low", "high"))
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0, zorder=1)
        axes.plot(x, y, color=colour, linestyle=dashes, linewidth=1.5, marker=marker, markersize=4.5, zorder=3)
        _label(axes, f"{size}", x, y, np.interp(number, (0, max(len(sizes) - 1, 1)), LABELS))
    axes.set_xscale("log")
    axes.set_xlim(min(shares) / 1.15, max(shares) * 1.15)
    axes.xaxis.set_major_locator(FixedLocator(_spaced(shares, apart)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value).replace(".0%", "%")))
    axes.set_ylim(0, 1.04)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, NOTICED, 1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_xlabel("share of the pronouns, logarithmic scale\n(on the lines: articles on each side)")
    axes.set_ylabel("tests that notice")


def _label(axes: Axes, text: str, x: np.ndarray, y: np.ndarray, height: float) -> None:
    """A label on a curve, where it passes a height; at its end where it does not get there."""
    above = np.flatnonzero(y >= height)
    at = (float(x[-1]), float(y[-1]))
    if len(above) and above[0] > 0:
        part = (height - y[above[0] - 1]) / (y[above[0]] - y[above[0] - 1])
        at = (float(x[above[0] - 1] ** (1 - part) * x[above[0]] ** part), float(height))
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0}
    axes.text(*at, text, ha="center", va="center", color=INK, fontsize=9, zorder=4, bbox=box)


def _spaced(shares: list[float], apart: float) -> list[float]:
    """The shares that have room for a tick, the largest first."""
    kept: list[float] = []
    for share in reversed(shares):
        if not kept or kept[-1] / share >= apart:
            kept.append(share)
    return kept
