"""Panels of the figures: a panel for each model with a proposal, a line for each temperature."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import LineStyleType

from textcritic.experiments.importance.files import MIXED
from textcritic.experiments.importance.names import ImportanceNames
from textcritic.report.cells import unique
from textcritic.report.drawings import WIDE
from textcritic.report.palette import INK, LINE_COLOURS, MUTED
from textcritic.report.style import new_figure

HEIGHT = 3.1  # inches, of a panel
LINE = ["corpus", "generator", "proposal", "seed", "temperature", "peeks"]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One estimate in a panel.

    Attributes:
        label: its temperature or its proposal.
        rows: of a table, all of this estimate.
        colour: of the line.
        dashes: of the line.
    """

    label: str
    rows: pd.DataFrame
    colour: str
    dashes: LineStyleType = "-"


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """The lines of one model, and their title."""

    title: str
    lines: Sequence[Line]


def panels_of(table: pd.DataFrame, names: ImportanceNames) -> list[Panel]:
    """A panel for each proposal with several temperatures, and one for the other proposals of a model together.

    Of several seeds the first is drawn. An estimate without peeking is drawn in each panel of its model.

    Args:
        table: with the columns `LINE`, some rows for each estimate.
        names: of the experiment.
    """
    panels: list[Panel] = []
    for _, model in table.groupby(["corpus", "generator"], sort=False):
        own = model[model["seed"] == model["seed"].min()]
        several = own[own["peeks"]].groupby("proposal")["temperature"].nunique() > 1
        tempered = [name for name in unique(own["proposal"]) if several.get(name, False)]
        others = own[~own["proposal"].isin(tempered)]
        together = not tempered or bool(others["peeks"].any())
        for proposal in tempered:
            rows = own[own["proposal"] == proposal]
            shown = rows if together else pd.concat([rows, others])
            first = rows.iloc[0].to_dict()
            panels.append(Panel(names.drawn(first), [_line(part, names, n) for n, part in enumerate(_parts(shown))]))
        if together and len(others):
            lines = [_line(part, names, n, True) for n, part in enumerate(_parts(others))]
            several_panels = f"{names.model(others.iloc[0].to_dict())}, {'other ' if tempered else ''}proposals"
            title = several_panels if len(lines) > 1 else names.estimate(others.iloc[0].to_dict())
            panels.append(Panel(title, lines))
    return panels


def drawn_panels(
    panels: Sequence[Panel], draw: Callable[[Axes, Panel], None], width: float, height: float = HEIGHT, pad: float = 8
) -> Figure:
    """A figure of panels, two in a row if there is room, each drawn by a function.

    Args:
        panels: at least one.
        draw: draws one panel.
        width: inches.
        height: of a panel, inches.
        pad: points between a panel and its title.
    """
    columns = 1 if width < WIDE or len(panels) == 1 else 2
    lines = -(-len(panels) // columns)
    figure = new_figure(width, height * lines + 0.2)
    grid = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        draw(axes, panel)
        axes.set_title(panel.title, pad=pad)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.tight_layout(h_pad=1.8, w_pad=2.2)
    return figure


def _parts(rows: pd.DataFrame) -> list[pd.DataFrame]:
    return [part for _, part in rows.groupby(LINE, sort=False)]


def _line(rows: pd.DataFrame, names: ImportanceNames, number: int, by_proposal: bool = False) -> Line:
    first = rows.iloc[0].to_dict()
    peekless, mixed = not first["peeks"], first["temperature"] == MIXED
    label = names.proposals[first["proposal"]] if by_proposal else names.line(first)
    colour = MUTED if peekless else INK if mixed else LINE_COLOURS[number % len(LINE_COLOURS)]
    return Line(label, rows, colour, (0, (4, 1.6)) if peekless else "-")
