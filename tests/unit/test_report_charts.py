"""Charts that several kinds draw, and figures within a page."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from chart_texts import overlapping
from matplotlib.patches import Patch

from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.plan.sources import KEYS
from textcritic.report.charts import Mark, interval_chart, legend_above, marks_of, training_curves
from textcritic.report.drawings import NARROW, WIDE, drawn, write_figures
from textcritic.report.histograms import Histogram, draw_histograms, histogram_panels, room
from textcritic.report.palette import INK
from textcritic.report.power import PowerStudy, power_chart
from textcritic.report.style import percent_label, save, share_label, style, tick_label
from textcritic.report.svg import inline_svg


def test_inlined_figures_keep_their_words(tmp_path):
    marks = [Mark("real text", (2.0,), ((1.9, 2.1),)), Mark("g", (2.6,), ((2.2, 3.1),), "p = 0.002", "w-title")]
    save(interval_chart({"docstrings": marks}, "Latent PPL", WIDE), tmp_path / "chart", ("svg",))
    text = inline_svg(tmp_path / "chart.svg", "key", 'A "chart" & more')
    assert ">p = 0.002</text>" in text
    assert 'aria-label="A &quot;chart&quot; &amp; more"' in text
    assert "var(--ink)" in text
    assert "#1c2330" not in text
    assert not re.search(r'="[^"]*\d\.\d{3}[^"]*"', text)
    assert all(name.startswith("key-") for name in re.findall(r'\bid="([^"]*)"', text))


def test_chart_of_infinite_values(tmp_path):
    real = Mark("real text", (2.0,), ((1.9, 2.1),))
    sample = Mark("ngram-3", (np.inf,), ((np.inf, np.inf),), "", "w-title")
    save(interval_chart({"docstrings": [real, sample]}, "Latent PPL", WIDE), tmp_path / "chart", ("svg",))
    assert "∞" in (tmp_path / "chart.svg").read_text()


def test_long_labels_of_a_narrow_chart_have_two_lines(tmp_path):
    label = "trigram, interpolated, without titles"
    sample = Mark(label, (123.0,), ((106.0, 143.0),), "p < 0.001", "wo-title")
    write_figures([("chart", partial(interval_chart, {"docstrings": [sample]}, "Latent PPL"))], tmp_path, pdf=False)
    assert f">{label}<" in (tmp_path / "chart.svg").read_text()
    narrow = (tmp_path / "chart.narrow.svg").read_text()
    assert ">trigram, interpolated,<" in narrow
    assert ">without titles<" in narrow


def test_long_training_curves_are_drawn_as_means():
    curve = [{"step": step, "train_loss": float(step % 2)} for step in range(1000)]
    curve[-1]["validation_loss"] = 0.5
    axes = training_curves({"g": curve}, WIDE).axes[0]
    training, validation = (np.array(line.get_xydata()) for line in axes.get_lines())
    assert len(training) == 112
    assert training[:2].ravel().tolist() == pytest.approx([4, 4 / 9, 13, 5 / 9])
    assert validation.tolist() == [[999, 0.5]]


def test_trainings_share_a_mark_that_says_how_many_differ():
    keys = [("docs", "sample", "wo-title", "gpt2", "plain", seed, 1) for seed in (1, 2, 3)]
    rows = pd.DataFrame(keys, columns=KEYS).assign(
        latent_ppl=[5.0, 6.0, 7.0], ci_low=[4.5, 5.5, None], ci_high=[5.5, 6.5, None], p_value=[0.2, 0.5, 0.001]
    )
    names = Names({"gpt2": "GPT-2"}, frozenset(), frozenset(), False, False)
    (mark,) = marks_of(rows, names, Measure(name="Latent PPL", value="latent_ppl"))
    assert (mark.values, mark.intervals) == ((5.0, 6.0, 7.0), ((4.5, 5.5), (5.5, 6.5), (7.0, 7.0)))
    assert (mark.note, mark.value) == ("p < 0.05 in 1 of 3 trainings", 6.0)
    (mark,) = marks_of(rows, names, Measure(name="Latent PPL", value="latent_ppl", by_ratio=True))
    assert mark.value == pytest.approx(210 ** (1 / 3))


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_thirteen_long_names_lie_on_nothing(width):
    names = [f"outputs_of_the_language_model_{n}_at_temperature_0.9_step_{n}000" for n in range(13)]
    rows = [Histogram(name, np.arange(5.0), INK, "mean 51.8, n = 1,500") for name in names]
    with style():
        figure, (axes,), narrow = histogram_panels({"docs": rows}, width, 1.6)
        draw_histograms(axes, rows, np.linspace(0, 5, 6), narrow)
        assert overlapping(figure) == []
        marks = [Mark("real text", (2.0,), ((1.9, 2.1),)), *(Mark(n, (3.0,), ((2, 4),), "p = 0.002") for n in names)]
        chart = interval_chart({"docs": marks}, "Latent PPL", width)
        assert overlapping(chart) == []
        legend_above(chart, [Patch()] * 13, names)
        figure.draw_without_rendering()
        (legend,) = chart.legends
        assert legend.get_window_extent().width <= width * chart.dpi


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("high", [0.05, 1.0])
def test_numbers_of_documents_lie_on_nothing_where_curves_end_together(high, width):
    rows = [("docs", "a", share, size, high, 0.0, 1.0) for share in (0.25, 0.5) for size in (5, 10, 20)]
    rows = pd.DataFrame(rows, columns=["corpus", "kind", "share", "articles", "detected", "low", "high"])
    study = PowerStudy(
        name="", caption="", head="", faults={"a": "A"}, noun="", of="words", unit="documents", module=""
    )
    figure = drawn(partial(power_chart, rows, study), width)
    assert overlapping(figure) == []
    assert {text.get_text() for text in figure.axes[0].texts} == {"5", "10", "20", "chance: 5%"}


def test_values_beyond_the_edges_of_a_histogram_are_in_its_first_and_last_bins():
    row = Histogram("sample", np.array([-100.0, 0.5, 1.5, 1.6, 3.5, 1e6]), INK, "")
    with style():
        _, (axes,), narrow = histogram_panels({"docs": [row]}, WIDE, 0.5)
        ((_, heights),) = draw_histograms(axes, [row], np.array([0.0, 1.0, 2.0, 3.0, 4.0]), narrow)
    assert heights.tolist() == pytest.approx([room(narrow), room(narrow), 0, room(narrow)])


def test_numbers_at_ticks_are_as_people_write_them():
    ticks = {-1.5e-17: "0", -0.25: "−0.25", 0.1 + 0.2: "0.3", 1e-5: "0.00001", 10.0: "10", 1_250_000.0: "1,250,000"}
    assert [tick_label(value) for value in ticks] == list(ticks.values())
    assert [percent_label(2.5), share_label(0.025), share_label(-0.1)] == ["2.5%", "2.5%", "−10%"]
