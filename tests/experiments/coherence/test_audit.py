"""The audit: one disputed detail at a time."""

from dataclasses import replace

import pytest

from experiments.coherence.tiny import build_coherence
from textcritic.critics.correction import FEWEST_LABELLED
from textcritic.experiments.coherence.audit import SWITCHES, audit_rows, audit_sheet, switches
from textcritic.experiments.coherence.files import DATA_GOLD
from textcritic.experiments.coherence.names import names_of
from textcritic.experiments.coherence.tables import NAMES
from textcritic.measures.material import Material
from textcritic.measures.numbers import interval


def test_every_switch_of_every_source(files):
    audit = audit_rows(Material(files, names=NAMES(files)))
    defaults = audit[(audit["switch"] == "default") & (audit["source"] == "sample")]
    assert len(defaults) == len(files.samples)
    assert set(audit["switch"]) <= {"default", *SWITCHES}
    assert set(audit["switch"]) >= {"default", "smoothing", "normalisation", "unknown titles", "posterior"}
    unread = {"": 0, "w-title": 9, "wo-title": 1}
    assert audit["rejected"].tolist() == [unread[setting] for setting in audit["setting"]]
    assert audit.loc[audit["source"] != "sample"].set_index("switch")["compared_with"]["posterior"] == "titles"


def test_the_classifier_s_errors_are_corrected_where_enough_sections_are_labelled(files, tmp_path):
    assert "correction" not in set(audit_rows(Material(files, names=NAMES(files)))["switch"])  # 150 labelled articles
    more = build_coherence(tmp_path, documents=FEWEST_LABELLED, generators=("gpt2-demo",))
    audit = audit_rows(Material(more, names=NAMES(more)))
    rows = audit[audit["switch"] == "correction"]
    assert rows["source"].tolist() == [DATA_GOLD, "sample", "sample"]
    assert set(rows["setting_of_switch"]) == {"by 200 labelled articles"}
    real, default = rows.iloc[0], audit[audit["switch"] == "default"].iloc[0]
    assert real["ci_low"] < default["latent_ppl"] < real["ci_high"]
    assert real["change_percent"] == pytest.approx(100 * (real["latent_ppl"] / default["latent_ppl"] - 1))
    shown = next(row for row in audit_sheet(audit, names_of(more)).body if row[0].text.startswith("real text"))
    assert any(interval(real["ci_low"], real["ci_high"]) in cell.notes for cell in shown)


def test_each_audit_decoding_is_a_switch_of_its_own(wide):
    audit = audit_rows(Material(wide, names=NAMES(wide)))
    plain, titled = wide.samples[0], audit[(audit["generator"] == "gpt2-demo") & (audit["corpus"] == "docstrings")]
    assert (plain.setting, plain.seed) == ("w-title", 1)
    titled = titled[(titled["setting"] == "w-title") & (titled["seed"] == 1)].set_index("switch")
    first, second = titled.loc["decoding: top-k-50"], titled.loc["decoding: as-released"]
    assert first["setting_of_switch"] == "from the 50 likeliest tokens (not all tokens)"
    assert (
        second["setting_of_switch"].split("; ")[1]
        == "a full context window drops 1 token at a time (not half of itself)"
    )
    # The files of one are the sample's own, those of the other the next seed's.
    assert first["change_percent"] == pytest.approx(0)
    other = audit[(audit["switch"] == "default") & (audit["seed"] == 2)].iloc[0]
    assert (other["setting"], second["latent_ppl"]) == ("w-title", other["latent_ppl"])
    change = 100 * (other["latent_ppl"] / titled.loc["default", "latent_ppl"] - 1)
    assert second["change_percent"] == pytest.approx(change)
    assert second["compared_with"] == "default"


def test_each_audit_decoding_is_shown_and_told_in_its_own_words(wide):
    audit = audit_rows(Material(wide, names=NAMES(wide)))
    sheet = audit_sheet(audit, names_of(wide))
    assert [cell.text for cell in sheet.header[0]][-2:] == ["decoding: top-k-50", "decoding: as-released"]
    stubs = [row[0].text for row in sheet.body]
    assert stubs[:2] == ["docstrings: real text", "docstrings: small GPT-2, with titles, seed 1"]
    assert "recipes: small GPT-2, without titles" in stubs
    assert len(stubs) == len(set(stubs))
    told = {entry["name"]: entry["words"] for entry in switches(audit)}
    assert "50 likeliest" in told["Decoding: top-k-50"]
    assert "context window" not in told["Decoding: top-k-50"]
    assert "1 token" in told["Decoding: as-released"]


def test_an_audit_sample_is_compared_with_the_sample_that_differs_in_the_decoding_alone(files):
    first = files.samples[0]
    assert files.bases(replace(first, decoding="top-k-50")) == [first]
    assert files.bases(replace(first, decoding="top-k-50", seed=7)) == []
