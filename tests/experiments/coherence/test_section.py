"""The section of the report on coherence, in a page of its own."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from markupsafe import escape
from report_html import Page
from report_jobs import Made, make_study

from experiments.coherence.tiny import build_coherence
from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.articles import reading
from textcritic.experiments.coherence.names import names_of
from textcritic.files import read_json
from textcritic.measures.scored import read_scores
from textcritic.report.tables import read_rows

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
    keys = {key: getattr(files.samples[0], key) for key in ("corpus", "generator", "setting", "seed", "draw")}
    files = replace(files, undrawn=tuple(keys | {"setting": s, "decoding": "costly"} for s in ("w-title", "wo-title")))
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


def test_a_costly_audit_that_is_off_is_said_with_the_key_that_turns_it_on(made):
    study, files, text = made
    (generator,) = {sample.label for sample in files.samples if sample.generator == files.undrawn[0]["generator"]}
    row = f'<tr class="left-out"><th scope="row">{generator}, decoding “costly”</th>'
    (table,) = study.glob("*/tables/audit.html")
    assert table.read_text().count(row) == text.count(row) == 1
    assert "costly" not in table.with_suffix(".csv").read_text()
    said = re.search(r"Some audits are off.*?</p>", text, re.S)[0]
    assert f"{generator}, decoding “costly” (" in said
    assert "--config audits=true" in said


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
    _, files, text = made
    page = Page(text)
    assert "<script>alert(1)" not in text
    assert [tag for tag, _ in page.tags].count("script") == 1
    documents = [document for document in reading(files, names_of(files), ()).shelves[1].documents if document.shown]
    sections = sum(len(document.shown["parts"]) - 1 for document in documents)
    assert text.count(f'<p class="text">{escape(NASTY)}</p>') >= sections > 50
    assert "49 * 49" not in text


def test_the_reader_lists_articles_from_the_worst_and_has_the_text_of_some(made):
    _, files, _ = made
    shelf = reading(files, names_of(files), ()).shelves[1]
    scores = {row["id"]: row for row in read_scores(files.samples[0].scores).to_pylist() if not row["rejected"]}
    ppl = [document.entries[0][1] for document in shelf.documents]
    assert ppl == sorted(ppl, reverse=True)
    assert ppl == pytest.approx(sorted((np.exp(np.mean(row["step_nll"])) for row in scores.values()), reverse=True))
    shown = [document for document in shelf.documents if document.shown]
    assert len(shown) == files.report_articles < len(shelf.documents) == len(scores)
    assert shelf.documents[:6] == shown[:6]
    assert shelf.note == f"{len(scores)} articles scored, {files.report_articles} to read here."
    for document in shown:
        steps = np.exp(-np.array(scores[document.name or document.title]["step_nll"]))
        parts = document.shown["parts"]
        assert [part["step"]["unlikely"] for part in parts] == [step < 0.01 for step in steps]
        assert document.entries[1] == (str(len(steps)), len(steps))
        assert document.entries[2].startswith(str(sum(steps < 0.01)))
        assert [part["section"] is None for part in parts] == [False] * (len(steps) - 1) + [True]


def test_readers_and_graphs_open_with_the_sample_that_is_farthest_from_real_text(made):
    study, _, text = made
    rows = read_rows(study / "coherence/tables", "coherence")
    real = rows.loc[rows["source"] == "data-inferred", "latent_ppl"].iloc[0]
    samples = rows[rows["source"] == "sample"]
    worst = samples.loc[np.log(samples["latent_ppl"] / real).abs().idxmax()]
    name = f"small GPT-2, {'with' if worst['setting'] == 'w-title' else 'without'} titles"
    assert f"<option selected>{name}</option>" in text


def test_one_threshold_says_what_is_unlikely(made):
    text = made[2]
    assert "P &lt; 0.01 under the critic" in text
    assert "below 1%, are marked red" in text
    assert "5%" not in re.search(r'id="coherence-errors".*?<figure', text, re.S)[0]


def test_the_reader_refuses_articles_of_another_sample(made):
    _, files, _ = made
    mixed = replace(files, samples=(replace(files.samples[1], articles=files.data[0].train),))
    with pytest.raises(TextcriticError, match="they belong to different samples"):
        reading(mixed, names_of(mixed), ())


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
