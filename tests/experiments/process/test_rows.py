import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_process import RECIPE, SAMPLES, build_process
from textcritic.report.inputs import read_synthetic
from textcritic.report.rows import COHERENCE_COLUMNS, reasons_from_words, reasons_in_words
from textcritic.report.synthetic.names import EXACT, TEST, ProcessNames
from textcritic.report.synthetic.rows import audit_rows, table1_rows
from textcritic.report.synthetic.sequences import examples
from textcritic.report.synthetic.sheets import every_number_sheet, parsing_sheet, table1_sheet, unread_sheet
from textcritic.report.synthetic.words import process_findings
from textcritic.study_files import StudyFiles

from textcritic.corpora import read_articles, write_articles
from textcritic.corpora.process import Process
from textcritic.critics import decompose
from textcritic.critics.known_process import KnownProcess, score_sequences
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, write_json
from textcritic.plan.paths import Paths
from textcritic.plan.project import Project
from textcritic.report import make_synthetic_figures, make_synthetic_tables
from textcritic.report.names import KEYS, sample_keys
from textcritic.report.numbers import number
from textcritic.report.published import read_published
from textcritic.report.sheet import to_html, to_latex
from textcritic.report.tables import read_rows

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "config" / "published" / "model-criticism.csv"
NOTHING = ("transformer-untrained", "untrained transformer", "sequences", 1, 0.5, 100)
PARTS = ["cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return build_process(tmp_path_factory.mktemp("process"), samples=(*SAMPLES, NOTHING))


@pytest.fixture(scope="module")
def synthetic(study):
    return read_synthetic(study)


@pytest.fixture(scope="module")
def rows(synthetic):
    return table1_rows(synthetic, read_published(PUBLISHED))


def of(rows, generator, decoding="sequences", seed=1):
    keys = (rows["generator"] == generator) & (rows["decoding"] == decoding) & (rows["seed"] == seed)
    assert keys.sum() == 1
    return rows[keys].iloc[0]


def test_the_exact_row_is_the_processs_own(synthetic, rows):
    process = Process.load(synthetic.processes[0].process)
    exact = rows[rows["source"] == EXACT].iloc[0]
    assert (exact["latent_ppl"], exact["ppl_body"]) == (process.latent_ppl(), process.word_ppl())
    # Nothing but the process itself has its own transitions: all of the cross-entropy is entropy.
    assert exact["entropy"] == pytest.approx(math.log(process.latent_ppl()), rel=1e-12)
    assert 0 <= exact["kl"] < 1e-12
    assert exact[["ci_low", "p_value", "documents", "rejected", "published", "ppl_body_published"]].isna().all()


def test_the_end_of_a_sequence_is_one_more_certain_token(synthetic, rows):
    process = Process.load(synthetic.processes[0].process)
    states, emitted = process.sample(20_000, 3)
    nats = sum(part.sum() for part in process.nll(states, emitted))
    with_end = math.exp(nats / (process.lengths[emitted].sum() + len(states)))
    exact, test = (rows[rows["source"] == source].iloc[0] for source in (EXACT, TEST))
    assert exact["ppl_all"] == pytest.approx(with_end, rel=0.01)
    found = read_json(synthetic.processes[0].statistics)
    tokens, sequences = found["tokens"]["test"], found["articles"]["test"]
    assert tokens * math.log(test["ppl_body"]) == pytest.approx(
        (tokens + sequences) * math.log(test["ppl_all"]), rel=1e-12
    )


def test_latent_ppl_of_the_test_split_and_of_samples_by_hand(study, rows):
    block = study["synthetic"]
    for entry in (*block["corpora"], *block["sources"][:3]):
        scores = read_table(entry["scores"]).to_pandas()
        kept = scores[~scores["rejected"]]
        row = of(rows, entry["generator"], entry["decoding"]) if "generator" in entry else rows.iloc[1]
        assert row["latent_ppl"] == pytest.approx(math.exp(kept["nll"].sum() / kept["steps"].sum()), rel=1e-12)
        assert row["latent_nll"] == pytest.approx(kept["nll"].mean(), rel=1e-12)
        assert row["ci_low"] < row["latent_ppl"] < row["ci_high"]
        assert (row["documents"], row["steps"]) == (len(kept), RECIPE.steps * len(kept))
        assert row["rejected_share"] == pytest.approx(scores["rejected"].mean())
        assert reasons_from_words(row["rejected_by_reason"]) == scores["why"].dropna().value_counts().to_dict()
        assert math.exp(row["cross_entropy"]) == pytest.approx(row["latent_ppl"], rel=1e-12)
        assert row["entropy"] + row["kl"] == pytest.approx(row["cross_entropy"], rel=1e-12)
    statistics = read_json(block["corpora"][0]["statistics"])
    assert rows.iloc[1]["latent_ppl"] == pytest.approx(statistics["latent_ppl"]["test"], rel=1e-12)


def test_models_are_told_from_the_process_by_a_test(rows):
    assert of(rows, "transformer-released")["p_value"] < 0.01
    assert of(rows, "hsmm-800", "sequences-given")["p_value"] > 0.05
    assert rows[rows["source"] != "sample"]["p_value"].isna().all()


def test_word_level_perplexity_is_that_of_letters_and_delimiters(study, rows):
    source = study["synthetic"]["sources"][0]
    report, row = read_json(source["perplexity"]), of(rows, source["generator"])
    assert row["ppl_body"] == report["body"]["ppl"]
    assert [row["ppl_body_low"], row["ppl_body_high"]] == report["body"]["ci95"]
    assert row["ppl_all"] == report["all"]["ppl"]


def test_published_values_stand_beside_what_they_were_measured_on(rows):
    test, transformer = rows[rows["source"] == TEST].iloc[0], of(rows, "transformer-released")
    assert (test["published"], test["ppl_body_published"]) == (44.30, 1.99)
    assert (transformer["published"], transformer["ppl_body_published"]) == (64.80, 2.28)
    assert transformer["difference"] == pytest.approx(transformer["latent_ppl"] - 64.80)
    assert transformer["ppl_body_difference"] == pytest.approx(transformer["ppl_body"] - 2.28)
    assert "66.80" in transformer["published_note"]
    learnt, given = (of(rows, "hsmm-800", decoding) for decoding in ("sequences", "sequences-given"))
    assert (learnt["ppl_body_published"], given["ppl_body_published"]) == (2.05, 2.05)
    assert pd.isna(learnt["published"])
    assert given["published"] == 47.24


def test_a_sample_of_which_nothing_can_be_read_has_no_latent_ppl(synthetic, rows):
    row = of(rows, "transformer-untrained")
    assert row[["latent_ppl", "ci_low", "latent_nll", "p_value", "seeds_mean", *PARTS]].isna().all()
    assert (row["documents"], row["steps"], row["rejected"], row["rejected_share"]) == (0, 0, 300, 1.0)
    assert row["ppl_body"] > 1
    sheet = table1_sheet(rows, ProcessNames.of(synthetic), synthetic.decodings)
    line = next(line for line in to_html(sheet).splitlines() if "untrained transformer" in line)
    assert "—<small>none could be read</small>" in line
    assert "100%<small>300 of 300</small>" in line
    assert "p =" not in line


def test_table_1_as_people_read_it(synthetic, rows):
    names = ProcessNames.of(synthetic)
    sheet = table1_sheet(rows, names, synthetic.decodings)
    assert [row[0].text for row in sheet.body] == [
        "the process, exactly",
        "test sequences",
        "transformer",
        "HSMM, ends by itself",
        "HSMM, length given",
        "untrained transformer",
    ]
    assert any(remark.startswith("Length given: the model is told how many sub-sequences") for remark in sheet.remarks)
    assert any("66.80" in remark for remark in sheet.remarks)
    exact = sheet.body[0]
    assert [cell.notes for cell in exact] == [()] * 6
    assert exact[5].text == "0"
    assert "published 64.8" in " ".join(sheet.body[2][2].notes)
    for other in (sheet, unread_sheet(rows, names), every_number_sheet(rows, names)):
        assert {sum(cell.span for cell in row) for row in (*other.header, *other.body)} == {len(other.header[0])}
        latex = to_latex(other)
        assert latex.count("{") == latex.count("}")


def test_seeds_are_summarised_and_shown_together(tmp_path):
    again = tuple((*SAMPLES[0][:3], seed, *SAMPLES[0][4:]) for seed in (1, 2))
    synthetic = read_synthetic(build_process(tmp_path, samples=again, resamples=50))
    rows, names = table1_rows(synthetic, read_published(None)), ProcessNames.of(synthetic)
    samples = rows[rows["source"] == "sample"]
    assert samples["seeds"].tolist() == [2, 2]
    assert samples["seeds_mean"].tolist() == pytest.approx([samples["latent_ppl"].mean()] * 2)
    assert samples["seeds_sd"].tolist() == pytest.approx([np.std(samples["latent_ppl"], ddof=1)] * 2)
    assert samples["label"].tolist() == ["transformer, seed 1", "transformer, seed 2"]
    sheet = table1_sheet(rows, names, synthetic.decodings)
    assert [row[0].text for row in sheet.body][2:] == ["transformer"]
    assert "over 2 seeds" in sheet.body[2][2].notes[0]
    assert "72 of 600" in sheet.body[2][3].notes
    assert rows["published"].isna().all()
    assert not any("published" in remark.lower() for remark in sheet.remarks)


def test_an_infinite_perplexity_says_why(study, tmp_path):
    block = study["synthetic"]
    report = read_json(block["sources"][0]["perplexity"])
    for part in ("all", "body"):
        report[part] = {**report[part], "ppl": None, "nll": None, "ci95": [None, None]}
    write_json(tmp_path / "perplexity.json", {**report, "zero_probability_tokens": 3})
    source = {**block["sources"][0], "perplexity": str(tmp_path / "perplexity.json")}
    synthetic = read_synthetic({**study, "synthetic": {**block, "sources": [source]}})
    rows = table1_rows(synthetic, read_published(None))
    assert math.isinf(rows.iloc[2]["ppl_body"])
    sheet = table1_sheet(rows, ProcessNames.of(synthetic), {})
    assert "Word-level PPL of transformer is infinite: 3 tokens of the test text have probability 0." in sheet.remarks
    assert "word-level perplexity infinite; Latent PPL" in sentences(rows, synthetic)


def test_the_audit_says_what_the_released_code_would(synthetic):
    audit = audit_rows(synthetic)
    found = audit[audit["generator"] == "transformer-released"].set_index("switch")
    # A text without its last delimiter is one sub-sequence short for the released code, one with another first piece
    # has none, one that goes on after the last step is left out, and one that was cut off behind it is kept.
    assert found["documents"].to_dict() == {"default": 264, "as_released": 270, "any length": 279}
    assert found["rejected"].to_dict() == {"default": 36, "as_released": 30, "any length": 21}
    assert (found.loc["as_released", "processed"], found.loc["as_released", "invalid"]) == (270, 0)
    change = 100 * (found.loc["any length", "latent_ppl"] / found.loc["default", "latent_ppl"] - 1)
    assert found.loc["any length", "change_percent"] == pytest.approx(change)
    nothing = audit[audit["generator"] == "transformer-untrained"].set_index("switch")
    assert pd.isna(nothing.loc["default", "latent_ppl"])
    assert nothing.loc["any length", "latent_ppl"] > 1
    sheet = parsing_sheet(audit, ProcessNames.of(synthetic))
    assert "270 processed, 0 invalid" in to_html(sheet)


def test_tables_are_made_from_the_synthetic_part_alone(study, rows, tmp_path):
    assert "corpora" not in study
    made = make_synthetic_tables(study, tmp_path, PUBLISHED)
    assert {path.name for path in made} == {f"{n}.{s}" for n in StudyFiles.SYNTHETIC for s in ("csv", "tex", "html")}
    again = read_rows(tmp_path, "table1")
    pd.testing.assert_series_equal(again["latent_ppl"], rows["latent_ppl"], rtol=0)
    assert again["seed"].isna().tolist() == rows["seed"].isna().tolist()
    assert again["decoding"].tolist() == rows["decoding"].tolist()
    assert reasons_from_words(again["rejected_by_reason"].iloc[-1])["unknown symbol"] > 0


def test_figures_show_every_source_and_the_exact_value(study, tmp_path):
    made = make_synthetic_figures(study, tmp_path)
    assert {path.name for path in made} == {
        f"{name}.{form}" for name in ("latent-nll", "training-curves") for form in ("svg", "pdf", "narrow.svg")
    }
    exact = math.log(Process.load(study["synthetic"]["corpora"][0]["process"]).latent_ppl())
    for name, nothing in (("latent-nll.svg", "could be read"), ("latent-nll.narrow.svg", ">none read<")):
        text = (tmp_path / name).read_text()
        assert f">exact: {exact:.2f}<" in text
        assert all(label in text for label in (">test sequences<", ">transformer<", ">HSMM, length given<"))
        assert nothing in text


def sentences(rows, synthetic):
    ((lead, words),) = process_findings(rows, ProcessNames.of(synthetic))
    assert lead == "Where the truth is known"
    return words


def test_findings_tell_the_furthest_model_and_the_nearest(synthetic, rows):
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    for generator, values in (("transformer-released", (2.28, 64.8, 0.0001)), ("hsmm-800", (2.0, 44.4, 0.7))):
        told.loc[told["generator"] == generator, ["ppl_body", "latent_ppl", "p_value"]] = values
    told.loc[told["source"] == EXACT, ["ppl_body", "latent_ppl"]] = 2.0, 44.3
    words = sentences(told, synthetic)
    assert words.startswith(
        "transformer: word-level perplexity 2.28, 14% above the process's own 2.00; Latent PPL 64.8, 46% above the "
        "process's own 44.3 (p < 0.001); 12% of its sequences could not be read."
    )
    assert (
        "HSMM, ends by itself: word-level perplexity 2.00, that of the process itself; Latent PPL 44.4, that of"
        in words
    )
    assert "which is within what chance explains (p = 0.70)" in words
    assert "transformer" not in words.split("could not be read.")[1]


def test_a_model_of_which_most_is_lost_is_not_ranked(synthetic, rows):
    words = sentences(rows, synthetic)
    assert words.startswith("transformer: word-level perplexity")
    assert words.endswith(
        "300 of its 300 sequences could not be read, most often for the reason “fewer than 9 sub-sequences”, so it "
        "has no Latent PPL."
    )
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    lost = told["decoding"] == "sequences-given"
    told.loc[told["source"] == EXACT, ["ppl_body", "latent_ppl"]] = 2.0, 44.3
    told.loc[lost, ["ppl_body", "latent_ppl", "p_value"]] = 2.0, 44.3, 0.2
    reasons = {"empty": 4, "no end within 400 tokens": 276}
    told.loc[lost, ["documents", "rejected", "rejected_by_reason"]] = 20, 280, reasons_in_words(reasons)
    few = sentences(told, synthetic).split("could not be read. ")[-1]
    assert few == (
        "HSMM, length given: word-level perplexity 2.00, that of the process itself; 280 of its 300 sequences could "
        "not be read, most often for the reason “no end within 400 tokens”; the other 20 are too few sequences to tell."
    )
    told.loc[lost, ["documents", "rejected"]] = 120, 180
    assert "; Latent PPL of the rest 44.3, that of the process itself." in sentences(told, synthetic)
    told.loc[lost, ["documents", "rejected"]] = 150, 150
    assert "(p = 0.20); 50% of its sequences could not be read." in sentences(told, synthetic)


def test_findings_never_call_chance_what_few_sequences_cannot_tell(synthetic, rows):
    told = rows[rows["generator"].isin(["data", "transformer-released"])].copy()
    told.loc[told["source"] == "sample", ["documents", "rejected", "p_value"]] = 90, 10, 0.2
    words = sentences(told, synthetic)
    assert ", of too few sequences to tell (p = 0.20); 10% of its sequences could not be read." in words
    assert "chance" not in words
    told.loc[told["source"] == "sample", "p_value"] = 0.01
    assert "few" not in sentences(told, synthetic)


def test_a_latent_ppl_below_the_processs_own_is_away_from_it_too(synthetic, rows):
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    told.loc[told["source"] == EXACT, "latent_ppl"] = 44.3
    told.loc[told["generator"] == "transformer-released", "latent_ppl"] = 20.0
    told.loc[told["decoding"] == "sequences-given", "latent_ppl"] = 45.0
    told.loc[(told["generator"] == "hsmm-800") & (told["decoding"] == "sequences"), "latent_ppl"] = 50.0
    words = sentences(told, synthetic)
    assert words.startswith("transformer: ")
    assert "HSMM, length given: " in words
    assert "ends by itself" not in words


def test_divergence_stands_beside_that_of_as_much_real_text(study, synthetic, rows):
    process = KnownProcess.load(study["synthetic"]["corpora"][0]["process"])
    test = read_table(study["synthetic"]["corpora"][0]["scores"])
    whole = decompose(process.transitions(test), process)
    found = rows.set_index("label")[["kl_of_test", "kl_corrected_of_test"]]
    # The test split and a sample that has as many sequences as it: all of it.
    for label in ("test sequences", "HSMM, length given"):
        assert found.loc[label].tolist() == pytest.approx([whole.kl, whole.kl_corrected], rel=1e-12)
    # The fewer there are, the further test sequences seem to be away.
    assert found.loc["transformer", "kl_of_test"] > found.loc["HSMM, ends by itself", "kl_of_test"] > whole.kl
    assert found.loc[["the process, exactly", "untrained transformer"]].isna().all(axis=None)
    again = table1_rows(synthetic, read_published(None)).set_index("label")
    assert again["kl_of_test"].equals(found["kl_of_test"])
    names = ProcessNames.of(synthetic)
    sheet = table1_sheet(rows, names, synthetic.decodings)
    shown = number(found.loc["transformer", "kl_corrected_of_test"])
    assert sheet.body[2][5].notes == (f"test: {shown}",)
    assert not sheet.body[1][5].notes
    plain = number(found.loc["transformer", "kl_of_test"])
    assert every_number_sheet(rows, names).body[2][-1].notes == (f"test: {plain}",)


@pytest.mark.parametrize(("kept", "shown"), [(99, False), (100, True)])
def test_of_few_sequences_no_entropy_and_no_divergence_is_shown(synthetic, rows, kept, shown):
    told, names = rows.copy(), ProcessNames.of(synthetic)
    told.loc[told["generator"] == "transformer-released", "documents"] = kept
    for sheet in (table1_sheet(told, names, {}), every_number_sheet(told, names)):
        entropy, divergence = sheet.body[2][-2:]
        assert (entropy.text != "—", divergence.text != "—") == (shown, shown)
        assert ("too few" in divergence.notes) is not shown
    assert any(
        "Where fewer than 100 sequences could be read" in remark for remark in table1_sheet(told, names, {}).remarks
    )


def test_of_seeds_it_is_said_how_many_could_be_read(tmp_path):
    samples = tuple((*SAMPLES[0][:3], seed, 0.5, spoilt) for seed, spoilt in ((1, 12), (2, 100), (3, 12)))
    synthetic = read_synthetic(build_process(tmp_path, samples=samples, resamples=50))
    rows, names = table1_rows(synthetic, read_published(None)), ProcessNames.of(synthetic)
    read = rows[rows["latent_ppl"].notna() & (rows["source"] == "sample")]
    assert rows[rows["source"] == "sample"]["seeds_read"].tolist() == [2, 2, 2]
    assert rows["seeds"].dropna().tolist() == [3, 3, 3]
    assert read["seeds_mean"].tolist() == pytest.approx([read["latent_ppl"].mean()] * 2)
    assert read["seeds_sd"].tolist() == pytest.approx([np.std(read["latent_ppl"], ddof=1)] * 2)
    row = table1_sheet(rows, names, synthetic.decodings).body[2]
    assert "over 2 seeds" in row[2].notes[0]
    assert row[2].notes[-1] == "2 of 3 seeds could be read"
    assert row[5].notes[-1] == "2 of 3 seeds"
    assert "; 2 of 3 seeds could be read; 41% of its sequences" in sentences(rows, synthetic)


def test_an_infinite_latent_ppl_says_why(synthetic, study, tmp_path):
    """A process that never makes a step that a sample makes."""
    block = study["synthetic"]
    source = block["sources"][0]
    process = Process.load(block["corpora"][0]["process"])
    chain = next(r["chain"] for r in read_table(source["scores"]).to_pylist() if not r["rejected"])
    first, second = int(chain[0]), int(chain[1])
    transition = process.transition.copy()
    transition[first, second] = 0
    transition[first] /= transition[first].sum()
    other = replace(process, transition=transition)
    other.save(tmp_path / "process.npz")
    score_sequences(tmp_path / "process.npz", source["articles"], tmp_path / "scores.parquet", source["rejected"])
    score_sequences(tmp_path / "process.npz", block["corpora"][0]["articles"], tmp_path / "test.parquet")
    statistics = read_json(block["corpora"][0]["statistics"])
    statistics["latent_ppl"]["exact"] = other.latent_ppl()
    write_json(tmp_path / "statistics.json", statistics)
    corpus = {**block["corpora"][0], "scores": str(tmp_path / "test.parquet")}
    corpus |= {name: str(tmp_path / f) for name, f in (("process", "process.npz"), ("statistics", "statistics.json"))}
    sources = [{**source, "scores": str(tmp_path / "scores.parquet")}]
    infinite = read_synthetic({**study, "synthetic": {**block, "corpora": [corpus], "sources": sources}})
    rows = table1_rows(infinite, read_published(None))
    row = of(rows, "transformer-released")
    assert math.isinf(row["latent_ppl"])
    assert math.isinf(row["seeds_mean"])
    assert pd.isna(row["ppl_infinite_because"])
    kept = [r["chain"] for r in read_table(source["scores"]).to_pylist() if not r["rejected"]]
    steps = sum(pair == (chain[0], chain[1]) for states in kept for pair in pairwise(states))
    assert row["infinite_because"] == (
        f"{steps} steps have probability 0 in the process" if steps > 1 else "1 step has probability 0 in the process"
    )
    sheet = table1_sheet(rows, ProcessNames.of(infinite), {})
    assert f"Latent PPL of transformer is infinite: {row['infinite_because']}." in sheet.remarks
    assert any("= ∞" in found.words for found in examples(infinite))
    make_synthetic_figures({**study, "synthetic": {**block, "corpora": [corpus], "sources": sources}}, tmp_path / "f")


def test_a_process_with_one_state_has_tables_figures_and_sequences(tmp_path):
    """No recipe draws one, but a file may hold one: two states are made one."""
    study = build_process(
        tmp_path, samples=SAMPLES[:1], recipe=replace(RECIPE, states=2, subsequences=10), resamples=50
    )
    corpus, source = study["synthetic"]["corpora"][0], study["synthetic"]["sources"][0]
    process = Process.load(corpus["process"])
    one = replace(process, transition=np.ones((1, 1)), owner=np.zeros(10, np.int64), emission=np.full(10, 0.1))
    one.save(corpus["process"])
    for files in (corpus, source):
        articles = read_articles(files["articles"])
        same = [replace(a, sections=tuple(replace(s, title="0") for s in a.sections)) for a in articles]
        write_articles(files["articles"], same)
        score_sequences(corpus["process"], files["articles"], files["scores"], files.get("rejected"))
    statistics = read_json(corpus["statistics"])
    statistics["latent_ppl"]["exact"] = one.latent_ppl()
    write_json(corpus["statistics"], statistics)
    synthetic = read_synthetic(study)
    assert len(make_synthetic_tables(study, tmp_path / "tables")) == 6
    make_synthetic_figures(study, tmp_path / "figures")
    data, _ = examples(synthetic)
    shown = {(step.nll, step.share, step.unlikely) for shown in data.shown for step in shown.steps}
    assert shown == {("0.0", "0", False)}
    rows = table1_rows(synthetic, read_published(None))
    assert rows["latent_ppl"].tolist() == [1.0] * 3
    assert "Latent PPL 1.00, that of the process itself" in sentences(rows, synthetic)


def test_columns_mean_what_they_mean_for_real_text(rows):
    ours = {"seeds_read", "kl_of_test", "kl_corrected_of_test", "published_note", "ppl_body_published"}
    ours |= {"ppl_body_difference", *PARTS, *KEYS}
    assert set(rows.columns) - ours <= set(COHERENCE_COLUMNS)


def test_reasons_are_read_as_they_were_written():
    reasons = {"no end within 400 tokens": 1204, "fewer than 9: or so": 3}
    assert reasons_from_words(reasons_in_words(reasons)) == reasons
    assert reasons_from_words("") == {}


@pytest.mark.parametrize(
    ("decodings", "names"),
    [
        ({"a": {"stop": "learnt"}, "b": {"stop": "given"}}, ["ends by itself", "length given"]),
        ({"a": {"stop": "learnt", "articles": 5}, "b": {"stop": "given"}}, ["ends by itself", "length given"]),
        (
            {"a": {"stop": "learnt", "top_k": 5}, "b": {"stop": "given", "top_k": None}},
            ["ends by itself, a", "length given, b"],
        ),
        ({"a": {"stop": "learnt"}, "b": {"stop": "learnt", "top_k": 5}}, ["a", "b"]),
        (
            {"a": {"stop": "learnt"}, "b": {"stop": "learnt", "top_k": 5}, "c": {"stop": "given"}},
            ["ends by itself, a", "ends by itself, b", "length given, c"],
        ),
        ({}, ["a", "b"]),
        ({"a": {"stop": "given"}}, ["length given"]),
        ({"a": {"stop": "learnt"}}, [""]),
    ],
)
def test_decodings_are_named_by_what_they_mean(study, decodings, names):
    block = study["synthetic"]
    sources = [{**block["sources"][1], "decoding": name, "seed": seed} for name in decodings or "ab" for seed in (1, 2)]
    synthetic = read_synthetic({**study, "synthetic": {**block, "sources": sources, "decodings": decodings}})
    found = [ProcessNames.of(synthetic).source(sample_keys(sample)) for sample in synthetic.samples]
    assert found == [", ".join(filter(None, ("HSMM", name, f"seed {n}"))) for name in names for n in (1, 2)]
    keys = sample_keys(synthetic.samples[0])
    assert ProcessNames.of(synthetic).source(keys, decoding=False, seed=False) == "HSMM"


def test_files_that_do_not_belong_together_are_refused(study, tmp_path):
    block = study["synthetic"]
    statistics = read_json(block["corpora"][0]["statistics"])
    statistics["latent_ppl"]["exact"] *= 1.01
    write_json(tmp_path / "other.json", statistics)
    other = {**block, "corpora": [{**block["corpora"][0], "statistics": str(tmp_path / "other.json")}]}
    with pytest.raises(TextcriticError, match=r"other\.json: is of another process than .*process\.npz"):
        table1_rows(read_synthetic({**study, "synthetic": other}), read_published(None))
    write_json(tmp_path / "empty.json", {})
    other["corpora"][0]["statistics"] = str(tmp_path / "empty.json")
    with pytest.raises(TextcriticError, match=r"empty\.json: no perplexity of a process in it"):
        table1_rows(read_synthetic({**study, "synthetic": other}), read_published(None))
    mixed = {**block, "sources": [{**block["sources"][0], "scores": block["corpora"][0]["scores"]}]}
    write_json(tmp_path / "counts.json", {**read_json(block["sources"][0]["counts"]), "drawn": 999})
    mixed["sources"][0]["counts"] = str(tmp_path / "counts.json")
    with pytest.raises(TextcriticError, match=r"300 documents, but .* says 999 were drawn"):
        table1_rows(read_synthetic({**study, "synthetic": mixed}), read_published(None))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sources": []}, "study demo: synthetic: 'sources' is missing or empty"),
        ({"corpora": []}, "study demo: synthetic: 'corpora' is missing or empty"),
        ({"corpora": [{"corpus": "other"}]}, "synthetic: corpus other: the path of its process is missing"),
    ],
)
def test_a_faulty_description_is_one_clear_line(study, change, message):
    with pytest.raises(TextcriticError, match=message):
        read_synthetic({**study, "synthetic": {**study["synthetic"], **change}})


