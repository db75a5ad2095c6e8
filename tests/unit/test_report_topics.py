import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_topics import BROKEN, EMPTY, GENERATORS, NASTY, UNREAD, build_topics

from textcritic.corpora import read_articles
from textcritic.critics.ctm import CTM
from textcritic.critics.ctm.covariances import cluster_order
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, write_json, write_table
from textcritic.inference import covariance_test
from textcritic.report import make_paper_figure, make_paper_table, make_topic_figures, make_topic_tables
from textcritic.report.numbers import number, percent
from textcritic.report.published import read_published
from textcritic.report.rows import reasons_from_words
from textcritic.report.sheet import to_html, to_latex
from textcritic.report.sources import Names
from textcritic.report.style import save
from textcritic.report.tables import read_rows
from textcritic.report.topics.chart import Spread, spread_chart
from textcritic.report.topics.heatmaps import common_limit, covariance_heatmaps
from textcritic.report.topics.inputs import DATA, read_topics
from textcritic.report.topics.make import heatmap_limit
from textcritic.report.topics.rows import covariances, outlier_rows, strong_topics, topic_names, topic_rows, word_rows
from textcritic.report.topics.sheets import left_out_sheet, outliers_sheet, topics_sheet, words_sheet
from textcritic.report.topics.words import topic_findings
from textcritic.study_files import StudyFiles

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "config" / "published" / "model-criticism.csv"
DOCUMENTS = 60


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return build_topics(tmp_path_factory.mktemp("topics"), generators=(*GENERATORS, BROKEN), documents=DOCUMENTS)


@pytest.fixture(scope="module")
def topics(study):
    return read_topics(study)


@pytest.fixture(scope="module")
def rows(topics):
    return topic_rows(topics, read_published(None))


@pytest.fixture(scope="module")
def of_paper(tmp_path_factory):
    """Two corpora, and the paper's names of its models, so that published values stand beside ours."""
    root = tmp_path_factory.mktemp("paper")
    blocks = [build_topics(root, corpus=corpus, generators=("gpt2-demo",), resamples=20)["topics"] for corpus in PAPERS]
    corpora = [entry for block in blocks for entry in block["corpora"]]
    sources = [{**entry, "generator": "gpt2-small", "label": "LM1"} for block in blocks for entry in block["sources"]]
    return {"name": "paper", "resamples": 20, "topics": {"corpora": corpora, "sources": sources, "decodings": {}}}


PAPERS = ("arxiv", "wiki")


def of(rows, generator):
    found = rows[rows["generator"] == generator]
    assert len(found) == 1
    return found.iloc[0]


def moments(files):
    """Means and variances by hand, of the documents that have some."""
    table = read_table(files.posteriors).to_pandas()
    kept = table[table["words"] > 0]
    return np.stack(kept["mean"].to_list()), np.stack(kept["variance"].to_list())


def test_latent_nll_by_hand(topics, rows):
    critic = CTM.load(topics.data[0].critic)
    precision = np.linalg.inv(critic.covariance)
    constant = 0.5 * np.linalg.slogdet(2 * np.pi * critic.covariance)[1]
    for source in topics.of(topics.data[0]):
        row = of(rows, getattr(source, "generator", "data"))
        if row["generator"] == BROKEN:
            continue
        means, variances = moments(source)
        centred = means - critic.mean
        at_mean = constant + 0.5 * np.einsum("dk,kl,dl->d", centred, precision, centred)
        expected = at_mean + 0.5 * variances @ np.diag(precision)
        assert row["latent_nll_at_mean"] == pytest.approx(at_mean.mean(), rel=1e-9)
        assert row["latent_nll"] == pytest.approx(expected.mean(), rel=1e-9)
        assert row["ci_low"] < row["latent_nll"] < row["ci_high"]
        assert row["at_mean_low"] < row["latent_nll_at_mean"] < row["at_mean_high"]
        assert row["documents"] == DOCUMENTS - EMPTY == len(means)


