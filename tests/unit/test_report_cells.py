"""Cells that tables of several kinds share, by hand: one seed, several, none; infinite, unpublished."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.report import cells
from textcritic.report.cells import (
    interval_note,
    left_out_cell,
    matching,
    measure_cell,
    ppl_cell,
    published_note,
    unique,
    unit_remarks,
    unscored_sheet,
)

COLUMNS = ("latent_ppl", "ci_low", "ci_high", "p_value", "published", "difference")

PPL = Measure(name="Latent PPL", value="latent_ppl", published="published", difference="difference")


def group(*rows):
    """A row a training."""
    return pd.DataFrame(rows, columns=COLUMNS).assign(seed=range(1, len(rows) + 1))


ONE = (2.5, 2.25, 3.0, 0.0312, 2.4, 0.1)
OTHER = (3.5, 3.1, 4.2, 0.0004, 2.4, 1.1)
LARGE = (2.6, 2.3, 3.1, 0.05, 2.4, 0.2)


def test_one_seed_has_its_interval_its_p_value_and_what_is_published():
    cell = measure_cell(group(ONE), PPL, span=2)
    assert (cell.text, cell.span) == ("2.50", 2)
    assert cell.notes == ("2.25–3.00", "published 2.40", "ours +0.10", "p = 0.03")


def test_several_trainings_have_their_mean_students_interval_and_how_many_differ():
    cell = measure_cell(group(ONE, OTHER, (4.5, 4.0, 5.0, None, 2.4, 2.1)), PPL)
    assert cell.text == "3.50"
    # Deviations -1, 0 and 1: a standard error of sqrt(1 / 3), and t of 2 degrees of freedom is 4.303.
    assert cell.notes == (
        "1.02–5.98 over 3 trainings",
        "published 2.40",
        "ours +1.10",
        "p < 0.05 in 2 of 2 trainings",
    )


def test_draws_of_one_training_have_the_interval_of_their_documents():
    """Half-widths of 0.25 and 0.4 below, 0.5 and 0.7 above, of a mean of two."""
    cell = measure_cell(group(ONE, OTHER).assign(seed=1), PPL)
    assert (cell.text, cell.notes[0]) == ("3.00", "2.76–3.43 over 2 draws")
    assert cell.notes[-1] == "p < 0.05 in 2 of 2 draws"


def test_perplexities_of_several_trainings_have_their_geometric_mean():
    values = [2.0, 4.0, 8.0]
    rows = group(*((value, None, None, None, None, None) for value in values))
    low, high = np.exp(stats.ttest_1samp(np.log(values), 0).confidence_interval())
    cell = measure_cell(rows, replace(PPL, by_ratio=True))
    assert (cell.text, cell.notes) == ("4.00", (f"{low:.2f}–{high:.1f} over 3 trainings",))


def test_how_many_trainings_differ_is_counted_of_those_that_are_tested():
    assert cells.p_note(group(ONE), PPL) == ["p = 0.03"]
    for seeds in ((ONE, LARGE), (LARGE, ONE)):
        assert cells.p_note(group(*seeds), PPL) == ["p < 0.05 in 1 of 2 trainings"]
    assert cells.p_note(group(ONE, OTHER, LARGE), PPL) == ["p < 0.05 in 2 of 3 trainings"]
    assert cells.p_note(group((2.5, 2.25, 3.0, None, 2.4, 0.1)), PPL) == []
    assert cells.p_note(group(ONE, OTHER), replace(PPL, p="")) == []


def test_what_there_is_not_is_not_said():
    bare = measure_cell(group((math.inf, None, None, None, None, None)), PPL)
    assert (bare.text, bare.notes) == ("∞", ())
    infinite = group(ONE, (math.inf, None, None, None, 2.4, math.inf))
    assert interval_note(infinite, PPL) == []
    assert published_note(infinite, PPL) == ["published 2.40", "ours +∞"]
    assert (measure_cell(group(), PPL).text, measure_cell(group(), PPL, 3).span) == ("—", 3)


def test_seeds_of_which_nothing_could_be_scored_are_left_out_of_the_mean():
    cell = measure_cell(group(ONE, (None, None, None, None, 2.4, None)), PPL)
    assert (cell.text, cell.notes) == ("2.50", ("2.25–3.00", "published 2.40", "ours +0.10", "p = 0.03"))
    assert measure_cell(group((None, None, None, None, 2.4, None)), PPL).text == "—"


def test_a_share_is_written_in_percent_whatever_its_column_counts_in():
    for whole in (1, 100):
        share = Measure(name="Mixed", value="latent_ppl", whole=whole)
        values = [whole * 0.125, whole * 0.0875, whole * 0.25, 0.2, None, None]
        cell = measure_cell(group(values), share)
        assert (cell.text, cell.notes) == ("12%", ("8.8%–25%", "p = 0.20"))
        more = [whole * 0.105, whole * 0.1, whole * 0.2, 0.0004, None, None]
        # A standard error of 1%, and t of 1 degree of freedom is 12.706; a share is not below 0.
        assert measure_cell(group(values, more), share).notes == (
            "0%–24% over 2 trainings",
            "p < 0.05 in 1 of 2 trainings",
        )


def test_what_was_left_out_has_a_row_for_each_source_and_its_commonest_reasons():
    keys = {"corpus": "docs", "source": "data", "setting": "", "generator": "data", "decoding": "", "seed": None}
    many = "; ".join(f"unknown title: {n}: 1" for n in range(10))
    rows = [
        {"documents": 9, "rejected": 1, "rejected_share": 0.1, "rejected_by_reason": "no sections: 1"},
        {"documents": 2, "rejected": 0, "rejected_share": 0.0, "rejected_by_reason": ""},
        {"documents": 0, "rejected": 10, "rejected_share": 1.0, "rejected_by_reason": many},
    ]
    sheet = unscored_sheet(pd.DataFrame([keys | row for row in rows]), Names.of([]), "left", "Left out")
    assert (sheet.name, sheet.caption) == ("left", "Left out")
    assert [[cell.text for cell in row] for row in sheet.body[:2]] == [
        ["real text", "10", "1", "10%", "no sections: 1"],
        ["real text", "2", "0", "0%", "none"],
    ]
    assert sheet.body[2][-1].text.endswith("and 2 more reasons")


def test_what_was_left_out_of_all_seeds_has_its_share_and_the_three_commonest_reasons():
    reasons = ["empty: 3", "cut: 2; empty: 1; odd: 3; rude: 1"]
    rows = pd.DataFrame({"documents": [6, 4], "rejected": [3, 7], "rejected_by_reason": reasons})
    cell = left_out_cell(rows)
    assert (cell.text, cell.notes) == ("50%", ("empty: 4", "odd: 3", "cut: 2"))
    none = left_out_cell(rows.assign(rejected=0, rejected_by_reason=""))
    assert (none.text, none.notes) == ("0", ("of 10",))


def test_perplexity_says_its_unit_where_that_is_words():
    columns = ("ppl_all", "ppl_all_low", "ppl_all_high", "ppl_unit", "ppl_published", "ppl_difference")
    words = pd.DataFrame([(120.0, 110.0, 131.0, "words", None, None)], columns=columns).assign(seed=1)
    tokens = pd.DataFrame([(21.5, 20.0, 23.0, "tokens", 20.0, 1.5)], columns=columns).assign(seed=1)
    assert ppl_cell(words).notes == ("per word", "110–131")
    assert ppl_cell(tokens).notes == ("20.0–23.0", "published 20.00", "ours +1.50")
    assert ppl_cell(tokens.assign(ppl_all=None)).text == "—"
    assert unit_remarks(words) == ["Perplexity is per word."]
    assert unit_remarks(tokens) == ["Perplexity is per token of the generator's own encoding."]
    assert "cannot be compared" in unit_remarks(pd.concat([words, tokens]))[0]
    assert unit_remarks(words.assign(ppl_unit=None)) == []


def test_rows_are_found_by_their_keys_a_missing_one_by_a_missing_one():
    rows = pd.DataFrame({"generator": ["a", "a", "b"], "seed": [1, None, None]})
    assert matching(rows, {"generator": "a", "seed": None}).index.tolist() == [1]
    assert matching(rows, {"seed": 1}).index.tolist() == [0]
    assert unique(["b", "a", "b"]) == ["b", "a"]
