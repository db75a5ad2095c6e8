"""Figures of coherence."""

from dataclasses import replace
from functools import partial

import numpy as np

from textcritic.experiments.coherence.figures import generator_curves
from textcritic.experiments.coherence.graph import Edge, transition_graph
from textcritic.experiments.coherence.matrices import next_section_shares
from textcritic.report.drawings import WIDE, drawn
from textcritic.report.style import save


def test_figures_are_the_same_each_time(tmp_path):
    for name in ("a", "b"):
        edges = [Edge("x", "y", 0.1, 0.01), Edge("y", "y", 0.2, 0.02)]
        save(drawn(partial(transition_graph, ["x", "y"], edges, None), WIDE), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_graph_without_errors_says_so(tmp_path):
    save(drawn(partial(transition_graph, ["x", "y"], [], None), WIDE), tmp_path / "graph", ("svg",))
    assert "no unlikely step" in (tmp_path / "graph.svg").read_text()


def test_next_section_shares():
    counts = np.array([[4, 0, 0], [0, 3, 1], [0, 0, 0]])
    shares = next_section_shares(counts, ["x", "y"], ["y", "x"])
    assert shares[0].tolist() == [0, 1, 0]
    assert np.isnan(shares[1]).all()
    assert shares[2].tolist() == [0.75, 0, 0.25]


def test_training_curves_of_two_corpora_and_of_decodings(wide):
    samples = [sample for sample in wide.samples if sample.seed == 1]
    several = replace(wide, samples=(*samples, replace(samples[0], decoding="top-k-50")))
    # Decodings share a curve, and a model that is counted in one pass has none.
    assert list(generator_curves(several)) == [
        f"{corpus}: small GPT-2, {setting} titles"
        for corpus in ("docstrings", "recipes")
        for setting in ("with", "without")
    ]
