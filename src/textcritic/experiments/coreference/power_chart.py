"""Power curves: the share of pronouns that are wrong against the share of tests that notice."""

from collections.abc import Mapping
from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from textcritic.latents.resolvers.exchange import KINDS
from textcritic.report.cells import unique
from textcritic.report.charts import stacked_panels
from textcritic.report.power import Curve, power_panel
from textcritic.report.style import style

HEIGHT = 1.9  # inches, of a panel
TITLES: Mapping[str, str] = {"regendered": "Regendered (he for she)", "relinked": "Relinked (he is another person)"}
QUANTITY = "share of the pronouns, logarithmic scale\n(on the lines: articles on each side)"


def power_chart(rows: pd.DataFrame, width: float = 8.2) -> Figure:
    """A panel for each corpus and kind of exchange, a line for each number of articles, with 95% intervals.

    The number of articles stands on its line.

    Args:
        rows: as `power_rows` makes them.
        width: inches; below 5 fewer shares have a tick.
    """
    corpora = unique(rows["corpus"])
    panels = [(corpus, kind) for corpus, kind in product(corpora, KINDS)]
    with style():
        figure, places = stacked_panels(width, [HEIGHT] * len(panels), 0.62, 0.72)
        for axes, (corpus, kind) in zip(places, panels, strict=True):
            shown = rows[(rows["corpus"] == corpus) & (rows["kind"] == kind) & (rows["share"] > 0)]
            sizes = sorted(shown["articles"].unique())
            columns = ("share", "detected", "low", "high")
            curves = [Curve.of(str(size), shown[shown["articles"] == size], columns) for size in sizes]
            power_panel(axes, curves, QUANTITY, narrow=width < 5)
            axes.set_title(f"{corpus}: {TITLES[kind].lower()}" if len(corpora) > 1 else TITLES[kind], pad=7)
    return figure
