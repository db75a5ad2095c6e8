"""Every figure is drawn, whatever the samples: one or several decodings, settings and corpora, nothing to draw."""

from dataclasses import replace

import matplotlib.pyplot as plt
import pytest
from chart_texts import overlapping

from experiments.tendencies.tiny import EMPTY, build_tendencies
from textcritic.experiments.tendencies.figures import FIGURES, length_axis
from textcritic.experiments.tendencies.rows import tendency_rows
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.report.drawings import NARROW, WIDE, drawn

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
    rows = {"tendencies": tendency_rows(Material(files, names=Names.of(files.samples, REAL)))}
    for name, draw in FIGURES.items():
        drawings = list(draw(files, rows))
        assert len(drawings) == {"figures": 8, "boxes": 3}.get(name, 1)
        assert all(len(drawn(one, width).axes) >= 1 for _, one in drawings for width in (WIDE, NARROW))
    plt.close("all")


def test_thirteen_long_names_lie_on_nothing(files):
    names = [f"outputs_of_the_language_model_{n}_at_temperature_0.9_step_{n}000" for n in range(13)]
    samples = tuple(replace(files.samples[0], generator=f"g{n}", label=name) for n, name in enumerate(names))
    many = replace(files, samples=samples)
    rows = {"tendencies": tendency_rows(Material(many, names=Names.of(samples, REAL)))}
    for name, draw in FIGURES["figures"](many, rows):
        for width in (WIDE, NARROW):
            figure = drawn(draw, width)
            found = overlapping(figure)
            named = [pair for pair in found if name == "overview" or any("outputs" in text for text in pair)]
            assert named == [], name
            room = figure.get_figwidth() * figure.dpi
            assert all(legend.get_window_extent().width <= room for legend in figure.legends)
    plt.close("all")


def test_closed_vocabularies_are_lines_beside_their_bars(files):
    closed = replace(files, samples=(*files.samples[:-1], replace(files.samples[-1], vocabulary=12_345)))
    for made, lines in ((files, []), (closed, [12_345])):
        for width in (WIDE, NARROW):
            ((_, draw),) = FIGURES["vocabulary"](made, {})
            (axes,) = drawn(draw, width).axes
            segments = [segment for found in axes.collections for segment in found.get_segments()]
            assert [segment[0].tolist() for segment in segments] == [[x, -0.45] for x in lines]  # the last row
            assert ("12,345" in [text.get_text() for text in axes.texts]) == bool(lines)
            assert ("dashed" in axes.get_xlabel()) == bool(lines)
            assert axes.get_xlim()[1] > max(lines, default=0)
    plt.close("all")


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((4, 11), [5, 10]),
        ((1, 49), [1, 2, 5, 10, 20, 50]),
        ((3, 1000), [3, 10, 30, 100, 300, 1000]),
        ((1, 3000), [1, 10, 100, 1000]),
    ],
)
def test_an_axis_of_lengths_has_some_numbers_and_room_between_them(ends, expected):
    figure, axes = plt.subplots(figsize=(2, 2))
    axes.plot(ends, ends)
    length_axis(axes)
    assert numbers(axes) == expected
    plt.close(figure)


def numbers(axes):
    """The numbers at an axis."""
    low, high = axes.get_xlim()
    return [tick for tick in axes.get_xticks() if low <= tick <= high]
