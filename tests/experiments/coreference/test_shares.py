"""Shares of unlikely mentions, counted one at a time, and what is said of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from experiments.coreference.tiny import BROKEN, build_coreference
from textcritic.critics.mentions import MentionCritic
from textcritic.experiments.coreference.decomposition import decomposition_rows
from textcritic.experiments.coreference.ngrams import contribution_rows
from textcritic.experiments.coreference.passages import passages
from textcritic.experiments.coreference.read import chained
from textcritic.experiments.coreference.rows import PPL
from textcritic.experiments.coreference.shares import SHARE, share_rows, share_sheet
from textcritic.experiments.coreference.words import cause, findings, unlikely, window_in_words
from textcritic.files import read_table, write_table
from textcritic.inference import Number, permutation_test, ratio_of_sums, trainings_p
from textcritic.measures.card import Cell
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import percent
from textcritic.measures.score import scores_of
from textcritic.plan.sources import data_keys


def test_documents_that_belong_together_are_one_unit_of_every_interval(tmp_path):
    files = build_coreference(tmp_path, documents=30, generators=("ngram-3",), resamples=200)
    material = Material(files)
    known = {"kl_low": decomposition_rows, "contribution_low": contribution_rows}
    assert all(rows(material)[column].notna().any() for column, rows in known.items())
    assert share_rows(material)["p_value"].notna().tolist() == [False, True]
    path = files.data[0].scores
    scores = read_table(path)
    pairs = pa.array([f"book {row // 2}" for row in range(len(scores))])
    write_table(path, scores.set_column(scores.column_names.index("group"), "group", pairs))
    # 15 books are too few for intervals of real text and for tests; those of the sample stay.
    shares = share_rows(material)
    assert shares["p_value"].isna().all()
    notes = [cell.notes for _, cell, *_ in share_sheet(shares, material.names).body]
    assert "no test of fewer than 20 independent groups" in notes[1]
    assert notes[0] == ("no interval of fewer than 20",)
    real, sample = scores_of(shares, SHARE, material.names.source)
    assert (real.because, sample.because) == (notes[0][0], notes[1][-1])
    assert decomposition_rows(material)["kl_low"].notna().tolist() == [False, True]
    windows = contribution_rows(material)
    assert windows["contribution_low"].isna().all()
    assert windows["ci_low"].notna().any()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    root = tmp_path_factory.mktemp("shares")
    return build_coreference(root, documents=15, generators=("gpt2-demo", "ngram-3", BROKEN), resamples=200)


def counted(source, files):
    """(unlikely, mentions) of each document that has a mention."""
    critic = MentionCritic.load(files.data[0].critic)
    found = [p.mentions for p in passages(source, files, critic, chained(source, files).ids)]
    return [[sum(token.log_prob < -7 for token in mentions), len(mentions)] for mentions in found if mentions]


def test_shares_are_those_counted_one_at_a_time(files):
    rows = share_rows(Material(files))
    assert list(rows["generator"]) == ["data", "gpt2-demo", "ngram-3", BROKEN]
    for row, source in zip(rows.to_dict("records"), files.of(files.data[0]), strict=True):
        each = np.array(counted(source, files)).reshape(-1, 2)
        assert [row["unlikely"], row["mentions"]] == each.sum(axis=0).tolist()
        assert row["documents"] == len(each)
        if len(each):
            assert row["share"] == row["unlikely"] / row["mentions"]
        assert pd.isna(row["ci_low"]), "fewer than 20 documents"
    real, first = (np.array(counted(source, files)) for source in (files.data[0], files.samples[0]))
    assert rows["p_value"][1] == permutation_test(first, real, ratio_of_sums, resamples=200).p
    assert pd.isna(rows["p_value"][0])
    assert pd.isna(rows["share"][3])
    assert rows["unlikely"].sum() > 0


def test_a_source_without_mentions_has_a_dash(files):
    sheet = share_sheet(share_rows(Material(files)), Names.of(files.samples))
    assert [row[1].text for row in sheet.body][-1] == "—"


NO_WINDOWS = pd.DataFrame(columns=["rank"])


def row(rows, share, p):
    table = rows.iloc[:2].copy()
    table["share"], table["ci_low"], table["ci_high"] = [0.02, share], [0.018, share - 0.002], [0.022, share + 0.002]
    table["p_value"] = [None, p]
    return table


def found_in(shares, files):
    names = Names.of(files.samples)
    return findings(unlikely(shares, names), NO_WINDOWS, names)


def test_a_difference_is_said_with_its_strength(files):
    (found,) = found_in(row(share_rows(Material(files)), 0.05, 0.001), files)
    assert found.about == "Unlikely mentions, %"
    assert (
        found.says
        == "n = 14: small GPT-2 scores higher than real text (2.00): 5.00, 3.0 points more (4.80–5.20; p = 0.001)."
    )
    assert found.strength == pytest.approx(0.03 / np.hypot(0.002, 0.002))


def test_a_sample_with_more_unlikely_mentions_is_said_to_have_them(files):
    blocks = unlikely(row(share_rows(Material(files)), 0.05, 0.001), Names.of(files.samples))
    sample = files.samples[0].keys
    numbers = {"latent_ppl": [5.0, 9.0, 3.0], "ci_low": [4.8, 8.0, 2.9], "ci_high": [5.2, 9.9, 3.1], "documents": 900}
    rows = pd.DataFrame([data_keys(sample["corpus"]), sample, sample | {"generator": "other"}]).assign(**numbers)
    _, more, less = scores_of(rows.assign(p_value=0.001), PPL, lambda row, **_: row["generator"])
    assert cause(Cell((more,)), blocks) == (
        "Latent PPL of mentions higher: 9.00 against 5.00; 5.0% of its mentions of people are unlikely, real text 2.0%"
    )
    assert cause(Cell((less,)), blocks) == "Latent PPL of mentions lower: 3.00 against 5.00"


def test_latent_ppl_of_mentions_is_compared_by_ratio():
    """Real text 5.00: 4.53 is less than a tenth of it below, but the ratio is more than 1.1."""
    keys = [data_keys("docs"), data_keys("docs") | {"source": "sample", "generator": "g"}]
    numbers = ({"latent_ppl": value, "ci_low": value, "ci_high": value} for value in (5.0, 4.53))
    rows = pd.DataFrame(
        [key | one | {"p_value": 0.5, "documents": 900} for key, one in zip(keys, numbers, strict=True)]
    )
    _, score = scores_of(rows, PPL, lambda row, **_: row["generator"])
    assert (score.by_ratio, score.margin, score.verdict) == (True, 0.1, "unclear")


def test_what_chance_explains_is_said_as_that(files):
    (found,) = found_in(row(share_rows(Material(files)), 0.021, 0.4), files)
    said = "n = 14: small GPT-2 may or may not differ from real text (2.00): 2.10 (1.90–2.30; p = 0.40;"
    assert found.says.startswith(said)
    assert found.strength == 0


def test_of_several_trainings_their_mean_counts(tmp_path):
    files = build_coreference(tmp_path, documents=6, generators=("gpt2-demo",), seeds=(1, 2))
    rows = share_rows(Material(files))
    rows["share"], rows["ci_low"], rows["ci_high"] = [0.02, 0.05, 0.09], [0.01, 0.04, 0.08], [0.03, 0.06, 0.1]
    rows["p_value"] = [None, 0.001, 0.01]
    (found,) = found_in(rows, files)
    # Two trainings say little: t is 12.7 standard errors of 2%.
    assert "may or may not differ from real text (2.00): 7.00 (0–32.4; " in found.says
    p = trainings_p([0.05, 0.09], Number(0.02, 0.01, 0.03))
    assert f"p = {p:.2f}" in found.says
    assert found.strength == 0
    rows["share"] = [0.02, 0.069, 0.071]
    (found,) = found_in(rows, files)
    p = trainings_p([0.069, 0.071], Number(0.02, 0.01, 0.03))
    assert f"p = {p:.3f})" in found.says
    half = stats.t.ppf(0.975, 1) * 0.001
    assert found.strength == pytest.approx(0.05 / np.hypot(0.01, half))
    rows["share"] = [0.02, 0.05, 0.09]
    (_, cells) = share_sheet(rows, Names.of(files.samples)).body
    assert cells[1].notes == ("0%–32% over 2 trainings", "p < 0.05 in 2 of 2 trainings")


def test_no_mention_in_real_text_leaves_nothing_to_find(files):
    rows = share_rows(Material(replace(files, samples=files.samples[:1])))
    rows.loc[0, ["share", "ci_low", "ci_high"]] = None
    (found,) = found_in(rows, files)
    assert "was not tested against real text (—)" in found.says


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (". MALE:0 his:0 . MALE:0", "a name or noun for the person of the mention before"),
        (". MALE:0 his:0 his:0 .", "the start of a sentence"),
        ("MALE:0 None:1 . . he:0", "“he” for a person in sight"),
        ("<bos> <bos> <bos> . He:0", "“He” for a person who is not in sight"),
    ],
)
def test_a_window_in_words(window, words):
    assert window_in_words(window.split()) == words


SAMPLE_DIFFERS = "the difference of small GPT-2 from real text"


@pytest.mark.parametrize(
    ("low", "share", "start"),
    [
        *[(0.001, 0.34, f"What adds most to {SAMPLE_DIFFERS} is"), (-0.001, 0.34, None), (None, 0.34, None)],
        (0.001, 0.008, f"No single window explains {SAMPLE_DIFFERS}. What adds most to it is"),
        *[(0.001, -0.2, None), (0.001, None, None), (0.001, 0.05, f"What adds most to {SAMPLE_DIFFERS} is")],
    ],
)
def test_the_window_that_adds_most_is_said_with_its_share_unless_chance_may_explain_it(files, low, share, start):
    keys = (
        share_rows(Material(files)).iloc[1][["corpus", "source", "setting", "generator", "decoding", "seed"]].to_dict()
    )
    about = {"rank": 1, "window": "<bos> . MALE:0 . he:0", "contribution_low": low, "percent": 1.2, "real_percent": 0.3}
    windows = pd.DataFrame([keys | about | {"of_difference": share}])
    windows = windows.astype({"contribution_low": float, "of_difference": float})
    found = findings((), windows, Names.of(files.samples))
    assert len(found) == (start is not None)
    for finding in found:
        assert finding.says == (
            f"{start} “he” for the person of the mention "
            "before, in the window “. [Male]0 . [he]0” at the start of a text "
            "(1.2% of the sample’s windows, 0.30% of those of real text): "
            f"{percent(share)} of the difference."
        )
        assert finding.strength == 0
