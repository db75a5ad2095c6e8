"""Power curves: how often a test notices a fault that was put in on purpose, against how much of it there is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from textcritic.inference import ALPHA
from textcritic.report.numbers import percent
from textcritic.report.style import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER

NOTICED = 0.8
"""Of the repetitions: from here on we say that the test notices; the usual aim of those who plan tests."""
# By the number of documents, the smallest first; more than these begin anew.
LOOKS = (("o", ":", ORANGE), ("s", "--", GREEN), ("^", "-.", BLUE), ("D", "-", INK))
LABELS = (0.3, 0.75)  # heights of the labels of the first and the last line
TICKS_APART, TICKS_APART_NARROW = 1.4, 1.9  # least ratio of two ticks
Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The tests of one number of documents.

    Attributes:
        label: what stands on the line.
        x: how much was put in, ascending, above 0.
        y, low, high: the share of tests that notice, and its interval.
    """

    label: str
    x: Values
    y: Values
    low: Values
    high: Values

    @classmethod
    def of(cls, label: str, rows: pd.DataFrame, columns: Sequence[str]) -> "Curve":
        """From a table; `columns` are those of x, y, low and high."""
        ordered = rows.sort_values(columns[0])
        return cls(label, *(ordered[column].to_numpy(dtype=float) for column in columns))


def noticed_from(rows: pd.DataFrame, share: str, detected: str = "detected") -> float | None:
    """The smallest share above 0 from which on at least `NOTICED` of the repetitions notice, or None.

    Args:
        rows: of one number of documents.
        share: the column of how much was put in.
        detected: the column of how many of the repetitions notice.
    """
    smallest = None
    for row in rows[rows[share] > 0].sort_values(share, ascending=False).to_dict("records"):
        if row[detected] < NOTICED:
            break
        smallest = float(row[share])
    return smallest


def power_panel(axes: Axes, curves: Sequence[Curve], quantity: str, narrow: bool) -> None:
    """Draw the curves of a panel, the number of documents on each line, with their intervals.

    Args:
        axes: where.
        curves: the one of the fewest documents first.
        quantity: what x is, for the axis.
        narrow: whether fewer shares have a tick.
    """
    shares = sorted({float(x) for curve in curves for x in curve.x})
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
    for number, curve in enumerate(curves):
        marker, dashes, colour = LOOKS[number % len(LOOKS)]
        axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.13, linewidth=0, zorder=1)
        axes.plot(
            curve.x, curve.y, color=colour, linestyle=dashes, linewidth=1.5, marker=marker, markersize=4.5, zorder=3
        )
        _label(axes, curve, np.interp(number, (0, max(len(curves) - 1, 1)), LABELS))
    axes.set_xscale("log")
    axes.set_xlim(min(shares) / 1.15, max(shares) * 1.15)
    axes.xaxis.set_major_locator(FixedLocator(_spaced(shares, TICKS_APART_NARROW if narrow else TICKS_APART)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value).replace(".0%", "%")))
    axes.set_ylim(0, 1.04)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, NOTICED, 1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_xlabel(quantity)
    axes.set_ylabel("tests that notice")


def _label(axes: Axes, curve: Curve, height: float) -> None:
    """A label on a curve, where it passes a height; at its end where it does not get there."""
    x, y = curve.x, curve.y
    above = np.flatnonzero(y >= height)
    at = (float(x[-1]), float(y[-1]))
    if len(above) and above[0] > 0:
        part = (height - y[above[0] - 1]) / (y[above[0]] - y[above[0] - 1])
        at = (float(x[above[0] - 1] ** (1 - part) * x[above[0]] ** part), float(height))
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0}
    axes.text(*at, curve.label, ha="center", va="center", color=INK, fontsize=9, zorder=4, bbox=box)


def _spaced(shares: Sequence[float], apart: float) -> list[float]:
    """The shares that have room for a tick, the largest first."""
    kept: list[float] = []
    for share in reversed(shares):
        if not kept or kept[-1] / share >= apart:
            kept.append(share)
    return kept
