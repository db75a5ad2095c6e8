"""The table and the figure of what the uncertainty is due to."""

import math

import numpy as np
import pandas as pd
import pytest

from textcritic.inference import Number, variance_components
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.plan.sources import data_keys
from textcritic.report.drawings import NARROW, WIDE
from textcritic.report.style import save
from textcritic.report.variance import NOTHING, variance_chart, variance_rows, variance_sheet

PPL = Measure(name="Latent PPL", value="latent_ppl", by_ratio=True)
NAMES = Names({"gpt2": "GPT-2", "ngram": "trigram"}, frozenset(), frozenset(), False, False)


def row(generator, seed, draw, value, error=0.1):
    keys = data_keys("docs") | {"source": "sample", "setting": "w-title", "generator": generator, "decoding": "plain"}
    ends = {"ci_low": value * math.exp(-1.96 * error), "ci_high": value * math.exp(1.96 * error)}
    return keys | {"seed": seed, "draw": draw, "latent_ppl": value, **ends}


VALUES = {(1, 1): 14.0, (1, 2): 15.0, (2, 1): 20.0, (2, 2): 19.0, (3, 1): 17.0, (3, 2): 16.0}
ROWS = pd.DataFrame(
    [
        data_keys("docs") | {"latent_ppl": 4.0, "ci_low": 3.0, "ci_high": 5.0},
        *(row("gpt2", *run, value) for run, value in VALUES.items()),
        row("ngram", 1, 1, 40.0),
    ]
)


def test_the_rows_are_the_components_of_each_sample_with_several():
    found = variance_rows(ROWS, PPL, ["classifier"])
    assert found["generator"].tolist() == ["gpt2"] * 4
    ends = {run: (value * math.exp(-0.196), value * math.exp(0.196)) for run, value in VALUES.items()}
    components = variance_components([(run[0], Number(v, *ends[run])) for run, v in VALUES.items()], by_ratio=True)
    assert found["component"].tolist() == [*(one.name for one in components), "classifier"]
    assert found["share"].tolist()[:3] == pytest.approx([one.share for one in components])
    assert found["share_low"].tolist()[:3] == pytest.approx([one.low for one in components])
    assert found["number"].tolist() == [6, 2, 3, 1]
    assert np.isnan(found["share"].iloc[3])


def test_the_sheet_says_what_is_not_estimable_and_how_many_there_are():
    sheet = variance_sheet(variance_rows(ROWS, PPL, ["classifier"]), NAMES, PPL)
    ((name, documents, _, training, classifier),) = sheet.body
    assert name.text == "GPT-2 (3 trainings, 6 draws)"
    assert documents.notes[0].endswith("%")
    assert training.text.endswith("%")
    assert classifier.text == "not estimable"


def test_without_several_trainings_or_an_interval_there_is_nothing():
    for rows in (ROWS[ROWS["generator"] == "ngram"], ROWS.assign(ci_low=None)):
        found = variance_rows(rows, PPL)
        assert found.empty
        sheet = variance_sheet(found, NAMES, PPL)
        assert (sheet.body, sheet.remarks) == ([], (NOTHING,))


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_figure_has_a_bar_for_each_component(tmp_path, width):
    figure = variance_chart(variance_rows(ROWS, PPL, ["classifier"]), NAMES, width)
    (axes,) = figure.axes
    assert [bar.get_width() > 0 for bar in axes.patches].count(True) >= 2
    assert {text.get_text() for text in axes.texts} >= {"documents", "training", "not estimable"}
    save(figure, tmp_path / "variance", ("svg",))
    assert (tmp_path / "variance.svg").stat().st_size > 1000
