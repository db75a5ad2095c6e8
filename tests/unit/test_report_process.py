import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_process import RECIPE, SAMPLES, build_process

from textcritic.corpora.process import Process
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, write_json
from textcritic.paths import Paths, StudyFiles
from textcritic.project import Project
from textcritic.report import make_synthetic_figures, make_synthetic_tables
from textcritic.report.inputs import read_synthetic
from textcritic.report.published import read_published
from textcritic.report.sheet import to_html, to_latex
from textcritic.report.synthetic.names import EXACT, TEST, ProcessNames
from textcritic.report.synthetic.rows import audit_rows, table1_rows
from textcritic.report.synthetic.sheets import every_number_sheet, parsing_sheet, table1_sheet, unread_sheet
from textcritic.report.synthetic.words import process_findings
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
    assert (exact["latent_ppl"], exact["word_ppl"]) == (process.latent_ppl(), process.word_ppl())
    # Nothing but the process itself has its own transitions: all of the cross-entropy is entropy.
    assert exact["entropy"] == pytest.approx(math.log(process.latent_ppl()), rel=1e-12)
    assert exact["kl"] == pytest.approx(0, abs=1e-12)
    assert exact[["ci_low", "p_value", "documents", "rejected", "published", "word_ppl_published"]].isna().all()


