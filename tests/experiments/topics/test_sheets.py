"""Tables and findings of topics as people read them."""

import numpy as np
import pandas as pd
import pytest
from report_jobs import Made
from scipy import stats

from experiments.topics.conftest import DOCUMENTS, PUBLISHED, of
from experiments.topics.tiny import BROKEN, EMPTY, NASTY, UNREAD, build_topics
from textcritic.experiments.topics.covariances import covariances
from textcritic.experiments.topics.outliers import outlier_rows
from textcritic.experiments.topics.rows import topic_rows, word_rows
from textcritic.experiments.topics.sheets import outliers_sheet, topics_sheet, words_sheet
from textcritic.experiments.topics.words import topic_doubts
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import number
from textcritic.report.sheet import to_html, to_latex
from textcritic.report.tables import read_rows


def test_a_sample_of_which_nothing_can_be_scored_says_so(topics, rows):
    broken = of(rows, BROKEN)
    assert broken[["latent_nll", "ci_low", "p_value", "latent_nll_at_mean", "seeds_mean"]].isna().all()
    sheet = topics_sheet(rows, Names.of(topics.samples))
    line = next(line for line in to_html(sheet).splitlines() if "untrained model" in line)
    assert line.count("—<small>nothing could be scored</small>") == 2
    assert f"100%<small>{DOCUMENTS + UNREAD} of {DOCUMENTS + UNREAD}</small>" in line
    assert word_rows(Material(topics)).groupby("generator")["share"].count()[BROKEN] == 0
    panel = next(p for p in covariances(topics.data[0], topics).panels if p.label == "untrained model")
    assert (panel.documents, panel.matrix) == (0, None)
    assert BROKEN not in set(outlier_rows(Material(topics))["generator"])


def test_words_are_not_taken_for_markup(topics):
    words = word_rows(Material(topics))
    text = f"{' '.join(NASTY)} </td><script>alert(1)</script>"
    outliers = outlier_rows(Material(topics)).assign(text=text)
    names = Names.of(topics.samples)
    for sheet in (words_sheet(words, names), outliers_sheet(outliers, names)):
        html, latex = to_html(sheet), to_latex(sheet)
        assert "<b>bold" not in html
        assert "<script>" not in html
        assert "&lt;b&gt;bold&lt;/b&gt;" in html
        assert "&amp;amp;" in html
        assert r"\textbackslash{}alpha\_1" in latex
        assert r"\textless{}b\textgreater{}" in latex
        assert r"50\%" in latex
        assert latex.count("{") == latex.count("}")


def test_the_table_as_people_read_it(topics, rows):
    sheet = topics_sheet(rows, Names.of(topics.samples))
    sample = of(rows, "gpt2-demo")
    name, expected, at_mean, gap, length, left_out, apart = sheet.body[1]
    assert name.text == "small GPT-2"
    assert expected.text == number(sample["latent_nll"])
    assert expected.notes[0] == f"{sample['ci_low']:.1f}–{sample['ci_high']:.1f}"
    assert expected.notes[-1] == f"{DOCUMENTS - EMPTY} documents"
    assert at_mean.text == number(sample["latent_nll_at_mean"])
    assert gap.text == number(sample["gap"])
    assert gap.notes[-1].startswith("2 starts: ")
    assert left_out.notes == (f"{EMPTY + UNREAD} of {DOCUMENTS + UNREAD}", f"empty: {EMPTY}", f"not read: {UNREAD}")
    assert length.text == number(sample["words_per_document"])
    assert apart.text == number(sample["distance_corrected"])
    assert apart.notes[0] == f"{number(sample['distance_low'])}–{number(sample['distance_high'])}"
    assert f"by chance {number(sample['distance_by_chance'])}" in apart.notes
    assert sheet.remarks[0].startswith(f"The critic: 8 topics, {sample['vocabulary']} words.")
    assert not any("published" in remark for remark in sheet.remarks)
    assert {len(row) for row in sheet.body} == {len(sheet.header[0])}


