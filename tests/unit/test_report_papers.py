import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_html import Page
from report_paper import encyclopedia, part_of, with_tables
from report_study import build_study
from textcritic.report.coherence_sheets import coherence_sheet
from textcritic.report.findings import findings
from textcritic.report.inputs import read_study
from textcritic.report.matrices import transition_heatmaps
from textcritic.report.rows import coherence_rows
from textcritic.study_files import StudyFiles

from textcritic.errors import TextcriticError
from textcritic.plan.paths import Paths
from textcritic.plan.project import Project
from textcritic.plan.sources import check_study
from textcritic.report import make_error_graphs, make_figures, make_manifest, make_paper_table, make_report, make_tables
from textcritic.report.names import Names
from textcritic.report.published import APPENDIX, read_published
from textcritic.report.style import save
from textcritic.report.tables import read_rows

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "config" / "published" / "model-criticism.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return with_tables(tmp_path_factory.mktemp("study"), resamples=50, documents=60)


def cells(html):
    """The body of a table: of each row its cells, of each cell its text and the lines under it."""
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return [[(cell.split("<small>")[0], *re.findall(r"<small>(.*?)</small>", cell)) for cell in row] for row in found]


def test_table_2_has_the_papers_shape_and_every_cell_what_it_needs(study, tmp_path):
    part = part_of(study, "table2", ("pubmed", "arxiv", "wiki"), ("gpt2-small", "gpt-neo-125m"))
    made = make_paper_table(part, tmp_path, PUBLISHED)
    assert [path.name for path in made] == ["table2.csv", "table2.tex", "table2.html"]
    html = (tmp_path / "table2.html").read_text()
    heads = re.findall(r"<thead>(.*?)</thead>", html, re.S)[0]
    assert re.findall(r'colspan="2" class="centre">(\w+)<', heads) == ["pubmed", "arxiv", "wiki"]
    body = cells(html)
    assert [(row[0][0], row[1][0], len(row)) for row in body] == [
        ("PPL", "GPT-2 small (LM1)", 8),
        ("", "GPT-Neo 125M (LM2)", 8),
        ("Latent PPL", "real text", 5),
        ("", "real text, gold titles", 5),
        ("", "GPT-2 small (LM1)", 8),
        ("", "GPT-Neo 125M (LM2)", 8),
    ]
    rows = read_rows(tmp_path, "table2")
    row = rows[(rows["corpus"] == "wiki") & (rows["setting"] == "wo-title") & (rows["generator"] == "gpt-neo-125m")]
    ours = row.iloc[0]
    assert (ours["published"], ours["ppl_published"]) == (10.22, 16.86)
    assert ours["difference"] == pytest.approx(ours["latent_ppl"] - 10.22)
    assert body[5][7] == (
        f"{ours['latent_ppl']:.1f}",
        f"{ours['ci_low']:.1f}–{ours['ci_high']:.1f}",
        "published 10.22",
        f"ours +{ours['difference']:.1f}",
        "p = 0.02",
        "60 articles",
    )
    assert body[0][2][2:] == ("published 11.38", f"ours +{rows['ppl_difference'].dropna().iloc[0]:.1f}")
    assert "Ours: seed 1. The paper: one run of each, without intervals." in html
    latex = (tmp_path / "table2.tex").read_text()
    assert r"\caption{Table 2. What it shows}" in latex
    assert latex.count("{") == latex.count("}")


def test_seeds_are_summarised_in_the_papers_tables(tmp_path):
    study = build_study(
        tmp_path / "s", documents=50, generators=("gpt2-small",), seeds=(1, 2), corpus="wiki-short", resamples=50
    )
    make_paper_table(part_of(study, "table3", ("wiki-short",), ("gpt2-small",)), tmp_path, PUBLISHED)
    rows = read_rows(tmp_path, "table3")
    group = rows[rows["setting"] == "w-title"]
    mean, sd = group["latent_ppl"].mean(), np.std(group["latent_ppl"], ddof=1)
    html = (tmp_path / "table3.html").read_text()
    cell = cells(html)[-1][2]
    assert cell[0] == f"{mean:.2f}"
    assert cell[1] == f"± {sd:.2f} over 2 seeds"
    assert cell[2] == "published 5.18"
    assert cell[-1] == "100 articles"
    assert "Ours: seeds 1, 2." in html


def test_values_of_another_table_do_not_stand_in_a_table():
    published = read_published(PUBLISHED)
    small, medium = ("wiki", "w-title", "gpt2-small", "latent_ppl"), ("wiki", "w-title", "gpt2-medium", "latent_ppl")
    assert [published.in_tables(n).value(*small) for n in ("2", "5")] == [4.67, 4.67]
    assert [published.in_tables(n).value(*medium) for n in ("2", "5")] == [None, 4.79]
    assert published.in_tables("3").value("wiki-short", "", "data", "latent_ppl") == 4.78
    assert published.in_tables("99").value(*medium) is None
    # Said in the appendix's text: beside its Tables 12 and 13, and in no other.
    share = ("wiki", "wo-title", "gpt2-small", "repetition_share_percent")
    assert [published.in_tables(*n).value(*share) for n in (("12",), ("13",), ("13", APPENDIX))] == [None, None, 25.93]


