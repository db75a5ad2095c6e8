"""The section of the report on topics, beside one on a process."""

import re

import pytest
from report_html import Page
from report_jobs import Made, make_study, report_of

from experiments.process.tiny import tiny as tiny_process
from experiments.topics.tiny import BROKEN, GENERATORS, NASTY, build_topics
from textcritic.cli import main
from textcritic.files import read_json
from textcritic.plan.experiment import Part


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a study, its topics, and the text of its report."""
    root = tmp_path_factory.mktemp("demo")
    process = tiny_process(root / "results")
    files = build_topics(root / "results", generators=(*GENERATORS, BROKEN), seeds=(3,))
    parts = {Part("table9", "nll", "Latent NLL"): files, Part("figure6", "covariances"): files}
    topics = Made("topics", files, parts)
    return root, topics, make_study(root, Made("process", process), topics)


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
    assert {"topics", "topics-table-topics", "topics-table-topic-words", "topics-table-table9"} <= set(page.ids)


def test_the_section_has_its_words_shares_and_facts(made):
    _, _, text = made
    found = section(text)
    assert "64 words, 7,200 tokens of the training text." in found
    assert "8 topics; 180 documents, 2 of them without a word of the vocabulary; 3 iterations of EM; bound" in found
    for heading in ("Which topics go together", "The topics", "The least usual documents", "What could not be scored"):
        assert f"<h3>{heading}</h3>" in found
    assert "the higher it is, the less usual" in found
    assert "Grey: a generator that has learnt from shuffled words." in found
    assert "Samples without\na scored document are not shown." in found
    assert not re.search(r">[^<]*\d\.\d{5,}[^<]*<", re.sub(r"<svg.*?</svg>", "", found, flags=re.S))


def test_the_summary_the_contents_and_the_definitions_speak_of_topics(made):
    root, _, text = made
    assert '<a href="#topics">Topics</a>' in text
    assert "<strong>Latent NLL minus real text" in text
    assert "<dt>Correlated topic model</dt>" in text
    assert "<dt>Shuffled words</dt>" in text
    names = ("topics", "topic-words", "topic-outliers", "table9")
    assert all(f'href="topics/tables/{name}.csv"' in text for name in names)
    assert 'href="topics/figures/topic-covariances.docstrings.pdf"' in text
    assert '<a href="topics/figure6/covariances.docstrings.pdf">Figure 6: covariances.docstrings.pdf</a>' in text
    assert read_json(root / "manifest.json")["seeds"] == [1, 3]


def test_every_source_with_documents_has_outliers_to_read(made):
    _, _, text = made
    page = Page(text)
    assert [attrs.get("class") for _, attrs in page.tags].count("shelf") == 4
    shown = [attrs["id"] for tag, attrs in page.tags if tag == "article"]
    assert shown == [f"topics-outliers-{source}-{n}" for source in range(4) for n in range(5)]
    assert all(f'<a href="#{name}">' in text for name in shown)
    assert "Stronger than usual: " in text


def test_words_of_documents_and_topics_are_text(made):
    _, _, text = made
    assert any("<" in word for word in NASTY)
    assert "<b>bold" not in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in section(text)
    assert "{{x}}" in section(text)


def test_the_terminal_shows_topics_too(made, capsys):
    root, _, _ = made
    assert main(["show", str(root)]) == 0
    out = capsys.readouterr().out
    block = out[out.index("docstrings ") :].splitlines()
    assert block[0].split() == ["docstrings", "Topics"]
    heads = [word for line in block[1:4] for word in line.split()]
    measures = "Latent NLL minus real text's Distance of topic covariances"
    assert sorted(heads[:9]) == sorted(measures.split())
    assert any(line.startswith("real text ") for line in block[2:4])
    broken = next(line for line in block if line.startswith("untrained model"))
    assert broken.split()[2:] == ["—*", "—*"]
    assert "at most 100% of a sample left out." in " ".join(out.split())  # wherever the line is broken


def test_many_topics_have_to_be_opened(made, monkeypatch):
    root, topics, text = made
    summary = "<summary>Every topic, its words, and its shares</summary>"
    assert summary not in text
    monkeypatch.setattr("textcritic.experiments.topics.section.MOST_OPEN", 7)
    topics.section(root)
    again = report_of(root, "topics")
    assert summary in again
    Page(again)


def section(text):
    return text[text.index('id="topics"') : text.index('id="definitions"')]
