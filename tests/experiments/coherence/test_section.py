"""The section of the report on coherence, in a page of its own."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from report_html import Page
from report_jobs import Made, make_study

from experiments.coherence.tiny import build_coherence
from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.section import viewer_data
from textcritic.files import read_json

NASTY = "</script><script>alert(1)</script> <b>bold</b> & \u2028 {{ 7 * 7 }}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a study, the files of its only experiment, and the text of its report."""
    root = tmp_path_factory.mktemp("report")
    files = build_coherence(root / "results", documents=50, generators=("gpt2-demo",), resamples=200)
    path = files.samples[0].articles
    articles = read_articles(path)
    nasty = [Article(a.id, None, tuple(Section(s.title, NASTY) for s in a.sections), a.source) for a in articles]
    write_articles(path, nasty)
    return root / "study", files, make_study(root / "study", Made("coherence", files))


def test_page_parses_and_loads_nothing_from_elsewhere(made):
    study, _, text = made
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("h1") == 1
    assert not [target for target in page.loads if re.match(r"(https?:)?//|data:|file:", target)]
    assert not re.search(r"url\(\s*['\"]?(https?:)?//|@import", text)
    assert len(page.ids) == len(set(page.ids))
    anchors = {target[1:] for target in page.loads if target.startswith("#")}
    assert anchors <= set(page.ids)
    for target in page.loads:
        assert target.startswith("#") or (study / target).is_file()


def test_the_contents_name_every_part_of_the_section(made):
    page = Page(made[2])
    # What was found and where it fails come first, how it is measured last.
    found, how = (
        ["values", "errors", "repetitions", "articles", "matrices"],
        ["compared", "decomposition", "perplexity"],
    )
    shown = [*found, *how, "power", "audit", "rejected"]
    parts = [f"coherence-{name}" for name in shown]
    assert [name for name in page.ids if name in parts] == parts
    contents = ["finding", "coherence", *parts, "definitions", "provenance"]
    links = [target for target in page.loads if target.startswith("#")][1:]  # after that past the contents
    assert links[: len(contents)] == [f"#{name}" for name in contents]


def test_what_the_study_does_not_have_is_not_in_the_page(made):
    page = Page(made[2])
    assert "coherence-papers" not in page.ids
    assert "#coherence-papers" not in page.loads
    assert not {"process", "topics"} & set(page.ids)
    assert not any("topic" in target or "process" in target for target in page.loads)
    assert "Where the truth is known" not in made[2]
    assert "topic model" not in made[2]


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
    viewer = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.S).group(1))
    sample = next(s for s in viewer["sources"] if s["label"] == "small GPT-2, with titles")
    assert sample["articles"][0]["sections"][0]["text"] == NASTY
    assert "49 * 49" not in text


def test_viewer_carries_the_worst_articles_and_their_steps(made):
    _, files, _ = made
    source = viewer_data(files)[1]
    assert len(source["articles"]) == files.report_articles
    ranks = {article["rank"] for article in source["articles"]}
    assert ranks >= set(range(1, 7))
    for article in source["articles"]:
        assert len(article["steps"]) == len(article["sections"]) + 1
        assert article["errors"] == sum(p < 0.05 for p in article["steps"])
        assert article["ppl"] == pytest.approx(np.exp(-np.mean(np.log(article["steps"]))), rel=0.02)


def test_viewer_refuses_articles_of_another_sample(made):
    _, files, _ = made
    mixed = replace(files.samples[1], articles=files.data[0].train)
    with pytest.raises(TextcriticError, match="they belong to different samples"):
        viewer_data(replace(files, samples=(mixed,)))


def test_figures_come_as_svg_and_pdf_with_text(made):
    figures = made[0] / "coherence/figures"
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


def test_report_of_samples_from_a_file(made, tmp_path):
    _, files, _ = made
    given = replace(files.samples[1], perplexity=None, training=None, decoding="given", from_file=True)
    data = replace(files.data[0], accuracy=None)
    alone = replace(files, samples=(given,), data=(data,), report_articles=3)
    page = Page(make_study(tmp_path, Made("coherence", alone)))
    assert "How training went" not in page.data["summary"]
    assert "small GPT-2 scores higher than real text" in page.data["h2"]
    assert "coherence-perplexity" not in page.ids
    assert "#coherence-perplexity" not in page.loads
    assert not (tmp_path / "coherence/figures/training-curves.svg").exists()


def test_a_section_without_its_parts_says_what_to_make(made, tmp_path):
    _, files, _ = made
    experiment = Made("coherence", files)
    with pytest.raises(TextcriticError, match=r"coherence\.csv: no such file; make the tables of the experiment first"):
        experiment.section(tmp_path)
    (tmp_path / "coherence").mkdir()
    (tmp_path / "coherence/tables").symlink_to(made[0] / "coherence/tables")
    with pytest.raises(TextcriticError, match=r"latent-ppl\.svg: no such file; make the figures of the experiment"):
        experiment.section(tmp_path)
    assert not (tmp_path / "coherence/section.html").exists()


def test_its_lines_for_the_terminal(made):
    study, _, _ = made
    lines = read_json(study / "coherence/section.json")["lines"]
    (line,) = lines
    assert line.startswith("Perplexity on docstrings, text without titles: small GPT-2, with titles ")
    assert "; small GPT-2, without titles " in line
