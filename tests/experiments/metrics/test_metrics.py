"""The kind `metrics`: tables against plain loops over the articles, aims, pairs of titles, and what a report says."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from own_in_memory import own_scores
from report_jobs import Made, make_study

from experiments.metrics.tiny import FOLDER, tiny
from textcritic.corpora import read_articles, write_articles
from textcritic.critics.own import score_own
from textcritic.errors import TextcriticError
from textcritic.experiments.metrics.rows import document_rows, measures_of, metric_rows
from textcritic.experiments.metrics.section import _asked
from textcritic.experiments.metrics.words import cause, definitions
from textcritic.inference import Number, bootstrap_interval, permutation_test, ratio_of_sums, with_ones
from textcritic.measures.card import Cell, scorecard
from textcritic.measures.card_file import read_card
from textcritic.measures.material import Material
from textcritic.measures.measure import Resampling
from textcritic.measures.memory import REAL
from textcritic.measures.names import Names
from textcritic.measures.own import load_metric, measure, metric_of
from textcritic.measures.score import Score, scores_of
from textcritic.measures.sentences import sentences, signs


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tiny(tmp_path_factory.mktemp("metrics"))


@pytest.fixture(scope="module")
def rows(files):
    return metric_rows(Material(files))


@pytest.fixture(scope="module")
def study(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return folder, make_study(folder, Made("metrics", files))


def row(rows, metric, generator):
    (found,) = rows[(rows["metric"] == f"own_measures:{metric}") & (rows["generator"] == generator)].to_dict("records")
    return found


def distinct_2(article):
    words = " ".join(section.text for section in article.sections).split()
    return len({(words[n], words[n + 1]) for n in range(len(words) - 1)}) / (len(words) - 1)


def test_the_mean_and_its_test_are_those_of_a_plain_loop(files, rows):
    real = [distinct_2(article) for article in read_articles(files.data[0].articles)]
    sample = [distinct_2(article) for article in read_articles(files.samples[1].articles)]
    found = row(rows, "distinct_2", "poor")
    assert found["value"] == pytest.approx(np.mean(sample), rel=1e-12)
    interval = bootstrap_interval(with_ones(sample), ratio_of_sums, files.resamples)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((interval.low, interval.high))
    test = permutation_test(with_ones(sample), with_ones(real), ratio_of_sums, files.resamples)
    assert found["p_value"] == test.p
    assert (found["documents"], found["rejected"], found["rejected_by_reason"]) == (30, 3, "malformed: 3")


def test_the_median_of_sections_and_the_ratio_of_sums(files, rows):
    articles = read_articles(files.samples[0].articles)
    lengths = [len(section.text.split()) for article in articles for section in article.sections]
    assert row(rows, "section_words", "rich")["value"] == np.median(lengths)
    words = [word for article in articles for section in article.sections for word in section.text.split()]
    assert row(rows, "word_length", "rich")["value"] == pytest.approx(np.mean([len(word) for word in words]))
    assert row(rows, "sections", "rich")["value"] == np.mean([len(article.sections) for article in articles])


def test_what_would_be_noticed_is_smaller_with_more_documents(tmp_path):
    found = metric_rows(Material(tiny(tmp_path, documents=120, metrics=["own_measures:sections"])))
    more = row(found, "sections", "rich")["noticeable"]
    (tmp_path / "few").mkdir()
    few = metric_rows(Material(tiny(tmp_path / "few", documents=30, metrics=["own_measures:sections"])))
    assert 0 < more < row(few, "sections", "rich")["noticeable"]


def test_the_documents_with_the_highest_and_the_lowest_values(files):
    shown = document_rows(Material(files))
    poor = shown[(shown["title"] == "Distinct-2") & (shown["generator"] == "poor")]
    values = {article.id: distinct_2(article) for article in read_articles(files.samples[1].articles)}
    ordered = sorted(values.values())
    assert poor["which"].tolist() == ["highest"] * 3 + ["lowest"] * 3
    assert poor["value"].tolist() == pytest.approx([*ordered[:-4:-1], *ordered[:3]])
    texts = {article.id: article.text for article in read_articles(files.samples[1].articles)}
    for one in poor.to_dict("records"):
        assert values[one["article"]] == pytest.approx(one["value"])
        assert " ".join(texts[one["article"]].split()).startswith(one["beginning"].removesuffix("…"))


def test_the_sample_with_the_highest_value_has_the_star_where_that_is_the_aim(study, files, rows):
    folder, report = study
    card = read_card(folder)["metrics"]
    (block,) = scorecard({"metrics": card}, {"metrics": "Own"})
    column = next(column for column in block.columns if column.measure == "Distinct-2")
    assert column.aim == "higher"
    values = {name: row(rows, "distinct_2", name)["value"] for name in ("rich", "poor")}
    assert values["rich"] > values["poor"]
    assert block.nearest(column) == {"a rich model"}
    said = next(one.says for one in sentences([block]) if one.about.endswith("Distinct-2"))
    assert said.startswith("of 2 samples, a rich model has the highest value (")
    lines = signs([block])
    assert any(line.startswith("★ the highest value of Distinct-2, or perhaps as high") for line in lines)
    assert any(line.startswith("★ nearest to real text") for line in lines)
    assert "a rich model has the highest value" in report


def test_a_low_aim_turns_the_star_around(tmp_path, files):
    def fewer(document):
        return distinct_2(document)

    metric = metric_of(measure(title="Fewer", aim="lower")(fewer))
    for source in (*files.data, *files.samples):
        score_own(metric, source.articles, tmp_path / f"{source.keys['generator']}.parquet")

    def by_it(source):
        return dataclasses.replace(source, measured=(tmp_path / f"{source.keys['generator']}.parquet",))

    lower = dataclasses.replace(
        files,
        data=tuple(map(by_it, files.data)),
        samples=tuple(by_it(sample) for sample in files.samples),
        metrics=("here:fewer",),
    )
    for sample in lower.samples:
        counts = json.loads(sample.counts.read_text()) | {"drawn": 30}
        (tmp_path / f"{sample.generator}.json").write_text(json.dumps(counts))
    samples = tuple(dataclasses.replace(one, counts=tmp_path / f"{one.generator}.json") for one in lower.samples)
    report = make_study(tmp_path / "study", Made("metrics", dataclasses.replace(lower, samples=samples)))
    assert "a poor model has the lowest value (" in report


@pytest.mark.parametrize("name", ["distinct_2", "section_words", "word_length", "sections"])
def test_a_measure_has_the_same_scores_in_memory(files, rows, name):
    """Files of a study, and documents in memory as Python functions take them: one number, one verdict."""
    sets = {REAL: read_articles(files.data[0].articles)}
    sets |= {sample.label: read_articles(sample.articles) for sample in files.samples}
    metric = load_metric(f"own_measures:{name}", [FOLDER])
    of_memory = own_scores([metric], sets, Resampling(files.resamples))
    measure = measures_of(rows)[metric.name]
    names = Names.of(files.samples).source
    of_files = scores_of(rows[rows["metric"] == metric.name], measure, names, "values")
    assert len(of_files) == len(of_memory) == 3
    for one, other in zip(of_files, of_memory, strict=True):
        for field in ("measure", "key", "aim", "label", "number", "n", "p", "real", "margin", "verdict", "way"):
            assert getattr(one, field) == getattr(other, field), field


def test_definitions_say_what_a_measure_is(rows):
    said = dict(definitions(rows))
    assert said["Words of a section, words"].startswith("Of a source: the median of all sections, by the function ")
    assert said["Distinct-2"].endswith("The aim is a high value; real text is there to compare with.")
    assert measures_of(rows)["own_measures:distinct_2"].key == "distinct_2"


def test_sections_of_a_document_are_one_unit(tmp_path):
    """An interval over documents is wider than one that takes their sections for independent."""
    files = tiny(tmp_path, metrics=["own_measures:section_words"])
    # Each document's sections have one length, so that there are as many independent numbers as documents.
    for source in (*files.data, *files.samples):
        same = [dataclasses.replace(one, sections=(one.sections[0],) * 8) for one in read_articles(source.articles)]
        write_articles(source.articles, same)
        score_own(load_metric("own_measures:section_words", [FOLDER]), source.articles, source.scores)
        if source.keys["generator"] != "data":
            source.counts.write_text(json.dumps({"drawn": 30, "kept": 30}))
    found = row(metric_rows(Material(files)), "section_words", "rich")
    firsts = [len(one.sections[0].text.split()) for one in read_articles(files.samples[0].articles)]
    ordered = np.sort(firsts)
    assert found["value"] == np.median(firsts)
    # The binomial interval of the median of 30 values is from the 10th to the 21st.
    assert found["ci_low"] <= ordered[9]
    assert found["ci_high"] >= ordered[20]


def test_two_measures_of_one_title_are_refused(files, tmp_path):
    twice = dataclasses.replace(files, metrics=("own_measures:distinct_2", "other:distinct"))
    same = tuple(dataclasses.replace(real, measured=(real.scores, real.scores)) for real in files.data)
    with pytest.raises(TextcriticError, match="have the same title 'Distinct-2'; change one of them"):
        metric_rows(Material(dataclasses.replace(twice, data=same)))


def test_a_table_that_was_written_gives_the_same_measures(study, rows):
    folder, _ = study
    table = pd.read_csv(folder / "metrics/tables/metrics.csv", keep_default_na=False)
    found, made = measures_of(table), measures_of(rows)
    assert [one.name for one in found.values()] == [one.name for one in made.values()]


def test_a_measure_that_ships_says_what_is_wrong_in_words():
    real, number = Number(0.66, 0.6, 0.7), Number(-0.76, -0.8, -0.7)
    about = {"corpus": "c", "label": "m", "generator": "m", "section": "values", "n": 50, "margin": 0.1, "p": 0.001}
    words = "its words follow one another less: −0.76 nats a word against 0.66"
    score = Score(**about, measure="Order of words", key="order_of_words", number=number, real=real)
    assert cause(Cell((score,))) == words
    assert cause(Cell((dataclasses.replace(score, key="mine"),))) == ""


def test_the_title_says_whose_the_measures_are():
    ours, mine = "textcritic.critics.plain:repeated", "mine:f"
    assert [_asked(names)[0] for names in ([ours], [mine], [ours, mine])] == [
        "Form",
        "Own measures",
        "Form, and own measures",
    ]