def test_what_is_left_out_is_counted_by_reason(topics, rows):
    real, sample, broken = (of(rows, name) for name in ("data", "gpt2-demo", BROKEN))
    assert reasons_from_words(real["rejected_by_reason"]) == {"no word of the vocabulary": EMPTY}
    assert reasons_from_words(sample["rejected_by_reason"]) == {"no word of the vocabulary": EMPTY, "malformed": UNREAD}
    assert sample["rejected_share"] == pytest.approx((EMPTY + UNREAD) / (DOCUMENTS + UNREAD))
    assert (broken["documents"], broken["rejected"], broken["rejected_share"]) == (0, DOCUMENTS + UNREAD, 1.0)
    text = to_html(left_out_sheet(rows, Names.of(topics.samples)))
    assert f"no word of the vocabulary: {EMPTY}; malformed: {UNREAD}" in text


def test_distances_are_those_of_the_covariances(topics, rows):
    real = moments(topics.data[0])
    for sample in topics.of(topics.data[0])[1:]:
        row = of(rows, sample.generator)
        if sample.generator == BROKEN:
            assert row[["distance", "distance_p", "distance_corrected"]].isna().all()
            continue
        means, variances = moments(sample)
        ours, theirs = (np.cov(m.T, bias=True) + np.diag(v.mean(0)) for m, v in ((means, variances), real))
        assert row["distance"] == pytest.approx(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs), rel=1e-9)
        test = covariance_test(means, real[0], variances, real[1], topics.resamples)
        found = row[["distance_by_chance", "distance_p", "distance_corrected", "distance_low", "distance_high"]]
        assert found.tolist() == [test.by_chance, test.p, test.corrected, test.low, test.high]
    assert pd.isna(of(rows, "data")["distance"])
    assert of(rows, "shuffled")["distance_p"] < 0.05


def test_a_sample_of_which_nothing_can_be_scored_says_so(topics, rows):
    broken = of(rows, BROKEN)
    assert broken[["latent_nll", "ci_low", "p_value", "latent_nll_at_mean", "seeds_mean"]].isna().all()
    sheet = topics_sheet(rows, Names.of(topics.samples))
    line = next(line for line in to_html(sheet).splitlines() if "untrained model" in line)
    assert line.count("—<small>nothing could be scored</small>") == 2
    assert f"100%<small>{DOCUMENTS + UNREAD} of {DOCUMENTS + UNREAD}</small>" in line
    points = dict(topic_findings(rows, Names.of(topics.samples)))
    words = f"none of its {DOCUMENTS + UNREAD} documents could be scored, all for the reason “malformed”."
    assert points["Topics of untrained model"] == words
    assert word_rows(topics).groupby("generator")["share"].count()[BROKEN] == 0
    assert covariances(topics.data[0], topics)["matrices"]["untrained model"] is None
    assert BROKEN not in set(outlier_rows(topics, read_published(None))["generator"])


def test_the_baseline_stands_last_and_samples_in_their_order(study, topics, rows):
    assert [entry["generator"] for entry in study["topics"]["sources"]] == [*GENERATORS, BROKEN]
    assert rows["generator"].tolist() == ["data", "gpt2-demo", "ngram-3", BROKEN, "shuffled"]
    assert rows["baseline"].tolist() == [False] * 4 + [True]
    panels = list(covariances(topics.data[0], topics)["matrices"])
    assert panels == ["real text", "small GPT-2", "trigram", "untrained model", "shuffled words"]


def test_heatmaps_have_one_order_which_is_that_of_the_data(topics):
    files = topics.data[0]
    found = covariances(files, topics)
    for source, matrix in zip(topics.shown(files), found["matrices"].values(), strict=True):
        if matrix is None:
            continue
        means, variances = moments(source)
        plain = np.cov(means.T, bias=True) + np.diag(variances.mean(0))
        np.testing.assert_allclose(matrix, plain[np.ix_(found["order"], found["order"])], rtol=1e-9, atol=1e-12)
        if source is files:
            assert found["order"].tolist() == cluster_order(plain).tolist()
    released = covariances(files, topics, variances=False)["matrices"]["real text"]
    assert np.sort(np.diag(released)) == pytest.approx(np.sort(np.var(moments(files)[0], axis=0)))


