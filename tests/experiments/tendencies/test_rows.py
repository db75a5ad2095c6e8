"""What the tables say, computed anew from the files of statistics."""

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from experiments.tendencies.tiny import EMPTY, GENERATORS, build_tendencies, model, write_counts, write_texts
from textcritic.critics.tendencies.verdicts import DIFFERS, MISSING, TENDENCIES, UNCLEAR
from textcritic.errors import TextcriticError
from textcritic.experiments.tendencies.rows import (
    distance_rows,
    mean_rows,
    model_rows,
    sample_rows,
    statistics_of,
    tendency_rows,
    value_rows,
)
from textcritic.experiments.tendencies.section import NOT_KEPT
from textcritic.experiments.tendencies.sheets import samples_sheet
from textcritic.experiments.tendencies.statistics import REAL, SIZED
from textcritic.experiments.tendencies.tables import TABLES
from textcritic.experiments.tendencies.words import (
    MANY,
    comparisons_of,
    not_measured,
    sentence,
    tendency_findings,
    totals,
)
from textcritic.measures.card import Cell
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import number, percent
from textcritic.measures.published import read_published
from textcritic.measures.score import NOT_COMPARED, NOT_SCORED, scores_of
from textcritic.measures.sentences import value_of

HEAD = "table,corpus,setting,generator,decoding,metric,value,source,note\n"


@pytest.fixture(scope="module")
def table(files, names):
    return tendency_rows(Material(files, names=names))


def card_of(rows, measures, names):
    return tuple(score for measure in measures for score in scores_of(rows, measure, names.source))


def of(table, generator):
    return table[table["generator"] == generator].set_index("tendency")


def test_each_row_is_that_of_the_statistics(table, files):
    for sample in files.samples:
        said = json.loads(sample.scores.read_text())
        rows = of(table, sample.generator)
        assert rows.index.tolist() == [tendency.name for tendency in TENDENCIES]
        for tendency in TENDENCIES:
            row, found = rows.loc[tendency.name], said["distances"].get(tendency.distance, {})
            for name in ("value", "low", "high", "p_value", "by_chance", "noticed", "floor", "floor_most"):
                assert (row[name] if row[name] == row[name] else None) == found.get(name), name
            if row["verdict"] != MISSING and row["by_chance"]:
                assert row["times"] == row["value"] / row["by_chance"]


def test_samples_unlike_real_text_are_told_from_it(table):
    flat, short = of(table, "flat"), of(table, "short")
    assert {"rank-frequency", "type-token", "unigrams", "stopwords"} <= set(flat.index[flat["verdict"] == DIFFERS])
    assert flat["way"]["rank-frequency"] == "less"
    assert flat["way"]["type-token"] == "more"
    assert flat["verdict"]["length"] == UNCLEAR
    assert (short["verdict"]["length"], short["way"]["length"]) == (DIFFERS, "shorter")
    faithful = of(table, "faithful")
    assert (faithful["verdict"] == DIFFERS).sum() <= 1
    assert (faithful["verdict"] == UNCLEAR).sum() >= 6  # of 60 documents little is known
    assert flat["not_kept"].iloc[0] == (flat["verdict"] == DIFFERS).sum() > faithful["not_kept"].iloc[0]
    tested = flat["p_value"].dropna()
    assert flat["p_all"].iloc[0] == pytest.approx(min(1.0, tested.min() * len(tested)))


def test_a_sample_without_a_token_is_not_measured_for_one_reason(table, files):
    mute = of(table, EMPTY)
    assert set(mute["verdict"]) == {MISSING}
    assert set(mute["why"]) == {"none of the 60 documents has a token; nothing is measured"}
    assert mute["p_all"].isna().all()
    assert set(mute["not_kept"]) == {0}


