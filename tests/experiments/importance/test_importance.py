"""Importance sampling in a study: rows against plain sums, what is said of them, sheets and pictures."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from report_jobs import Made, make_study
from scipy.special import logsumexp

from experiments.importance.tiny import DRAWS, LOG_P, SHARDS, SMC_LOSS, build_importance
from textcritic.corpora.structured.texts import Mention, Structured
from textcritic.errors import TextcriticError
from textcritic.experiments.importance.files import MIXED
from textcritic.experiments.importance.names import ImportanceNames
from textcritic.experiments.importance.panels import panels_of
from textcritic.experiments.importance.read import read_weights
from textcritic.experiments.importance.rows import (
    EXACT,
    bound_rows,
    curve_rows,
    curves_alone,
    estimate_rows,
    text_rows,
)
from textcritic.experiments.importance.sheets import estimates_sheet, paper_estimates_sheet
from textcritic.experiments.importance.states import _fitted, example_of, state_rows
from textcritic.experiments.importance.tables import KEYS
from textcritic.experiments.importance.words import findings, lines
from textcritic.files import arrays_of
from textcritic.inference.importance import ExactWeights, LogWeights
from textcritic.measures.material import Material
from textcritic.measures.numbers import NONE, number
from textcritic.measures.published import read_published
from textcritic.plan.experiment import Part

PUBLISHED = "table,generator,temperature,metric,value,source,note\n1,rnng,2,ppl_instance,13.5,paper,\n"
PUBLISHED += "1,rnng,none,ppl_corpus,20,paper,\n2,rnng,,beam_10,14,paper,\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return build_importance(tmp_path_factory.mktemp("importance"), documents=72)


@pytest.fixture(scope="module")
def material(files, tmp_path_factory):
    path = tmp_path_factory.mktemp("published") / "importance.csv"
    path.write_text(PUBLISHED)
    return Material(files, read_published(path, KEYS), ImportanceNames.of(files))


def row_of(rows, **wanted):
    for key, value in wanted.items():
        rows = rows[rows[key] == value]
    (row,) = rows.to_dict("records")
    return row


def test_estimates_are_those_of_plain_sums_over_all_shards(files, material):
    rows = estimate_rows(material)
    for weighed in files.weighed:
        parts = []
        for path in weighed.shards:
            with arrays_of(path, "damaged") as arrays:
                parts.append(arrays["log_weights"])
                tokens = arrays["tokens"].sum()
        weights = np.concatenate(parts, axis=1)
        assert weights.shape[1] == DRAWS * SHARDS
        keys = {key: getattr(weighed, key) for key in ("generator", "proposal", "temperature", "peeks")}
        row = row_of(rows, **keys)
        likelihoods = logsumexp(weights, axis=1) - np.log(weights.shape[1])
        assert row["ppl"] == pytest.approx(np.exp(-likelihoods.sum() / tokens), rel=1e-12)
        corpus = logsumexp(weights.sum(axis=0)) - np.log(weights.shape[1])
        expected = np.nan if weighed.mixed else np.exp(-corpus / tokens)
        assert row["ppl_corpus"] == pytest.approx(expected, rel=1e-12, nan_ok=True)
        assert row["truth_at_most"] == pytest.approx(row["ppl"] * 20 ** (1 / tokens), rel=1e-12)
        assert row["pairing_low"] <= row["pairing_mean"] <= row["pairing_high"]
        assert row["ci_low"] < row["ppl"] < row["ci_high"]
        assert row["draws_low"] < row["ppl"] < row["draws_high"]
        assert (row["draws"], row["texts"], row["tokens"]) == (60, 72, tokens)


def test_the_exact_value_stands_beside_estimates_of_the_same_model_alone(material):
    rows = estimate_rows(material)
    truth = np.exp(-LOG_P)
    of_rnng = rows[(rows["generator"] == "rnng") & (rows["proposal"] != "")]
    assert of_rnng["exact"].to_numpy() == pytest.approx(truth, rel=1e-12)
    assert of_rnng["too_high_percent"].to_numpy() == pytest.approx(100 * (of_rnng["ppl"] / truth - 1).to_numpy())
    assert rows.loc[rows["generator"] == "entitynlm", "exact"].isna().all()
    assert set(rows.loc[rows["verdict"] == EXACT, "generator"]) == {"rnng", "lstm"}


def test_the_model_beside_has_a_ratio_over_the_same_texts_by_groups(files, material):
    rows = estimate_rows(material)
    of_entities = rows[(rows["generator"] == "entitynlm") & (rows["proposal"] != "")]
    lstm = row_of(rows, generator="lstm")
    assert of_entities["ratio"].to_numpy() == pytest.approx((of_entities["ppl"] / lstm["ppl"]).to_numpy())
    best = row_of(of_entities, temperature=1.0, peeks=True)
    assert best["ratio_low"] < best["ratio"] < best["ratio_high"] < 1
    assert rows.loc[rows["generator"] == "rnng", "ratio"].isna().all()  # nothing stands beside it
    other = dataclasses.replace(files.exact[1], weights=files.exact[1].weights.with_name("other.npz"))
    read = LogWeights.read(files.exact[1].weights)
    LogWeights(read.ids, read.log_weights, read.tokens + 1).save(other.weights)
    counted = Material(dataclasses.replace(files, exact=(files.exact[0], other)), names=material.names)
    found = estimate_rows(counted)
    assert found["ratio"].isna().all()
    assert set(found.loc[found["generator"] == "entitynlm", "ratio_why"]) == {"it counts other tokens"}


def test_texts_of_a_group_are_one_in_the_interval_over_texts(tmp_path):
    """38 texts that are alone are enough for an interval; in 19 books of two they are not."""
    files = build_importance(tmp_path, documents=38)
    rows = estimate_rows(Material(files, names=ImportanceNames.of(files)))
    drawn = rows[rows["proposal"] != ""].set_index("generator")
    assert not drawn.loc["rnng", "ci_low"].isna().any()
    assert drawn.loc["entitynlm", "ci_low"].isna().all()
    assert set(drawn.loc["entitynlm", "ci_why"]) == {"no interval of fewer than 20"}


def test_published_values_are_beside_ours_and_not_among_them(material):
    rows = estimate_rows(material)
    row = row_of(rows, generator="rnng", temperature=2.0)
    assert (row["published"], row["difference"]) == (13.5, pytest.approx(row["ppl"] - 13.5))
    assert row_of(rows, generator="rnng", temperature=1.0, peeks=False)["published_corpus"] == 20
    assert rows["published"].count() == rows["published_corpus"].count() == 1
    bound = row_of(bound_rows(material), generator="rnng", states=10)
    assert bound["published"] == 14
    texts = [note for line in paper_estimates_sheet(rows, material.names).body for cell in line for note in cell.notes]
    assert "published 13.5" in texts


def test_bounds_are_sums_over_the_states_that_there_are(files, material):
    rows = bound_rows(material)
    for beam in files.beams:
        with arrays_of(beam.joint, "damaged") as arrays:
            expected = np.exp(-logsumexp(arrays["log_p"], axis=1).sum() / arrays["tokens"].sum())
        row = row_of(rows, generator=beam.generator, states=beam.states)
        assert row["ppl"] == pytest.approx(expected, rel=1e-12)
        assert row["filled"] == min(beam.states, 5)
    assert (
        row_of(rows, generator="rnng", states=1)["estimate"]
        == row_of(estimate_rows(material), generator="rnng", temperature=1.0, peeks=True)["ppl"]
    )


def test_curves_fall_to_the_estimate_and_a_picture_alone_has_the_same(material):
    rows, estimates = curve_rows(material), estimate_rows(material)
    for _, curve in rows[rows["level"] == "instance"].groupby(["generator", "temperature", "peeks"]):
        first, last = curve.iloc[0], curve.iloc[-1]
        row = row_of(
            estimates[estimates["proposal"] != ""],
            **{key: first[key] for key in ("generator", "temperature", "peeks")},
        )
        assert last["ppl"] == pytest.approx(row["ppl"])
        assert first["ppl"] > last["ppl"]
    pd.testing.assert_frame_equal(curves_alone(material), rows)


def test_texts_are_those_of_the_weights(files, material):
    rows = text_rows(material)
    weights = read_weights(files.weighed[0])
    assert rows["id"][: len(weights.ids)].tolist() == list(weights.ids)
    assert rows["ess"].between(1, 60).all()


def test_a_particle_filter_stands_beside_its_proposal_at_temperature_one(files, material):
    rows = estimate_rows(material)
    filtered = rows[rows["smc"].notna()]
    assert [(row["generator"], row["proposal"], row["temperature"]) for row in filtered.to_dict("records")] == [
        ("entitynlm", "disc", 1.0)
    ]
    row = filtered.iloc[0]
    assert row["smc"] == pytest.approx(np.exp(SMC_LOSS), rel=1e-12)
    assert row["particles"] == 60
    assert row["smc_low"] < row["smc"] < row["smc_high"]
    sheet = estimates_sheet(rows, material.names)
    heads = [cell.text for cell in sheet.header[0]]
    place = heads.index("Particle filter")
    shown = [line[place].text for line in sheet.body if len(line) == len(heads)]
    assert [text for text in shown if text != NONE] == [number(np.exp(SMC_LOSS))]
    assert "60 particles" in " ".join(sheet.remarks)
    other = dataclasses.replace(files.filtered[0], weights=files.exact[0].weights)
    changed = Material(dataclasses.replace(files, filtered=(other,)), names=material.names)
    with pytest.raises(TextcriticError, match=r"rnng-exact.npz: the estimates of a particle filter: text 0 is"):
        estimate_rows(changed)


def test_own_texts_say_what_the_proposal_misses(files, material, tmp_path):
    rows = estimate_rows(material)
    own = rows[rows["gap_sign"] != ""]
    assert [(row["generator"], row["proposal"], row["temperature"]) for row in own.to_dict("records")] == [
        ("entitynlm", "disc", 1.0)
    ]
    row = own.iloc[0]
    assert (row["own_texts"], row["gap_unreached"], row["gap_sign"], row["gap"]) == (40, 4, "missed", np.inf)
    sheet = estimates_sheet(rows, material.names)
    place = [cell.text for cell in sheet.header[0]].index("Gap on own texts")
    shown = [line[place] for line in sheet.body if len(line) > place and line[place].text != NONE]
    assert [(cell.text, cell.notes) for cell in shown] == [("∞", ("4 of 40 texts",))]
    assert "a hint, not a proof" in " ".join(sheet.remarks)
    said = [found.says for found in findings(rows, material.names) if "model drew itself" in found.says]
    assert said == [
        "On texts that the model drew itself, the proposal (τ = 1) misses part of the posterior: it never draws the "
        "states of 4 of 40 texts; on real text this is a hint, not a proof."
    ]
    without = Material(dataclasses.replace(files, own=()), names=material.names)
    heads = [cell.text for cell in estimates_sheet(estimate_rows(without), material.names).header[0]]
    assert "Gap on own texts" not in heads
    other = dataclasses.replace(files.own[0], exact=tmp_path / "exact.npz")
    ExactWeights(("a",), np.zeros((1, 1)), np.ones(1)).save(other.exact)
    changed = Material(dataclasses.replace(files, own=(other,)), names=material.names)
    with pytest.raises(TextcriticError, match=r"own.npz: reverse: text 0 is 'a', not 'own-0' as in the weights"):
        estimate_rows(changed)


def test_a_mixture_is_a_row_of_its_own_and_in_no_table_of_the_paper(material):
    rows = estimate_rows(material)
    mixed = row_of(rows, generator="rnng", temperature=MIXED)
    assert mixed["label"] == "trees: model <rnng>, all τ mixed"
    assert any("all temperatures together" in remark for remark in estimates_sheet(rows, material.names).remarks)
    assert row_of(bound_rows(material), generator="rnng", states=1)["estimate"] != mixed["ppl"]
    paper = paper_estimates_sheet(rows[rows["temperature"] != MIXED], material.names)
    assert not any("mixed" in line[0].text for line in paper.body)


def test_what_is_said_of_models(material):
    rows = estimate_rows(material)
    said = findings(rows, material.names)
    exact = next(found for found in said if "exact perplexity" in found.says)
    assert exact.about == "trees: model <rnng>"
    assert "The exact perplexity is 12.2" in exact.says
    ratio = next(found for found in said if "times the exact perplexity of LSTM & co" in found.says)
    assert "the latent states help" in ratio.says
    assert ratio.strength > 1
    assert all(found.says.count(". ") == 0 for found in said)
    worse = rows.assign(ratio=1 / rows["ratio"], ratio_low=1 / rows["ratio_high"], ratio_high=1 / rows["ratio_low"])
    assert any("a gain is not ruled out" in found.says for found in findings(worse, material.names))
    assert [line for line in lines(rows, material.names) if line.startswith("mentions: LSTM & co: perplexity")]


def test_the_bound_of_the_lowest_of_several_estimates_allows_for_the_choice(material):
    """It is as much looser as 20 M is more than 20."""
    rows = estimate_rows(material).assign(tokens=10.0)
    drawn = rows[rows["proposal"] != ""]
    for _, own in drawn.groupby(["corpus", "generator", "seed"], sort=False):
        best = own.loc[own["ppl"].idxmin()]
        at_most = number(best["truth_at_most"] * len(own) ** 0.1)
        assert any(f"is at most {at_most}." in found.says for found in findings(rows, material.names))
    assert drawn.groupby(["corpus", "generator", "seed"]).size().max() > 1


def test_a_panel_has_a_line_for_each_temperature_and_one_without_peeking(material):
    panels = panels_of(curve_rows(material), material.names)
    assert [panel.title for panel in panels] == ["trees: model <rnng>", "mentions: model <entitynlm>"]
    assert [line.label for line in panels[0].lines] == ["τ = 0.5", "τ = 1", "τ = 2", "all τ mixed", "no peeking"]


def test_several_seeds_are_told_apart(tmp_path):
    files = build_importance(tmp_path, documents=3, seeds=(1, 2))
    names = ImportanceNames.of(files)
    rows = estimate_rows(Material(files, names=names))
    labels = rows.loc[rows["proposal"] != "", "label"]
    assert labels.is_unique
    assert any("seed 2" in label for label in labels)
    assert len(estimates_sheet(rows, names).body) == len(rows) + 5


def test_states_are_the_symbols_of_the_paper():
    words = ("Kawhi", "to", "join", "L.A.", "Clippers", ".", "He")
    mentions = (Mention(0, 1, "k"), Mention(3, 5, "c"), Mention(6, 7, "k"))
    text = Structured("x", words, (), mentions)
    assert state_rows(text, 6) == {
        "t": ["1", "0", "0", "1", "1", "0"],
        "e": ["1", "∅", "∅", "2", "2", "∅"],
        "l": ["1", "1", "1", "2", "1", "1"],
    }
    assert example_of([Structured("y", words), text]) is text
    assert example_of([Structured("y", words)]) is None


@pytest.mark.parametrize(
    ("value", "room", "shown"),
    [
        ("reflexive", 9.5, "reflexive"),
        ("reflexive", 8.0, "reflex-\nive"),
        ("Los_Angeles", 8.0, "Los\nAngeles"),
        ("P54:team_of", 8.0, "P54:\nteam of"),
        ("Los_Angeles_Clippers", 8.0, "Los\nAngeles…"),
        ("unforgettable", 6.0, "unfor-\ngetta…"),
    ],
)
def test_labels_that_are_too_wide_are_broken_where_one_would_break_them(value, room, shown):
    fitted = _fitted(value, room)
    assert fitted == shown
    assert max(map(len, fitted.split("\n"))) <= room


def test_shards_of_other_texts_are_refused_by_name(files, tmp_path):
    first, other = files.weighed[0], files.weighed[-1]
    mixed = dataclasses.replace(first, shards=(first.shards[0], other.shards[0]))
    with pytest.raises(TextcriticError, match=f"{first.shards[0]}: shard 2: text 0 is"):
        read_weights(mixed)


def test_numbered_parts_and_the_report_are_made(files, tmp_path):
    parts = {Part("table1", "estimates", "Both."): files, Part("figure2", "curves"): files}
    parts |= {Part("figure4", "density"): files, Part("figure1", "states"): files}
    text = make_study(tmp_path, Made("importance", files, parts))
    assert "Too few draws?" in text
    assert "Effective draws" in text
    drawn = {path.name for path in (tmp_path / "importance/figure1").glob("*.pdf")}
    assert drawn == {"states-trees.pdf", "states-mentions.pdf", "states-links.pdf"}
