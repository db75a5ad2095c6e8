"""Latent NLL of topics and distances of covariances, against sums by hand."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest

from experiments.topics.conftest import DOCUMENTS, centred, moments, of
from experiments.topics.tiny import BROKEN, EMPTY, GENERATORS, NASTY, UNREAD, build_topics
from textcritic.corpora import read_articles
from textcritic.critics.ctm import CTM, infer
from textcritic.critics.ctm.model import load_critics
from textcritic.critics.ctm.scoring import latent_nll, with_last
from textcritic.errors import TextcriticError
from textcritic.experiments.topics.covariances import covariances
from textcritic.experiments.topics.outliers import SHARES, TOPICS, outlier_rows
from textcritic.experiments.topics.rows import nll_rows, topic_names, topic_rows, word_rows
from textcritic.experiments.topics.sheets import words_sheet
from textcritic.files import read_table, write_json, write_table
from textcritic.inference import (
    bootstrap_difference,
    covariance_test,
    permutation_test,
    ratio_of_sums,
    with_fits,
    with_ones,
)
from textcritic.latents.bags import Vocabulary, count_words, tokens_of
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import percent
from textcritic.measures.scored import reasons_from_words
from textcritic.plan.sources import DATA
from textcritic.report.cells import unscored_sheet
from textcritic.report.sheet import to_html

RANGES = ("starts", "at_mean_starts")


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
        words = read_table(source.posteriors)["words"].to_numpy()
        assert row["words_per_document"] == pytest.approx(words[words > 0].mean())
        assert (row["topics"], row["vocabulary"]) == (8, critic.num_words)


def test_each_latent_nll_is_tested_against_the_same_of_real_text(topics, tmp_path):
    """Of a sample whose mean in expectation is moved to real text's, the p-value at the mean is still small."""
    fitted, sample = topics.data[0], topics.samples[0]
    scores, real = read_table(sample.scores), read_table(fitted.scores)
    means = [pc.mean(table.filter(pc.invert(table["rejected"]))["nll"]).as_py() for table in (real, scores)]
    moved = scores.set_column(scores.column_names.index("nll"), "nll", pc.add(scores["nll"], means[0] - means[1]))
    write_table(tmp_path / "scores.parquet", moved)
    files = replace(topics, samples=(replace(sample, scores=tmp_path / "scores.parquet"),))
    row = of(nll_rows(Material(files)), sample.generator)
    assert row["p_value"] > 0.5
    assert row["p_value_at_mean"] < 0.05


def test_the_range_over_starts_by_hand(topics, rows):
    """Of the critic and the other start's: Latent NLL, its gap to real text's, and the distance of covariances."""
    fitted = topics.data[0]
    (other,) = load_critics(fitted.critic.with_name("starts.npz"))
    counts = {}
    for source in topics.of(fitted):
        name = getattr(source, "generator", "data")
        articles, words = read_articles(source.articles), Vocabulary.load(fitted.vocabulary)
        counts[name] = count_words(map(tokens_of, articles), words) if articles else None
    nll, moments_of = {}, {}
    for name, matrix in counts.items():
        row = of(rows, name)
        if name == BROKEN:
            assert row[["starts", "starts_low", "gap_starts_high", "distance_starts_low"]].isna().all()
            continue
        found = infer(other, matrix[matrix.getnnz(axis=1) > 0])
        nll[name] = tuple(each.mean() for each in latent_nll(other, found.means, found.variances))
        moments_of[name] = found.means, found.variances
        for value, prefix, under_other in zip(("latent_nll", "latent_nll_at_mean"), RANGES, nll[name], strict=True):
            ends = sorted([row[value], under_other])
            assert [row[f"{prefix}_low"], row[f"{prefix}_high"]] == pytest.approx(ends, rel=1e-6)
        assert row["starts"] == 2
        gaps = sorted([row["latent_nll"] - of(rows, "data")["latent_nll"], nll[name][0] - nll["data"][0]])
        assert [row["gap_starts_low"], row["gap_starts_high"]] == pytest.approx(gaps, abs=1e-5)
        if name != "data":
            (means, variances), (real, real_variances) = (
                [with_last(rows) for rows in moments_of[each]] for each in (name, "data")
            )
            test = covariance_test(means, real, (variances, real_variances), resamples=2)
            under_critic = covariance_test(*distance_of(topics, name), resamples=2).corrected
            ends = sorted([under_critic, test.corrected])
            assert [row["distance_starts_low"], row["distance_starts_high"]] == pytest.approx(ends, rel=1e-4)
            assert row["distance_corrected"] == pytest.approx(np.mean(ends), rel=1e-4)


