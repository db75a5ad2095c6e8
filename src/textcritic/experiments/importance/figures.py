"""Figures of importance sampling: perplexity against K, its density over repeats, effective draws, latent states."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator

from textcritic.experiments.importance.files import ImportanceFiles
from textcritic.experiments.importance.names import ImportanceNames, keys_of
from textcritic.experiments.importance.panels import LINE, Line, Panel, drawn_panels, panels_of
from textcritic.experiments.importance.read import read_weights
from textcritic.experiments.importance.rows import curves_alone
from textcritic.experiments.importance.states import example_charts
from textcritic.inference.importance import group_perplexities
from textcritic.inference.importance.tails import GOOD
from textcritic.measures.material import Material
from textcritic.measures.numbers import percent
from textcritic.report.drawings import Drawing
from textcritic.report.palette import INK, MUTED
from textcritic.report.style import log_ticks, share_label, tick_label

CURVES, EFFECTIVE = "importance-curves", "effective-draws"
GRID = 200  # points of a density
FAR = 20  # ratio of the largest to the smallest value, from which on a density has a logarithmic scale
LONG = 14  # letters of a long name
SPREAD = 1e-9  # repeats with a smaller relative difference count as equal
SHARES = (0.001, 0.01, 0.1, 1.0)
Keys: TypeAlias = tuple[object, ...]
"""The values of the columns `LINE`."""


def figures(files: ImportanceFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """The figures of every report: importance-curves, effective-draws, and an example of the states of each corpus."""
    names = ImportanceNames.of(files)
    panels = panels_of(rows["curves"][rows["curves"]["level"] == "instance"], names)
    if panels:
        yield CURVES, partial(curves_chart, panels, _baselines(rows["estimates"]))
        yield EFFECTIVE, partial(effective_chart, panels_of(rows["texts"], names), _draws(rows["estimates"]))
    yield from example_charts(files)


def curves_figure(files: ImportanceFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """IS Figures 2 and 3: perplexity at instance level against K."""
    material = Material(files, names=ImportanceNames.of(files))
    table = curves_alone(material)
    panels = panels_of(table[table["level"] == "instance"], material.names)
    yield CURVES, partial(curves_chart, panels, {})


def density_figure(files: ImportanceFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """IS Figure 4: how repeated estimates of a few draws each are spread."""
    names, tables = ImportanceNames.of(files), []
    for weighed in files.weighed:
        weights = read_weights(weighed)
        size = min(files.group, weights.draws)
        ppl = group_perplexities(weights, size, files.repeats)
        tables.append(pd.DataFrame({"ppl": ppl, "size": size}).assign(**keys_of(weighed)))
    panels = panels_of(pd.concat(tables, ignore_index=True), names)
    yield "density", partial(density_chart, panels)


FIGURES = {
    "figures": figures,
    "states": lambda files, _: example_charts(files),  # IS Figure 1
    "curves": curves_figure,
    "density": density_figure,
}


def curves_chart(panels: list[Panel], baselines: Mapping[str, tuple[str, float]], width: float) -> Figure:
    """Perplexity against K, with bands for the middle 95% of random orders of the draws.

    Args:
        panels: of the rows of the table `curves`.
        baselines: by corpus: the label and the perplexity of a model without latent states.
        width: inches.
    """

    def draw(axes: Axes, panel: Panel) -> None:
        for line in panel.lines:
            points = line.rows.sort_values("draws")
            x, y = points["draws"], points["ppl"]
            axes.fill_between(x, points["low"], points["high"], color=line.colour, alpha=0.13, linewidth=0)
            axes.plot(x, y, color=line.colour, linestyle=line.dashes, label=line.label, linewidth=1.4)
        first = panel.lines[0].rows.iloc[0]
        if np.isfinite(first["exact"]):
            axes.axhline(first["exact"], color=INK, linewidth=1.2, linestyle=(0, (4, 3)), label="exact")
        if first["corpus"] in baselines:
            label, value = baselines[first["corpus"]]
            axes.axhline(value, color=MUTED, linewidth=1.0, linestyle=(0, (1.2, 1.2)), label=label)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(tick_label)
        axes.xaxis.set_minor_locator(NullLocator())
        _scale(axes, [line.rows for line in panel.lines])
        axes.set_xlabel("K, draws of each text")
        axes.set_ylabel("perplexity")
        _legend(axes)

    return drawn_panels(panels, draw, width)


def density_chart(panels: list[Panel], width: float) -> Figure:
    """Densities of repeated estimates; estimates that are all equal are drawn as a vertical line."""

    def draw(axes: Axes, panel: Panel) -> None:
        from scipy.stats import gaussian_kde  # takes long to load

        every = np.concatenate([line.rows["ppl"].to_numpy() for line in panel.lines])
        every = every[np.isfinite(every)]
        # On a linear scale, the peaks of values that are far apart would be too narrow to see.
        apart = bool(len(every)) and every.max() > FAR * every.min()
        there, back = (np.log, np.exp) if apart else (np.array, np.array)
        for line in panel.lines:
            values = line.rows["ppl"].to_numpy()
            values = values[np.isfinite(values)]
            if len(values) < 2 or np.ptp(values) <= SPREAD * abs(values.mean()):
                for value in values[:1]:
                    axes.axvline(value, color=line.colour, linestyle=line.dashes, label=line.label)
                continue
            kernel = gaussian_kde(there(values))
            room = 3 * float(np.sqrt(kernel.covariance[0, 0]))
            grid = np.linspace(there(values).min() - room, there(values).max() + room, GRID)
            x, y = back(grid), kernel(grid)
            axes.plot(x, y, color=line.colour, linestyle=line.dashes, label=line.label, linewidth=1.4)
            axes.fill_between(x, y, color=line.colour, alpha=0.1, linewidth=0)
        axes.set_ylim(0, None)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        if apart:
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(tick_label)
        axes.set_xlabel(f"perplexity from {panel.lines[0].rows['size'].iloc[0]:,} draws of each text")
        _legend(axes)

    return drawn_panels(panels, draw, width)


def effective_chart(panels: list[Panel], draws: Mapping[Keys, int], width: float) -> Figure:
    """Effective draws as a share of K: of the median text (dot) and of the middle 80% of texts (bar).

    Args:
        panels: of the rows of the table `texts`.
        draws: K of each estimate, by `LINE`.
        width: inches.
    """

    def draw(axes: Axes, panel: Panel) -> None:
        for place, line in enumerate(panel.lines):
            _spread(axes, place, line, draws)
        axes.set_xscale("log")
        axes.set_xlim(min(SHARES[0], *axes.get_xlim()), 1.05)
        axes.xaxis.set_major_locator(FixedLocator(SHARES))
        axes.xaxis.set_major_formatter(share_label)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_yticks(range(len(panel.lines)), [line.label for line in panel.lines])
        axes.set_ylim(len(panel.lines) - 0.4, -0.6)
        axes.grid(axis="x")
        axes.set_xlabel("effective draws, share of K")
        axes.annotate(
            f"texts with\nk-hat ≥ {GOOD}", (1.02, 1.0), xycoords="axes fraction", fontsize=8, color=MUTED, va="bottom"
        )

    height = 1.45 + 0.3 * max((len(panel.lines) for panel in panels), default=1)
    return drawn_panels(panels, draw, width, height, pad=26)  # over the heading of the shares


def _spread(axes: Axes, place: int, line: Line, draws: Mapping[Keys, int]) -> None:
    first = line.rows.iloc[0]
    shares = line.rows["ess"] / draws[tuple(first[LINE])]
    low, middle, high = shares.quantile([0.1, 0.5, 0.9])
    axes.plot([low, high], [place, place], color=line.colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
    axes.plot(middle, place, "o", color=line.colour, markersize=5)
    has_k_hat = line.rows["k_hat"].notna()
    poor = percent(float((line.rows["k_hat"] >= GOOD).mean())) if has_k_hat.any() else "—"
    axes.annotate(poor, (1.02, place), xycoords=axes.get_yaxis_transform(), va="center", fontsize=9, color=MUTED)


def _scale(axes: Axes, tables: list[pd.DataFrame]) -> None:
    """A logarithmic scale if perplexities are far apart."""
    values = np.concatenate([table["ppl"] for table in tables])
    values = values[np.isfinite(values)]
    axes.grid(axis="y")
    if len(values) and values.max() / values.min() > 4:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(log_ticks(values.min(), values.max()))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(tick_label)


def _legend(axes: Axes) -> None:
    labels = axes.get_legend_handles_labels()[1]
    # Two columns of long names would cover curves.
    two_columns = len(labels) > 4 and sum(len(label) > LONG for label in labels) < 2
    axes.legend(fontsize=8, ncols=2 if two_columns else 1, handlelength=1.8, columnspacing=1.0, loc="best")


def _baselines(estimates: pd.DataFrame) -> dict[str, tuple[str, float]]:
    """By corpus: the label and perplexity of the first model without latent states that others are compared with."""
    compared = estimates[estimates["beside"] != ""].drop_duplicates("corpus")
    return {
        row["corpus"]: (row["beside"], float(row["ppl"] / row["ratio"]))
        for row in compared.to_dict("records")
        if np.isfinite(row["ratio"])
    }


def _draws(estimates: pd.DataFrame) -> dict[Keys, int]:
    """K of each estimate, by its keys `LINE`."""
    drawn = estimates[estimates["proposal"] != ""]
    return {tuple(row[key] for key in LINE): int(row["draws"]) for row in drawn.to_dict("records")}
