"""Latent PPL and what stands beside it, against sums by hand."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.coherence.tiny import build_coherence
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.names import names_of
from textcritic.experiments.coherence.rows import classifier_rows, coherence_rows, decomposition_rows, titles_rows
from textcritic.experiments.coherence.sheets import classifier_sheet, coherence_sheet
from textcritic.experiments.coherence.tables import NAMES
from textcritic.files import read_json, read_table, write_json
from textcritic.inference import Number, trainings_p
from textcritic.measures.material import Material
from textcritic.measures.numbers import percent
from textcritic.measures.published import Published, read_published
from textcritic.report.sheet import to_html, to_latex


def test_latent_ppl_is_the_pooled_one_by_hand(files, rows):
    for sample in files.samples:
        scores = read_table(sample.scores).to_pandas()
        kept = scores[~scores["rejected"]]
        row = row_of(rows, sample)
        assert row["latent_ppl"] == pytest.approx(math.exp(kept["nll"].sum() / kept["steps"].sum()), rel=1e-12)
        assert row["latent_ppl_soft"] == pytest.approx(
            math.exp(kept["nll_soft"].sum() / kept["steps"].sum()), rel=1e-12
        )
        assert row["latent_nll"] == pytest.approx(kept["nll"].mean(), rel=1e-12)
        assert row["documents"] == len(kept) == 60
        assert row["rejected"] == len(scores) - len(kept)
        assert row["ci_low"] < row["latent_ppl"] < row["ci_high"]
        assert 0 < row["p_value"] <= 1


def test_rejections_are_counted_by_reason(rows):
    reasons = rows[rows["setting"] == "w-title"]["rejected_by_reason"].unique().tolist()
    assert reasons == ["section without title: 7; empty section: 2"]
    assert rows[rows["setting"] == "w-title"]["rejected_share"].tolist() == pytest.approx([9 / 69] * 4)


def test_seeds_are_summarised_within_their_group(rows):
    group = rows[(rows["generator"] == "gpt2-demo") & (rows["setting"] == "wo-title")]
    assert group["seeds"].tolist() == [2, 2]
    low, high = np.exp(stats.ttest_1samp(np.log(group["latent_ppl"]), 0).confidence_interval())
    for name, value in (("mean", stats.gmean(group["latent_ppl"])), ("low", low), ("high", high)):
        assert group[f"seeds_{name}"].tolist() == pytest.approx([value] * 2)
    real = rows[rows["source"] == "data-inferred"].iloc[0]
    number = Number(real["latent_ppl"], real["ci_low"], real["ci_high"])
    p = trainings_p(group["latent_ppl"].tolist(), number, by_ratio=True)
    assert group["seeds_p"].tolist() == pytest.approx([p] * 2)
    assert group["seeds_sd"].tolist() == pytest.approx([np.std(group["latent_ppl"], ddof=1)] * 2)
    assert rows[rows["generator"] == "data"]["seeds"].isna().all()


def test_published_values_stand_beside_ours(rows):
    data = rows[rows["generator"] == "data"]
    assert data["published"].tolist() == [2.0, 2.0]
    ours = rows[(rows["generator"] == "gpt2-demo") & (rows["setting"] == "w-title")]
    assert ours["published"].tolist() == [2.5, 2.5]
    assert ours["difference"].tolist() == pytest.approx((ours["latent_ppl"] - 2.5).tolist())
    assert ours["ppl_difference"].tolist() == pytest.approx((ours["ppl_all"] - 20).tolist())
    assert rows[rows["setting"] == "wo-title"]["published"].isna().all()


def test_infinite_perplexity_says_why_and_per_what(files, rows):
    table = to_html(coherence_sheet(rows, names_of(files)))
    assert "∞<small>per word</small>" in table
    assert "per token of the generator&#x27;s own encoding, or per word where it says so" in table
    assert "trigram, with titles, seed 2 is infinite: 14 words of the test text have probability 0" in table
    units = rows.drop_duplicates("generator").set_index("generator")["ppl_unit"]
    assert (units["gpt2-demo"], units["ngram-3"]) == ("tokens", "words")
    assert rows[rows["generator"] == "ngram-3"]["ppl_all_low"].isna().all()


def test_titles_compare_the_same_generator_with_and_without(files, rows):
    found = titles_rows(Material(files, names=NAMES(files)))
    assert found[["generator", "seed"]].values.tolist() == [
        ["gpt2-demo", 1],
        ["gpt2-demo", 2],
        ["ngram-3", 1],
        ["ngram-3", 2],
    ]
    first = rows[(rows["generator"] == "gpt2-demo") & (rows["seed"] == 1)].set_index("setting")["latent_ppl"]
    assert found.loc[0, "ratio"] == pytest.approx(first["wo-title"] / first["w-title"])


def test_decomposition_adds_up_to_the_log_latent_ppl(files, rows):
    parts = decomposition_rows(Material(files, names=NAMES(files)))
    assert (parts["entropy"] + parts["kl"]).tolist() == pytest.approx(parts["cross_entropy"].tolist())
    merged = parts.merge(rows, on=["source", "setting", "generator", "seed"])
    assert len(merged) == len(rows)
    assert np.exp(merged["cross_entropy"]).tolist() == pytest.approx(merged["latent_ppl"].tolist())


def test_the_classifiers_accuracy_is_there_where_titles_are_inferred(files):
    published = Published({("docstrings", "", "data", "", "classifier_accuracy_percent"): 90.0})
    found = classifier_rows(Material(files, published))
    assert found["split"].tolist() == ["validation", "test"]
    assert found["value"].tolist() == pytest.approx([94.2, 94.2])
    assert found[["ci_low", "ci_high"]].to_numpy() == pytest.approx(np.array([[93.1, 95.3]] * 2))
    # The paper's value is of the validation split.
    assert found.loc[0, ["published", "difference"]].tolist() == pytest.approx([90.0, 4.2])
    assert found.loc[1, ["published", "difference"]].isna().all()
    validation, test = (row[2] for row in classifier_sheet(found).body)
    assert validation.text == percent(0.942)
    assert validation.notes == ("93% to 95%", "published 90%", "ours +4.20")
    assert test.notes == ("93% to 95%",)
    given = replace(files, data=(replace(files.data[0], accuracy=None),))
    assert classifier_rows(Material(given, read_published(None))).empty


def test_infinite_latent_ppl_has_a_reason_and_no_interval(tmp_path):
    files = build_coherence(tmp_path, documents=40, generators=("ngram-3",), delta=0.0, resamples=100)
    found = coherence_rows(Material(files, read_published(None), NAMES(files)))
    worst = found[found["setting"] == "wo-title"].iloc[0]
    assert math.isinf(worst["latent_ppl"])
    assert pd.isna(worst["ci_low"])
    assert pd.isna(worst["p_value"])
    assert "never occur in the training text" in worst["infinite_because"]
    assert r"$\infty$" in to_latex(coherence_sheet(found, names_of(files)))


def test_scores_of_another_sample_are_refused(files, tmp_path):
    first = files.samples[0]
    write_json(tmp_path / "counts.json", {**read_json(first.counts), "drawn": 1000})
    mixed = replace(files, samples=(replace(first, counts=tmp_path / "counts.json"),))
    with pytest.raises(TextcriticError, match=r"69 documents, but .* says 1000 were drawn"):
        coherence_rows(Material(mixed, read_published(None), NAMES(mixed)))


def test_a_sample_of_which_no_article_could_be_read_is_refused(tmp_path):
    files = build_coherence(tmp_path, documents=10, generators=("gpt2-demo",), resamples=20, empty=True)
    with pytest.raises(
        TextcriticError, match=r"inferred\.parquet: scores: no document is left after rejection"
    ) as error:
        coherence_rows(Material(files, read_published(None), NAMES(files)))
    assert "section without title: 7; empty section: 2" in str(error.value)
    assert "\n" not in str(error.value)


def test_every_source_has_a_label_of_its_own(wide):
    rows = coherence_rows(Material(wide, read_published(None), NAMES(wide)))
    assert not rows.duplicated(["corpus", "label"]).any()
    assert {
        "real text",
        "real text, gold titles",
        "small GPT-2, with titles, seed 2",
        "small GPT-2, with titles",
    } <= set(rows["label"])


def test_a_setting_is_named_where_there_are_several(files):
    one = replace(files, samples=tuple(sample for sample in files.samples if sample.setting == "w-title"))
    rows = coherence_rows(Material(one, read_published(None), NAMES(one)))
    assert set(rows["label"]) >= {"small GPT-2, seed 1", "real text"}
    sheet = coherence_sheet(rows, names_of(one))
    assert [cell.text for cell in sheet.header[0]] == ["Metric", "Generator", "docstrings"]
    assert {sum(cell.span for cell in row) for row in sheet.body} == {3}
    assert "—" not in [row[-1].text for row in sheet.body]


def row_of(rows, sample):
    keys = ("setting", "generator", "decoding", "seed")
    found = rows[np.logical_and.reduce([rows[key] == getattr(sample, key) for key in keys])]
    assert len(found) == 1
    return found.iloc[0]
