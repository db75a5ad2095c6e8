"""The section: sentences to read, findings, and figures."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from textcritic.experiments.mixing.curves import refined
from textcritic.experiments.mixing.examples import choose, coloured, examples
from textcritic.experiments.mixing.figures import FIGURES, corners_of, thinned
from textcritic.experiments.mixing.known import known_findings, known_rows
from textcritic.experiments.mixing.rows import REAL, language_rows, mixing_rows, pair_rows
from textcritic.experiments.mixing.section import _unconverged
from textcritic.experiments.mixing.sheets import languages_sheet, mixing_sheet
from textcritic.experiments.mixing.words import mixing_findings
from textcritic.measures.material import Material
from textcritic.measures.names import Names


@pytest.fixture(scope="module")
def table(compared, files, names):
    return mixing_rows(Material(files, names=names))


def test_two_thirds_of_the_sentences_are_those_that_mix_most(compared):
    source = compared[0].sources[2]
    outside, words = source.outside.T
    share = outside / words
    chosen = choose(source, 6)
    assert len(chosen) == len(set(chosen)) == 6
    known = [share[place] for place in range(len(words)) if source.posteriors.tokens[place] >= 5]
    assert [share[place] for place in chosen[:4]] == pytest.approx(sorted(known, reverse=True)[:4])


def test_a_fit_that_has_not_converged_is_called_so(compared, files, names, table):
    """The fits of the fixture make 150 sweeps, which are too few to say."""
    assert (table["converged"] == 0).all()
    found = _unconverged(files, names)
    assert len(found) == len(files.data)
    assert all("150 sweeps are too few" in words for words in found)
    assert "has not converged" in mixing_sheet(table, names).remarks[-1]
    at_rest = table.assign(converged=1.0)
    assert "has not converged" not in mixing_sheet(at_rest, names).remarks[-1]


def test_each_word_has_the_colour_of_its_likeliest_topic(compared):
    one = compared[0]
    index = {word: number for number, word in enumerate(one.words)}
    german = sorted(one.topics).index("de")
    text = coloured("de1 unheard <b>", np.full(3, 1 / 3), one, index)
    assert f'class="tongue tongue-{german}' in text
    assert "<span>unheard</span>" in text
    assert "&lt;b&gt;" in text
    assert "<b>" not in text


def test_the_probability_of_a_word_is_that_of_bayes(compared):
    one, mean = compared[0], np.array([0.6, 0.3, 0.1])
    word = one.words[0]
    weights = [one.critic.phi[k][0] * mean[k] for k in range(3)]
    text = coloured(word, mean, one, {word: 0})
    share = 100 * max(weights) / sum(weights)
    assert re.search(r'title="(de|es|fr): ([\d.]+)%"', text)[2] == (f"{share:.0f}" if share >= 10 else f"{share:.1f}")


def test_every_source_has_sentences_with_their_english(compared, files, names):
    shelves = examples(compared, files, names, ()).shelves
    assert len(shelves) == 5  # real translations and the first seed of four samples
    documents = [document for shelf in shelves for document in shelf.documents]
    assert all(re.fullmatch(r"sentence \d+", document.shown["english"]) for document in documents)
    for shelf in shelves:
        most = round(len(shelf.documents) * 2 / 3)
        shares = [document.entries[0][1] for document in shelf.documents[:most]]
        assert shares == sorted(shares, reverse=True)


def test_findings_say_who_mixes_more(compared, files, names, table):
    pairs, languages = pair_rows(Material(files, names=names)), language_rows(Material(files, names=names))
    says = [finding.says for finding in mixing_findings(table, pairs, languages, names)]
    assert any(s.startswith("Non-autoregressive transformer, drawn mixes more than transformer, drawn: ") for s in says)
    assert any(s.startswith("Each topic is a language") for s in says)
    assert any("after 0 passes of refinement" in s and "after 2." in s for s in says)


def test_generators_whose_labels_have_a_comma_are_not_taken_for_one(files):
    samples = tuple(replace(sample, label=f"model, {sample.generator}") for sample in files.samples)
    named = replace(files, samples=samples)
    material = Material(named, names=Names.of(samples, REAL))
    rows, pairs, languages = (made(material) for made in (mixing_rows, pair_rows, language_rows))
    said = [f for f in mixing_findings(rows, pairs, languages, material.names) if f.about == "Two samples"]
    clear = pairs[pairs["p_value"] < 0.05]
    of = [clear[side].str.split(", ").str[1] for side in ("more", "less")]
    assert len(said) == (of[0] != of[1]).sum() > 0


def test_what_the_test_notices_is_said(files):
    (finding,) = known_findings(known_rows(Material(files)))
    assert "tests notice 20% and more by words of another language and 20% and more" in finding.says


def test_refinement_needs_two_numbers_of_iterations(table):
    assert refined(table)["decoding"].unique().tolist() == ["refined-0", "refined-2"]
    assert refined(table[table["decoding"] != "refined-0"]).empty


def test_every_figure_is_drawn(files, table):
    rows = {"mixing": table, "mixing-power": known_rows(Material(files))}
    drawn = [name for name, _ in FIGURES["figures"](files, rows)]
    assert drawn == ["mixing", "mixing-simplex.news", "mixing-refinement", "mixing-power"]
    rows = {"mixing": table[table["decoding"] == "drawn"], "mixing-power": pd.DataFrame()}
    assert [name for name, _ in FIGURES["figures"](files, rows)] == ["mixing", "mixing-simplex.news"]


def test_corners_are_as_far_from_each_other():
    corners = corners_of(3)
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    assert sides == pytest.approx(np.full(3, np.sqrt(3)))


def test_of_many_draws_as_many_are_shown_as_there_is_room_for():
    draws = np.arange(3000.0).reshape(-1, 3)
    shown = thinned(draws, 100)
    assert len(shown) == 100
    assert (shown[0], shown[-1])[0].tolist() == draws[0].tolist()
    assert shown[-1].tolist() == draws[-1].tolist()


def test_a_source_is_named_once_over_its_topics(compared, files, names):
    sheet = languages_sheet(language_rows(Material(files, names=names)), names)
    assert [row[0].text for row in sheet.body[:4]] == ["real translations", "", "", "transformer, drawn, seed 1"]