def test_a_source_of_another_process_and_a_missing_file_are_named(study):
    block = study["synthetic"]
    lost = {**block["sources"][0], "rejected": "nowhere.parquet"}
    with pytest.raises(TextcriticError, match=r"transformer-released.*rejected: nowhere\.parquet: no such file"):
        read_synthetic({**study, "synthetic": {**block, "sources": [lost]}})
    strange = {**block["sources"][0], "corpus": "strange"}
    with pytest.raises(TextcriticError, match="its corpus is not among the study's corpora"):
        read_synthetic({**study, "synthetic": {**block, "sources": [strange]}})


def test_two_processes_are_told_apart_by_their_names(study, tmp_path):
    other = build_process(tmp_path, corpus="small", recipe=replace(RECIPE, seed=7), samples=SAMPLES[:1], resamples=50)
    both = {key: [*study["synthetic"][key], *other["synthetic"][key]] for key in ("corpora", "sources")}
    synthetic = read_synthetic({**study, "synthetic": {**both, "decodings": study["synthetic"]["decodings"]}})
    rows, names = table1_rows(synthetic, read_published(None)), ProcessNames.of(synthetic)
    assert not rows["label"].duplicated().any()
    assert rows["label"].tolist()[-3:] == ["small: the process, exactly", "small: test sequences", "small: transformer"]
    assert [lead for lead, _ in process_findings(rows, names)] == [
        "Where the truth is known (process)",
        "Where the truth is known (small)",
    ]
    text = (make_synthetic_figures({**study, "synthetic": both}, tmp_path / "figures")[0]).read_text()
    assert ">small<" in text