def distance_of(topics, name):
    """The arguments of `covariance_test` of a sample, by the posteriors under the critic."""
    sample = next(source for source in topics.samples if source.generator == name)
    both = [[with_last(rows) for rows in moments(source)] for source in (sample, topics.data[0])]
    return both[0][0], both[1][0], (both[0][1], both[1][1])


def test_the_gap_to_real_text_is_the_mean_over_the_fits(topics, rows):
    """Of the documents' means over the critic and the other start; the interval holds documents and starts."""

    def under_both(source):
        table = read_table(source.scores)
        own = table.filter(pc.invert(table["rejected"]))["nll"].to_numpy()
        return np.column_stack([own, read_table(source.of_starts)["nll"].to_numpy()])

    real = under_both(topics.data[0])
    for sample in topics.samples:
        row = of(rows, sample.generator)
        if sample.generator == BROKEN:
            assert row[["gap", "gap_low", "gap_p"]].isna().all()
            continue
        nll = under_both(sample)
        gaps = nll.mean(axis=0) - real.mean(axis=0)
        assert row["gap"] == pytest.approx(gaps.mean(), rel=1e-12)
        assert [row["gap_starts_low"], row["gap_starts_high"]] == pytest.approx(sorted(gaps), rel=1e-9)
        columns = with_ones(nll.mean(axis=1)), with_ones(real.mean(axis=1))
        documents = bootstrap_difference(*columns, ratio_of_sums, topics.resamples)
        half = 12.706204736 * np.std(gaps, ddof=1)  # t of one degree of freedom, and 2 / S is 1
        low = row["gap"] - math.hypot(row["gap"] - documents.low, half)
        assert row["gap_low"] == pytest.approx(low, rel=1e-6)
        assert row["gap_p"] == permutation_test(*columns, ratio_of_sums, topics.resamples).p
    assert of(rows, "data")[["gap", "gap_p"]].isna().all()


def test_what_is_left_out_is_counted_by_reason(topics, rows):
    real, sample, broken = (of(rows, name) for name in ("data", "gpt2-demo", BROKEN))
    assert reasons_from_words(real["rejected_by_reason"]) == {"no word of the vocabulary": EMPTY}
    assert reasons_from_words(sample["rejected_by_reason"]) == {"no word of the vocabulary": EMPTY, "malformed": UNREAD}
    assert sample["rejected_share"] == pytest.approx((EMPTY + UNREAD) / (DOCUMENTS + UNREAD))
    assert (broken["documents"], broken["rejected"], broken["rejected_share"]) == (0, DOCUMENTS + UNREAD, 1.0)
    text = to_html(unscored_sheet(rows, Names.of(topics.samples), "left-out", ""))
    assert f"no word of the vocabulary: {EMPTY}; malformed: {UNREAD}" in text


def test_distances_are_those_of_the_covariances(topics, rows):
    real = moments(topics.data[0])
    for sample in topics.of(topics.data[0])[1:]:
        row = of(rows, sample.generator)
        if sample.generator == BROKEN:
            assert row[["distance", "distance_p", "distance_corrected"]].isna().all()
            continue
        means, variances = moments(sample)
        ours, theirs = (centred(*moments) for moments in ((means, variances), real))
        assert row["distance"] == pytest.approx(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs), rel=1e-9)
        test = covariance_test(
            with_last(means), with_last(real[0]), (with_last(variances), with_last(real[1])), topics.resamples
        )
        assert row[["distance_by_chance", "distance_p"]].tolist() == [test.by_chance, test.p]
        starts = row[["distance_starts_low", "distance_starts_high"]].tolist()
        moved = row["distance_corrected"] - test.corrected
        ends = with_fits(row["distance_corrected"], (test.low + moved, test.high + moved), starts)
        assert [row["distance_low"], row["distance_high"]] == pytest.approx([max(ends[0], 0), ends[1]], rel=1e-9)
    assert pd.isna(of(rows, "data")["distance"])
    assert of(rows, "shuffled")["distance_p"] < 0.05


