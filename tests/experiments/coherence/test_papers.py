"""The paper's Tables 2, 3, 5, 12 and 13 and its Figure 4, of an experiment like the paper's."""

import math
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_html import Page
from report_jobs import Made, make_part, make_study

from experiments.coherence.papers import cut_down, encyclopedia, of_paper, part
from experiments.coherence.tiny import build_coherence
from textcritic.experiments.coherence.matrices import transition_heatmaps
from textcritic.experiments.coherence.names import names_of
from textcritic.experiments.coherence.rows import coherence_rows
from textcritic.experiments.coherence.sheets import coherence_sheet
from textcritic.experiments.coherence.tables import NAMES
from textcritic.experiments.coherence.words import findings
from textcritic.inference import over_trainings
from textcritic.measures.material import Material
from textcritic.measures.numbers import number
from textcritic.measures.published import read_published
from textcritic.plan.sources import SAMPLE
from textcritic.report.drawings import NARROW, WIDE, drawn
from textcritic.report.style import save
from textcritic.report.tables import read_rows

PUBLISHED = Path(__file__).parents[3] / "config/published/model-criticism/coherence.csv"
PAIR = ("gpt2-small", "gpt-neo-125m")


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    return of_paper(tmp_path_factory.mktemp("paper"), resamples=50, documents=60)


def test_table_2_has_the_papers_shape_and_every_cell_what_it_needs(paper, tmp_path):
    files = cut_down(paper, ("pubmed", "arxiv", "wiki"), PAIR)
    made = make_part("coherence", part("table2"), files, tmp_path, PUBLISHED)
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
    files = build_coherence(
        tmp_path / "s", documents=50, generators=("gpt2-small",), seeds=(1, 2), corpus="wiki-short", resamples=50
    )
    make_part("coherence", part("table3"), files, tmp_path, PUBLISHED)
    rows = read_rows(tmp_path, "table3")
    group = rows[rows["setting"] == "w-title"]
    recipe = over_trainings(group["latent_ppl"].tolist(), by_ratio=True)
    html = (tmp_path / "table3.html").read_text()
    cell = cells(html)[-1][2]
    assert cell[0] == number(recipe.mean)
    assert cell[1] == f"{number(recipe.low)}–{number(recipe.high)} over 2 trainings"
    assert cell[2] == "published 5.18"
    assert cell[-1] == "100 articles"
    assert "Ours: seeds 1, 2." in html


def test_errors_of_one_generator(paper, tmp_path):
    files = cut_down(paper, ("wiki",), ("gpt2-small",))
    make_part("coherence", part("table12", "errors"), files, tmp_path, PUBLISHED)
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
def test_another_stride_than_the_papers_is_told_beside_its_values(stride, said, paper, tmp_path):
    files = cut_down(paper, ("wiki-short",), ("gpt2-small",))
    files = replace(files, decodings={"plain": {**files.decodings["plain"], "stride": stride}})
    words = (
        "In our samples, a full context window drops half of itself at a time; in the paper, it drops one token at a "
        "time."
    )
    make_part("coherence", part("table3"), files, tmp_path, PUBLISHED)
    page = (tmp_path / "table3.html").read_text()
    assert (words in page) is ("context window" in page) is said
    make_part("coherence", part("table3"), files, tmp_path)
    assert "context window" not in (tmp_path / "table3.html").read_text()


def test_error_graphs_of_96_section_types_with_long_names(paper, tmp_path):
    files = cut_down(paper, ("wiki",), ("gpt2-small",))
    made = make_part("coherence", part("figure4", "errors"), files, tmp_path)
    assert {path.name for path in made} == {
        f"transition-errors.wiki.{source}.{suffix}"
        for source in ("real-text", "w-title.gpt2-small.plain.seed1.draw1", "wo-title.gpt2-small.plain.seed1.draw1")
        for suffix in ("svg", "pdf", "narrow.svg")
    }
    for path in tmp_path.glob("*.svg"):
        text = path.read_text()
        assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", text)) >= 9
        # 12 types, with begin and end, on at most two lines each.
        assert len(re.findall(r"<!-- (?!unlikely|repeated|no )[a-z][^>]*-->", text)) <= 28
        box = [float(x) for x in re.search(r'viewBox="([^"]*)"', text).group(1).split()]
        assert box[2] < (300 if "narrow" in path.name else 610)


