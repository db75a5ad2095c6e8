"""Power curves: how often a test notices a fault that was put in on purpose, against how much of it there is.

A kind of experiment says what its faults are called, in a `PowerStudy`; table, figure and sentences are made here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from textcritic.errors import TextcriticError
from textcritic.files import read_table
from textcritic.inference import ALPHA, POWER_COLUMNS
from textcritic.measures.labels import corpus_name, of_corpus
from textcritic.measures.numbers import NONE, count, listed, number, percent
from textcritic.report.cells import interval_cell, unique
from textcritic.report.charts import stacked_panels
from textcritic.report.drawings import Drawing
from textcritic.report.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER
from textcritic.report.prose import remarks_of
from textcritic.report.section import Finding
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.report.style import share_label

NOTICED = 0.8
"""A fault is "noticed" if at least this share of repetitions is significant; 80% is usual in planning tests."""
# By the number of documents, the smallest first; with more numbers than looks, they repeat from the first.
LOOKS = (("o", ":", ORANGE), ("s", "--", GREEN), ("^", "-.", BLUE), ("D", "-", INK))
LABELS = (0.3, 0.75)  # heights of the labels of the first and the last line
LABELS_APART = 0.11  # least distance of two labels right of a panel
TICKS_APART = 1.9  # least ratio of two ticks, so that a narrow chart has room for them
HEIGHT = 1.9  # inches, of a panel
COLUMNS = ("kind", *POWER_COLUMNS)
Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerStudy:
    """What a kind of experiment calls its faults.

    Attributes:
        name: of the table and of the figure.
        caption: of the table.
        head: of the table's first column, the shares.
        faults: by the kind of fault its panel's title.
        noun: what has the fault; with the kind before it the name of the fault, as in "regendered pronouns".
        of: what the shares are of, such as "pronouns".
        unit: what is on each side of the test, "articles" or "documents".
        module: `__file__` of a module of the kind; its remarks.md describes the method under the heading “power”, with
            `{repetitions}` and `{documents}`.
        means: further columns of the table, each the mean of a column of the rows: its head by that column.
    """

    name: str
    caption: str
    head: str
    faults: Mapping[str, str]
    noun: str
    of: str
    unit: str
    module: str
    means: Mapping[str, str] = field(default_factory=dict)


def power_rows(tables: Mapping[str, pa.Table], study: PowerStudy) -> pd.DataFrame:
    """Tables of power, `critics.power.POWER_SCHEMA`, by corpus, as rows: with the column `corpus` first."""
    columns = ["corpus", *COLUMNS, *study.means]
    frames = [table.to_pandas().assign(corpus=corpus)[columns] for corpus, table in tables.items() if len(table)]
    rows = pd.concat(frames) if frames else pd.DataFrame(columns=columns)
    return rows.astype({"articles": "Int64", "repetitions": "Int64", "documents": "Int64"})


def read_power(path: Path, study: PowerStudy) -> pa.Table:
    """The table of one corpus.

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    table = read_table(path)
    if not {*COLUMNS, *study.means} <= set(table.column_names):
        raise TextcriticError(f"{path}: not a table of power; delete it and rerun the rule that makes it")
    return table


def power_sheet(rows: pd.DataFrame, study: PowerStudy) -> Sheet:
    """A row for each share, a column for each kind of fault and number of documents; rows as of `power_rows`."""
    sizes = sorted(int(size) for size in rows["articles"].unique())
    columns = list(product(study.faults if len(rows) else (), sizes))
    heads = [study.head, *study.means.values(), *(f"{kind}, n = {count(size)}" for kind, size in columns)]
    body: list[Line] = []
    for (corpus, share), group in rows.groupby(["corpus", "share"], sort=False):
        means = (number(group[column].mean()) for column in study.means)
        cells = (_cell(group, kind, size) for kind, size in columns)
        body.append([of_corpus(rows, corpus, percent(share)), *means, *cells])
    remarks = [f"Not measured: the test split has too few {study.unit}, or the study leaves it out (`power`)."]
    if len(rows):
        repetitions, documents = (listed([count(n) for n in unique(rows[key])]) for key in ("repetitions", "documents"))
        remarks = [
            *remarks_of(study.module, "power", repetitions=repetitions, documents=documents),
            "Under each share: its 95% interval over repetitions. With no fault the test should notice "
            f"{percent(ALPHA)}.",
        ]
    return plain_sheet(study.name, study.caption, heads, body, remarks)


def power_findings(rows: pd.DataFrame, study: PowerStudy) -> list[Finding]:
    """From which share on the test notices each fault, for the most documents of each corpus; rows as `power_rows`."""
    findings = []
    for corpus, group in rows.groupby("corpus", sort=False):
        size, many = int(group["articles"].max()), int(group["repetitions"].iloc[0])
        seen, missed = [], []
        for kind in study.faults:
            meaning = re.search(r" \(.*\)", study.faults[kind])
            fault = f"{kind} {study.noun}{meaning.group() if meaning else ''}"
            share = noticed_from(group[(group["kind"] == kind) & (group["articles"] == size)], "share")
            if share is None:
                missed.append(fault)
            else:
                seen.append(f"{fault} from {percent(share)} of the {study.of} on")
        says = [f"notices {listed(seen)}"] if seen else []
        says += [f"does not notice {listed(missed)} at any share that was tried"] if missed else []
        findings.append(
            Finding(
                f"Power ({corpus_name(corpus)})" if rows["corpus"].nunique() > 1 else "Power",
                f"With {count(size)} {study.unit} on each side, the test {', and '.join(says)} (it notices where "
                f"p < {ALPHA:g} in {percent(NOTICED)} or more of {count(many)} repetitions).",
            )
        )
    return findings


