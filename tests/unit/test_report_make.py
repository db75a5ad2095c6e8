"""What a job is asked for, and how its recipe is found."""

import json

import pytest
from experiments.corpora.tiny import tiny
from report_jobs import Made, make_part

from textcritic.errors import TextcriticError
from textcritic.plan.experiment import Part
from textcritic.report import make_tables
from textcritic.report.make import Request, Rows


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    return Made("corpora", tiny(tmp_path_factory.mktemp("corpora"), documents=5), name="sizes")


def test_a_request_says_what_to_make_of_which_files(corpora):
    wanted = Request.read(corpora.request())
    assert (wanted.experiment, wanted.tables, wanted.part, wanted.parts) == (
        "sizes",
        ("statistics", "left-out", "shared-text", "extraction-audit"),
        None,
        {},
    )
    assert wanted.files == corpora.files
    part = Part("table11", "statistics", "Sizes", corpora=("docstrings",))
    numbered = Made("corpora", corpora.files, {part: corpora.files})
    assert Request.read(numbered.request(part)).part == Part("table11", "statistics", "Sizes")
    assert Request.read(numbered.request(section=True)).parts == {"table11": "statistics"}


def test_a_request_is_canonical(corpora):
    texts = corpora.request()
    assert texts == corpora.request()
    assert all(text == json.dumps(json.loads(text), sort_keys=True) for text in texts.values())


def test_a_file_that_is_missing_is_named_before_anything_is_made(corpora, tmp_path):
    path = str(corpora.files.data[0].statistics)
    request = corpora.request()
    request["files"] = request["files"].replace(path, "nowhere/statistics.json")
    with pytest.raises(TextcriticError, match=r"^nowhere/statistics\.json: no such file; run the rule that makes it$"):
        make_tables(request, tmp_path / "tables")
    assert not (tmp_path / "tables").exists()


def test_a_package_that_is_not_there_is_one_clear_line(corpora, tmp_path):
    request = corpora.request()
    request["job"] = request["job"].replace("textcritic.experiments.corpora", "nobodys_kind")
    with pytest.raises(TextcriticError, match="no module 'nobodys_kind'; see experiment_packages"):
        make_tables(request, tmp_path)


def test_a_numbered_table_has_its_number_and_caption(corpora, tmp_path):
    make_part("corpora", Part("table11", "statistics", "50% & more"), corpora.files, tmp_path)
    assert r"\caption{Table 11. 50\% \& more}" in (tmp_path / "table11.tex").read_text()
    assert 'id="table-table11"' in (tmp_path / "table11.html").read_text()


def test_rows_are_read_when_asked_for_and_once(corpora, tmp_path):
    corpora.tables(tmp_path)
    rows = Rows(Request.read(corpora.request()), tmp_path)
    assert not rows
    # Columns of text have empty text, all others have no number, where a cell is empty.
    assert rows["left-out"]["stage"].tolist() == ["when the corpus was built"] * 4
    assert rows["statistics"]["published"].isna().all()
    (tmp_path / "statistics.csv").unlink()
    assert len(rows["statistics"])
    with pytest.raises(TextcriticError, match=r"nothing\.csv: no such file; make the tables of the experiment first"):
        rows["nothing"]


def test_a_table_of_the_plan_without_a_recipe_is_named_with_those_there_are(corpora, tmp_path):
    request = corpora.request()
    request["job"] = request["job"].replace("left-out", "leftout")
    with pytest.raises(TextcriticError, match=r"tables: TABLES has no 'leftout', .*; it has statistics, left-out, "):
        make_tables(request, tmp_path)
