import re

import pytest
from report_html import Page
from report_study import build_study
from report_topics import BROKEN, GENERATORS, NASTY, build_topics

from textcritic.cli import main
from textcritic.files import read_json
from textcritic.report import (
    make_figures,
    make_manifest,
    make_paper_figure,
    make_paper_table,
    make_report,
    make_tables,
    make_topic_figures,
    make_topic_tables,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("demo")
    study = build_study(root / "results", documents=40, generators=("gpt2-demo",), resamples=50)
    study["topics"] = build_topics(root / "results", generators=(*GENERATORS, BROKEN), seeds=(3,))["topics"]
    study["tables"] = [{"name": "table9", "kind": "topics", "caption": "Latent NLL"}]
    tables = [*make_tables(study, root / "tables"), *make_topic_tables(study, root / "tables")]
    tables += make_paper_table({**study, "part": study["tables"][0]}, root / "tables")
    figures = make_figures(study, root / "tables", root / "figures")
    figures += make_topic_figures(study, root / "tables", root / "topic-figures")
    figures += make_paper_figure({**study, "part": {"name": "figure6", "kind": "covariances"}}, root / "figure6")
    make_manifest(study, [*tables, *figures], root / "manifest.json", {"name": "demo"}, ["snakemake --cores 2"])
    arguments = (root / "tables", root / "figures", root / "manifest.json", root / "report.html")
    make_report(study, *arguments, topic_figures=root / "topic-figures", part_figures=[root / "figure6"])
    return root, study, (root / "report.html").read_text(encoding="utf-8")


def section(text):
    return text[text.index('id="topics"') : text.index('id="definitions"')]


def test_page_with_topics_parses_and_loads_nothing_from_elsewhere(made):
    root, _, text = made
    page = Page(text)
    images = {attrs["xlink:href"] for tag, attrs in page.tags if tag == "image"}
    assert images
    assert all(image.startswith("data:image/png;base64,") for image in images)
    others = set(page.loads) - images
    assert not [target for target in others if re.match(r"(https?:)?//|data:|file:", target)]
    assert len(page.ids) == len(set(page.ids))
    assert {target[1:] for target in others if target.startswith("#")} <= set(page.ids)
    assert all(target.startswith("#") or (root / target).is_file() for target in others)
    assert {"topics", "table-topics", "table-topic-words", "table-table9"} <= set(page.ids)


def test_the_section_has_its_words_shares_and_facts(made):
    _, _, text = made
    found = section(text)
    assert "64 words, 7,200 tokens of the training text." in found
    assert "8 topics; 180 documents, 2 of them without a word of the vocabulary; 3 iterations of EM; bound" in found
    for heading in ("Which topics go together", "The topics", "The least usual documents", "What could not be scored"):
        assert f"<h3>{heading}</h3>" in found
    assert "Grey: a generator that has learnt from shuffled words." in found
    assert "Samples of\nwhich nothing could be scored are not shown." in found
    assert not re.search(r">[^<]*\d\.\d{5,}[^<]*<", re.sub(r"<svg.*?</svg>", "", found, flags=re.S))


def test_the_summary_the_contents_and_the_definitions_speak_of_topics(made):
    root, _, text = made
    assert '<a href="#topics">Topics</a>' in text
    assert "<strong>Topics of small GPT-2:</strong> Latent NLL" in text
    assert "<dt>Correlated topic model</dt>" in text
    assert "<dt>Shuffled words</dt>" in text
    assert all(f'href="tables/{name}.csv"' in text for name in ("topics", "topic-words", "topic-outliers", "table9"))
    assert 'href="topic-figures/topic-covariances.docstrings.pdf"' in text
    assert '<a href="figure6/covariances.docstrings.pdf">Figure 6: covariances.docstrings.pdf</a>' in text
    assert read_json(root / "manifest.json")["seeds"] == [1, 3]


def test_every_source_with_documents_has_outliers_to_read(made):
    _, _, text = made
    page = Page(text)
    panes = [attrs["data-key"] for _, attrs in page.tags if attrs.get("data-pane") == "outliers"]
    assert len(panes) == len(set(panes)) == 4
    shown = [attrs["data-key"] for _, attrs in page.tags if attrs.get("data-pane") == "outlier-1"]
    assert len(shown) == 5
    assert all(f'<option value="{key}">' in text for key in (*panes, *shown))
    assert "Stronger than usual: " in text


def test_words_of_documents_and_topics_are_text(made):
    _, _, text = made
    assert any("<" in word for word in NASTY)
    assert "<b>bold" not in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in section(text)
    assert "{{x}}" in section(text)


def test_a_report_without_topics_has_no_section_of_them(made, tmp_path):
    root, study, _ = made
    plain = {**study, "topics": None, "tables": []}
    make_report(plain, root / "tables", root / "figures", root / "manifest.json", tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "topics" not in page.ids
    assert not any("topic" in target for target in page.loads)
    assert "topic model" not in text


def test_many_topics_have_to_be_opened(made, monkeypatch, tmp_path):
    root, study, text = made
    summary = "<summary>Every topic, its words, and its shares</summary>"
    assert summary not in text
    monkeypatch.setattr("textcritic.report.topics.page.MOST_OPEN", 7)
    arguments = (root / "tables", root / "figures", root / "manifest.json", tmp_path / "report.html")
    make_report(study, *arguments, topic_figures=root / "topic-figures")
    again = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert summary in again
    Page(again)


def test_the_terminal_shows_topics_too(made, capsys):
    root, _, _ = made
    assert main(["show", str(root)]) == 0
    out = capsys.readouterr().out
    block = out[out.index("Latent NLL of topics on docstrings") :].splitlines()
    assert block[2].split()[:3] == ["source", "Latent", "NLL"]
    assert block[3].startswith("real text ")
    broken = next(line for line in block if line.startswith("untrained model"))
    assert broken.split()[2:] == ["—", "0", "63"]
    assert "Covariances apart: as a share of the size of real text's, less\nwhat finite samples add." in out