def test_long_names_leave_the_matrices_room(tmp_path):
    titles = [title for title in encyclopedia().titles if len(title) > 20][:14]
    shares = np.full((15, 15), 1 / 15)
    for width in (WIDE, NARROW):
        draw = partial(transition_heatmaps, shares, shares, titles, "GPT-2 small (LM1), without titles")
        figure = drawn(draw, width)
        panel = figure.axes[0].get_position()
        cell = panel.height * figure.get_figheight() / 15
        assert cell > 9 / 72  # inches; no lower than the type beside it
        save(figure, tmp_path / str(width), ("svg",))
        assert "…" in (tmp_path / f"{width}.svg").read_text()


def test_many_corpora_stand_one_below_the_other(paper):
    rows = coherence_rows(Material(paper, read_published(PUBLISHED), NAMES(paper)))
    sheet = coherence_sheet(rows, names_of(paper))
    assert [cell.text for cell in sheet.header[0]] == ["", "PPL", "Latent PPL"]
    assert [row[0].text for row in sheet.body if row[0].text] == ["pubmed", "arxiv", "wiki", "wiki-short"]
    # Two rows of real text in each corpus, and no row of a generator that was not trained on it.
    assert len(sheet.body) == 4 * 2 + 2 + 2 + 5 + 2
    assert all(sum(cell.span for cell in row) == 6 for row in sheet.body)
    few = coherence_sheet(rows[rows["corpus"].isin(["pubmed", "arxiv"])], names_of(paper))
    assert [cell.text for cell in few.header[0]] == ["", "pubmed", "arxiv"]


def test_findings_on_many_pairs_are_one_sentence(paper):
    names = names_of(paper)
    rows = coherence_rows(Material(paper, read_published(None), NAMES(paper)))
    changes = {"a": (3.0, 0.001), "b": (2.5, 0.02), "c": (1.0, 0.01), **dict.fromkeys("defg", (2.1, 0.5))}
    titles = pd.DataFrame(
        [{"generator": name, "without_titles": value, "p_value": p} for name, (value, p) in changes.items()]
    ).assign(corpus="wiki", decoding="plain", seed=1, draw=1, with_titles=2.0)
    keys = {"corpus": "wiki", "decoding": "plain", "seed": 1, "draw": 1}
    sample = rows[rows["source"] == SAMPLE].iloc[0].to_dict() | keys
    both = [
        sample | {"generator": name, "setting": setting, "latent_ppl": ppl, "ci_low": ppl / 1.1, "ci_high": ppl * 1.1}
        for name, (value, _) in changes.items()
        for setting, ppl in (("w-title", 2.0), ("wo-title", value))
    ]
    real = rows[rows["corpus"] == "wiki"]
    names = replace(names, labels=dict(zip(changes, changes, strict=True)))
    rows = pd.concat([real[real["source"] != SAMPLE], pd.DataFrame(both)])
    said = findings(rows, titles, names, ())
    (found,) = (point for point in said if "leaving" in point.says)
    # The strongest of them: half of 2.0, where both intervals reach a tenth up and down.
    assert found.strength == pytest.approx(math.log(2) / (math.sqrt(2) * math.log(1.1)))
    assert [found.says] == [
        "In 7 comparisons, leaving the section titles out of the training text raises the Latent PPL measurably in 2 "
        "(by 25% to 50%), lowers the Latent PPL measurably in 1 (by 50%) and makes no clear difference in 4."
    ]


def test_the_report_shows_the_papers_tables_and_articles_that_repeat_a_section(paper, tmp_path):
    small = replace(cut_down(paper, ("pubmed", "arxiv"), PAIR[:1]), report_articles=2)
    parts = {part("table2"): small, part("figure4", "errors"): cut_down(paper, ("arxiv",), ("gpt2-small",))}
    page = Page(make_study(tmp_path, Made("coherence", small, parts, published=PUBLISHED)))
    assert {"coherence-papers", "coherence-repetitions", "coherence-table-table2"} <= set(page.ids)
    assert "coherence-table-repetition-rates" in page.ids
    assert "#coherence-papers" in page.loads
    assert len(page.ids) == len(set(page.ids))
    assert "coherence/tables/table2.csv" in page.loads
    assert "coherence/figure4/transition-errors.arxiv.real-text.pdf" in page.loads
    shown = [attrs["data-key"] for tag, attrs in page.tags if tag == "article" and "data-key" in attrs]
    assert len(shown) == len(set(shown)) == 3 * 4
    marked = [attrs for tag, attrs in page.tags if tag == "section" and attrs.get("class") == "passage repeated"]
    assert len(marked) == 2 * len(shown)


def cells(html):
    """The body of a table: of each row its cells, of each cell its text and the lines under it."""
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return [[(cell.split("<small>")[0], *re.findall(r"<small>(.*?)</small>", cell)) for cell in row] for row in found]
