"""Figures of topics."""

from functools import partial

import numpy as np
import pytest
from report_jobs import Made

from experiments.topics.conftest import DOCUMENTS, centred, moments
from experiments.topics.tiny import EMPTY
from textcritic.critics.ctm.scoring import cluster_order
from textcritic.experiments.topics.covariances import covariances, released_covariances
from textcritic.experiments.topics.figures import spread_chart, spread_row
from textcritic.experiments.topics.heatmaps import Panel, common_limit, covariance_heatmaps
from textcritic.report.drawings import NARROW, WIDE, drawn
from textcritic.report.style import save


def test_heatmaps_have_one_order_which_is_that_of_the_data(topics):
    files = topics.data[0]
    found = covariances(files, topics)
    for source, panel in zip(topics.shown(files), found.panels, strict=True):
        if panel.matrix is None:
            continue
        plain = centred(*moments(source))
        assert panel.documents == len(moments(source)[0])
        np.testing.assert_allclose(panel.matrix, plain[np.ix_(found.order, found.order)], rtol=1e-9, atol=1e-12)
        if source is files:
            assert found.order.tolist() == cluster_order(plain).tolist()


def test_the_papers_heatmaps_are_of_log_ratios_to_the_last_topic(topics):
    real = released_covariances(topics.data[0], topics).panels[0].matrix
    assert np.sort(np.diag(real)) == pytest.approx(np.sort(np.var(moments(topics.data[0])[0], axis=0)))
    assert len(real) == 7


def test_colours_end_where_most_entries_do_and_at_five_at_most():
    small = 0.2 * np.eye(4)
    assert common_limit([small, None]) == pytest.approx(0.2)
    assert common_limit([100 * small]) == 5.0
    assert common_limit([np.zeros((3, 3))]) == 1.0
    assert common_limit([np.full((2, 2), -1.2)]) == 1.5


@pytest.mark.parametrize("panels", [1, 2, 5, 8])
@pytest.mark.parametrize("free", [1, 19, 99])
def test_heatmaps_of_any_number_of_panels_and_topics(panels, free, tmp_path):
    name = "source {} with quite a long name, without titles"
    shown = [Panel(name.format(n), 1000 + n, np.eye(free) * n) for n in range(panels)]
    names = [f"{n}: array, <axis>" for n in range(free)]
    for width in (WIDE, NARROW):
        figure = drawn(partial(covariance_heatmaps, shown, names, 5.0, "what is shown, in so many words"), width)
        (path,) = save(figure, tmp_path / "heatmaps", ("svg",))
        text = path.read_text()
        assert text.count("<image ") == panels + 1  # and the colour bar
        assert (">0: array, &lt;axis&gt;<" in text) is (free < 33 and width == WIDE)
        assert ">−5<" in text
        assert all(f">n = 1,00{n}<" in text for n in range(panels))


def test_figures_show_every_source(topics, tmp_path):
    experiment = Made("topics", topics)
    experiment.tables(tmp_path)
    made = experiment.figures(tmp_path, tmp_path)
    names = ("topic-nll", "topic-nll-spread", "topic-covariances.docstrings", "topic-power")
    forms = ("svg", "pdf", "narrow.svg")
    assert {path.name for path in made} == {f"{name}.{form}" for name in names for form in forms}
    for name in names[1:3]:
        text = (tmp_path / f"{name}.svg").read_text()
        places = [text.index(f">{label}<") for label in ("real text", "small GPT-2", "trigram", "shuffled words")]
        assert places == sorted(places)
    assert "untrained model" not in (tmp_path / "topic-nll.svg").read_text()
    limit = common_limit([panel.matrix for panel in covariances(topics.data[0], topics).panels])
    text = (tmp_path / f"{names[2]}.svg").read_text()
    assert f">{limit:g}<" in text
    assert text.count(f">n = {DOCUMENTS - EMPTY}<") == 4
    assert f"n\u00a0=\u00a0{DOCUMENTS - EMPTY}<" in (tmp_path / f"{names[1]}.svg").read_text()


def test_a_far_outlier_does_not_press_a_histogram_together():
    values = np.append(np.linspace(10, 12, 400), 1e6)
    rows = [spread_row("real text", values, ""), spread_row("sample", values[:3], "wo-title")]
    figure = spread_chart({"docs": rows}, WIDE)
    low, high = figure.axes[0].get_xlim()
    assert (9 < low < 10, 12 < high < 13) == (True, True)
