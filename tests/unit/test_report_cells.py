"""Cells that tables of several kinds share, by hand: one seed, several, none; infinite, unpublished."""

import math

import pandas as pd

from textcritic.report.cells import beside, latent_cell, matching, ppl_cell, spread, unique, unit_remarks

COLUMNS = ("latent_ppl", "ci_low", "ci_high", "p_value", "published", "difference")


def group(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


ONE = (2.5, 2.25, 3.0, 0.0312, 2.4, 0.1)
OTHER = (3.5, 3.1, 4.2, 0.0004, 2.4, 1.1)


def test_one_seed_has_its_interval_its_p_value_and_what_is_published():
    cell = latent_cell(group(ONE), span=2)
    assert (cell.text, cell.span) == ("2.50", 2)
    assert cell.notes == ("2.25–3.00", "published 2.40", "ours +0.10", "p = 0.03")


def test_several_seeds_have_their_mean_standard_deviation_and_largest_p_value():
    cell = latent_cell(group(ONE, OTHER, (4.5, 4.0, 5.0, None, 2.4, 2.1)))
    assert cell.text == "3.50"
    # Deviations -1, 0 and 1: of a sample, the root of 2 / 2.
    assert cell.notes == ("± 1.00 over 3 seeds", "published 2.40", "ours +1.10", "largest p = 0.03")


def test_what_there_is_not_is_not_said():
    bare = latent_cell(group((math.inf, None, None, None, None, None)))
    assert (bare.text, bare.notes) == ("∞", ())
    infinite = group(ONE, (math.inf, None, None, None, 2.4, math.inf))
    assert spread(infinite, "latent_ppl", "ci") == []
    assert beside(infinite, "published", "difference") == ["published 2.40", "ours +∞"]
    assert (latent_cell(group()).text, latent_cell(group(), 3).span) == ("—", 3)


def test_perplexity_says_its_unit_where_that_is_words():
    columns = ("ppl_all", "ppl_all_low", "ppl_all_high", "ppl_unit", "ppl_published", "ppl_difference")
    words = pd.DataFrame([(120.0, 110.0, 131.0, "words", None, None)], columns=columns)
    tokens = pd.DataFrame([(21.5, 20.0, 23.0, "tokens", 20.0, 1.5)], columns=columns)
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