def test_the_end_of_a_sequence_is_one_more_certain_token(synthetic, rows):
    process = Process.load(synthetic.processes[0].process)
    states, emitted = process.sample(20_000, 3)
    nats = sum(part.sum() for part in process.nll(states, emitted))
    with_end = math.exp(nats / (process.lengths[emitted].sum() + len(states)))
    exact, test = (rows[rows["source"] == source].iloc[0] for source in (EXACT, TEST))
    assert exact["word_ppl_with_end"] == pytest.approx(with_end, rel=0.01)
    found = read_json(synthetic.processes[0].statistics)
    tokens, sequences = found["tokens"]["test"], found["articles"]["test"]
    assert tokens * math.log(test["word_ppl"]) == pytest.approx(
        (tokens + sequences) * math.log(test["word_ppl_with_end"]), rel=1e-12
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
        assert row["rejection_rate"] == pytest.approx(scores["rejected"].mean())
        assert json.loads(row["rejected_by_reason"]) == scores["why"].dropna().value_counts().to_dict()
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
    assert row["word_ppl"] == report["body"]["ppl"]
    assert [row["word_ppl_low"], row["word_ppl_high"]] == report["body"]["ci95"]
    assert row["word_ppl_with_end"] == report["all"]["ppl"]


def test_published_values_stand_beside_what_they_were_measured_on(rows):
    test, transformer = rows[rows["source"] == TEST].iloc[0], of(rows, "transformer-released")
    assert (test["published"], test["word_ppl_published"]) == (44.30, 1.99)
    assert (transformer["published"], transformer["word_ppl_published"]) == (64.80, 2.28)
    assert transformer["difference"] == pytest.approx(transformer["latent_ppl"] - 64.80)
    assert transformer["word_ppl_difference"] == pytest.approx(transformer["word_ppl"] - 2.28)
    assert "66.80" in transformer["published_note"]
    learnt, given = (of(rows, "hsmm-800", decoding) for decoding in ("sequences", "sequences-given"))
    assert (learnt["word_ppl_published"], given["word_ppl_published"]) == (2.05, 2.05)
    assert pd.isna(learnt["published"])
    assert given["published"] == 47.24


def test_a_sample_of_which_nothing_can_be_read_has_no_latent_ppl(synthetic, rows):
    row = of(rows, "transformer-untrained")
    assert row[["latent_ppl", "ci_low", "latent_nll", "p_value", "seeds_mean", *PARTS]].isna().all()
    assert (row["documents"], row["steps"], row["rejected"], row["rejection_rate"]) == (0, 0, 300, 1.0)
    assert row["word_ppl"] > 1
    sheet = table1_sheet(rows, ProcessNames.of(synthetic), synthetic.decodings)
    line = next(line for line in to_html(sheet).splitlines() if "untrained transformer" in line)
    assert "—<small>no sequence could be read</small>" in line
    assert "100%<small>300 of 300</small>" in line
    assert "p =" not in line


def test_table_1_as_people_read_it(synthetic, rows):
    names = ProcessNames.of(synthetic)
    sheet = table1_sheet(rows, names, synthetic.decodings)
    assert [row[0].text for row in sheet.body] == [
        "the process, exactly",
        "test sequences",
        "transformer",
        "HSMM, sequences",
        "HSMM, sequences-given",
        "untrained transformer",
    ]
    assert any(remark.startswith("sequences-given: the number of sub-sequences is given") for remark in sheet.remarks)
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
    assert math.isinf(rows.iloc[2]["word_ppl"])
    sheet = table1_sheet(rows, ProcessNames.of(synthetic), {})
    assert "Perplexity of transformer is infinite: 3 tokens of the test text have probability 0." in sheet.remarks
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
    assert json.loads(again["rejected_by_reason"].iloc[-1])["unknown symbol"] > 0


def test_figures_show_every_source_and_the_exact_value(study, tmp_path):
    made = make_synthetic_figures(study, tmp_path)
    assert {path.name for path in made} == {
        f"{name}.{form}" for name in ("latent-nll", "training-curves") for form in ("svg", "pdf", "narrow.svg")
    }
    exact = math.log(Process.load(study["synthetic"]["corpora"][0]["process"]).latent_ppl())
    for name in ("latent-nll.svg", "latent-nll.narrow.svg"):
        text = (tmp_path / name).read_text()
        assert f">exact: {exact:.2f}<" in text
        assert all(label in text for label in (">test sequences<", ">transformer<", ">HSMM, sequences-given<"))
        assert "could be read" in text


def sentences(rows, synthetic):
    ((lead, words),) = process_findings(rows, ProcessNames.of(synthetic))
    assert lead == "Where the truth is known"
    return words


def test_findings_tell_the_furthest_model_and_the_nearest(synthetic, rows):
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    for generator, values in (("transformer-released", (2.28, 64.8, 0.0001)), ("hsmm-800", (2.0, 44.4, 0.7))):
        told.loc[told["generator"] == generator, ["word_ppl", "latent_ppl", "p_value"]] = values
    told.loc[told["source"] == EXACT, ["word_ppl", "latent_ppl"]] = 2.0, 44.3
    words = sentences(told, synthetic)
    assert words.startswith(
        "transformer: word-level perplexity 2.28, 14% above the process's own 2.00; Latent PPL 64.8, 46% above the "
        "process's own 44.3 (p < 0.001); 12% of its sequences could not be read."
    )
    assert "HSMM, sequences: word-level perplexity 2.00, that of the process itself; Latent PPL 44.4, that of" in words
    assert "which is within what chance explains (p = 0.70)" in words
    assert "transformer" not in words.split("could not be read.")[1]


def test_findings_say_where_nothing_could_be_read(synthetic, rows):
    words = sentences(rows, synthetic)
    assert words.startswith("untrained transformer: word-level perplexity")
    assert "no Latent PPL, as not one of its 300 sequences is one that the process could have written." in words


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
    # The two halves of the study need nothing of each other.
    assert not set(files.coherence_inputs()) & set(files.synthetic_inputs())
    assert set(files.inputs()) == {*files.coherence_inputs(), *files.synthetic_inputs()}
    assert files.coherence()["synthetic"] is None
    assert all("process" in path for path in files.synthetic_inputs())


def test_a_study_without_a_process_has_no_synthetic_part():
    files = StudyFiles(Paths(Project({"studies": ["own-text"]}, ROOT, ROOT)), "own-text")
    assert files.description()["synthetic"] is None
    assert files.synthetic_inputs() == files.synthetic_tables() == files.synthetic_figures() == []
