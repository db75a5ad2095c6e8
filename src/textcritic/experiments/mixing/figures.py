"""Figures of mixed languages: how much each source mixes, the simplex (paper, Figure 7), refinement, power."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import fill

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textcritic.experiments.mixing.curves import power_chart, refined, refinement_chart
from textcritic.experiments.mixing.files import MixingFiles, RealText
from textcritic.experiments.mixing.read import Compared
from textcritic.experiments.mixing.rows import MIXED, REAL
from textcritic.measures.names import Names
from textcritic.measures.numbers import percent
from textcritic.report.charts import measure_figure
from textcritic.report.drawings import WIDE, Draw, Drawing
from textcritic.report.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, RULE
from textcritic.report.style import new_figure

COLOURS = (BLUE, ORANGE, GREEN)
"""Colours of the topics, in their order; with more topics they repeat."""
MOST_POINTS = 500
"""Documents drawn in a panel; of more, as many at equal steps."""
PANEL, TITLE_LINE, FOOT = 2.45, 0.17, 0.2  # inches: width of a panel, a line over it, and room under it
GAP = 0.25
OUTSIDE = 0.13  # of a corner's label, beyond the corner
NOTHING = "no sentence could be scored"

CHART, SIMPLEX, REFINEMENT, POWER = "mixing", "mixing-simplex", "mixing-refinement", "mixing-power"


def figures(files: MixingFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """mixing, mixing-simplex.{corpus}, mixing-refinement and mixing-power.

    mixing-refinement is drawn if there is a generator with several numbers of iterations, mixing-power if there is a
    corpus of artificial languages.
    """
    names, table = Names.of(files.samples, REAL), rows["mixing"]
    yield measure_figure(CHART, table, names, MIXED, "words of another language, in percent")
    for real in files.data:
        yield f"{SIMPLEX}.{real.corpus}", _simplex(real, files, names)
    if len(refined(table)):
        yield REFINEMENT, partial(refinement_chart, table, names)
    if len(rows["mixing-power"]):
        yield POWER, partial(power_chart, rows["mixing-power"])


def simplex(files: MixingFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """simplex.{corpus} (paper, Figure 7): posterior draws of real translations and of samples."""
    names = Names.of(files.samples, REAL)
    return ((f"simplex.{real.corpus}", _simplex(real, files, names)) for real in files.data)


FIGURES = {"figures": figures, "simplex": simplex}


def _simplex(real: RealText, files: MixingFiles, names: Names) -> Draw:
    """The first of the posterior draws of each sentence."""
    one = Compared.of(real, files)
    corners = [one.name(topic) for topic in one.order]
    panels = [
        Panel(
            names.source(source.files.keys, corpus=False, seed=False),
            source.posteriors.draws[:, 0][:, one.order],
            corners,
        )
        for source in one.sources
        if source.files in files.shown(real)
    ]
    return partial(simplex_chart, panels)


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """The draws of one source.

    Attributes:
        title: what the source is.
        draws: [documents, K], one draw of topic proportions for each document.
        corners: the label of each corner [K], e.g. "de".
    """

    title: str
    draws: npt.NDArray[np.floating]
    corners: Sequence[str]


def simplex_chart(panels: Sequence[Panel], width: float) -> Figure:
    """A simplex for each source, a dot for each document; three to a line, or two in a narrow figure.

    K topics are the corners of a regular polygon, a triangle for K = 3. A dot has the colour of its likeliest topic.
    The label of a corner is the topic and the share of documents whose draw is within a tenth of it.

    Args:
        panels: of the sources, real text first.
        width: inches.
    """
    columns = min(2 if width < WIDE else 3, max(1, len(panels)))
    lines = -(-len(panels) // columns)
    side = min(PANEL, (width - GAP * (columns + 1)) / columns)
    lowest = min((corners_of(len(panel.corners))[:, 1].min() for panel in panels), default=-1.0) - 4 * OUTSIDE
    across, down = (-1.12, 1.12), (lowest, 1.29)
    tall = side * (down[1] - down[0]) / (across[1] - across[0])
    titles = [fill(panel.title, int(side / 0.085)) for panel in panels]
    line_height = TITLE_LINE * (1 + max((title.count("\n") for title in titles), default=0)) + tall + FOOT
    height = lines * line_height
    figure = new_figure(width, height)
    left = (width - columns * side - (columns - 1) * GAP) / 2
    for number, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        line, column = divmod(number, columns)
        x, y = left + column * (side + GAP), height - (line + 1) * line_height + FOOT
        axes = figure.add_axes((x / width, y / height, side / width, tall / height), xlim=across, ylim=down)
        axes.set_title(title, loc="center")
        _panel(axes, panel)
    return figure


def corners_of(topics: int) -> npt.NDArray[np.float64]:
    """Corners of a regular polygon [K, 2] in the unit circle, the first at the top, then clockwise."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(topics) / topics
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def thinned(draws: npt.NDArray[np.floating], most: int = MOST_POINTS) -> npt.NDArray[np.floating]:
    """At most so many rows of draws [documents, K], at equal steps."""
    if len(draws) <= most:
        return draws
    return draws[np.linspace(0, len(draws) - 1, most).round().astype(int)]


def _panel(axes: Axes, panel: Panel) -> None:
    corners = corners_of(len(panel.corners))
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.fill(*corners.T, facecolor=FAINT, edgecolor=RULE, linewidth=1.0, zorder=0)
    draws = panel.draws
    if len(draws):
        shown = thinned(draws)
        colours = np.array([COLOURS[topic % len(COLOURS)] for topic in range(len(corners))])
        points = shown @ corners
        axes.scatter(
            points[:, 0], points[:, 1], s=7, c=colours[shown.argmax(axis=1)], alpha=0.45, linewidths=0, zorder=2
        )
    else:
        axes.text(0, 0, fill(NOTHING, 16), ha="center", va="center", color=MUTED)
    near = (draws >= 0.9).mean(axis=0) if len(draws) else np.zeros(len(corners))
    for (x, y), name, share in zip(corners, panel.corners, near, strict=True):
        label = f"{name} {percent(float(share))}" if len(draws) else name
        over, side = (0.6, "bottom") if y > 0 else (-0.6, "top")
        axes.text(0.9 * x, y + OUTSIDE * over, label, color=INK, ha="center", va=side, fontsize=9)
