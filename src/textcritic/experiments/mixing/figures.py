"""Figures of mixed languages: how much each source mixes, the simplex (paper, Figure 7), refinement, power."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

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
from textcritic.report.drawings import NARROW
from textcritic.report.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, RULE
from textcritic.report.style import new_figure, style

COLOURS = (BLUE, ORANGE, GREEN)
"""Colours of the topics, in their order; with more topics they repeat."""
MOST_POINTS = 500
"""Documents drawn in a panel; of more, as many at equal steps."""
PANEL, HEAD, FOOT = 2.05, 0.5, 0.3  # inches: side of a panel, room over it and under it
GAP = 0.25
OUTSIDE = 0.13  # of a corner's label, beyond the corner
NOTHING = "no sentence could be scored"

CHART, SIMPLEX, REFINEMENT, POWER = "mixing", "mixing-simplex", "mixing-refinement", "mixing-power"


def figures(files: MixingFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Figure, Figure]]:
    """mixing, mixing-simplex.{corpus}, mixing-refinement and mixing-power: name, wide figure, narrow figure.

    mixing-refinement is drawn if there is a generator with several numbers of iterations, mixing-power if there is a
    corpus of artificial languages.
    """
    names, table = Names.of(files.samples, REAL), rows["mixing"]
    yield measure_figure(CHART, table, names, MIXED, "words of another language, in percent")
    for real in files.data:
        yield f"{SIMPLEX}.{real.corpus}", *_simplex(real, files, names)
    if len(refined(table)):
        yield REFINEMENT, refinement_chart(table, names), refinement_chart(table, names, NARROW)
    if len(rows["mixing-power"]):
        yield POWER, power_chart(rows["mixing-power"]), power_chart(rows["mixing-power"], NARROW)


def simplex(files: MixingFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Figure, Figure]]:
    """simplex.{corpus} (paper, Figure 7): posterior draws of real translations and of samples."""
    names = Names.of(files.samples, REAL)
    return ((f"simplex.{real.corpus}", *_simplex(real, files, names)) for real in files.data)


FIGURES = {"figures": figures, "simplex": simplex}


def _simplex(real: RealText, files: MixingFiles, names: Names) -> tuple[Figure, Figure]:
    """Wide and narrow; the first of the posterior draws of each sentence."""
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
    return simplex_chart(panels), simplex_chart(panels, NARROW)


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


def simplex_chart(panels: Sequence[Panel], width: float = 8.2) -> Figure:
    """A simplex for each source, a dot for each document; three to a line, or one where the page is narrow.

    K topics are the corners of a regular polygon, a triangle for K = 3. A dot has the colour of its likeliest topic.
    The label of a corner is the topic and the share of documents whose draw is within a tenth of it.

    Args:
        panels: of the sources, real text first.
        width: inches; below 5 the panels are stacked.
    """
    columns = 1 if width < 5 else min(3, max(1, len(panels)))
    lines = -(-len(panels) // columns)
    side = min(PANEL + 0.4, (width - GAP * (columns + 1)) / columns)
    height = lines * (side + HEAD + FOOT)
    with style():
        figure = new_figure(width, height)
        left = (width - columns * side - (columns - 1) * GAP) / 2
        for number, panel in enumerate(panels):
            line, column = divmod(number, columns)
            x, y = left + column * (side + GAP), height - line * (side + HEAD + FOOT) - HEAD - side
            _panel(figure.add_axes((x / width, y / height, side / width, side / height)), panel, int(side / 0.085))
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


def _panel(axes: Axes, panel: Panel, room: int) -> None:
    corners = corners_of(len(panel.corners))
    axes.set(xlim=(-1.12, 1.12), ylim=(-0.95, 1.29), xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
    axes.set_title(fill(panel.title, room), fontsize=10, loc="center")
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
        place: dict[str, Any] = {"ha": "center", "va": "bottom" if y > 0 else "top", "fontsize": 9}
        label = f"{name} {percent(float(share))}" if len(draws) else name
        axes.text(0.9 * x, y + OUTSIDE * (0.6 if y > 0 else -0.6), label, color=INK, **place)