def test_the_baseline_stands_last_and_samples_in_their_order(topics, rows):
    assert [sample.generator for sample in topics.samples] == [*GENERATORS, BROKEN]
    assert rows["generator"].tolist() == ["data", "gpt2-demo", "ngram-3", BROKEN, "shuffled"]
    assert rows["baseline"].tolist() == [False] * 4 + [True]
    panels = [panel.label for panel in covariances(topics.data[0], topics).panels]
    assert panels == ["real text", "small GPT-2", "trigram", "untrained model", "shuffled words"]


def test_words_and_shares_of_each_topic(topics):
    files = topics.data[0]
    words = word_rows(Material(topics))
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
    outliers = outlier_rows(Material(topics))
    for source in topics.shown(topics.data[0]):
        found = outliers[outliers["generator"] == getattr(source, "generator", "data")]
        scores = read_table(source.scores).to_pandas()
        worst = scores[~scores["rejected"]].sort_values("nll", ascending=False).head(5)
        assert found["article"].tolist() == worst["id"].tolist()
        assert found["nll"].tolist() == worst["nll"].tolist()
        texts = {a.id: " ".join(section.text for section in a.sections) for a in read_articles(source.articles)}
        assert all(row["text"] in texts[row["article"]] for row in found.to_dict("records"))
    assert outliers[TOPICS].isin(range(1, 9)).all(axis=None)
    shares = outliers[SHARES].to_numpy().reshape(len(outliers), 3, 2)
    assert ((shares > 0) & (shares < 1)).all()
    above = shares[..., 0] - shares[..., 1]
    assert (np.diff(above) <= 0).all()
    assert (above[:, 0] > 0).all()


def test_every_decoding_is_named_where_a_study_has_several(tmp_path):
    files = build_topics(tmp_path, generators=("gpt2-demo", "ngram-3"), resamples=20)
    first, second = files.samples
    for from_file, expected in (
        (False, ["real text", "small GPT-2, demo", "trigram, top-k"]),
        (True, ["real text", "small GPT-2", "trigram"]),
    ):
        several = replace(files, samples=(first, replace(second, decoding="top-k", from_file=from_file)))
        assert topic_rows(Material(several))["label"].tolist() == expected


def test_files_of_another_kind_are_refused(topics):
    first = topics.samples[0]
    for key, column in (("scores", "'nll'"), ("posteriors", "'mean'")):
        wrong = replace(topics, samples=(replace(first, **{key: first.articles}),))
        with pytest.raises(TextcriticError, match=f"no column {column}"):
            topic_rows(Material(wrong))


def test_scores_of_another_sample_are_refused(topics, tmp_path):
    write_json(tmp_path / "counts.json", {"drawn": 1})
    mixed = replace(topics, samples=(replace(topics.samples[0], counts=tmp_path / "counts.json"),))
    with pytest.raises(TextcriticError, match="they belong to different samples"):
        topic_rows(Material(mixed))


def test_real_text_of_which_nothing_can_be_scored_is_refused(topics, tmp_path):
    scores = read_table(topics.data[0].scores)
    write_table(tmp_path / "scores.parquet", scores.filter(scores["rejected"]))
    empty = replace(topics, data=(replace(topics.data[0], scores=tmp_path / "scores.parquet"),))
    with pytest.raises(TextcriticError, match="no document could be scored"):
        topic_rows(Material(empty))


def test_real_text_of_one_document_has_no_covariance(tmp_path):
    files = build_topics(tmp_path, documents=EMPTY + 1, drawn=10, generators=("gpt2-demo",), resamples=20)
    with pytest.raises(TextcriticError, match="fewer than two documents with words; there is no covariance"):
        covariances(files.data[0], files)


def test_a_sample_of_one_document_has_no_distance(tmp_path):
    files = build_topics(tmp_path, documents=20, drawn=1, generators=("gpt2-demo",), resamples=20)
    row = of(topic_rows(Material(files)), "gpt2-demo")
    assert math.isfinite(row["latent_nll"])
    assert math.isnan(row["distance"])
    assert row["documents"] == 1