def test_statistics_need_the_corpora_alone(study, tmp_path):
    corpora = ("pubmed", "arxiv", "wiki", "wiki-short")
    part = part_of(study, "table11", corpora, (), "statistics")
    part["corpora"] = [{key: corpus[key] for key in ("corpus", "statistics")} for corpus in part["corpora"]]
    make_paper_table(part, tmp_path, PUBLISHED)
    rows = read_rows(tmp_path, "table11")
    assert rows["corpus"].unique().tolist() == list(corpora)
    assert "classifier_accuracy_percent" not in set(rows["metric"])
    types = rows[rows["metric"] == "section_types"]
    assert types["value"].tolist() == [8, 8, 96, 96]
    assert types["published"].tolist() == [27, 50, 96, 96]
    assert cells((tmp_path / "table11.html").read_text())[3][2:4] == [
        ("8", "published 50", "ours −42"),
        ("96", "published 96", "ours ±0"),
    ]


def test_errors_of_one_generator(study, tmp_path):
    make_paper_table(part_of(study, "table12", ("wiki",), ("gpt2-small",), "errors"), tmp_path, PUBLISHED)
    rows = read_rows(tmp_path, "table12")
    assert set(rows["generator"]) == {"data", "gpt2-small"}
    totals = rows[(rows["from"] == "(all)") & (rows["source"] == "sample")]
    assert dict(zip(totals["setting"], totals["published"], strict=True)) == {"w-title": 5.46, "wo-title": 7.54}
    shares = rows[(rows["from"] == "(repeated)") & (rows["source"] == "sample")]
    assert dict(zip(shares["setting"], shares["published"], strict=True)) == {"w-title": 17.89, "wo-title": 25.93}
    page = (tmp_path / "table12.html").read_text()
    assert "GPT-2 small (LM1), with titles" in page
    # All that the paper's table has, whatever our samples do most.
    body = cells(page)
    assert [row[-1][0] for row in body if (row[1][0], row[2][0]) == ("abstract", "production")] == ["0.11%"]
    assert [row[-1][0] for row in body if (row[1][0], row[2][0]) == ("career", "career")] == ["0.08%", "0.13%", "0.26%"]


@pytest.mark.parametrize(("stride", "said"), [(None, True), (1, False)])
def test_another_stride_than_the_papers_is_told_beside_its_values(stride, said, study, tmp_path):
    part = part_of(study, "table3", ("wiki-short",), ("gpt2-small",))
    part["decodings"] = {"plain": {**part["decodings"]["plain"], "stride": stride}}
    words = "Ours, decoding plain: a full context window drops half of itself at a time; the paper drops one token"
    make_paper_table(part, tmp_path, PUBLISHED)
    assert (words in (tmp_path / "table3.html").read_text()) is said
    make_paper_table(part, tmp_path)
    assert words not in (tmp_path / "table3.html").read_text()


def test_error_graphs_of_96_section_types_with_long_names(study, tmp_path):
    made = make_error_graphs(part_of(study, "figure4", ("wiki",), ("gpt2-small",)), tmp_path)
    assert {path.name for path in made} == {
        f"transition-errors.wiki.{source}.{suffix}"
        for source in ("real-text", "w-title.gpt2-small.plain.seed1", "wo-title.gpt2-small.plain.seed1")
        for suffix in ("svg", "pdf", "narrow.svg")
    }
    for path in tmp_path.glob("*.svg"):
        text = path.read_text()
        assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", text)) >= 9
        # 12 types, with begin and end, on at most two lines each.
        assert len(re.findall(r"<!-- (?!unlikely|repeated|no )[a-z][^>]*-->", text)) <= 28
        box = [float(x) for x in re.search(r'viewBox="([^"]*)"', text).group(1).split()]
        assert box[2] < (300 if "narrow" in path.name else 500)


def test_long_names_leave_the_matrices_room(tmp_path):
    titles = [title for title in encyclopedia().titles if len(title) > 20][:14]
    shares = np.full((15, 15), 1 / 15)
    for width in (9.4, 3.7):
        figure = transition_heatmaps(shares, shares, titles, "GPT-2 small (LM1), without titles", width)
        panel = figure.axes[0].get_position()
        cell = panel.height * figure.get_figheight() / 15
        assert cell > 9 / 72  # inches; no lower than the type beside it
        save(figure, tmp_path / str(width), ("svg",))
        assert "…" in (tmp_path / f"{width}.svg").read_text()


def test_many_corpora_stand_one_below_the_other(study):
    files = read_study(study)
    rows = coherence_rows(files, read_published(PUBLISHED))
    sheet = coherence_sheet(rows, Names.of(files.samples))
    assert [cell.text for cell in sheet.header[0]] == ["", "PPL", "Latent PPL"]
    assert [row[0].text for row in sheet.body if row[0].text] == ["pubmed", "arxiv", "wiki", "wiki-short"]
    # Two rows of real text in each corpus, and no row of a generator that was not trained on it.
    assert len(sheet.body) == 4 * 2 + 2 + 2 + 5 + 2
    assert all(sum(cell.span for cell in row) == 6 for row in sheet.body)
    few = coherence_sheet(rows[rows["corpus"].isin(["pubmed", "arxiv"])], Names.of(files.samples))
    assert [cell.text for cell in few.header[0]] == ["", "pubmed", "arxiv"]


