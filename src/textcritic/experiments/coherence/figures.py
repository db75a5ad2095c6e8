"""The study's figures, each as SVG and PDF, and a narrow SVG of each for small screens."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from matplotlib.figure import Figure

from textcritic.critics import BEGIN as CRITIC_BEGIN
from textcritic.critics import END as CRITIC_END
from textcritic.critics import TransitionCritic, scored_transitions, transition_errors
from textcritic.files import read_json
from textcritic.report.charts import Mark, interval_chart, training_curves
from textcritic.report.details import GRAPH_THRESHOLD
from textcritic.report.graph import BEGIN, END, Edge, transition_graph
from textcritic.report.inputs import DataFiles, Drawn, Study, read_study
from textcritic.report.matrices import next_section_shares, transition_heatmaps
from textcritic.report.numbers import missing, p_value
from textcritic.report.rows import read_scores
from textcritic.report.sources import DATA_INFERRED, GROUP, SAMPLE, Names, sample_keys
from textcritic.report.style import save
from textcritic.report.tables import read_rows

WIDE, NARROW = 6.4, 3.7  # inches
GRAPH_TITLES, GRAPH_EDGES, NARROW_EDGES, MATRIX_TITLES = 12, 18, 10, 14
REAL = "real-text"


def make_figures(study: Mapping[str, Any], tables: str | Path, folder: str | Path) -> list[Path]:
    """Write latent-ppl, transition-errors.{source}, transition-matrices.{source} and training-curves.

    Each as .svg, .pdf and .narrow.svg; `{source}` is corpus.real-text or corpus.setting.generator.decoding.seedN.

    Args:
        study: as `inputs.read_study` takes it.
        tables: folder of the study's tables; coherence.csv is read.
        folder: where the figures go, `results/studies/{study}/figures`.

    Returns:
        The files written.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    return write_figures(_figures(read_study(study), read_rows(tables, "coherence")), folder)


