"""The files of a study's topics: tables and figures."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from textcritic.critics.ctm.scoring import document_nll
from textcritic.report.charts import Mark, interval_chart
from textcritic.report.figures import NARROW, write_figures
from textcritic.report.histograms import Histogram
from textcritic.report.numbers import missing, p_value
from textcritic.report.published import read_published
from textcritic.report.sources import GROUP, SAMPLE, Names
from textcritic.report.style import BASELINE
from textcritic.report.tables import read_rows, write_sheet
from textcritic.report.topics.chart import spread_chart, spread_row
from textcritic.report.topics.covariances import Covariances, covariances, released_covariances
from textcritic.report.topics.heatmaps import PAPER_LIMIT, common_limit, covariance_heatmaps
from textcritic.report.topics.inputs import TopicFiles, Topics, TopicSample, read_topics
from textcritic.report.topics.outliers import outlier_rows
from textcritic.report.topics.read import read_topic_scores, source_keys
from textcritic.report.topics.rows import topic_names, topic_rows, word_rows
from textcritic.report.topics.sheets import outliers_sheet, topics_sheet, words_sheet

CHART, SPREAD, COVARIANCES = "topic-nll", "topic-nll-spread", "topic-covariances"
CENTRED = "covariance of two topics, centred log proportions"
RELEASED = "covariance of log-ratios to the last topic, posterior means alone, as in the paper; clamped to ±5"


def make_topic_tables(study: Mapping[str, Any], folder: str | Path, published: str | Path | None = None) -> list[Path]:
    """Write topics (paper, Table 9), topic-words and topic-outliers (Table 14), each as .csv, .tex and .html.

    Args:
        study: as `inputs.read_topics` takes it; nothing else of a study is read.
        folder: where the tables go, `results/studies/{study}/tables`.
        published: CSV of the values that stand beside ours, see `published.read_published`; None means none.

    Returns:
        The files written.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    topics, theirs = read_topics(study), read_published(published)
    names, rows = Names.of(topics.samples), topic_rows(topics, theirs)
    words, outliers = word_rows(topics), outlier_rows(topics)
    return [
        *write_sheet(topics_sheet(rows, names), rows, folder),
        *write_sheet(words_sheet(words, names), words, folder),
        *write_sheet(outliers_sheet(outliers, names), outliers, folder),
    ]


def make_topic_figures(study: Mapping[str, Any], tables: str | Path, folder: str | Path) -> list[Path]:
    """Write topic-nll, topic-nll-spread and topic-covariances.{corpus}, as `figures.make_figures` does.

    Args:
        study: as in `make_topic_tables`.
        tables: folder of the study's tables; topics.csv is read.
        folder: where the figures go, `results/studies/{study}/topic-figures`.

    Raises:
        TextcriticError: as `make_topic_tables`.
    """
    return write_figures(_figures(read_topics(study), read_rows(tables, "topics")), folder)


def make_paper_covariances(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write covariances.{corpus} (paper, Figures 6, 8 and 9), real text and samples side by side.

    As in the paper and its released code: covariances of the posteriors' means, log-ratios to the last topic, clamped
    to [-5, 5].

    Args:
        study: as in `make_topic_tables`.
        folder: where the figures go, `results/studies/{study}/{figure}`.

    Raises:
        TextcriticError: as `make_topic_tables`.
    """
    topics = read_topics(study)
    return write_figures((_paper_figure(files, topics) for files in topics.data), folder)


def _figures(topics: Topics, rows: pd.DataFrame) -> Iterator[tuple[str, Figure, Figure]]:
    names = Names.of(topics.samples)
    marks = {files.corpus: _marks(rows[rows["corpus"] == files.corpus], names) for files in topics.data}
    quantity = "Latent NLL, nats per document"
    yield CHART, interval_chart(marks, quantity=quantity), interval_chart(marks, NARROW, quantity)
    spreads = {files.corpus: list(_spreads(files, topics, names)) for files in topics.data}
    yield SPREAD, spread_chart(spreads), spread_chart(spreads, NARROW)
    for files in topics.data:
        found = covariances(files, topics)
        limit = common_limit([panel.matrix for panel in found.panels])
        yield f"{COVARIANCES}.{files.corpus}", *_heatmaps(files, found, limit, CENTRED)


def _paper_figure(files: TopicFiles, topics: Topics) -> tuple[str, Figure, Figure]:
    found = released_covariances(files, topics)
    return f"covariances.{files.corpus}", *_heatmaps(files, found, PAPER_LIMIT, RELEASED)


def _heatmaps(files: TopicFiles, found: Covariances, limit: float, quantity: str) -> tuple[Figure, Figure]:
    """Wide and narrow."""
    names = topic_names(files)
    ordered = [names[topic] for topic in found.order]
    wide = covariance_heatmaps(found.panels, ordered, limit, quantity)
    return wide, covariance_heatmaps(found.panels, ordered, limit, quantity, NARROW)


def _marks(rows: pd.DataFrame, names: Names) -> list[Mark]:
    """The rows of one corpus: real text, samples from low to high, the baseline last; none of what is not scored."""
    found = []
    for _, group in rows[rows["latent_nll"].notna()].groupby(["source", *GROUP], sort=False):
        first = group.iloc[0].to_dict()
        worst = group["p_value"].max()
        mark = Mark(
            label=names.source(first, corpus=False, seed=False),
            values=tuple(group["latent_nll"]),
            intervals=tuple(zip(group["ci_low"], group["ci_high"], strict=True)),
            note="" if missing(worst) else p_value(worst),
            setting=_setting(first["setting"], first["baseline"]),
        )
        found.append((first["source"] == SAMPLE, bool(first["baseline"]), float(group["latent_nll"].mean()), mark))
    return [mark for *_, mark in sorted(found, key=lambda row: row[:3])]


def _spreads(files: TopicFiles, topics: Topics, names: Names) -> Iterator[Histogram]:
    for source in topics.shown(files):
        scores, keys = read_topic_scores(source), source_keys(source)
        values = document_nll(scores) if not all(scores["rejected"].to_pylist()) else np.empty(0)
        baseline = isinstance(source, TopicSample) and source.baseline
        label = names.source(keys, corpus=False, seed=False)
        yield spread_row(label, values, _setting(keys["setting"], baseline))


def _setting(setting: str, baseline: bool) -> str:
    """What decides a source's colour."""
    return BASELINE if baseline else setting
