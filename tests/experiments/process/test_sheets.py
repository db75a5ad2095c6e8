"""Tables of known processes as people read them."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gmean

from experiments.process.conftest import of
from experiments.process.tiny import SAMPLES, build_process
from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.rows import PARTS, parsing_rows, perplexity_rows
from textcritic.experiments.process.sheets import every_number_sheet, parsing_sheet, perplexity_sheet
from textcritic.files import read_json, write_json
from textcritic.measures.material import Material
from textcritic.measures.published import read_published
from textcritic.plan.sources import SAMPLE
from textcritic.report.cells import unscored_sheet
from textcritic.report.sheet import to_html, to_latex


def test_a_sample_of_which_nothing_can_be_read_has_no_latent_ppl(files, rows):
    row = of(rows, "transformer-untrained")
    assert row[["latent_ppl", "ci_low", "latent_nll", "p_value", "seeds_mean", *PARTS]].isna().all()
    assert (row["documents"], row["steps"], row["rejected"], row["rejected_share"]) == (0, 0, 300, 1.0)
    assert row["ppl_body"] > 1
    sheet = perplexity_sheet(rows, ProcessNames.of(files), files.decodings)
    line = next(line for line in to_html(sheet).splitlines() if "untrained transformer" in line)
    assert "—<small>none could be read</small>" in line
    assert "100%<small>300 of 300</small>" in line
    assert "p =" not in line


def test_table_1_as_people_read_it(files, rows):
    names = ProcessNames.of(files)
    sheet = perplexity_sheet(rows, names, files.decodings)
    assert [row[0].text for row in sheet.body] == [
        "the process, exactly",
        "test sequences",
        "transformer",
        "HSMM, ends by itself",
        "HSMM, length given",
        "untrained transformer",
    ]
    assert any(remark.startswith("Length given: the model is given the number") for remark in sheet.remarks)
    assert any("66.80" in remark for remark in sheet.remarks)
    exact = sheet.body[0]
    assert [cell.notes for cell in exact] == [()] * 6
    assert exact[5].text == "0"
    assert "published 64.8" in " ".join(sheet.body[2][2].notes)
    for other in (
        sheet,
        unscored_sheet(rows[rows["source"] == SAMPLE], names, "unread", ""),
        every_number_sheet(rows, names),
    ):
        assert {sum(cell.span for cell in row) for row in (*other.header, *other.body)} == {len(other.header[0])}
        latex = to_latex(other)
        assert latex.count("{") == latex.count("}")


def test_seeds_are_summarised_and_shown_together(tmp_path):
    again = tuple((*SAMPLES[0][:3], seed, *SAMPLES[0][4:]) for seed in (1, 2))
    files = build_process(tmp_path, samples=again, resamples=50)
    rows, names = perplexity_rows(Material(files, read_published(None), ProcessNames.of(files))), ProcessNames.of(files)
    samples = rows[rows["source"] == "sample"]
    assert samples["seeds"].tolist() == [2, 2]
    assert samples["seeds_mean"].tolist() == pytest.approx([gmean(samples["latent_ppl"])] * 2)
    assert samples["seeds_sd"].tolist() == pytest.approx([np.std(samples["latent_ppl"], ddof=1)] * 2)
    assert samples["label"].tolist() == ["transformer, seed 1", "transformer, seed 2"]
    sheet = perplexity_sheet(rows, names, files.decodings)
    assert [row[0].text for row in sheet.body][2:] == ["transformer"]
    assert "over 2 trainings" in sheet.body[2][2].notes[0]
    assert "72 of 600" in sheet.body[2][3].notes
    assert rows["published"].isna().all()
    assert not any("published" in remark.lower() for remark in sheet.remarks)


def test_an_infinite_perplexity_says_why(files, tmp_path):
    report = read_json(files.samples[0].perplexity)
    for part in ("all", "body"):
        report[part] = {**report[part], "ppl": None, "nll": None, "ci95": [None, None]}
    write_json(tmp_path / "perplexity.json", {**report, "zero_probability_tokens": 3})
    files = replace(files, samples=(replace(files.samples[0], perplexity=tmp_path / "perplexity.json"),))
    rows = perplexity_rows(Material(files, read_published(None), ProcessNames.of(files)))
    assert math.isinf(rows.iloc[2]["ppl_body"])
    sheet = perplexity_sheet(rows, ProcessNames.of(files), {})
    assert "Word-level PPL of transformer is infinite: 3 tokens of the test text have probability 0." in sheet.remarks


def test_the_audit_says_what_the_released_code_would(files):
    audit = parsing_rows(Material(files, names=ProcessNames.of(files)))
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
    sheet = parsing_sheet(audit, ProcessNames.of(files))
    assert "270 processed, 0 invalid" in to_html(sheet)


@pytest.mark.parametrize(("kept", "shown"), [(99, False), (100, True)])
def test_of_few_sequences_no_entropy_and_no_divergence_is_shown(files, rows, kept, shown):
    told, names = rows.copy(), ProcessNames.of(files)
    told.loc[told["generator"] == "transformer-released", "documents"] = kept
    for sheet in (perplexity_sheet(told, names, {}), every_number_sheet(told, names)):
        entropy, divergence = sheet.body[2][-2:]
        assert (entropy.text != "—", divergence.text != "—") == (shown, shown)
        assert ("too few" in divergence.notes) is not shown
    assert any(
        "With fewer than 100 sequences that could be read" in remark
        for remark in perplexity_sheet(told, names, {}).remarks
    )


def test_of_seeds_it_is_said_how_many_could_be_read(tmp_path):
    samples = tuple((*SAMPLES[0][:3], seed, 0.5, spoilt) for seed, spoilt in ((1, 12), (2, 100), (3, 12)))
    files = build_process(tmp_path, samples=samples, resamples=50)
    rows, names = perplexity_rows(Material(files, read_published(None), ProcessNames.of(files))), ProcessNames.of(files)
    read = rows[rows["latent_ppl"].notna() & (rows["source"] == "sample")]
    assert rows[rows["source"] == "sample"]["seeds_read"].tolist() == [2, 2, 2]
    assert rows["seeds"].dropna().tolist() == [3, 3, 3]
    assert read["seeds_mean"].tolist() == pytest.approx([gmean(read["latent_ppl"])] * 2)
    assert read["seeds_sd"].tolist() == pytest.approx([np.std(read["latent_ppl"], ddof=1)] * 2)
    row = perplexity_sheet(rows, names, files.decodings).body[2]
    assert "over 2 trainings" in row[2].notes[0]
    assert row[2].notes[-1] == "2 of 3 seeds could be read"
    assert row[5].notes[-1] == "2 of 3 seeds"
