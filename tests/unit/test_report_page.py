"""The frame of a report: contents, findings and definitions of several sections in one page."""

import json
import re
from itertools import pairwise

import pytest
from experiments.topics.tiny import build_topics
from markupsafe import Markup
from report_html import Page
from report_jobs import SUMMARY, TITLE, Made, description, make_study, report_of

from textcritic.errors import TextcriticError
from textcritic.measures.score import Number, Score
from textcritic.report import make_manifest
from textcritic.report.section import Finding, Place, Section, write_section
from textcritic.report.sheet import Cell, Sheet


@pytest.fixture
def study(tmp_path):
    """The folder of a study with a manifest and no section yet."""
    make_manifest(description(["one", "two"], [3, 1, 3]), [], tmp_path / "manifest.json", ["snakemake --cores 2"])
    return tmp_path


def write(study, name, **section):
    place = Place(name, study, study / name / "tables", study / name / "figures")
    said = {"title": "Same", "html": Markup('<p id="{}">Words.</p>').format(place.id("words"))} | section
    folder = study / name
    write_section(Section(**said), place, ["t"], [folder / "figures"], folder / "section.html", folder / "section.json")


def test_two_experiments_of_one_kind_stand_in_one_page(tmp_path):
    files = build_topics(tmp_path / "results", documents=20, generators=("gpt2-demo",), resamples=20)
    text = make_study(tmp_path, *(Made("topics", files, name=name) for name in ("topics-50", "topics-100")))
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert {"topics-50", "topics-100", "topics-50-table-topics", "topics-100-table-topics"} <= set(page.ids)
    assert '<a href="#topics-50">Topics (topics-50)</a>' in text
    assert '<details class="section" id="topics-100">\n<summary><h2>Topics (topics-100)</h2>' in text
    # What both define is defined once, and what both need of styles is there once.
    assert text.count("<dt>Correlated topic model</dt>") == 1
    assert {"topics-50-outliers-0-0", "topics-100-outliers-0-0"} <= set(page.ids)
    groups = [attrs["data-group"] for tag, attrs in page.tags if tag == "select" and "data-group" in attrs]
    assert len(groups) == len(set(groups))
    images = {attrs["xlink:href"] for tag, attrs in page.tags if tag == "image"}
    for target in set(page.loads) - images:
        assert target[1:] in page.ids if target.startswith("#") else (tmp_path / target).is_file()
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_any_character_that_a_model_writes_may_stand_in_a_section(study):
    """A language model of bytes writes control characters too."""
    for name in ("one", "two"):
        write(study, name, html=Markup("<p>{}</p>").format(f"{name}: \0\x1b\x85 end"))
    text = report_of(study, "one", "two")
    assert [f"<p>{name}: \0\x1b\x85 end</p>" in text for name in ("one", "two")] == [True, True]


def test_headline_findings_and_definitions_of_all_sections(study):
    write(study, "one", findings=(Finding("", "First."),), definitions=[("Term", "As one says.")], script="let one;")
    write(
        study,
        "two",
        title="Other",
        headline="They differ.",
        html=Markup(
            '<details class="part" id="two-words" open><summary><h3>Its &amp; words</h3></summary>Words.</details>'
        ),
        question="What is it?",
        findings=(Finding("Lead", "Second, p = 0.02."),),
        definitions=[("Term", "As two says."), ("Word", "What it is.")],
        script="let one;",
        style=".two { color: red; }",
    )
    text = report_of(study, "one", "two")
    page = Page(text)
    assert page.data["h1"] == TITLE
    assert SUMMARY in text
    # The first experiment that has a headline gives it.
    assert '<h2 id="finding">They differ.</h2>' in text
    assert "<li>First.</li>" in text
    assert "<li><strong>Lead:</strong> Second, p\u00a0=\u00a00.02.</li>" in text
    assert text.count("<dt>Term</dt>") == 1
    assert "As one says." in text
    assert "As two says." not in text
    # The parts of a section are in the list of contents.
    assert '<li><a href="#two-words">Its &amp; words</a></li>' in text
    assert '<summary><h2>Other</h2><span class="lead">What is it?</span></summary>' in text
    assert text.count("let one;") == 1
    assert ".two { color: red; }" in text
    assert {"one", "one-words", "two", "two-words", "definitions", "provenance"} <= set(page.ids)
    skip, *contents = [target for target in page.loads if target.startswith("#")]
    assert skip == "#main"
    assert "main" in page.ids
    assert contents[:6] == ["#finding", "#one", "#two", "#two-words", "#definitions", "#provenance"]
    # Without scores the findings stand on the front page, each with a link to its section.
    assert sorted(contents[6:]) == ["#one", "#two"]
    assert '<li><a href="#two">Other, Lead</a>: Second, p\u00a0=\u00a00.02.</li>' in text