def test_seeds_are_summarised_and_shown_together(tmp_path):
    topics = build_topics(tmp_path, generators=("gpt2-demo",), seeds=(2, 1), resamples=20)
    rows = topic_rows(Material(topics))
    samples = rows[rows["source"] == "sample"]
    assert samples["seeds_mean"].tolist() == pytest.approx([samples["latent_nll"].mean()] * 2)
    assert samples["seeds_sd"].tolist() == pytest.approx([np.std(samples["latent_nll"], ddof=1)] * 2)
    assert samples["label"].tolist() == ["small GPT-2, seed 2", "small GPT-2, seed 1"]
    sheet = topics_sheet(rows, Names.of(topics.samples))
    assert [row[0].text for row in sheet.body] == ["real text", "small GPT-2"]
    assert "over 2 trainings" in sheet.body[1][1].notes[0]
    assert [source.seed for source in topics.shown(topics.data[0])[1:]] == [1]
    assert set(outlier_rows(Material(topics))["seed"].dropna()) == {1}
    low, high = stats.ttest_1samp(samples["distance_corrected"], 0).confidence_interval()
    assert sheet.body[1][6].notes[0] == f"{number(low)}–{number(high)} over 2 trainings"
    rows.loc[samples.index, ["p_value", "p_value_at_mean", "distance_p"]] = [[0.2, 0.03, 0.04], [0.1, 0.5, 0.3]]
    cells = topics_sheet(rows, Names.of(topics.samples)).body[1]
    marked = [[note for note in cells[place].notes if "p <" in note] for place in (1, 2, 6)]
    assert marked == [[f"p < 0.05 in {times} of 2 trainings"] for times in (0, 1, 1)]


def test_scores_that_depend_on_the_start_or_the_length_have_a_doubt(topics, rows):
    told = rows.copy()
    told.loc[told["generator"] == "data", "latent_nll"] = 20.0
    values = {"gpt2-demo": (18.5, 0.0004), "ngram-3": (20.1, 0.6), "shuffled": (25.0, 0.001)}
    for generator, (nll, p) in values.items():
        told.loc[told["generator"] == generator, ["latent_nll", "p_value"]] = nll, p
    for generator, gaps in {"gpt2-demo": (-1.62, -1.4), "ngram-3": (-0.3, 0.4), "shuffled": (4.8, 5.2)}.items():
        told.loc[told["generator"] == generator, ["gap_starts_low", "gap_starts_high"]] = gaps
    doubts = [(found.about, found.says) for found in topic_doubts(told, Names.of(topics.samples))]
    assert doubts[0] == (
        "trigram",
        "its Latent NLL is up to 0.30 nats lower than real text's under one start of the fit, and up to 0.40 nats "
        "higher under another, so the sign of the difference depends on the start.",
    )
    assert [about for about, _ in doubts] == ["trigram"]
    lengths = (("gpt2-demo", 20, True), ("gpt2-demo", 80, False), ("shuffled", 80, True), ("ngram-3", 80, False))
    for generator, words, told_too in lengths:
        changed = told.copy()
        changed.loc[changed["generator"] == generator, "words_per_document"] = words
        said = " ".join(found.says for found in topic_doubts(changed, Names.of(topics.samples)))
        way, higher = ("longer", "higher") if words == 80 else ("shorter", "lower")
        reason = (
            f"its documents are {way} than real ones ({words}.0 words of the vocabulary; real text has 40.0), which"
        )
        assert (reason in said and f"why its Latent NLL is {higher}." in said) is told_too


def test_every_table_is_written_three_times_and_read_back(topics, rows, tmp_path):
    made = Made("topics", topics, published=PUBLISHED).tables(tmp_path)
    names = ("topics", "topic-words", "topic-outliers", "topic-power")
    assert {path.name for path in made} == {f"{name}.{suffix}" for name in names for suffix in ("csv", "tex", "html")}
    again = read_rows(tmp_path, "topics")
    for column in ("latent_nll", "latent_nll_at_mean", "distance_corrected", "p_value"):
        pd.testing.assert_series_equal(again[column], rows[column], rtol=0)
    assert again["rejected_by_reason"].tolist() == rows["rejected_by_reason"].tolist()
    words = read_rows(tmp_path, "topic-words")
    assert NASTY[1] in words.loc[words["topic"] == 1, "words"].iloc[0]
