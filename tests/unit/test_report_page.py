import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from report_html import Page
from report_study import build_study, with_second_corpus_and_decodings
from textcritic.report.figures import study_curves
from textcritic.report.findings import findings
from textcritic.report.graph import Edge, transition_graph
from textcritic.report.inputs import read_study
from textcritic.report.matrices import next_section_shares
from textcritic.report.viewer import viewer_data
from textcritic.report.words import commonest_reasons

from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.report import make_figures, make_manifest, make_report, make_tables
from textcritic.report.charts import Mark, interval_chart, training_curves
from textcritic.report.manifest import git_revision
from textcritic.report.names import Names
from textcritic.report.style import save
from textcritic.report.svg import inline_svg

NASTY = "</script><script>alert(1)</script> <b>bold</b> & \u2028 {{ 7 * 7 }}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("report")
    study = build_study(root / "results", documents=50, generators=("gpt2-demo",), resamples=200)
    path = study["sources"][0]["articles"]
    articles = read_articles(path)
    nasty = [Article(a.id, None, tuple(Section(s.title, NASTY) for s in a.sections), a.source) for a in articles]
    write_articles(path, nasty)
    tables = make_tables(study, root / "tables")
    figures = make_figures(study, root / "tables", root / "figures")
    make_manifest(study, [*tables, *figures], root / "manifest.json", {"name": "demo"}, ["snakemake --cores 2"])
    make_report(study, root / "tables", root / "figures", root / "manifest.json", root / "report.html")
    return root, study, (root / "report.html").read_text(encoding="utf-8")


def test_page_parses_and_loads_nothing_from_elsewhere(made):
    root, _, text = made
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("h1") == 1
    assert not [target for target in page.loads if re.match(r"(https?:)?//|data:|file:", target)]
    assert not re.search(r"url\(\s*['\"]?(https?:)?//|@import", text)
    assert len(page.ids) == len(set(page.ids))
    anchors = {target[1:] for target in page.loads if target.startswith("#")}
    assert anchors <= set(page.ids)
    for target in page.loads:
        assert target.startswith("#") or (root / target).is_file()


def test_page_is_accessible(made):
    page = Page(made[2])
    drawings = [attrs for tag, attrs in page.tags if tag == "svg"]
    assert drawings
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 20 for attrs in drawings)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption")
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_article_texts_cannot_break_out(made):
    text = made[2]
    page = Page(text)
    assert "<script>alert(1)" not in text
    assert [tag for tag, _ in page.tags].count("script") == 2
    viewer = json.loads(re.search(r'id="articles-data">(.*?)</script>', text, re.S).group(1))
    sample = next(s for s in viewer["sources"] if s["label"] == "small GPT-2, with titles")
    assert sample["articles"][0]["sections"][0]["text"] == NASTY
    assert "49 * 49" not in text


def test_viewer_carries_the_worst_articles_and_their_steps(made):
    _, study, _ = made
    source = viewer_data(read_study(study))[1]
    assert len(source["articles"]) == study["report_articles"]
    ranks = {article["rank"] for article in source["articles"]}
    assert ranks >= set(range(1, 7))
    for article in source["articles"]:
        assert len(article["steps"]) == len(article["sections"]) + 1
        assert article["errors"] == sum(p < 0.05 for p in article["steps"])
        assert article["ppl"] == pytest.approx(np.exp(-np.mean(np.log(article["steps"]))), rel=0.02)


def test_viewer_refuses_articles_of_another_sample(made):
    _, study, _ = made
    mixed = [{**study["sources"][1], "articles": study["corpora"][0]["validation"]}]
    with pytest.raises(TextcriticError, match="they belong to different samples"):
        viewer_data(read_study({**study, "sources": mixed}))


def test_figures_come_as_svg_and_pdf_with_text(made):
    root = made[0]
    figures = root / "figures"
    names = {path.name for path in figures.iterdir()}
    assert {"latent-ppl.svg", "latent-ppl.pdf", "latent-ppl.narrow.svg", "training-curves.pdf"} <= names
    assert sum(name.startswith("transition-errors.") and name.endswith(".pdf") for name in names) == 3
    assert sum(name.startswith("transition-matrices.") and name.endswith(".pdf") for name in names) == 2
    chart = (figures / "latent-ppl.svg").read_text()
    assert "small GPT-2, without titles" in chart
    sizes = [
        float(size) for path in figures.glob("*.svg") for size in re.findall(r"font-size: ([\d.]+)px", path.read_text())
    ]
    assert min(sizes) >= 9
    assert not re.search(r">[^<]*\d\.\d{4,}[^<]*</text>", chart)


