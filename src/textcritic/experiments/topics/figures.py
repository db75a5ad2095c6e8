"""Figures of topics: Latent NLL and its spread, and covariances (paper, Figures 6, 8 and 9)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textcritic.critics.ctm.scoring import document_nll
from textcritic.experiments.topics.covariances import Covariances, covariances, released_covariances
from textcritic.experiments.topics.files import Fitted, Sample, TopicsFiles
from textcritic.experiments.topics.heatmaps import PAPER_LIMIT, common_limit, covariance_heatmaps
from textcritic.experiments.topics.power import STUDY
from textcritic.experiments.topics.read import read_topic_scores
from textcritic.experiments.topics.rows import NLL, topic_names
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, number
from textcritic.report.charts import measure_figure
from textcritic.report.drawings import Draw, Drawing
from textcritic.report.histograms import Histogram, bin_edges, draw_histograms, histogram_panels, room
from textcritic.report.palette import BASELINE, BLUE, INK, SETTING_COLOURS
from textcritic.report.power import power_figures

CHART, SPREAD, COVARIANCES = "topic-nll", "topic-nll-spread", "topic-covariances"
CENTRED = "covariance of two topics, centred log proportions"
RELEASED = "covariance of log-ratios to the last topic, posterior means only, as in the paper; clamped to ±5"
MOST_BINS = 48
TAIL = 0.5  # percent of a source's documents at each end that are counted in the first and the last bin
UNBROKEN = "\N{NO-BREAK SPACE}"
NOTHING = "none scored"


def figures(topics: TopicsFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """topic-nll, topic-nll-spread, topic-covariances.{corpus}, topic-power if measured."""
    names = Names.of(topics.samples)
    yield measure_figure(CHART, rows["topics"], names, NLL, "Latent NLL, nats per document")
    spreads = {fitted.corpus: list(_spreads(fitted, topics, names)) for fitted in topics.data}
    yield SPREAD, partial(spread_chart, spreads)
    for fitted in topics.data:
        computed = covariances(fitted, topics)
        limit = common_limit([panel.matrix for panel in computed.panels])
        yield f"{COVARIANCES}.{fitted.corpus}", _heatmaps(fitted, computed, limit, CENTRED)
    yield from power_figures(rows[STUDY.name], STUDY)


def paper_covariances(topics: TopicsFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """covariances.{corpus} (paper, Figures 6, 8 and 9), real text and samples side by side.

    As in the paper and its released code: covariances of the posteriors' means, log-ratios to the last topic, clamped
    to [-5, 5].
    """
    for fitted in topics.data:
        computed = released_covariances(fitted, topics)
        yield f"covariances.{fitted.corpus}", _heatmaps(fitted, computed, PAPER_LIMIT, RELEASED)


FIGURES = {"figures": figures, "covariances": paper_covariances}


def _heatmaps(fitted: Fitted, computed: Covariances, limit: float, quantity: str) -> Draw:
    names = topic_names(fitted)
    ordered = [names[topic] for topic in computed.order]
    return partial(covariance_heatmaps, computed.panels, ordered, limit, quantity)


def _spreads(fitted: Fitted, topics: TopicsFiles, names: Names) -> Iterator[Histogram]:
    for source in topics.shown(fitted):
        scores, keys = read_topic_scores(source), source.keys
        values = document_nll(scores) if not all(scores["rejected"].to_pylist()) else np.empty(0)
        baseline = isinstance(source, Sample) and source.baseline
        label = names.source(keys, corpus=False, seed=False)
        yield spread_row(label, values, _setting(keys["setting"], baseline))


def _setting(setting: str, baseline: bool) -> str:
    """The key that decides a source's colour."""
    return BASELINE if baseline else setting


def spread_row(label: str, values: npt.NDArray[np.float64], setting: str) -> Histogram:
    """A row of the chart, with the mean and the number of documents.

    Args:
        label: what the row is.
        values: Latent NLL of each document, nats; may be empty.
        setting: decides the colour; "" is real text.
    """
    colour = SETTING_COLOURS.get(setting, BLUE) if setting else INK
    if not len(values):
        return Histogram(label, values, colour, NOTHING)
    mean, documents = number(float(values.mean())), f"n{UNBROKEN}={UNBROKEN}{count(len(values))}"
    return Histogram(label, values, colour, f"mean {mean}, {documents}")


def spread_chart(panels: Mapping[str, Sequence[Histogram]], width: float) -> Figure:
    """Histograms of the documents' Latent NLL, with the outline of real text's over every row, and their means.

    Args:
        panels: by corpus, whose name is written over its panel if there are several; the first row is real text.
        width: inches; in a narrow chart the labels are above the rows instead of to their left.
    """
    figure, places, narrow = histogram_panels(panels, width, right=1.1)
    for axes, (corpus, rows) in zip(places, panels.items(), strict=True):
        _panel(axes, rows, corpus if len(panels) > 1 else "", narrow)
    return figure


def _panel(axes: Axes, rows: Sequence[Histogram], title: str, narrow: bool) -> None:
    # So that a few far outliers do not squeeze all others into one bin.
    ends = [np.percentile(row.values, [TAIL, 100 - TAIL]) for row in rows if len(row.values)] or [np.array([0.0, 1.0])]
    edges = bin_edges(min(end[0] for end in ends), max(end[1] for end in ends), rows, MOST_BINS)
    drawn = draw_histograms(axes, rows, edges, narrow)
    (_, real), *_ = drawn
    for row, (base, _) in zip(rows, drawn, strict=True):
        if len(row.values):
            mean = float(np.clip(row.values.mean(), edges[0], edges[-1]))
            axes.vlines(mean, base, base + room(narrow), color=row.colour, linewidth=1.4, zorder=3)
        if row is not rows[0] and len(rows[0].values):
            axes.stairs(base + real, edges, baseline=base, color=INK, linewidth=0.9)
    axes.set_title(title)
    axes.set_xlabel("Latent NLL of a document, nats")
