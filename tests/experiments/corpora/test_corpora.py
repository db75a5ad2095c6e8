"""Statistics of corpora (Table 11), and what was left out of them."""

from pathlib import Path

import pytest
from report_html import Page
from report_jobs import Made, make_part, make_study

from experiments.coherence.papers import encyclopedia
from experiments.coherence.tiny import build_coherence
from experiments.corpora.tiny import tiny
from textcritic.errors import TextcriticError
from textcritic.experiments.corpora.files import CorporaFiles, Corpus
from textcritic.experiments.corpora.rows import commonest_titles, left_out_rows, statistics_rows
from textcritic.experiments.corpora.sheets import left_out_sheet, statistics_sheet
from textcritic.files import read_json, write_json
from textcritic.plan.experiment import Part
from textcritic.plan.project import Project
from textcritic.report.published import Published, read_published
from textcritic.report.tables import Material, read_rows

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "config/published/model-criticism/corpora.csv"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tiny(tmp_path_factory.mktemp("corpora"), documents=60)


def test_values_stand_beside_those_published(files):
    published = Published({("docstrings", "", "data", "", "articles_train"): 32350.0})
    rows = statistics_rows(Material(files, published))
    first = rows[rows["corpus"] == "docstrings"].set_index("metric")
    assert first.loc["articles_train", ["value", "published", "difference"]].tolist() == [360, 32350, 360 - 32350]
    assert first["published"].notna().sum() == 1
    assert "classifier_accuracy_percent" not in set(rows["metric"])
    sheet = statistics_sheet(rows)
    assert sheet.body[0][1].notes == ("published 32,350", "ours −31,990")
    assert sheet.body[0][2].notes == ()


def test_table_11_beside_the_papers_values(tmp_path):
    corpora = ("pubmed", "arxiv", "wiki", "wiki-short")
    for corpus in corpora:
        kind = encyclopedia() if corpus.startswith("wiki") else None
        build_coherence(tmp_path, documents=5, generators=(), corpus=corpus, kind=kind)
    data = tuple(Corpus(corpus=corpus, statistics=tmp_path / corpus / "statistics.json") for corpus in corpora)
    made = make_part("corpora", Part("table11", "statistics", "Of four"), CorporaFiles(data=data), tmp_path, PUBLISHED)
    assert [path.name for path in made] == ["table11.csv", "table11.tex", "table11.html"]
    rows = read_rows(tmp_path, "table11")
    assert rows["corpus"].unique().tolist() == list(corpora)
    types = rows[rows["metric"] == "section_types"]
    assert types["value"].tolist() == [8, 8, 96, 96]
    assert types["published"].tolist() == [27, 50, 96, 96]
    body = statistics_sheet(statistics_rows(Material(CorporaFiles(data=data), read_published(PUBLISHED)))).body[3]
    assert [(cell.text, *cell.notes) for cell in body[2:4]] == [
        ("8", "published 50", "ours −42"),
        ("96", "published 96", "ours ±0"),
    ]
    assert r"\caption{Table 11. Of four}" in (tmp_path / "table11.tex").read_text()


def test_what_is_left_out_is_counted_by_stage_and_reason_the_commonest_first(files, tmp_path):
    statistics = read_json(files.data[0].statistics)
    statistics |= {"skipped": {"disambiguation": 30, "redirect": 1200}, "rejected": {"too long": 1, "rare title": 2}}
    write_json(tmp_path / "statistics.json", statistics)
    rows = left_out_rows(Material(CorporaFiles(data=(Corpus(corpus="wiki", statistics=tmp_path / "statistics.json"),))))
    read, built = "when the text was read", "when the corpus was built"
    assert rows[["stage", "reason", "articles"]].values.tolist() == [
        [read, "redirect", 1200],
        [read, "disambiguation", 30],
        [built, "rare title", 2],
        [built, "too long", 1],
    ]
    sheet = left_out_sheet(rows)
    assert [cell.text for cell in sheet.body[0]] == ["wiki", read, "redirect", "1,200", "98%"]
    assert [cell.text for cell in sheet.body[1]][:2] == ["", ""]


def test_of_nothing_left_out_there_is_a_table_that_says_so(tmp_path):
    files = tiny(tmp_path, documents=5, empty=True)
    rows = left_out_rows(Material(files))
    assert set(rows["corpus"]) == {"recipes"}
    none = left_out_rows(Material(CorporaFiles(data=files.data[:1])))
    assert none.empty
    assert left_out_sheet(none).remarks == ["Nothing was left out."]


def test_titles_are_ranked_by_their_share_of_the_sections(files):
    shares = commonest_titles(files.data[0], 3)
    titles = read_json(files.data[0].statistics)["titles"]
    assert shares[0] == (max(titles, key=titles.get), pytest.approx(max(titles.values()) / sum(titles.values())))
    assert len(shares) == 3
    assert [share for _, share in shares] == sorted((share for _, share in shares), reverse=True)


def test_the_section_tells_the_unit_of_lengths_and_its_lines_the_numbers(files, tmp_path):
    statistics = read_json(files.data[1].statistics)
    write_json(tmp_path / "statistics.json", {**statistics, "length_unit": "gpt2"})
    other = Corpus(corpus="recipes", statistics=tmp_path / "statistics.json")
    text = make_study(tmp_path / "study", Made("corpora", CorporaFiles(data=(files.data[0], other))))
    page = Page(text)
    assert "docstrings: section lengths in words." in text
    assert "recipes: section lengths in tokens of gpt2." in text
    assert len(page.ids) == len(set(page.ids))
    assert {"corpora", "corpora-table-statistics", "corpora-table-left-out"} <= set(page.ids)
    lines = read_json(tmp_path / "study/corpora/section.json")["lines"]
    assert lines[0] == "Corpus docstrings: 360 train, 60 validation, 60 test; 1,515 articles left out"


def test_statistics_that_lack_a_number_are_refused(tmp_path):
    write_json(tmp_path / "statistics.json", {"splits": {}})
    files = CorporaFiles(data=(Corpus(corpus="wiki", statistics=tmp_path / "statistics.json"),))
    with pytest.raises(TextcriticError, match=r"statistics\.json: no 'train' in it; delete it and rerun its rule"):
        statistics_rows(Material(files, Published({})))


def test_it_reads_the_statistics_of_the_corpora_alone():
    project = Project({"studies": ["model-criticism"]}, ROOT, ROOT)
    (experiment,) = (e for e in project.studies["model-criticism"].experiments.values() if e.kind == "corpora")
    paths = [f"results/corpora/{corpus}/statistics.json" for corpus in ("pubmed", "arxiv", "wiki", "wiki-short")]
    assert experiment.files("table11").paths() == paths