def test_published_values_stand_beside_ours(files, names, tmp_path):
    path = tmp_path / "published.csv"
    rows = "lines,,data,,s,1.2,Table 4,", "lines,,data,,s_sd,0.001,Table 4,", "lines,wo-title,short,,perplexity,24,x,"
    rows += (
        "lines,wo-title,short,drawn,length_ks,0.5,x,p < 0.005",
        "lines,wo-title,short,drawn,length_difference,-20,x,below",
    )
    path.write_text(HEAD + "".join(f"1,{row}\n" for row in rows), encoding="utf-8")
    published = read_published(path)
    values = value_rows(Material(files, published, names))
    real = values[(values["source"] == "data") & (values["statistic"] == "s")].iloc[0]
    assert (real["published"], real["published_sd"], real["draws"]) == (1.2, 0.001, 4)
    assert real["difference"] == real["value"] - 1.2
    models = model_rows(Material(replace(files, models=(model(tmp_path),)), published))
    row = models[(models["generator"] == "short") & (models["statistic"] == "perplexity")].iloc[0]
    assert (row["value"], row["published"], row["difference"]) == (23.5, 24, -0.5)
    assert set(models.loc[models["statistic"] == "parameters", "value"]) == {205_000_000}
    distances = distance_rows(Material(files, published, names))
    row = distances[(distances["generator"] == "short") & (distances["statistic"] == "length_ks")].iloc[0]
    assert (row["difference"], row["published_note"]) == (row["value"] - 0.5, "p < 0.005")
    means = mean_rows(Material(files, published, names))
    row = means[(means["generator"] == "short") & (means["statistic"] == "length_difference")].iloc[0]
    assert (row["published"], row["published_note"]) == (-20, "below")
    assert row["p_as_printed"] == 1  # one-sided as printed: no lower mean is ever significant


def test_findings_are_sentences(table, names):
    findings = tendency_findings(table, names)
    assert {finding.about for finding in findings} == {label for label, *_ in GENERATORS.values()}
    says = [finding.says for finding in findings if finding.about == "a short model"]
    assert any(
        re.fullmatch(r"Its documents are shorter \([\d.]+ times what chance gives, p = 0.02, adjusted p .*\)\.", one)
        for one in says
    )
    for finding in findings:
        assert finding.says.endswith(".")
        assert "nan" not in finding.says
        assert "  " not in finding.says


def test_each_tendency_that_was_tested_is_one_test_of_its_sample(table, material, files, names):
    values = value_rows(material)
    found = comparisons_of(table, values, partial(card_of, names=names))
    assert {one.label for one in found} == {"a flat model", "a faithful model", "a short model"}
    for sample in files.samples:
        rows = of(table, sample.generator)
        own = {one.measure: one.p for one in found if one.generator == sample.generator}
        tested = [t for t in TENDENCIES if rows["p_value"][t.name] == rows["p_value"][t.name]]
        assert own == {t.title: rows["p_value"][t.name] for t in tested}
    said = {one.measure: one.says for one in found if one.generator == "flat"}
    own, real = (
        values[(values["generator"] == name) & (values["statistic"] == "stopwords_mean")] for name in ("flat", "data")
    )
    shares = [percent(float(one["value"].iloc[0])) for one in (own, real)]
    more = of(table, "flat")["way"]["stopwords"]
    times = own["value"].iloc[0] / real["value"].iloc[0]
    beside = f", {number(times, 2)} times" if times >= MANY else ""
    assert said["Stop words"] == f"it has {more} stop words: {shares[0]} of its tokens against {shares[1]}{beside}"
    chance = number(of(table, "flat")["times"]["unigrams"], 2)
    assert said["Which words"] == (
        f"it uses some words much more or less often than people do ({chance} times what chance gives)"
    )


def test_of_several_trainings_chance_is_no_difference(tmp_path):
    """Distances are never 0: without what they have by chance, the mean over trainings is not told from 0."""
    files = build_tendencies(tmp_path, sources=[("faithful", "drawn", "wo-title")], seeds=(1, 2, 3), documents=20)
    names = Names.of(files.samples, REAL)
    rows = tendency_rows(Material(files, names=names))
    rows = rows.assign(by_chance=1.0, value=[*[0.9] * 9, *[1.0] * 9, *[1.1] * 9], p_value=0.001)
    found = comparisons_of(
        rows, value_rows(Material(files, read_published(None), names)), partial(card_of, names=names)
    )
    assert [one.p for one in found] == pytest.approx([1.0] * len(TENDENCIES))


def test_what_was_not_measured_is_said_with_its_reason(table, names):
    said = dict(not_measured(table, names))
    mute = of(table, "mute")
    assert (
        said[f"Length of {names.source(mute.reset_index().iloc[0].to_dict() | {'generator': 'mute'}, seed=False)}"]
        == mute["why"]["length"]
    )
    every = dict(not_measured(table[table["generator"] == "mute"], names))
    assert every["Length"] == mute["why"]["length"]
    assert len(every) == len(TENDENCIES)


def test_a_sentence_of_a_difference_without_a_direction():
    row = {"tendency": "stopwords", "way": "", "times": float("nan"), "p_value": 0.004, "p_adjusted": 0.02}
    row |= {"high": float("nan"), "margin": 0.1}
    said = "Stop words: it differs from real text, but not in the mean (p = 0.004, adjusted p = 0.02)."
    assert sentence(row) == said
    row |= {"way": "more", "times": 3.5}
    assert sentence(row) == "It has more stop words (3.5 times what chance gives, p = 0.004, adjusted p = 0.02)."