def power_chart(rows: pd.DataFrame, study: PowerStudy, width: float) -> Figure:
    """A panel for each corpus and kind of fault, a line for each number of documents, with 95% intervals.

    Each line is labelled with its number of documents.

    Args:
        rows: as `power_rows` makes them.
        study: what its faults are called.
        width: inches.
    """
    corpora = unique(rows["corpus"])
    panels = list(product(corpora, study.faults.items()))
    quantity = f"share of the {study.of}, logarithmic scale\n(on the lines: {study.unit} on each side)"
    figure, places = stacked_panels(width, [HEIGHT] * len(panels), 0.62, 0.72)
    for axes, (corpus, (kind, title)) in zip(places, panels, strict=True):
        shown = rows[(rows["corpus"] == corpus) & (rows["kind"] == kind) & (rows["share"] > 0)]
        sizes = sorted(shown["articles"].unique())
        columns = ("share", "detected", "low", "high")
        curves = [Curve.of(str(size), shown[shown["articles"] == size], columns) for size in sizes]
        power_panel(axes, curves, quantity)
        axes.set_title(f"{corpus_name(corpus)}: {title.lower()}" if len(corpora) > 1 else title)
    return figure


def power_figures(rows: pd.DataFrame, study: PowerStudy) -> Iterator[Drawing]:
    """The power chart, if power was measured."""
    if len(rows):
        yield study.name, partial(power_chart, rows, study)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The tests of one number of documents.

    Attributes:
        label: the text on the line.
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
    """The smallest share such that it and all larger ones are noticed in `NOTICED` of the repetitions, or None.

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


def power_panel(axes: Axes, curves: Sequence[Curve], quantity: str) -> None:
    """Draw the curves of a panel, the number of documents on each line, with their intervals.

    Args:
        axes: where.
        curves: the one of the fewest documents first.
        quantity: what x is, for the axis.
    """
    shares = sorted({float(x) for curve in curves for x in curve.x})
    axes.axhline(ALPHA, color=MUTED, linewidth=1.0, linestyle=(0, (2, 2)), zorder=0.5)
    axes.axhline(NOTICED, color=FAINT, linewidth=1.0, zorder=0.5)
    _beside(axes, f"chance: {ALPHA:.0%}", ALPHA, MUTED)
    for place, curve in enumerate(curves):
        marker, dashes, colour = LOOKS[place % len(LOOKS)]
        axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.13, linewidth=0, zorder=1)
        axes.plot(
            curve.x, curve.y, color=colour, linestyle=dashes, linewidth=1.5, marker=marker, markersize=4.5, zorder=3
        )
    _labels(axes, curves)
    axes.set_xscale("log")
    axes.set_xlim(min(shares) / 1.15, max(shares) * 1.15)
    axes.xaxis.set_major_locator(FixedLocator(_spaced(shares)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(share_label)
    axes.set_ylim(0, 1.04)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, NOTICED, 1]))
    axes.yaxis.set_major_formatter(share_label)
    axes.set_xlabel(quantity)
    axes.set_ylabel("tests that notice")


def _cell(group: pd.DataFrame, kind: str, size: int) -> Cell:
    """How often a fault of one share is noticed, and the interval."""
    rows = group[(group["kind"] == kind) & (group["articles"] == size)]
    if rows.empty:
        return Cell(NONE)
    return interval_cell(rows.iloc[0].to_dict(), ("detected", "low", "high"))


def _labels(axes: Axes, curves: Sequence[Curve]) -> None:
    """Label each curve where it passes a height; a curve that does not is labelled at its end, right of the panel."""
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0}
    ends: list[tuple[float, str]] = []
    for place, curve in enumerate(curves):
        x, y, height = curve.x, curve.y, np.interp(place, (0, max(len(curves) - 1, 1)), LABELS)
        above = np.flatnonzero(y >= height)
        if len(above) and above[0] > 0:
            part = (height - y[above[0] - 1]) / (y[above[0]] - y[above[0] - 1])
            at = (float(x[above[0] - 1] ** (1 - part) * x[above[0]] ** part), float(height))
            axes.text(*at, curve.label, ha="center", va="center", color=INK, fontsize=9, zorder=4, bbox=box)
        else:
            ends.append((float(y[-1]), curve.label))
    lowest, highest, middle = ALPHA, 1.0 + LABELS_APART, 0.5
    for end, label in sorted(one for one in ends if one[0] < middle):
        lowest = max(lowest + LABELS_APART, end)
        _beside(axes, label, lowest, INK)
    for end, label in sorted((one for one in ends if one[0] >= middle), reverse=True):
        highest = min(highest - LABELS_APART, end)
        _beside(axes, label, highest, INK)


def _beside(axes: Axes, words: str, y: float, colour: str) -> None:
    """Words right of a panel."""
    right = axes.get_yaxis_transform()
    axes.annotate(words, (1, y), (4, 0), right, "offset points", va="center", color=colour, fontsize=9)


def _spaced(shares: Sequence[float]) -> list[float]:
    """The shares that have room for a tick, the largest first."""
    kept: list[float] = []
    for share in reversed(shares):
        if not kept or kept[-1] / share >= TICKS_APART:
            kept.append(share)
    return kept