def test_colours_end_where_most_entries_do_and_at_five_at_most():
    small = 0.2 * np.eye(4)
    assert common_limit([small, None]) == pytest.approx(0.2)
    assert common_limit([100 * small]) == 5.0
    assert common_limit([np.zeros((3, 3))]) == 1.0
    assert common_limit([np.full((2, 2), -1.2)]) == 1.5


@pytest.mark.parametrize("panels", [1, 2, 5, 8])
@pytest.mark.parametrize("free", [1, 19, 99])
def test_heatmaps_of_any_number_of_panels_and_topics(panels, free, tmp_path):
    matrices = {f"source {n} with quite a long name, without titles": np.eye(free) * n for n in range(panels)}
    names = [f"{n}: array, <axis>" for n in range(free)]
    for width in (9.4, 3.7):
        figure = covariance_heatmaps(matrices, names, 5.0, width)
        (path,) = save(figure, tmp_path / "heatmaps", ("svg",))
        text = path.read_text()
        assert text.count("<image ") == panels + 1  # and the colour bar
        assert (">0: array, &lt;axis&gt;<" in text) is (free < 33 and width > 5)
        assert ">−5<" in text


def test_words_and_shares_of_each_topic(topics):
    files = topics.data[0]
    words = word_rows(topics)
    means, _ = moments(files)
    weights = np.exp(np.column_stack([means, np.zeros(len(means))]))
    shares = (weights / weights.sum(1, keepdims=True)).mean(0)
    real = words[words["source"] == DATA]
    assert real["share"].tolist() == pytest.approx(sorted(shares, reverse=True))
    assert real["topic"].tolist() == (np.argsort(-shares) + 1).tolist()
    first = words[words["topic"] == 1]["words"].unique()
    assert first.tolist() == [" ".join([*NASTY, *first[0].split(" ")[8:]])]
    assert topic_names(files)[0] == f"1: {NASTY[0]} · {NASTY[1]}"
    sheet = words_sheet(words, Names.of(topics.samples))
    assert [cell.text for cell in sheet.header[0]][1:] == list(dict.fromkeys(words["label"]))
    assert sheet.body[0][1].text == percent(shares.max())
    assert sheet.body[0][0].notes == (words["words"].iloc[0].replace(" ", " · "),)


def test_outliers_are_the_documents_with_the_highest_nll(topics):
    outliers = outlier_rows(topics, read_published(None))
    for source in topics.shown(topics.data[0]):
        found = outliers[outliers["generator"] == getattr(source, "generator", "data")]
        scores = read_table(source.scores).to_pandas()
        worst = scores[~scores["rejected"]].sort_values("nll", ascending=False).head(5)
        assert found["article"].tolist() == worst["id"].tolist()
        assert found["nll"].tolist() == worst["nll"].tolist()
        texts = {a.id: " ".join(section.text for section in a.sections) for a in read_articles(source.articles)}
        assert all(row["text"] in texts[row["article"]] for row in found.to_dict("records"))
    (topic, share, usual), *_ = strong_topics(outliers["topics"].iloc[0])
    assert 1 <= topic <= 8
    assert 1 > share > usual > 0


def test_words_are_not_taken_for_markup(topics):
    words = word_rows(topics)
    text = f"{' '.join(NASTY)} </td><script>alert(1)</script>"
    outliers = outlier_rows(topics, read_published(None)).assign(text=text)
    names = Names.of(topics.samples)
    for sheet in (words_sheet(words, names), outliers_sheet(outliers, names)):
        html, latex = to_html(sheet), to_latex(sheet)
        assert "<b>bold" not in html
        assert "<script>" not in html
        assert "&lt;b&gt;bold&lt;/b&gt;" in html
        assert "&amp;amp;" in html
        assert r"\textbackslash{}alpha\_1" in latex
        assert r"\textless{}b\textgreater{}" in latex
        assert r"50\%" in latex
        assert latex.count("{") == latex.count("}")


