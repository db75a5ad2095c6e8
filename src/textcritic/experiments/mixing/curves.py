"""Curves: mixing against passes of refinement, and against the rate of words exchanged on purpose."""

from collections.abc import Iterator
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from textcritic.experiments.mixing.known import TESTS
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.plan.sources import DATA, RUN, SAMPLE
from textcritic.report.cells import unique
from textcritic.report.charts import stacked_panels
from textcritic.report.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, RULE
from textcritic.report.power import Curve, power_panel
from textcritic.report.style import percent_label

HEIGHT = 1.9  # inches, of a panel
LOOKS = (("o", "-", BLUE), ("s", "--", ORANGE), ("^", "-.", GREEN), ("D", ":", INK))
PUT_IN = "words exchanged, logarithmic scale\n(on the lines: sentences on each side)"


def refined(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of generators with samples of several numbers of iterations, ordered by this number."""
    samples = rows[(rows["source"] == SAMPLE) & rows["iterations"].notna() & rows["mixed"].notna()]
    several = samples.groupby(["corpus", "generator"])["iterations"].transform("nunique") > 1
    return samples[several].sort_values("iterations", kind="stable")


def refinement_chart(rows: pd.DataFrame, names: Names, width: float) -> Figure:
    """Words of another language by number of refining passes: a panel for each corpus, a line for each generator.

    Args:
        rows: as `rows.mixing_rows` makes them.
        names: of the sources.
        width: inches.
    """
    curves = refined(rows)
    corpora = unique(curves["corpus"])
    figure, places = stacked_panels(width, [HEIGHT] * len(corpora), 0.62, 0.3)
    for axes, corpus in zip(places, corpora, strict=True):
        _refinement(axes, curves[curves["corpus"] == corpus], _band(rows, corpus), names)
        axes.set_title(corpus_name(corpus) if len(corpora) > 1 else "Passes of refinement")
    return figure


def power_chart(rows: pd.DataFrame, width: float) -> Figure:
    """A panel for each corpus of artificial languages and each test, a line for each number of sentences.

    Bands are 95% intervals.

    Args:
        rows: as `known.known_rows` makes them.
        width: inches.
    """
    corpora = unique(rows["corpus"])
    panels = list(product(corpora, TESTS))
    figure, places = stacked_panels(width, [HEIGHT] * len(panels), 0.62, 0.72)
    for axes, (corpus, test) in zip(places, panels, strict=True):
        shown = rows[(rows["corpus"] == corpus) & (rows["rate"] > 0)]
        power_panel(axes, list(_sizes(shown, test)), PUT_IN)
        start = f"{corpus_name(corpus)}: n" if len(corpora) > 1 else "N"
        axes.set_title(f"{start}oticed {TESTS[test]}")
    return figure


def _sizes(rows: pd.DataFrame, test: str) -> Iterator[Curve]:
    for size in sorted(rows["sentences"].unique()):
        columns = ("rate", *(f"{test}detected{end}" for end in ("", "_low", "_high")))
        yield Curve.of(f"{size}", rows[rows["sentences"] == size], columns)


def _band(rows: pd.DataFrame, corpus: str) -> pd.Series:
    return rows[(rows["corpus"] == corpus) & (rows["source"] == DATA)].iloc[0]


def _refinement(axes: Axes, rows: pd.DataFrame, real: pd.Series, names: Names) -> None:
    axes.axhspan(real["mixed_low"], real["mixed_high"], color=FAINT, linewidth=0, zorder=0)
    axes.axhline(real["mixed"], color=RULE, linewidth=1.0, zorder=0.5)
    passes = sorted({int(value) for value in rows["iterations"]})
    place = {value: number for number, value in enumerate(passes)}
    for number, (_, curve) in enumerate(rows.groupby(["generator", *RUN], sort=False)):
        marker, dashes, colour = LOOKS[number % len(LOOKS)]
        x = [place[int(value)] for value in curve["iterations"]]
        low, high, y = (curve[column].to_numpy(dtype=float) for column in ("mixed_low", "mixed_high", "mixed"))
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0, zorder=1)
        label = names.source(curve.iloc[0].to_dict(), corpus=False, decoding=False)
        axes.plot(x, y, color=colour, linestyle=dashes, marker=marker, markersize=4.5, linewidth=1.5, label=label)
    axes.set_ylim(0, None)
    axes.xaxis.set_major_locator(FixedLocator(list(place.values())))
    axes.set_xticks(list(place.values()), [str(value) for value in passes])
    axes.yaxis.set_major_formatter(percent_label)
    axes.set_xlabel("passes after the first (band: real translations)", color=MUTED)
    axes.set_ylabel("words of\nanother language")
    axes.legend(fontsize=9)