def test_a_page_says_nothing_of_findings_that_no_section_has(study):
    write(study, "one")
    text = report_of(study, "one")
    assert 'id="finding"' not in text
    assert "#definitions" not in text
    write(study, "two", findings=(Finding("", "Only this."),))
    assert '<h2 id="finding">What was found</h2>' in report_of(study, "one", "two")


def test_provenance_comes_from_the_manifest(study):
    write(study, "one")
    text = report_of(study, "one")
    assert "<dt>Seeds</dt><dd>1, 3</dd>" in text
    assert '<pre tabindex="0"><code>snakemake --cores 2</code></pre>' in text
    assert json.dumps(TITLE)[1:-1] in text
    assert re.search(r"textcritic study demo, \d+ \w+ \d{4}", text)


def test_a_section_that_is_not_there_is_named(study):
    write(study, "one")
    with pytest.raises(TextcriticError, match=r"two.section\.json: "):
        report_of(study, "one", "two")
    (study / "one/section.html").unlink()
    with pytest.raises(TextcriticError, match=r"section\.html: no such file; make the section of one first"):
        report_of(study, "one")
    assert not (study / "report.html").exists()


def test_helpers_of_a_place(tmp_path):
    tables = tmp_path / "tables"
    tables.mkdir()
    place = Place("own", tmp_path, tables, tmp_path, {"table9": "nll", "table14": "outliers", "figure6": "nll"})
    assert place.id("wiki.w-title") == "own-wiki-w-title"
    assert place.numbered("nll", "words") == ["table9"]
    (tables / "nll.html").write_text('<div id="table-nll"></div>')
    assert place.table("nll") == '<div id="own-table-nll"></div>'
    with pytest.raises(TextcriticError, match=r"gone\.html: no such file; make the tables and figures"):
        place.table("gone")
    assert 'id="table-own-mine"' in place.sheet(Sheet("mine", "", [[Cell("a")]], [[Cell("b")]]))
    picker = place.picker("group", "A & B", [{"key": '"k"', "label": "<x>"}], stepped=True)
    assert 'data-group="own-group"' in picker
    assert "A &amp; B" in picker
    assert "&lt;x&gt;" in picker
    assert picker.count("<button") == 2
    entries = [{"key": key, "label": key} for key in "abc"]
    assert place.picker("group", "G", entries, start=1).count(" selected") == 1
    assert '<option value="b" selected>' in place.picker("group", "G", entries, start=1)
    (tmp_path / "bad.html.j2").write_text("{{ missing }}")
    with pytest.raises(Exception, match="'missing' is undefined"):
        place.render("bad.html.j2", {})


def test_a_score_that_leads_to_no_part_of_the_section_is_refused(study):
    """The link of the front page would lead nowhere."""
    score = Score(corpus="docs", label="real text", measure="Words", section="one-values", number=Number(1.0))
    with pytest.raises(TextcriticError, match=r"one: Measure 'Words': section: 'values' is no part of the section"):
        write(study, "one", card=(score,))
    write(study, "one", card=(score,), html=Markup('<p id="one-values">1</p>'))