def test_the_table_as_people_read_it(topics, rows):
    sheet = topics_sheet(rows, Names.of(topics.samples))
    sample = of(rows, "gpt2-demo")
    name, expected, at_mean, left_out, apart = sheet.body[1]
    assert name.text == "small GPT-2"
    assert expected.text == number(sample["latent_nll"])
    assert expected.notes[0] == f"{sample['ci_low']:.1f}–{sample['ci_high']:.1f}"
    assert expected.notes[-1] == f"{DOCUMENTS - EMPTY} documents"
    assert at_mean.text == number(sample["latent_nll_at_mean"])
    assert left_out.notes == (f"{EMPTY + UNREAD} of {DOCUMENTS + UNREAD}", f"empty: {EMPTY}", f"not read: {UNREAD}")
    assert apart.text == percent(sample["distance_corrected"])
    assert f"by chance {percent(sample['distance_by_chance'])}" in apart.notes
    assert not any("published" in remark for remark in sheet.remarks)
    assert {len(row) for row in sheet.body} == {len(sheet.header[0])}


def test_seeds_are_summarised_and_shown_together(tmp_path):
    topics = read_topics(build_topics(tmp_path, generators=("gpt2-demo",), seeds=(2, 1), resamples=20))
    rows = topic_rows(topics, read_published(None))
    samples = rows[rows["source"] == "sample"]
    assert samples["seeds_mean"].tolist() == pytest.approx([samples["latent_nll"].mean()] * 2)
    assert samples["seeds_sd"].tolist() == pytest.approx([np.std(samples["latent_nll"], ddof=1)] * 2)
    assert samples["label"].tolist() == ["small GPT-2, seed 2", "small GPT-2, seed 1"]
    sheet = topics_sheet(rows, Names.of(topics.samples))
    assert [row[0].text for row in sheet.body] == ["real text", "small GPT-2"]
    assert "over 2 seeds" in sheet.body[1][1].notes[0]
    assert [source.seed for source in topics.shown(topics.data[0])[1:]] == [1]
    assert set(outlier_rows(topics, read_published(None))["seed"].dropna()) == {1}


def test_findings_tell_the_direction_and_the_doubt(topics, rows):
    told = rows.copy()
    told.loc[told["generator"] == "data", "latent_nll"] = 20.0
    values = {"gpt2-demo": (18.5, 0.0004, 0.2), "ngram-3": (20.1, 0.6, 0.001), "shuffled": (25.0, 0.001, 0.001)}
    for generator, (nll, p, apart) in values.items():
        told.loc[told["generator"] == generator, ["latent_nll", "p_value", "distance_p"]] = nll, p, apart
    told.loc[told["generator"] == "ngram-3", ["distance_corrected", "distance_low", "distance_high"]] = 0.4, 0.3, 0.5
    points = topic_findings(told, Names.of(topics.samples))
    assert [lead for lead, _ in points] == [
        f"Topics of {name}" for name in ("small GPT-2", "trigram", "shuffled words", "untrained model")
    ]
    assert points[0][1] == (
        "Latent NLL 18.5, 1.50 nats below real text's 20.0 (p < 0.001): its mixtures of topics are more usual than "
        "real ones, which is no better; which of them go together cannot be told from real text (p = 0.20)."
    )
    assert points[1][1] == (
        "Latent NLL 20.1, 0.10 nats above real text's 20.0, which is within what chance explains (p = 0.60); their "
        "covariances are 40% (30% to 50%) away from real text's (p = 0.001)."
    )


