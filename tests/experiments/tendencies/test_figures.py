"""Every figure is drawn, whatever the samples: one or several decodings, settings and corpora, nothing to draw."""

import matplotlib.pyplot as plt
import pytest

from experiments.tendencies.tiny import EMPTY, build_tendencies
from textcritic.experiments.tendencies.figures import FIGURES
from textcritic.experiments.tendencies.rows import tendency_rows
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.report.names import Names

ONE = [("faithful", "drawn", "wo-title")]
SEVERAL = [("short", decoding, setting) for decoding in ("drawn", "nucleus") for setting in ("w-title", "wo-title")]


@pytest.mark.parametrize(
    "made",
    [
        {"sources": ONE},
        {"sources": SEVERAL, "corpora": ("lines", "others"), "documents": 20},
        {"sources": [(EMPTY, "drawn", "wo-title")], "stop_words": "none"},
    ],
    ids=["one", "several", "nothing"],
)
def test_every_figure_is_drawn(made, tmp_path):
    files = build_tendencies(tmp_path, **made)
    rows = {"tendencies": tendency_rows(files, Names.of(files.samples, REAL))}
    for name, draw in FIGURES.items():
        drawn = list(draw(files, rows))
        assert len(drawn) == {"figures": 8, "boxes": 3}.get(name, 1)
        for _, wide, narrow in drawn:
            assert len(wide.axes) >= 1
            assert wide.get_figwidth() > narrow.get_figwidth()
    plt.close("all")
