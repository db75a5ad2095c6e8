"""Figures of corpora: their commonest section types."""

from collections.abc import Iterator, Mapping

import pandas as pd
from matplotlib.figure import Figure

from textcritic.experiments.corpora.files import CorporaFiles
from textcritic.experiments.corpora.rows import commonest_titles
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import percent
from textcritic.report.charts import stacked_panels
from textcritic.report.drawings import NARROW
from textcritic.report.palette import BLUE
from textcritic.report.style import style

MOST_TITLES, LONGEST_TITLE = 12, 24
WIDTH = 8.2  # inches
CHART = "section-types"


def figures(experiment: CorporaFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Figure, Figure]]:
    """section-types: the commonest section types of each corpus, with their share of all sections."""
    yield CHART, titles_chart(experiment, WIDTH), titles_chart(experiment, NARROW)


FIGURES = {"figures": figures}


def titles_chart(experiment: CorporaFiles, width: float) -> Figure:
    """Bars, a panel for each corpus, `width` inches wide."""
    titles = [commonest_titles(corpus, MOST_TITLES) for corpus in experiment.data]
    with style():
        figure, places = stacked_panels(width, [0.27 * max(len(bars), 1) for bars in titles], 1.75, 0.6)
        for axes, corpus, bars in zip(places, experiment.data, titles, strict=True):
            shares = [share for _, share in bars]
            axes.barh(range(len(bars)), shares, color=BLUE, height=0.62)
            axes.set_yticks(range(len(bars)), [_shortened(title) for title, _ in bars])
            axes.set_ylim(len(bars) - 0.4, -0.6)
            axes.set_xlim(0, max(shares, default=1))
            axes.set_xticks([])
            for place, share in enumerate(shares):
                axes.annotate(percent(share), (share, place), (4, 0), textcoords="offset points", va="center")
            axes.set_title(corpus_name(corpus.corpus) if len(experiment.data) > 1 else "", pad=7)
    return figure


def _shortened(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}…"
