"""Word-level and Latent PPL of known processes, against sums by hand."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from report_jobs import Made

from experiments.process.conftest import PUBLISHED, of
from experiments.process.tiny import RECIPE, SAMPLES, build_process
from textcritic.corpora import read_articles, write_articles
from textcritic.corpora.synthetic.process import Process
from textcritic.critics import decompose
from textcritic.critics.known_process import KnownProcess, score_sequences
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.rows import COLUMNS
from textcritic.experiments.process.files import EXACT, TEST
from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.rows import PARTS, perplexity_rows
from textcritic.experiments.process.sequences import examples
from textcritic.experiments.process.sheets import every_number_sheet, perplexity_sheet
from textcritic.files import read_json, read_table, write_json
from textcritic.measures.material import Material
from textcritic.measures.numbers import number
from textcritic.measures.published import read_published
from textcritic.measures.scored import reasons_from_words
from textcritic.plan.sources import KEYS
from textcritic.report.tables import read_rows


def test_the_exact_row_is_the_processs_own(files, rows):
    process = Process.load(files.data[0].process)
    exact = rows[rows["source"] == EXACT].iloc[0]
    assert (exact["latent_ppl"], exact["ppl_body"]) == (process.latent_ppl(), process.word_ppl())
    # Nothing but the process itself has its own transitions: all of the cross-entropy is entropy.
    assert exact["entropy"] == pytest.approx(math.log(process.latent_ppl()), rel=1e-12)
    assert 0 <= exact["kl"] < 1e-12
    assert exact[["ci_low", "p_value", "documents", "rejected", "published", "ppl_body_published"]].isna().all()


def test_the_end_of_a_sequence_is_one_more_certain_token(files, rows):
    process = Process.load(files.data[0].process)
    states, emitted = process.sample(20_000, 3)
    nats = sum(part.sum() for part in process.nll(states, emitted))
    with_end = math.exp(nats / (process.lengths[emitted].sum() + len(states)))
    exact, test = (rows[rows["source"] == source].iloc[0] for source in (EXACT, TEST))
    assert exact["ppl_all"] == pytest.approx(with_end, rel=0.01)
    found = read_json(files.data[0].statistics)
    tokens, sequences = found["tokens"]["test"], found["articles"]["test"]
    assert tokens * math.log(test["ppl_body"]) == pytest.approx(
        (tokens + sequences) * math.log(test["ppl_all"]), rel=1e-12
    )


def test_latent_ppl_of_the_test_split_and_of_samples_by_hand(files, rows):
    for source in (*files.data, *files.samples[:3]):
        scores = read_table(source.scores).to_pandas()
        kept = scores[~scores["rejected"]]
        row = rows.iloc[1] if source in files.data else of(rows, source.generator, source.decoding)
        assert row["latent_ppl"] == pytest.approx(math.exp(kept["nll"].sum() / kept["steps"].sum()), rel=1e-12)
        assert row["latent_nll"] == pytest.approx(kept["nll"].mean(), rel=1e-12)
        assert row["ci_low"] < row["latent_ppl"] < row["ci_high"]
        assert (row["documents"], row["steps"]) == (len(kept), RECIPE.steps * len(kept))
        assert row["rejected_share"] == pytest.approx(scores["rejected"].mean())
        assert reasons_from_words(row["rejected_by_reason"]) == scores["why"].dropna().value_counts().to_dict()
        assert math.exp(row["cross_entropy"]) == pytest.approx(row["latent_ppl"], rel=1e-12)
        assert row["entropy"] + row["kl"] == pytest.approx(row["cross_entropy"], rel=1e-12)
    statistics = read_json(files.data[0].statistics)
    assert rows.iloc[1]["latent_ppl"] == pytest.approx(statistics["latent_ppl"]["test"], rel=1e-12)


def test_models_are_told_from_the_process_by_a_test(rows):
    assert of(rows, "transformer-released")["p_value"] < 0.01
    assert of(rows, "hsmm-800-adam", "sequences-given")["p_value"] > 0.05
    assert rows[rows["source"] != "sample"]["p_value"].isna().all()


def test_word_level_perplexity_is_that_of_letters_and_delimiters(files, rows):
    source = files.samples[0]
    report, row = read_json(source.perplexity), of(rows, source.generator)
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
    learnt, given = (of(rows, "hsmm-800-adam", decoding) for decoding in ("sequences", "sequences-given"))
    assert (learnt["ppl_body_published"], given["ppl_body_published"]) == (2.05, 2.05)
    assert pd.isna(learnt["published"])
    assert given["published"] == 47.24


def test_divergence_stands_beside_that_of_as_much_real_text(files, rows):
    process = KnownProcess.load(files.data[0].process)
    test = read_table(files.data[0].scores)
    whole = decompose(process.transitions(test), process)
    found = rows.set_index("label")[["kl_of_test", "kl_corrected_of_test"]]
    # The test split and a sample that has as many sequences as it: all of it.
    for label in ("test sequences", "HSMM, length given"):
        assert found.loc[label].tolist() == pytest.approx([whole.kl, whole.kl_corrected], rel=1e-12)
    # The fewer there are, the further test sequences seem to be away.
    assert found.loc["transformer", "kl_of_test"] > found.loc["HSMM, ends by itself", "kl_of_test"] > whole.kl
    assert found.loc[["the process, exactly", "untrained transformer"]].isna().all(axis=None)
    again = perplexity_rows(Material(files, read_published(None), ProcessNames.of(files))).set_index("label")
    assert again["kl_of_test"].equals(found["kl_of_test"])
    names = ProcessNames.of(files)
    sheet = perplexity_sheet(rows, names, files.decodings)
    shown = number(found.loc["transformer", "kl_corrected_of_test"])
    assert sheet.body[2][5].notes == (f"test: {shown}",)
    assert not sheet.body[1][5].notes
    plain = number(found.loc["transformer", "kl_of_test"])
    assert every_number_sheet(rows, names).body[2][-1].notes == (f"test: {plain}",)


def test_an_infinite_latent_ppl_says_why(files, tmp_path):
    """A process that never makes a step that a sample makes."""
    data, source = files.data[0], files.samples[0]
    process = Process.load(data.process)
    chain = next(r["chain"] for r in read_table(source.scores).to_pylist() if not r["rejected"])
    first, second = int(chain[0]), int(chain[1])
    transition = process.transition.copy()
    transition[first, second] = 0
    transition[first] /= transition[first].sum()
    other = replace(process, transition=transition)
    other.save(tmp_path / "process.npz")
    score_sequences(tmp_path / "process.npz", source.articles, tmp_path / "scores.parquet", source.rejected)
    score_sequences(tmp_path / "process.npz", data.articles, tmp_path / "test.parquet")
    statistics = read_json(data.statistics)
    statistics["latent_ppl"]["exact"] = other.latent_ppl()
    write_json(tmp_path / "statistics.json", statistics)
    paths = {"scores": "test.parquet", "process": "process.npz", "statistics": "statistics.json"}
    data = replace(data, **{name: tmp_path / path for name, path in paths.items()})
    infinite = replace(files, data=(data,), samples=(replace(source, scores=tmp_path / "scores.parquet"),))
    rows = perplexity_rows(Material(infinite, read_published(None), ProcessNames.of(infinite)))
    row = of(rows, "transformer-released")
    assert math.isinf(row["latent_ppl"])
    assert math.isinf(row["seeds_mean"])
    assert pd.isna(row["ppl_infinite_because"])
    kept = [r["chain"] for r in read_table(source.scores).to_pylist() if not r["rejected"]]
    steps = sum(pair == (chain[0], chain[1]) for states in kept for pair in pairwise(states))
    assert row["infinite_because"] == (
        f"{steps} steps have probability 0 in the process" if steps > 1 else "1 step has probability 0 in the process"
    )
    sheet = perplexity_sheet(rows, ProcessNames.of(infinite), {})
    assert f"Latent PPL of transformer is infinite: {row['infinite_because']}." in sheet.remarks
    assert any("= ∞" in found.words for found in examples(infinite))
    Made("process", infinite).figures(tmp_path, tmp_path / "figures")


def test_a_process_with_one_state_has_tables_figures_and_sequences(tmp_path):
    """No recipe draws one, but a file may hold one: two states are made one."""
    files = build_process(tmp_path, samples=SAMPLES[:1], recipe=RECIPE.changed(states=2, subsequences=10), resamples=50)
    data, sample = files.data[0], files.samples[0]
    process = Process.load(data.process)
    one = replace(process, transition=np.ones((1, 1)), owner=np.zeros(10, np.int64), emission=np.full(10, 0.1))
    one.save(data.process)
    for source, rejected in ((data, None), (sample, sample.rejected)):
        articles = read_articles(source.articles)
        same = [replace(a, sections=tuple(replace(s, title="0") for s in a.sections)) for a in articles]
        write_articles(source.articles, same)
        score_sequences(data.process, source.articles, source.scores, rejected)
    statistics = read_json(data.statistics)
    statistics["latent_ppl"]["exact"] = one.latent_ppl()
    write_json(data.statistics, statistics)
    made = Made("process", files)
    assert len(made.tables(tmp_path / "tables")) == 6
    made.figures(tmp_path / "tables", tmp_path / "figures")
    of_data, _ = examples(files)
    shown = {(step.nll, step.share, step.unlikely) for shown in of_data.shown for step in shown.steps}
    assert shown == {("0.0", "0", False)}
    rows = perplexity_rows(Material(files, read_published(None), ProcessNames.of(files)))
    assert rows["latent_ppl"].tolist() == [1.0] * 3


def test_columns_mean_what_they_mean_for_real_text(rows):
    ours = {"seeds_read", "kl_of_test", "kl_corrected_of_test", "published_note", "ppl_body_published"}
    ours |= {"ppl_body_difference", *PARTS, *KEYS}
    assert set(rows.columns) - ours <= set(COLUMNS)


def test_every_table_is_written_three_times_and_read_back(files, rows, tmp_path):
    made = Made("process", files, published=PUBLISHED).tables(tmp_path)
    assert {path.name for path in made} == {
        f"{name}.{suffix}" for name in ("process", "parsing") for suffix in ("csv", "tex", "html")
    }
    again = read_rows(tmp_path, "process")
    pd.testing.assert_series_equal(again["latent_ppl"], rows["latent_ppl"], rtol=0)
    assert again["seed"].isna().tolist() == rows["seed"].isna().tolist()
    assert again["decoding"].tolist() == rows["decoding"].tolist()
    assert reasons_from_words(again["rejected_by_reason"].iloc[-1])["unknown symbol"] > 0


def test_files_that_do_not_belong_together_are_refused(files, tmp_path):
    data, first = files.data[0], files.samples[0]
    other = replace(files, data=(replace(data, statistics=tmp_path / "other.json"),))
    statistics = read_json(data.statistics)
    statistics["latent_ppl"]["exact"] *= 1.01
    write_json(tmp_path / "other.json", statistics)
    with pytest.raises(TextcriticError, match=r"other\.json: is of another process than .*process\.npz"):
        perplexity_rows(Material(other, read_published(None), ProcessNames.of(other)))
    write_json(tmp_path / "other.json", {})
    with pytest.raises(TextcriticError, match=r"other\.json: no perplexity of a process in it"):
        perplexity_rows(Material(other, read_published(None), ProcessNames.of(other)))
    write_json(tmp_path / "counts.json", {**read_json(first.counts), "drawn": 999})
    mixed = replace(files, samples=(replace(first, scores=data.scores, counts=tmp_path / "counts.json"),))
    with pytest.raises(TextcriticError, match=r"300 documents, but .* says 999 were drawn"):
        perplexity_rows(Material(mixed, read_published(None), ProcessNames.of(mixed)))
