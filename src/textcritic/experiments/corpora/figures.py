"""Figures of corpora: their commonest section types."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from textcritic.experiments.corpora.files import CorporaFiles
from textcritic.experiments.corpora.rows import commonest_titles
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import percent
from textcritic.report.charts import CHARACTER, stacked_panels
from textcritic.report.drawings import Drawing
from textcritic.report.palette import BLUE

MOST_TITLES, LONGEST_TITLE = 12, 24
CHART = "section-types"


def figures(experiment: CorporaFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """section-types: the commonest section types of each corpus, with their share of all sections."""
    yield CHART, partial(titles_chart, experiment)


FIGURES = {"figures": figures}


def titles_chart(experiment: CorporaFiles, width: float) -> Figure:
    """Bars, a panel for each corpus, `width` inches wide."""
    titles = [commonest_titles(corpus, MOST_TITLES) for corpus in experiment.data]
    longest = max((len(_shortened(title)) for bars in titles for title, _ in bars), default=0)
    heights, left = [0.27 * max(len(bars), 1) for bars in titles], 0.25 + CHARACTER * longest
    figure, places = stacked_panels(width, heights, left, 0.6, foot=0.15)
    for axes, corpus, bars in zip(places, experiment.data, titles, strict=True):
        shares = [share for _, share in bars]
        axes.barh(range(len(bars)), shares, color=BLUE, height=0.62)
        axes.set_yticks(range(len(bars)), [_shortened(title) for title, _ in bars])
        axes.set_ylim(len(bars) - 0.4, -0.6)
        axes.set_xlim(0, max(shares, default=1))
        axes.set_xticks([])
        for place, share in enumerate(shares):
            axes.annotate(percent(share), (share, place), (4, 0), textcoords="offset points", va="center")
        axes.set_title(corpus_name(corpus.corpus) if len(experiment.data) > 1 else "")
    return figure


def _shortened(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}…"
