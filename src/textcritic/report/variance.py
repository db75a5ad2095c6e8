"""Where the uncertainty of a measure comes from: table and figure of a study with several trainings or draws.

Any kind can have them: `variance_rows` of its rows and its `Measure` make the table, `variance_chart` draws it.
"""

from collections.abc import Sequence
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textcritic.inference import Component, variance_components
from textcritic.measures.measure import Measure
from textcritic.measures.names import SourceNames
from textcritic.measures.numbers import missing, percent, plural
from textcritic.measures.scored import runs_of
from textcritic.plan.sources import GROUP, SAMPLE
from textcritic.report.charts import CHARACTER, stacked_panels
from textcritic.report.palette import BLUE, INK, MUTED, RULE
from textcritic.report.sheet import Cell, Sheet
from textcritic.report.style import percent_label
from textcritic.values import Row

NAME = "variance"
COLUMNS = ("component", "number", "variance", "share", "share_low", "share_high")
NOT_ESTIMABLE = "not estimable"
REMARKS = (
    "Documents: the choice of documents, from the interval of each draw. Drawing: further differences between draws of "
    "one training. Training: further differences between trainings. With one draw of each training, drawing is "
    "included in training. Not estimable: there is only one of it. Each cell is a share of the variance of one number, "
    "on the scale on which it is compared, with its 95% interval.",
)
NOTHING = "No sample has several trainings or draws with an interval: give `seeds: [1, 2, 3]` to have this table."


def variance_rows(rows: pd.DataFrame, measure: Measure, single: Sequence[str] = ()) -> pd.DataFrame:
    """The components of a measure of each sample with several trainings or draws.

    Columns: `GROUP`, `component`, `number` of it, `variance` (of the logarithm if the measure is compared by ratio),
    `share` of the variance of one number, from 0 to 1, with its 95% interval `share_low`, `share_high`; empty where it
    is not estimable. A sample has no rows if one of its draws has no interval.

    Args:
        rows: with the key columns, and the value and interval of the measure.
        measure: what is decomposed.
        single: what else the number depends on, but an experiment has only one of, e.g. "classifier": not estimable.
    """
    components = []
    for keys, group in rows[rows["source"] == SAMPLE].groupby(GROUP, sort=False):
        with_value = group[group[measure.value].notna()]
        runs = runs_of(with_value, measure)
        if len(runs) > 1 and not with_value[measure.low].isna().any():
            further = {name: [runs[0][1].value or 0.0] for name in single}
            for component in variance_components(runs, further, measure.by_ratio):
                components.append(dict(zip(GROUP, keys, strict=True)) | _columns(component))
    return pd.DataFrame(components, columns=[*GROUP, *COLUMNS]).astype({"number": "Int64"})


def variance_sheet(rows: pd.DataFrame, names: SourceNames, measure: Measure) -> Sheet:
    """A row for each sample, a column for each component: its share with the interval."""
    parts = list(dict.fromkeys(rows["component"]))
    body = []
    for _, group in rows.groupby(GROUP, sort=False):
        cells = [_cell(row) for part in parts for row in group[group["component"] == part].to_dict("records")]
        body.append([Cell(_name(group, names), heading=True), *cells])
    header = [[Cell("Source"), *(Cell(part.capitalize()) for part in parts)]]
    caption = f"Where the variance of {measure.name} comes from"
    return Sheet(NAME, caption, header, body, remarks=REMARKS if body else (NOTHING,))


def variance_chart(rows: pd.DataFrame, names: SourceNames, width: float) -> Figure:
    """Each component's share as a bar with its interval, a panel for each sample; width in inches."""
    groups = [group for _, group in rows.groupby(GROUP, sort=False)]
    figure, places = stacked_panels(width, [0.36 * len(group) for group in groups], 1.1, 0.3)
    for axes, group in zip(places, groups, strict=True):
        _panel(axes, fill(_name(group, names), int((width - 1.1) / CHARACTER)), group)
    return figure


def _panel(axes: Axes, name: str, rows: pd.DataFrame) -> None:
    across = axes.get_yaxis_transform()
    for place, row in enumerate(reversed(rows.to_dict("records"))):
        axes.text(-0.02, place, row["component"], transform=across, va="center", ha="right", color=INK)
        if missing(row["share"]):
            axes.text(1, place, NOT_ESTIMABLE, va="center", color=MUTED)
            continue
        share, low, high = (100 * float(row[column]) for column in ("share", "share_low", "share_high"))
        axes.barh(place, share, height=0.5, color=BLUE, alpha=0.35, zorder=1)
        axes.plot([low, high], [place, place], color=BLUE, linewidth=2, solid_capstyle="butt", zorder=2)
        axes.plot(share, place, "o", color=BLUE, markersize=5, clip_on=False, zorder=3)
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.5, len(rows) - 0.4)
    axes.set_yticks([])
    axes.set_title(name)
    axes.grid(axis="x")
    axes.spines["left"].set_color(RULE)
    axes.set_xlabel("share of the variance, with 95% interval")
    axes.xaxis.set_major_formatter(percent_label)


def _columns(component: Component) -> dict[str, str | float | None]:
    attributes = ("name", "number", "variance", "share", "low", "high")
    return {column: getattr(component, name) for column, name in zip(COLUMNS, attributes, strict=True)}


def _cell(row: Row) -> Cell:
    if missing(row["share"]):
        return Cell(NOT_ESTIMABLE, words=True)
    return Cell(percent(row["share"]), (f"{percent(row['share_low'])}–{percent(row['share_high'])}",))


def _name(group: pd.DataFrame, names: SourceNames) -> str:
    """The sample, and how many trainings and draws it has."""
    row = group.iloc[0].to_dict()
    numbers = dict(zip(group["component"], group["number"], strict=True))
    counts = f"{plural(numbers['training'], 'training')}, {plural(numbers['documents'], 'draw')}"
    return f"{names.source(row | {'source': SAMPLE}, seed=False)} ({counts})"