def test_a_studys_description_has_its_synthetic_part():
    project = Project({"studies": ["model-criticism"]}, ROOT, ROOT)
    files = StudyFiles(Paths(project), "model-criticism")
    block = files.description()["synthetic"]
    assert block == files.synthetic()["synthetic"]
    (corpus,) = block["corpora"]
    assert corpus["process"] == "results/corpora/process/process.npz"
    assert corpus["scores"] == "results/scores/known-process/process/data/test.parquet"
    source = next(source for source in block["sources"] if source["decoding"] == "sequences-given")
    place = "process/wo-title/hsmm-800/seed1"
    assert source["scores"] == "results/scores/known-process/process/samples/wo-title/hsmm-800/seed1/" + (
        "sequences-given.parquet"
    )
    assert source["rejected"] == f"results/samples/{place}/sequences-given.rejected.parquet"
    assert source["perplexity"] == f"results/generators/{place}/perplexity.json"
    assert "latents" not in source
    assert block["decodings"]["sequences-given"]["stop"] == "given"
    # The parts of the study need nothing of each other.
    assert not set(files.coherence_inputs()) & set(files.synthetic_inputs())
    assert not set(files.topic_inputs()) & set(files.synthetic_inputs())
    assert set(files.inputs()) == {*files.coherence_inputs(), *files.synthetic_inputs(), *files.topic_inputs()}
    assert files.coherence()["synthetic"] is None
    assert all("process" in path for path in files.synthetic_inputs())


def test_a_study_without_a_process_has_no_synthetic_part():
    files = StudyFiles(Paths(Project({"studies": ["own-text"]}, ROOT, ROOT)), "own-text")
    assert files.description()["synthetic"] is None
    assert files.synthetic_inputs() == files.synthetic_tables() == files.synthetic_figures() == []
