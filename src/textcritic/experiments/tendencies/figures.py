"""Figures of statistical tendencies: verdicts, laws, distributions, permutations (paper, Figures 1 to 9)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from textcritic.critics.tendencies.verdicts import DIFFERS, KEPT, MISSING, TENDENCIES
from textcritic.experiments.tendencies.boxes import WORDS, box_chart, permutation_chart, vocabulary_chart
from textcritic.experiments.tendencies.files import TendenciesFiles
from textcritic.experiments.tendencies.panels import Panel, band, grid, panels, plot, quiet
from textcritic.experiments.tendencies.sheets import UNCLEAR
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.measures.names import Names
from textcritic.measures.numbers import LONGEST, number, power_of_ten, shortened
from textcritic.plan.sources import GROUP
from textcritic.report.charts import CHARACTER
from textcritic.report.drawings import WIDE, Drawing
from textcritic.report.palette import INK, MUTED
from textcritic.report.style import SEQUENTIAL, log_ticks, new_figure, share_label, tick_label

CELL, NARROW_CELL, HEAD_LINE = 0.4, 0.26, 0.2  # inches
LABEL = 22  # characters of a line of a sample's name next to its row
SIGNS: Mapping[str, str] = {KEPT: "≈", DIFFERS: "≠", UNCLEAR: "?", MISSING: "—"}
FARTHEST = 100  # times the distance by chance; from here on the colour does not change

TYPES = ("types", "bigrams")  # curves: different words, different pairs of neighbouring words
SIZES = {"types": "different words", "s": "Zipf’s s", "heaps_beta": "Heaps’ β", "unigram_half_l1": "distance of words"}
DISTANCES = {"heaps_own": "own law", "heaps_real": "law of real text", "heaps": "real text"}
TITLES = {"length": "Length", "stopwords": "Stop words", "symbols": "Symbols"}


def rank_frequency(axes: Axes, panel: Panel, column: int) -> None:
    """Frequency by rank, and the same divided by real text's (paper, Figure 6)."""
    real = panel.real.curve("rank-frequency")
    for line in panel.all:
        curve = line.curve("rank-frequency")
        plot(axes, line, _over(curve, real) if column else curve)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: power_of_ten(value))
    if column:
        band(axes, _over(real, real))
        _times(axes)
    else:
        band(axes, real)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: power_of_ten(value))
    quiet(axes, "rank", "" if column else "share of tokens")


def type_token(axes: Axes, panel: Panel, column: int) -> None:
    """Different words, and different pairs of neighbouring words, by length (paper, Figures 1 and 3)."""
    band(axes, panel.real.curve(TYPES[column]))
    for line in panel.all:
        plot(axes, line, line.curve(TYPES[column]))
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(tick_label)
    quiet(axes, "length, tokens", "" if column else "mean number")


def type_token_ratios(axes: Axes, panel: Panel, column: int) -> None:
    """The same divided by those of real text."""
    real = panel.real.curve(TYPES[column])
    for line in panel.all:
        plot(axes, line, _over(line.curve(TYPES[column]), real))
    band(axes, _over(real, real))
    length_axis(axes)
    _times(axes)
    quiet(axes, "length, tokens")


def type_token_distances(axes: Axes, panel: Panel, column: int) -> None:
    """How far the number of different words is from three references, by length (paper, Figure 4).

    A point is filled where p is below 0.05.
    """
    for line in panel.all if column == 0 else panel.lines:
        curve = line.curve(tuple(DISTANCES)[column])
        plot(axes, line, curve, marker="o", markersize=3, markerfacecolor="none")
        significant = curve[curve["p"] < 0.05]
        axes.plot(significant["x"], significant["y"], "o", color=line.colour, markersize=3.2, zorder=4)
    length_axis(axes)
    axes.set_ylim(0, None)
    quiet(axes, "length, tokens", "largest difference" if column == 0 else "")


def distributions(axes: Axes, panel: Panel, column: int) -> None:
    """Densities of lengths, stop words and symbols (paper, Figure 9b)."""
    name = tuple(TITLES)[column]
    band(axes, panel.real.curve(name))
    for line in panel.all:
        plot(axes, line, line.curve(name))
    if name == "length":
        length_axis(axes)
    else:
        axes.xaxis.set_major_formatter(share_label)
        seen = pd.concat([line.curve(name) for line in panel.all])
        axes.set_xlim(0, max(seen.loc[seen["y"] > 0, "x"], default=1.0))
    axes.set_ylim(0, None)
    axes.set_yticks([])
    quiet(axes, "tokens of a document" if name == "length" else "share of a document’s tokens")