def test_the_scorecard_counts_among_what_was_measured_and_is_no_verdict(table, names):
    scores = scores_of(totals(table), NOT_KEPT, names.source)
    assert {score.verdict for score in scores} <= {NOT_COMPARED, NOT_SCORED}
    assert [score.p for score in scores] == [None] * 4
    flat = next(score for score in scores if score.generator == "flat")
    differs = (of(table, "flat")["verdict"] == DIFFERS).sum()
    measured = (of(table, "flat")["verdict"] != MISSING).sum()
    assert value_of(Cell((flat,))) == f"{differs} of {measured} measured"
    mute = next(score for score in scores if score.generator == "mute")
    assert value_of(Cell((mute,))) == "0 of 0 measured"


def test_what_was_rejected_is_said_with_reasons(table, files, names):
    """Of old samples nothing is known of texts that had not ended: there are none. Of real text nothing is rejected."""
    values = value_rows(Material(files, read_published(None), names))
    columns = ["rejected", "rejected_share", "rejected_by_reason", "unfinished"]
    said = {"short": (9, 9 / 69, "no end within 40 tokens: 7; empty: 2", 3), "flat": (1, 1 / 61, "empty: 1", 0)}
    for rows in (table, values):
        for generator, group in rows.groupby("generator"):
            assert {tuple(row) for row in group[columns].to_numpy()} == {said.get(generator, (0, 0, "", 0))}


def test_counts_of_another_sample_are_refused(files, names, tmp_path):
    sample = replace(files.samples[0], counts=tmp_path / "counts.json")
    other = replace(files, samples=(sample,))
    write_counts(sample, 61, {})
    with pytest.raises(TextcriticError, match=r"scores\.json: 60 documents, but .*counts\.json says 61 were kept"):
        tendency_rows(Material(other, names=names))
    sample.counts.write_text('{"drawn": 60, "kept": 60}')
    with pytest.raises(TextcriticError, match=r"counts\.json: no 'rejected' in it; draw the sample again"):
        tendency_rows(Material(other, names=names))


def test_statistics_of_something_else_are_refused(tmp_path):
    (tmp_path / "x.json").write_text('{"documents": 1}')
    with pytest.raises(TextcriticError, match=r"x\.json: no '\w+' in it; delete it and rerun the rule"):
        statistics_of(tmp_path / "x.json")


def test_every_estimate_by_size_has_a_column(material):
    sizes = TABLES["tendencies-sizes"](material)
    assert set(sizes.rows["statistic"]) == {statistic.name for statistic in SIZED}
    assert [cell.text for cell in sizes.sheet.header[0][2:]] == [statistic.title for statistic in SIZED]


def test_the_last_size_of_each_source_is_all_of_its_documents(material):
    values, sizes = (TABLES[f"tendencies-{name}"](material).sheet for name in ("values", "sizes"))
    documents = {row[0].text: row[-1].text for row in values.body}
    last, name = {}, ""
    for row in sizes.body:
        name = row[0].text or name
        last[name] = row[1].text
    assert len(documents) == 5
    assert last == {name: size for name, size in documents.items() if name != "a mute model"}


def test_seeds_of_a_sample_are_rows_of_their_own(tmp_path):
    files = build_tendencies(tmp_path, sources=[("faithful", "drawn", "wo-title")], seeds=(1, 2), documents=20)
    names = Names.of(files.samples, REAL)
    rows = tendency_rows(Material(files, names=names))
    assert rows["seed"].tolist() == [1] * len(TENDENCIES) + [2] * len(TENDENCIES)
    assert len(totals(rows)) == 2


def test_the_first_documents_of_each_source_are_shown(files, names, tmp_path):
    """Long ones are cut; the paper's text is a note of its tokens."""
    path = tmp_path / "published.csv"
    path.write_text(f'{HEAD}7,lines,wo-title,short,drawn,sample_1,3,Table 7,"one, two three"\n', encoding="utf-8")
    real = replace(files.data[0], articles=tmp_path / "test.parquet")
    write_texts(real.articles, ["the end", "word " * 999, "never shown"])
    made = sample_rows(Material(replace(files, data=(real,)), read_published(path), names))
    assert made.groupby("label", sort=False).size().tolist() == [2] * 5
    assert made["text"].iloc[0] == "the end"
    assert (made["value"].iloc[1], len(made["text"].iloc[1])) == (999, 1202)
    sheet = samples_sheet(made, names)
    row = next(row for row in sheet.body if row[0].text == "a short model")
    assert row[1].notes == ("published: one, two three",)