def test_findings_on_many_pairs_are_one_sentence(study):
    files = read_study(study)
    names = Names.of(files.samples)
    rows = coherence_rows(files, read_published(None))
    changes = {"a": (3.0, 0.001), "b": (2.5, 0.02), "c": (1.0, 0.01), **dict.fromkeys("defg", (2.1, 0.5))}
    titles = pd.DataFrame(
        [{"generator": name, "without_titles": value, "p_value": p} for name, (value, p) in changes.items()]
    ).assign(corpus="wiki", decoding="plain", seed=1, with_titles=2.0)
    said = [words for _, words in findings(rows, titles, names).points if "leaving" in words]
    assert said == [
        "In 7 comparisons, leaving the section titles out of the training text raises the Latent PPL measurably in 2 "
        "(by 25% to 50%), lowers the Latent PPL measurably in 1 (by 50%) and makes no clear difference in 4."
    ]


def test_the_report_shows_the_papers_tables_and_articles_that_repeat_a_section(study, tmp_path):
    small = {**study, "corpora": study["corpora"][:2], "sources": study["sources"][:8], "report_articles": 2}
    small["tables"] = small["tables"][:1]
    tables = make_tables(small, tmp_path / "tables", PUBLISHED)
    part = part_of(small, "table2", ("pubmed", "arxiv"), ("gpt2-small", "gpt-neo-125m"))
    make_paper_table(part, tmp_path / "tables", PUBLISHED)
    make_figures(small, tmp_path / "tables", tmp_path / "figures")
    make_manifest(small, tables, tmp_path / "manifest.json")
    make_report(small, tmp_path / "tables", tmp_path / "figures", tmp_path / "manifest.json", tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert {"papers", "repetitions", "table-table2", "table-repetition-rates"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "tables/table2.csv" in page.loads
    shown = [attrs["data-key"] for tag, attrs in page.tags if tag == "article" and "data-key" in attrs]
    assert len(shown) == len(set(shown)) == 3 * 8
    marked = [attrs for tag, attrs in page.tags if tag == "section" and attrs.get("class") == "passage repeated"]
    assert len(marked) == 2 * len(shown)


def test_a_study_without_tables_has_no_section_of_them(tmp_path):
    study = build_study(tmp_path / "s", documents=30, generators=("gpt2-demo",), resamples=50)
    tables = make_tables(study, tmp_path / "tables")
    make_figures(study, tmp_path / "tables", tmp_path / "figures")
    make_manifest(study, tables, tmp_path / "manifest.json")
    make_report(study, tmp_path / "tables", tmp_path / "figures", tmp_path / "manifest.json", tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "papers" not in page.ids
    assert "#papers" not in page.loads


def of_paper():
    return Project({"studies": ["model-criticism"]}, ROOT, ROOT)


def test_a_part_names_no_more_files_than_it_compares():
    files = StudyFiles(Paths(of_paper()), "model-criticism")
    table = files.part("table3")
    assert [corpus["corpus"] for corpus in table["corpora"]] == ["wiki-short"]
    assert [(s["generator"], s["setting"]) for s in table["sources"]] == [
        (generator, setting) for generator in ("gpt2-small", "gpt-neo-125m") for setting in ("w-title", "wo-title")
    ]
    assert all("/wiki-short/" in path for path in files.part_inputs("table3"))
    assert files.part_inputs("table11") == [
        f"results/corpora/{corpus}/statistics.json" for corpus in ("pubmed", "arxiv", "wiki", "wiki-short")
    ]
    assert [s["generator"] for s in files.part("table5")["sources"]][::2] == [
        f"gpt2-{size}" for size in ("small", "medium", "large", "xl")
    ]
    assert len(files.part_tables()) == 3 * 8
    assert files.part_figures() == [f"results/studies/model-criticism/figure{number}" for number in (4, 6, 8, 9)]
    assert table["decodings"]["ancestral"]["stride"] is None
    with pytest.raises(TextcriticError, match="there is no 'table4'"):
        files.part("table4")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corpora": ["docstrings"]}, "tables: table2: docstrings is not among the corpora of the sources"),
        ({"generators": ["gpt2-xl"]}, "tables: table2: gpt2-xl on pubmed is not among the sources"),
        ({"generators": []}, "tables: table2: generators: none; name those that it compares"),
        ({"name": "table3"}, "tables: table3 stands twice"),
    ],
)
def test_a_table_of_what_the_study_does_not_compare_is_refused(change, message):
    project = of_paper()
    study = json.loads(json.dumps(project.studies["model-criticism"]))
    study["tables"][0] |= change
    with pytest.raises(TextcriticError, match=message):
        check_study(study, project.entry, "study.yaml")
