"""The paper's Tables 9 and 14 and its Figures 6, 8 and 9."""

import re
from dataclasses import replace

import pytest
from report_jobs import Made, make_part

from experiments.topics.conftest import PUBLISHED
from experiments.topics.tiny import build_topics
from textcritic.experiments.topics.files import TopicsFiles
from textcritic.experiments.topics.sheets import topics_sheet
from textcritic.experiments.topics.words import topic_doubts
from textcritic.measures.names import Names
from textcritic.plan.experiment import Part
from textcritic.report.tables import read_rows

PAPERS = ("arxiv", "wiki")


@pytest.fixture(scope="module")
def of_paper(tmp_path_factory):
    """Two corpora, and the paper's names of its models, so that published values stand beside ours."""
    root = tmp_path_factory.mktemp("paper")
    built = [build_topics(root, corpus=corpus, generators=("gpt2-demo",), resamples=20) for corpus in PAPERS]
    return TopicsFiles(
        data=tuple(fitted for files in built for fitted in files.data),
        samples=tuple(replace(s, generator="gpt2-small", label="LM1") for files in built for s in files.samples),
        decodings={},
        resamples=20,
    )


@pytest.fixture(scope="module")
def of_eight(tmp_path_factory):
    """The published values, as if they were of a critic with the 8 topics that ours has."""
    path = tmp_path_factory.mktemp("published") / "eight.csv"
    path.write_text(PUBLISHED.read_text().replace(": 100 topics", ": 8 topics"))
    return path


def test_table_9_has_the_papers_shape_and_its_values(of_paper, of_eight, tmp_path):
    make_part("topics", Part("table9", "nll", "Latent NLL"), of_paper, tmp_path, of_eight)
    rows, html = read_rows(tmp_path, "table9"), (tmp_path / "table9.html").read_text()
    assert re.findall(r'<th scope="col" class="\w+">([^<]*)<', html) == ["Metric", "Model", *PAPERS]
    body = re.findall(r"<tr>(.*?)</tr>", html[html.index("<tbody>") :])
    found = [re.findall(r"<t[hd][^>]*>([^<]*)", line)[:2] for line in body]
    assert found == [
        ["Latent NLL, at the mean", "real text"],
        ["", "LM1"],
        ["Latent NLL, in expectation", "real text"],
        ["", "LM1"],
    ]
    sample = rows[(rows["corpus"] == "wiki") & (rows["generator"] == "gpt2-small")].iloc[0]
    assert sample["published"] == 123.30
    assert sample["difference"] == pytest.approx(sample["latent_nll_at_mean"] - 123.30)
    assert "published 123.30" in body[1]
    assert "published 124.70" in body[0]
    assert "published" not in "".join(body[2:])
    assert r"\caption{Table 9. Latent NLL}" in (tmp_path / "table9.tex").read_text()


def test_published_values_of_a_critic_of_another_size_are_not_shown(of_paper, tmp_path):
    for name, of in (("table9", "nll"), ("table14", "outliers")):
        make_part("topics", Part(name, of), of_paper, tmp_path, PUBLISHED)
        assert "published" not in (tmp_path / f"{name}.html").read_text()
    assert read_rows(tmp_path, "table9")[["published", "difference"]].isna().all(axis=None)
    assert ">The critics: arxiv 8 topics, 6" in (tmp_path / "table9.html").read_text()


def test_table_14_is_ranked_by_the_nll_at_the_mean(of_paper, of_eight, tmp_path):
    make_part("topics", Part("table14", "outliers", "Outliers"), of_paper, tmp_path, of_eight)
    rows, html = read_rows(tmp_path, "table14"), (tmp_path / "table14.html").read_text()
    for _, group in rows.groupby(["corpus", "generator"]):
        assert group["nll_at_mean"].is_monotonic_decreasing
    # The paper's are two examples and no first and second place: they stand under the table, beside no row.
    remark = "The published examples, at the mean: of arxiv: LM1, 280.88 and 224.74."
    assert html.count("280.88") == 1
    assert html.index(remark) > html.index("</table>")


def test_figures_6_8_and_9_are_the_means_covariances_clamped_to_five(of_paper, tmp_path):
    made = make_part("topics", Part("figure6", "covariances"), of_paper, tmp_path)
    assert {path.name for path in made} == {
        f"covariances.{c}.{f}" for c in PAPERS for f in ("svg", "pdf", "narrow.svg")
    }
    text = (tmp_path / "covariances.wiki.svg").read_text()
    assert text.index(">real text<") < text.index(">LM1<")
    assert ">−5<" in text
    assert ">5<" in text
    for form in ("svg", "narrow.svg"):
        text = re.sub(r"</text>\s*<text[^>]*>", " ", (tmp_path / f"covariances.wiki.{form}").read_text())
        assert "log-ratios to the last topic" in re.sub(r"<[^>]*>|\s+", " ", text).replace("  ", " ")


def test_several_corpora_are_told_apart(of_paper, of_eight, tmp_path):
    experiment = Made("topics", of_paper, published=of_eight)
    experiment.tables(tmp_path)
    made = experiment.figures(tmp_path, tmp_path)
    assert {f"topic-covariances.{corpus}.svg" for corpus in PAPERS} <= {path.name for path in made}
    assert all(f">{corpus}<" in (tmp_path / "topic-nll.svg").read_text() for corpus in PAPERS)
    rows = read_rows(tmp_path, "topics")
    names = Names.of(of_paper.samples)
    sheet = topics_sheet(rows, names)
    heads = [f"{corpus}: {label}" for corpus in PAPERS for label in ("real text", "LM1")]
    assert [row[0].text for row in sheet.body] == heads
    assert "published 123.30" in sheet.body[-1][2].notes
    assert any(
        "Published values are at the mean, by a critic with as many topics" in remark for remark in sheet.remarks
    )
    longer = rows.assign(p_value=0.001).assign(
        words_per_document=[40.0, 400.0] * len(PAPERS), latent_nll=[1.0, 2.0] * len(PAPERS)
    )
    assert [found.about for found in topic_doubts(longer, names)] == [f"LM1 on {corpus}" for corpus in PAPERS]