def test_tables_are_made_from_the_topics_alone(study, rows, tmp_path):
    assert "corpora" not in study
    made = make_topic_tables(study, tmp_path, PUBLISHED)
    assert {path.name for path in made} == {f"{n}.{s}" for n in StudyFiles.TOPICS for s in ("csv", "tex", "html")}
    again = read_rows(tmp_path, "topics")
    for column in ("latent_nll", "latent_nll_at_mean", "distance_corrected", "p_value"):
        pd.testing.assert_series_equal(again[column], rows[column], rtol=0)
    assert again["rejected_by_reason"].tolist() == rows["rejected_by_reason"].tolist()
    words = read_rows(tmp_path, "topic-words")
    assert NASTY[1] in words.loc[words["topic"] == 1, "words"].iloc[0]


def test_figures_show_every_source(study, topics, tmp_path):
    made = make_topic_figures(study, tmp_path)
    names = ("topic-nll", "topic-nll-spread", "topic-covariances.docstrings")
    forms = ("svg", "pdf", "narrow.svg")
    assert {path.name for path in made} == {f"{name}.{form}" for name in names for form in forms}
    for name in names[1:]:
        text = (tmp_path / f"{name}.svg").read_text()
        places = [text.index(f">{label}<") for label in ("real text", "small GPT-2", "trigram", "shuffled words")]
        assert places == sorted(places)
    assert "untrained model" not in (tmp_path / "topic-nll.svg").read_text()
    assert f">{heatmap_limit(topics.data[0], topics):g}<" in (tmp_path / f"{names[2]}.svg").read_text()


def test_table_9_has_the_papers_shape_and_its_values(of_paper, tmp_path):
    part = {**of_paper, "part": {"name": "table9", "kind": "topics", "caption": "Latent NLL"}}
    make_paper_table(part, tmp_path, PUBLISHED)
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


def test_table_14_is_ranked_by_the_nll_at_the_mean(of_paper, tmp_path):
    part = {**of_paper, "part": {"name": "table14", "kind": "outliers", "caption": "Outliers"}}
    make_paper_table(part, tmp_path, PUBLISHED)
    rows, html = read_rows(tmp_path, "table14"), (tmp_path / "table14.html").read_text()
    for _, group in rows.groupby(["corpus", "generator"]):
        assert group["nll_at_mean"].is_monotonic_decreasing
    published = rows[rows["published"].notna()]
    assert published[["corpus", "generator", "rank", "published"]].to_numpy().tolist() == [
        ["arxiv", "gpt2-small", 1, 280.88],
        ["arxiv", "gpt2-small", 2, 224.74],
    ]
    assert "<small>published 280.88</small>" in html


def test_figures_6_8_and_9_are_the_means_covariances_clamped_to_five(of_paper, tmp_path):
    part = {**of_paper, "part": {"name": "figure6", "kind": "covariances", "corpora": ["wiki"]}}
    made = make_paper_figure(part, tmp_path)
    assert {path.name for path in made} == {
        f"covariances.{c}.{f}" for c in PAPERS for f in ("svg", "pdf", "narrow.svg")
    }
    text = (tmp_path / "covariances.wiki.svg").read_text()
    assert text.index(">real text<") < text.index(">LM1<")
    assert ">−5<" in text
    assert ">5<" in text


def test_several_corpora_are_told_apart(of_paper, tmp_path):
    made = make_topic_figures(of_paper, tmp_path)
    assert {f"topic-covariances.{corpus}.svg" for corpus in PAPERS} <= {path.name for path in made}
    assert all(f">{corpus}<" in (tmp_path / "topic-nll.svg").read_text() for corpus in PAPERS)
    make_topic_tables(of_paper, tmp_path, PUBLISHED)
    rows = read_rows(tmp_path, "topics")
    names = Names.of(read_topics(of_paper).samples)
    sheet = topics_sheet(rows, names)
    heads = [f"{corpus}: {label}" for corpus in PAPERS for label in ("real text", "LM1")]
    assert [row[0].text for row in sheet.body] == heads
    assert "published 123.30" in sheet.body[-1][2].notes
    assert any("published values are of that" in remark for remark in sheet.remarks)
    assert [lead for lead, _ in topic_findings(rows, names)] == [f"Topics of LM1 on {corpus}" for corpus in PAPERS]