def test_inlined_figures_keep_their_words(tmp_path):
    marks = [Mark("real text", (2.0,), ((1.9, 2.1),)), Mark("g", (2.6,), ((2.2, 3.1),), "p = 0.002", "w-title")]
    save(interval_chart({"docstrings": marks}), tmp_path / "chart", ("svg",))
    text = inline_svg(tmp_path / "chart.svg", "key", 'A "chart" & more')
    assert ">p = 0.002</text>" in text
    assert 'aria-label="A &quot;chart&quot; &amp; more"' in text
    assert "var(--ink)" in text
    assert "#1c2330" not in text
    assert not re.search(r'="[^"]*\d\.\d{3}[^"]*"', text)
    assert all(name.startswith("key-") for name in re.findall(r'\bid="([^"]*)"', text))


def test_figures_are_the_same_each_time(tmp_path):
    for name in ("a", "b"):
        save(transition_graph(["x", "y"], [Edge("x", "y", 0.1, 0.01), Edge("y", "y", 0.2, 0.02)]), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_graph_without_errors_says_so(tmp_path):
    save(transition_graph(["x", "y"], []), tmp_path / "graph", ("svg",))
    assert "no unlikely step" in (tmp_path / "graph.svg").read_text()


def test_chart_of_infinite_values(tmp_path):
    real = Mark("real text", (2.0,), ((1.9, 2.1),))
    sample = Mark("ngram-3", (np.inf,), ((np.inf, np.inf),), "", "w-title")
    save(interval_chart({"docstrings": [real, sample]}), tmp_path / "chart", ("svg",))
    assert "∞" in (tmp_path / "chart.svg").read_text()


def test_long_labels_of_a_narrow_chart_have_two_lines(tmp_path):
    label = "trigram, interpolated, without titles"
    sample = Mark(label, (123.0,), ((106.0, 143.0),), "p < 0.001", "wo-title")
    for name, width in (("wide", 6.4), ("narrow", 3.7)):
        save(interval_chart({"docstrings": [sample]}, width), tmp_path / name, ("svg",))
    assert f">{label}<" in (tmp_path / "wide.svg").read_text()
    narrow = (tmp_path / "narrow.svg").read_text()
    assert ">trigram, interpolated,<" in narrow
    assert ">without titles<" in narrow


def test_long_training_curves_are_drawn_as_means():
    curve = [{"step": step, "train_loss": float(step % 2)} for step in range(1000)]
    curve[-1]["validation_loss"] = 0.5
    axes = training_curves({"g": curve}).axes[0]
    training, validation = (np.array(line.get_xydata()) for line in axes.get_lines())
    assert len(training) == 112
    assert training[:2].ravel().tolist() == pytest.approx([4, 4 / 9, 13, 5 / 9])
    assert validation.tolist() == [[999, 0.5]]


def test_next_section_shares():
    counts = np.array([[4, 0, 0], [0, 3, 1], [0, 0, 0]])
    shares = next_section_shares(counts, ["x", "y"], ["y", "x"])
    assert shares[0].tolist() == [0, 1, 0]
    assert np.isnan(shares[1]).all()
    assert shares[2].tolist() == [0.75, 0, 0.25]


def _rows(ppl, p, low=None, high=None, source="sample"):
    real = {"corpus": "c", "source": "data-inferred", "setting": "", "generator": "data", "decoding": "", "seed": pd.NA}
    real |= {"latent_ppl": 2.0, "ci_low": 1.9, "ci_high": 2.1, "p_value": None, "documents": 50}
    sample = {"corpus": "c", "source": "sample", "setting": "w-title", "generator": "g", "decoding": "d", "seed": 1}
    sample |= {
        "latent_ppl": ppl,
        "ci_low": low or ppl - 0.2,
        "ci_high": high or ppl + 0.2,
        "p_value": p,
        "documents": 50,
    }
    common = {"rejected": 0, "rejected_share": 0.0, "infinite_because": None, "ppl_body": None, "ppl_unit": None}
    return pd.DataFrame([real | common, sample | common])


NO_TITLES = pd.DataFrame(
    columns=["corpus", "generator", "decoding", "seed", "with_titles", "without_titles", "p_value"]
)


NAMES = Names({"g": "the model"}, frozenset(), frozenset(), several_corpora=False, several_settings=True)


@pytest.mark.parametrize(
    ("ppl", "p", "headline", "words"),
    [
        (2.1, 0.21, "cannot be told from", "within what chance explains (p = 0.21)"),
        (2.2, 0.03, "less like real text", "the two intervals overlap, the test still tells them apart"),
        (3.0, 0.0001, "less like real text", "50% above real text (p < 0.001)"),
        (1.5, 0.0001, "more strictly", "Lower is not better"),
        (5.0, 0.0001, "less like real text", "2.5 times that of real text"),
    ],
)
def test_findings_say_what_the_numbers_allow(ppl, p, headline, words):
    found = findings(_rows(ppl, p), NO_TITLES, NAMES)
    assert headline in found.headline
    assert any(words in point for _, point in found.points)


def test_manifest(made, tmp_path):
    root, study, _ = made
    manifest = read_json(root / "manifest.json")
    assert manifest["seeds"] == [1]
    assert manifest["commands"] == ["snakemake --cores 2"]
    assert {"numpy", "matplotlib"} <= set(manifest["packages"])
    entry = next(entry for entry in manifest["artefacts"] if entry["path"].endswith("coherence.csv"))
    assert len(entry["sha256"]) == 64
    assert entry["bytes"] == (root / "tables" / "coherence.csv").stat().st_size
    assert git_revision(tmp_path) is None
    with pytest.raises(TextcriticError, match=r"gone\.csv: cannot be read for the manifest"):
        make_manifest(study, [tmp_path / "gone.csv"], tmp_path / "manifest.json")


def test_report_without_its_parts_says_what_to_make(made, tmp_path):
    root, study, _ = made
    with pytest.raises(TextcriticError, match=r"coherence\.csv: no such file; make the study's tables first"):
        make_report(study, tmp_path, root / "figures", root / "manifest.json", tmp_path / "report.html")
    with pytest.raises(TextcriticError, match=r"latent-ppl\.svg: no such file; make the study's figures first"):
        make_report(study, root / "tables", tmp_path, root / "manifest.json", tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_report_of_samples_from_a_file(made, tmp_path):
    _, study, _ = made
    given = {key: value for key, value in study["sources"][1].items() if key not in ("perplexity", "training")}
    given |= {"decoding": "given", "from_file": True}
    data = {key: value for key, value in study["corpora"][0].items() if key != "accuracy"}
    alone = {**study, "sources": [given], "corpora": [data], "report_articles": 3}
    tables = make_tables(alone, tmp_path / "tables")
    make_figures(alone, tmp_path / "tables", tmp_path / "figures")
    make_manifest(alone, tables, tmp_path / "manifest.json")
    make_report(alone, tmp_path / "tables", tmp_path / "figures", tmp_path / "manifest.json", tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "How training went" not in page.data["summary"]
    assert "The model" in page.data["h2"]
    assert not (tmp_path / "figures" / "training-curves.svg").exists()


def test_findings_with_seeds_that_disagree():
    rows = pd.concat([_rows(2.1, 0.21), _rows(2.6, 0.01).iloc[1:].assign(seed=2)], ignore_index=True)
    found = findings(rows, NO_TITLES, NAMES)
    assert "cannot be told from" in found.headline
    assert any("tells 1 of its 2 seeds apart (largest p = 0.21)" in point for _, point in found.points)


def test_findings_without_a_yardstick_say_so():
    rows = _rows(2.6, None)
    rows.loc[0, ["latent_ppl", "ci_low", "ci_high"]] = [np.inf, np.nan, np.nan]
    rows["infinite_because"] = ["3 steps never occur in the training text", None]
    found = findings(rows, NO_TITLES, NAMES)
    said = " ".join(words for _, words in found.points)
    assert found.headline == "The model's section order could not be compared with that of real text."
    assert "Real text has an infinite Latent PPL: 3 steps never occur in the training text." in said
    assert "Latent PPL 2.60 (2.40–2.80); that of real text is infinite" in said
    assert "—" not in said
    assert "below" not in said
    without = findings(_rows(2.6, None), NO_TITLES, NAMES)
    assert "30% above real text; there is no p-value" in " ".join(words for _, words in without.points)


def test_perplexities_in_two_units_are_not_compared():
    rows = pd.concat([_rows(2.1, 0.2), _rows(2.6, 0.01).iloc[1:].assign(setting="wo-title")], ignore_index=True)
    rows["ppl_body"] = [np.nan, 20.0, 30.0]
    titles = NO_TITLES.copy()
    titles.loc[0] = {"corpus": "c", "generator": "g", "decoding": "d", "seed": 1, "with_titles": 2.1} | {
        "without_titles": 2.6,
        "p_value": 0.001,
    }
    for units, told in ((["tokens", "tokens"], True), (["tokens", "words"], False)):
        rows["ppl_unit"] = [None, *units]
        said = " ".join(words for _, words in findings(rows, titles, NAMES).points)
        assert "the training text of the model raises its Latent PPL" in said
        assert ("perplexity on body text rises by 50%" in said) is told


def test_training_curves_of_two_corpora_and_of_decodings(made, tmp_path):
    _, study, _ = made
    wide = with_second_corpus_and_decodings(tmp_path, study)
    first = study["sources"][0]
    wide["sources"] = [*wide["sources"], {**first, "decoding": "top-k-50"}]
    assert list(study_curves(read_study(wide))) == [
        f"{corpus}: small GPT-2, {setting} titles"
        for corpus in ("docstrings", "recipes")
        for setting in ("with", "without")
    ]


def test_of_many_reasons_the_commonest_are_shown():
    reasons = [f"unknown title: {letter}: 1" for letter in "abcdefghij"]
    assert commonest_reasons("; ".join(reasons[:9])) == "; ".join(reasons[:9])
    assert commonest_reasons("; ".join(reasons)) == "; ".join([*reasons[:8], "and 2 more reasons"])
    assert commonest_reasons("") == ""