def make_error_graphs(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write the graph of transition errors of every source (paper, Figure 4), as `make_figures` does."""
    files = read_study(study)
    graphs = (
        graph for data in files.data for graph in _graphs(*_chains(files, data), TransitionCritic.load(data.critic))
    )
    return write_figures(graphs, folder)


def write_figures(figures: Iterable[tuple[str, Figure, Figure]], folder: str | Path) -> list[Path]:
    """Write figures, each (name, wide one, narrow one), as .svg and .pdf and as .narrow.svg; returns the paths."""
    written: list[Path] = []
    for name, wide, narrow in figures:
        written += save(wide, Path(folder) / name)
        written += save(narrow, Path(folder) / f"{name}.narrow", ("svg",))
    return written


def _figures(study: Study, rows: pd.DataFrame) -> Iterator[tuple[str, Figure, Figure]]:
    """(name, wide figure, narrow figure)."""
    names = Names.of(study.samples)
    panels = {data.corpus: marks(rows[rows["corpus"] == data.corpus], names) for data in study.data}
    yield "latent-ppl", interval_chart(panels), interval_chart(panels, NARROW)
    for data in study.data:
        critic = TransitionCritic.load(data.critic)
        real, sources = _chains(study, data)
        yield from _graphs(real, sources, critic)
        shown = _commonest(real, reading_order(real, critic), MATRIX_TITLES)
        shares = next_section_shares(scored_transitions(real, critic), critic.titles, shown)
        for sample in (s for s in study.samples if s.corpus == data.corpus):
            theirs = next_section_shares(scored_transitions(sources[sample.slug], critic), critic.titles, shown)
            label = names.source(sample_keys(sample))
            yield (
                f"transition-matrices.{sample.slug}",
                transition_heatmaps(shares, theirs, shown, label),
                transition_heatmaps(shares, theirs, shown, label, NARROW),
            )
    curves = study_curves(study)
    if curves:
        yield "training-curves", training_curves(curves), training_curves(curves, NARROW)


def _chains(study: Study, data: DataFiles) -> tuple[pa.Table, dict[str, pa.Table]]:
    """Scores of a corpus' real text, and those of all its sources by the ends of their figures' names."""
    real = read_scores(data.inferred)
    samples = {s.slug: read_scores(s.scores) for s in study.samples if s.corpus == data.corpus}
    return real, {f"{data.corpus}.{REAL}": real} | samples


def _graphs(
    real: pa.Table, sources: Mapping[str, pa.Table], critic: TransitionCritic
) -> Iterator[tuple[str, Figure, Figure]]:
    """Of each source the unlikely steps between the commonest section types of real text, widths on one scale."""
    titles = _commonest(real, reading_order(real, critic), GRAPH_TITLES)
    edges = {slug: _edges(scores, critic) for slug, scores in sources.items()}
    heaviest = max((edge.share for found in edges.values() for edge in found), default=None)
    for slug in sources:
        shown = _between(titles, edges[slug])
        wide = transition_graph(titles, shown[:GRAPH_EDGES], WIDE, heaviest)
        yield f"transition-errors.{slug}", wide, transition_graph(titles, shown[:NARROW_EDGES], NARROW, heaviest)


def study_curves(study: Study) -> dict[str, Any]:
    """The training curves of a study's generators, by their names; decodings share one."""
    names = Names.of(study.samples)
    return curves_of(study.samples, lambda row: names.source(row, decoding=False))


def curves_of(samples: Iterable[Drawn], name: Callable[[Mapping[str, Any]], str]) -> dict[str, Any]:
    """The training curve of each sample's generator that was trained in steps; `name` is told the sample's keys."""
    found = {}
    for sample in samples:
        if sample.training is not None:
            curve = read_json(sample.training).get("curve", [])
            if len(curve) > 1:
                found[name(sample_keys(sample))] = curve
    return found


def marks(rows: pd.DataFrame, names: Names) -> list[Mark]:
    """The rows of one corpus for the chart of Latent PPL: real text first, then samples from low to high."""
    found = []
    for _, group in rows.groupby(["source", *GROUP], sort=False, dropna=False):
        first = group.iloc[0].to_dict()
        lows, highs = group["ci_low"].fillna(np.inf), group["ci_high"].fillna(np.inf)
        worst = group["p_value"].max()
        mark = Mark(
            label=names.source(first, corpus=False, seed=False),
            values=tuple(group["latent_ppl"]),
            intervals=tuple(zip(lows, highs, strict=True)),
            note="" if missing(worst) else p_value(worst),
            setting=first["setting"],
            published=None if missing(first["published"]) else float(first["published"]),
        )
        found.append((first["source"] == SAMPLE, first["source"] != DATA_INFERRED, float(np.mean(mark.values)), mark))
    return [mark for *_, mark in sorted(found, key=lambda row: row[:3] if row[0] else (row[0], row[1], 0.0))]


def reading_order(scores: pa.Table, critic: TransitionCritic) -> list[str]:
    """The critic's titles in the order in which real documents use them: by mean place, from 0 first to 1 last."""
    places: dict[str, list[float]] = {title: [] for title in critic.titles}
    for chain in scores["chain"].to_pylist():
        for index, title in enumerate(chain):
            if title in places:
                places[title].append(index / max(len(chain) - 1, 1))
    used = [title for title in critic.titles if places[title]]
    return sorted(used, key=lambda title: (float(np.mean(places[title])), title))


def _commonest(scores: pa.Table, order: Sequence[str], most: int) -> list[str]:
    counts = dict.fromkeys(order, 0)
    for chain in scores["chain"].to_pylist():
        for title in chain:
            if title in counts:
                counts[title] += 1
    kept = set(sorted(order, key=lambda title: -counts[title])[:most])
    return [title for title in order if title in kept]


def _edges(scores: pa.Table, critic: TransitionCritic) -> list[Edge]:
    """The unlikely transitions of a source, the commonest first."""
    names = {CRITIC_BEGIN: BEGIN, CRITIC_END: END} | {title: title for title in critic.titles}
    return [
        Edge(names[step["from"]], names[step["to"]], step["frequency"] / 100, step["probability"])
        for step in transition_errors(scores, critic, GRAPH_THRESHOLD).transitions
    ]


def _between(titles: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    shown = {BEGIN, END, *titles}
    return [edge for edge in edges if edge.previous in shown and edge.next in shown]