def test_a_far_outlier_does_not_press_a_histogram_together(topics):
    values = np.append(np.linspace(10, 12, 400), 1e6)
    figure = spread_chart({"docs": [Spread("real text", values, ""), Spread("sample", values[:3], "wo-title")]})
    low, high = figure.axes[0].get_xlim()
    assert (9 < low < 10, 12 < high < 13) == (True, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"topics": None}, "study demo: topics: there are none"),
        ({"sources": []}, "study demo: topics: 'sources' is missing or empty"),
        ({"training": None}, "study demo: topics: corpus docstrings: the path of its training is missing"),
        ({"critic": "/nowhere/critic.npz"}, "corpus docstrings: critic: /nowhere/critic.npz: no such file"),
        ({"sources": [{"corpus": "elsewhere"}]}, "an entry lacks the key 'setting'"),
    ],
)
def test_what_is_missing_is_one_clear_line(change, words, study):
    block = study["topics"]
    if "topics" in change:
        bad = None
    elif "sources" in change:
        bad = {**block, **change}
    else:
        bad = {**block, "corpora": [{**block["corpora"][0], **change}]}
    with pytest.raises(TextcriticError) as error:
        read_topics({**study, "topics": bad})
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_sample_of_a_corpus_that_is_not_compared_is_refused(study):
    block = study["topics"]
    stray = {**block["sources"][0], "corpus": "elsewhere"}
    with pytest.raises(TextcriticError, match="elsewhere wo-title gpt2-demo demo seed 1: its corpus is not among"):
        read_topics({**study, "topics": {**block, "sources": [stray]}})


def test_files_of_another_kind_are_refused(study, tmp_path):
    block = study["topics"]
    first = block["sources"][0]
    for key, column in (("scores", "'nll'"), ("posteriors", "'mean'")):
        wrong = {**first, key: first["articles"]}
        topics = read_topics({**study, "topics": {**block, "sources": [wrong]}})
        with pytest.raises(TextcriticError, match=f"no column {column}"):
            topic_rows(topics, read_published(None))


def test_scores_of_another_sample_are_refused(study, tmp_path):
    block = study["topics"]
    first = {**block["sources"][0], "counts": str(tmp_path / "counts.json")}
    write_json(first["counts"], {"drawn": 1})
    topics = read_topics({**study, "topics": {**block, "sources": [first]}})
    with pytest.raises(TextcriticError, match="they belong to different samples"):
        topic_rows(topics, read_published(None))


def test_real_text_of_which_nothing_can_be_scored_is_refused(study, tmp_path):
    block = study["topics"]
    scores = read_table(block["corpora"][0]["scores"])
    empty = scores.filter(scores["rejected"])
    write_table(tmp_path / "scores.parquet", empty)
    corpus = {**block["corpora"][0], "scores": str(tmp_path / "scores.parquet")}
    topics = read_topics({**study, "topics": {**block, "corpora": [corpus]}})
    with pytest.raises(TextcriticError, match="no document could be scored"):
        topic_rows(topics, read_published(None))


def test_a_sample_of_one_document_has_no_distance(study, tmp_path):
    block = study["topics"]
    first = dict(block["sources"][0])
    for name in ("scores", "posteriors"):
        write_table(tmp_path / f"{name}.parquet", read_table(first[name]).slice(0, 1))
        first[name] = str(tmp_path / f"{name}.parquet")
    first["counts"] = str(tmp_path / "counts.json")
    write_json(first["counts"], {"drawn": 1})
    topics = read_topics({**study, "topics": {**block, "sources": [first]}})
    row = of(topic_rows(topics, read_published(None)), "gpt2-demo")
    assert math.isfinite(row["latent_nll"])
    assert math.isnan(row["distance"])
    assert read_json(first["counts"])["drawn"] == row["documents"]
