"""Figures of known processes."""

import math

from report_jobs import Made

from textcritic.corpora.synthetic.process import Process


def test_figures_show_every_source_and_the_exact_value(files, tmp_path):
    made = Made("process", files).figures(tmp_path, tmp_path)
    assert {path.name for path in made} == {
        f"{name}.{form}" for name in ("latent-nll", "training-curves") for form in ("svg", "pdf", "narrow.svg")
    }
    exact = math.log(Process.load(files.data[0].process).latent_ppl())
    for name, nothing in (("latent-nll.svg", ">none read<"), ("latent-nll.narrow.svg", ">none read<")):
        text = (tmp_path / name).read_text()
        assert f">exact: {exact:.2f}<" in text
        assert all(label in text for label in (">test sequences<", ">transformer<", ">HSMM, length given<"))
        assert nothing in text
