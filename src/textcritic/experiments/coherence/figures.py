"""Figures of coherence: Latent PPL, graphs of unlikely steps (paper, Figure 4), what follows what, and power curves."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.critics import BEGIN as CRITIC_BEGIN
from textcritic.critics import END as CRITIC_END
from textcritic.critics import TransitionCritic, scored_transitions, transition_errors
from textcritic.experiments.coherence.files import CoherenceFiles, RealText
from textcritic.experiments.coherence.graph import BEGIN, END, Edge, transition_graph
from textcritic.experiments.coherence.matrices import next_section_shares, transition_heatmaps
from textcritic.experiments.coherence.names import PAPER_FIGURES, UNLIKELY, names_of
from textcritic.experiments.coherence.power import STUDY
from textcritic.experiments.coherence.rows import PPL
from textcritic.measures.scored import read_scores
from textcritic.report.charts import measure_figure, training_curves
from textcritic.report.drawings import Drawing, curves_of
from textcritic.report.power import power_figures
from textcritic.report.variance import variance_chart, variance_rows
from textcritic.values import Row

GRAPH_TITLES, MATRIX_TITLES = 12, 14
REAL = "real-text"


def figures(experiment: CoherenceFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """latent-ppl, graphs of unlikely steps, what follows what, training curves, and power if it was measured."""
    names, table = names_of(experiment), rows["coherence"]
    yield measure_figure("latent-ppl", table, names, PPL)
    if len(parts := variance_rows(table, PPL, experiment.single)):
        yield "variance", partial(variance_chart, parts, names)
    for data in experiment.data:
        critic = TransitionCritic.load(data.critic)
        real, sources = _chains(experiment, data)
        yield from _graphs(real, sources, critic, UNLIKELY)
        shown = _commonest(real, reading_order(real, critic), MATRIX_TITLES)
        shares = next_section_shares(scored_transitions(real, critic), critic.titles, shown)
        for sample in (s for s in experiment.samples if s.corpus == data.corpus):
            of_sample = next_section_shares(scored_transitions(sources[sample.slug], critic), critic.titles, shown)
            matrices = partial(transition_heatmaps, shares, of_sample, shown, names.source(sample.keys))
            yield f"transition-matrices.{sample.slug}", matrices
    if curves := generator_curves(experiment):
        yield "training-curves", partial(training_curves, curves)
    yield from power_figures(rows[STUDY.name], STUDY)


def error_graphs(experiment: CoherenceFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """The graph of transition errors of every source (paper, Figure 4)."""
    for data in experiment.data:
        yield from _graphs(*_chains(experiment, data), TransitionCritic.load(data.critic), PAPER_FIGURES)


FIGURES = {"figures": figures, "errors": error_graphs}


def _chains(experiment: CoherenceFiles, data: RealText) -> tuple[pa.Table, dict[str, pa.Table]]:
    """Scores of a corpus' real text, and the scores of all its sources by the last part of their figures' names."""
    real = read_scores(data.inferred)
    samples = {s.slug: read_scores(s.scores) for s in experiment.samples if s.corpus == data.corpus}
    return real, {f"{data.corpus}.{REAL}": real} | samples


def _graphs(
    real: pa.Table, sources: Mapping[str, pa.Table], critic: TransitionCritic, threshold: float
) -> Iterator[Drawing]:
    """For each source the unlikely steps between the commonest section types of real text, widths on one scale."""
    titles = _commonest(real, reading_order(real, critic), GRAPH_TITLES)
    edges = {slug: _edges(scores, critic, threshold) for slug, scores in sources.items()}
    heaviest = max((edge.share for of_source in edges.values() for edge in of_source), default=None)
    for slug in sources:
        yield f"transition-errors.{slug}", partial(transition_graph, titles, _between(titles, edges[slug]), heaviest)


def generator_curves(experiment: CoherenceFiles) -> dict[str, list[Row]]:
    """The training curves of the generators, by their names; decodings share one."""
    names = names_of(experiment)
    return curves_of((names.source(s.keys, decoding=False), s.training) for s in experiment.samples)


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


def _edges(scores: pa.Table, critic: TransitionCritic, threshold: float) -> list[Edge]:
    """The transitions of a source below a probability, the commonest first."""
    names = {CRITIC_BEGIN: BEGIN, CRITIC_END: END} | {title: title for title in critic.titles}
    return [
        Edge(names[step["from"]], names[step["to"]], step["frequency"] / 100, step["probability"])
        for step in transition_errors(scores, critic, threshold).transitions
    ]


def _between(titles: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    shown = {BEGIN, END, *titles}
    return [edge for edge in edges if edge.previous in shown and edge.next in shown]