def recurrence(axes: Axes, panel: Panel, _: int) -> None:
    """How much likelier than by chance two tokens some way apart are the same word."""
    band(axes, panel.real.curve("recurrence"))
    for line in panel.all:
        plot(axes, line, line.curve("recurrence"), marker="o", markersize=2.5)
    axes.set_xscale("log", base=2)
    axes.axhline(0, color=INK, linewidth=0.6, zorder=1)
    axes.xaxis.set_major_formatter(tick_label)
    axes.yaxis.set_major_formatter(lambda value, _: f"{'+' if value > 1e-9 else ''}{share_label(value)}")
    quiet(axes, "tokens apart", "beyond chance")


def sizes(axes: Axes, panel: Panel, column: int) -> None:
    """Estimates by number of documents."""
    name = tuple(SIZES)[column]
    for line in panel.all:
        plot(axes, line, line.curve(f"size.{name}"), marker="o", markersize=2.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(tick_label)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    if name == "types":
        axes.yaxis.set_major_formatter(tick_label)
    axes.tick_params(labelsize=8)
    quiet(axes, "documents")


def unigrams_and_lengths(axes: Axes, panel: Panel, column: int) -> None:
    """Differences of words between second draws and real text, one a draw; and the lengths of real text.

    The paper's Figure 9a permutes documents instead of drawing again; its Figure 9b has the lengths.
    """
    curve = panel.real.curve("length" if column else "floor.unigram_max")
    if column:
        band(axes, curve)
        plot(axes, panel.real, curve)
        length_axis(axes)
    else:
        axes.hist(curve["y"], bins=min(20, max(5, len(curve) // 2)), color=INK, alpha=0.55)
        axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_yticks([])
    quiet(axes, "tokens of a document" if column else "largest difference of words")


def real_texts(shown: Sequence[Panel]) -> list[Panel]:
    """A panel for the real text of each corpus alone."""
    return list({panel.real.keys["corpus"]: Panel(panel.title, panel.real, []) for panel in shown}.values())


GRIDS: Mapping[str, tuple[tuple[str, ...], Callable[[Axes, Panel, int], None]]] = {
    "rank-frequency": (("share of tokens by rank", "over that of real text"), rank_frequency),
    "types": (("different words by length",), type_token),
    "type-token": (("different words", "different pairs of words"), type_token),
    "type-token-ratios": (("different words, over real text", "different pairs, over real text"), type_token_ratios),
    "type-token-distances": (tuple(f"against {title}" for title in DISTANCES.values()), type_token_distances),
    "distributions": (tuple(TITLES.values()), distributions),
    "recurrence": (("the same word again",), recurrence),
    "sizes": (tuple(SIZES.values()), sizes),
    "unigrams-and-lengths": (("second draws of real text", "lengths of real text"), unigrams_and_lengths),
}
"""Figures with a column for each title, and what draws one column of one panel."""
CHARTS: Mapping[str, Callable[[Sequence[Panel], float], Figure]] = {
    **{name: partial(grid, *of) for name, of in GRIDS.items()},
    "unigrams-and-lengths": lambda shown, width: grid(*GRIDS["unigrams-and-lengths"], real_texts(shown), width),
    "permutations": partial(permutation_chart, TITLES | {WORDS: "Words"}),  # paper, Figure 7
    "lengths": partial(box_chart, "length"),  # paper, Figure 5
    **{f"boxes.{name}": partial(box_chart, name) for name in TITLES},  # paper, Figure 8
    "vocabulary": vocabulary_chart,  # paper, Figure 2
}
STANDING = (
    *("rank-frequency", "type-token-ratios", "type-token-distances", "distributions", "permutations", "recurrence"),
    "sizes",
)


def figures(files: TendenciesFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """The figures of every report."""
    yield "overview", partial(overview_chart, rows["tendencies"], Names.of(files.samples, REAL))
    yield from charts(STANDING, files, rows)


def charts(names: Sequence[str], files: TendenciesFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """Figures that are drawn from the curves of all sources, not from a table: keys of `CHARTS`."""
    shown = panels(files, Names.of(files.samples, REAL))
    return ((name, partial(CHARTS[name], shown)) for name in names)


NUMBERED = ("types", "vocabulary", "type-token", "type-token-distances", "lengths", "rank-frequency", "permutations")
FIGURES = {
    "figures": figures,
    **{name: partial(charts, [name]) for name in (*NUMBERED, "unigrams-and-lengths")},
    "boxes": partial(charts, [f"boxes.{name}" for name in TITLES]),
}


def _over(curve: pd.DataFrame, real: pd.DataFrame) -> pd.DataFrame:
    """A curve divided by real text's, between the first and the last x of real text."""
    if real.empty:
        return curve.iloc[:0]
    inside = curve[(curve["x"] >= real["x"].min()) & (curve["x"] <= real["x"].max())]
    common = np.exp(np.interp(np.log(inside["x"]), np.log(real["x"]), np.log(real["y"])))
    return inside.assign(**{name: inside[name] / common for name in ("y", "low", "high")})


def _times(axes: Axes) -> None:
    """An axis of ratios; those beyond 3 are cut off."""
    axes.set_ylim(max(0.0, axes.get_ylim()[0]), min(3.0, axes.get_ylim()[1]))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(lambda value, _: f"{tick_label(value)}×")


def length_axis(axes: Axes) -> None:
    """A logarithmic axis of lengths; a short one has some numbers too, a long one has space between them."""
    axes.set_xscale("log")
    first, last = axes.dataLim.intervalx  # the axis of an empty panel has no limits
    axes.xaxis.set_major_locator(log_ticks(first, last))
    axes.xaxis.set_major_formatter(tick_label)


def overview_chart(rows: pd.DataFrame, names: Names, width: float) -> Figure:
    """A row for each sample, a column for each tendency: how many times as far as chance it is, or the verdict.

    In a narrow figure tendencies are numbered under a list of their names, and a sample's name is above its row.

    Args:
        rows: as `rows.tendency_rows` makes them; of several seeds the mean of those that differ is shown.
        names: of the sources.
        width: inches.
    """
    groups = list(rows.groupby(GROUP, sort=False))
    narrow = width < WIDE
    most = LONGEST if narrow else 2 * LABEL
    labels = [shortened(names.source(group.iloc[0].to_dict(), seed=False), most) for _, group in groups]
    titles = [tendency.title for tendency in TENDENCIES]
    cells = [[_cell(group[group["tendency"] == tendency.name]) for tendency in TENDENCIES] for _, group in groups]
    if narrow:
        return _narrow(labels, titles, cells, width)
    labels = [fill(label, LABEL) for label in labels]
    left = 0.25 + CHARACTER * max(len(line) for label in labels for line in label.split("\n"))
    height = CELL * len(labels) + 0.75
    figure = new_figure(width, height)
    axes = figure.add_axes((left / width, 0.1 / height, 1 - (left + 0.1) / width, CELL * len(labels) / height))
    _draw(axes, cells)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xticks(range(len(titles)), [fill(title, 10) for title in titles], fontsize=8.5)
    return figure


def _narrow(labels: list[str], titles: list[str], cells: list[list[tuple[float, str]]], width: float) -> Figure:
    lines = [f"{place}  {title}" for place, title in enumerate(titles, start=1)]
    lines.append("  ".join(f"{sign} {words}" for words, sign in SIGNS.items()))
    head, tall = HEAD_LINE * len(lines) + 0.35, 2 * NARROW_CELL * len(labels)
    height = tall + head + 0.1
    figure = new_figure(width, height)
    for place, line in enumerate(lines):
        figure.text(0.02, 1 - (0.16 + HEAD_LINE * place) / height, line, fontsize=9, color=INK)
    axes = figure.add_axes((0.02, 0.05 / height, 0.96, tall / height))
    blank = [(math.nan, "")] * len(titles)
    signed = [[(value, SIGNS.get(words, words)) for value, words in row] for row in cells]
    _draw(axes, [line for row in signed for line in (blank, row)])
    for place, label in enumerate(labels):
        axes.text(-0.48, 2 * place + 0.1, label, ha="left", va="center", fontsize=9, color=INK)
    axes.set_yticks([])
    axes.set_xticks(range(len(titles)), [str(place) for place in range(1, len(titles) + 1)])
    return figure


def _draw(axes: Axes, cells: list[list[tuple[float, str]]]) -> None:
    shade = np.array([[value for value, _ in row] for row in cells], dtype=float)
    axes.imshow(np.clip(shade, 1, FARTHEST), cmap=SEQUENTIAL, norm=LogNorm(1, FARTHEST), aspect="auto")
    for y, row in enumerate(cells):
        for x, (value, words) in enumerate(row):
            quiet_words = (KEPT, UNCLEAR, MISSING, *(SIGNS[word] for word in (KEPT, UNCLEAR, MISSING)))
            colour = MUTED if words in quiet_words else "white" if value > 25 else INK
            small = 8 if words in (UNCLEAR, MISSING) else 9
            axes.text(x, y, fill(words, 8), ha="center", va="center", fontsize=small, color=colour)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cell(group: pd.DataFrame) -> tuple[float, str]:
    """How dark a cell is, and its text."""
    if group["value"].isna().all():
        return 1.0, MISSING
    differs = group[group["verdict"] == DIFFERS]
    if differs.empty:
        return 1.0, KEPT if (group["verdict"] == KEPT).all() else UNCLEAR
    if differs["times"].isna().all():  # documents that are exchanged have no distance
        return 1.0, DIFFERS
    times = float(differs["times"].mean())
    return times, f"{number(times, 2)}×"
