"""A study's scorecard: rows put together from several experiments, on a page and on the terminal, and in sentences."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from report_html import Page
from scipy import stats

from textcritic.inference import DIFFERENT, SAME, UNCLEAR, Number, runs_p, trainings_p
from textcritic.measures.card import Cell, Column, scorecard
from textcritic.measures.causes import comparisons
from textcritic.measures.score import HIGHER, NOT_COMPARED, NOT_SCORED, NOT_TESTED, Score
from textcritic.measures.sentences import (
    MOST_SENTENCES,
    Sentence,
    chosen,
    doubt_of,
    headline_of,
    legend,
    noticed_of,
    sentences,
    separations,
    value_of,
    verdict_of,
)
from textcritic.report import card_html as html
from textcritic.report.card_html import card_html
from textcritic.report.card_text import card_lines
from textcritic.report.page import TEMPLATES

REAL = Number(4.0, 3.9, 4.1)
NEAR = Number(4.1, 4.0, 4.2)


def real(measure="Latent PPL", corpus="docs", **said):
    plain = {"label": "real text", "number": REAL, "n": 700, "section": measure.replace(" ", "-")}
    return Score(corpus=corpus, measure=measure, **(plain | said))


def score(generator, value=8.0, setting="w-title", seed=1, **said):
    low_high = (value - 0.5, value + 0.5) if value is not None and math.isfinite(value) else (None, None)
    plain = {"corpus": "docs", "label": generator, "measure": "Latent PPL", "number": Number(value, *low_high)}
    plain |= {"p": 0.0001 if low_high[0] else None, "real": REAL, "margin": 0.4, "n": 500, "decoding": "plain"}
    plain |= {"section": said.get("measure", "Latent PPL").replace(" ", "-")}
    return Score(generator=generator, setting=setting, seed=seed, **(plain | said))


def card_of(*scores):
    return scorecard({"one": scores}, {"one": "One"})


def test_a_source_has_one_row_whatever_experiments_call_it():
    first = [real(), score("gpt2", label="GPT-2, with titles"), score("gpt2", 9.0, "", label="GPT-2, without titles")]
    second = [
        real("Latent NLL"),
        score("gpt2", 5.0, "", label="GPT-2", measure="Latent NLL"),
        score("shuffled", 3.0, "", label="shuffled", measure="Latent NLL", baseline=True),
        score("gpt2", 7.0, "", label="GPT-2", measure="Apart"),
    ]
    (block,) = scorecard({"b": first, "a": second}, {"b": "Order", "a": "Topics"})
    assert block.columns == (
        Column("b", "Order", "Latent PPL", "Latent-PPL"),
        Column("a", "Topics", "Latent NLL", "Latent-NLL"),
        Column("a", "Topics", "Apart", "Apart"),
    )
    values = {
        row.label: [row.cells[c].number.value if c in row.cells else None for c in block.columns] for row in block.rows
    }
    assert values == {
        "real text": [4.0, 4.0, None],
        "GPT-2, with titles": [8.0, None, None],
        "GPT-2, without titles": [9.0, 5.0, 7.0],
        "shuffled": [None, 3.0, None],
    }
    assert [row.is_real for row in block.rows] == [True, False, False, False]
    assert [row.baseline for row in block.rows] == [False, False, False, True]
    assert [row.label for row, _ in block.samples(block.columns[1])] == ["GPT-2, without titles"]


def test_a_row_joins_the_numbers_of_all_kinds_and_a_perplexity_has_no_verdict():
    """Perplexity, sections, topics, tendencies and intruders of one model; real text has no perplexity."""
    of_kinds = ("Latent PPL", "Latent NLL gap", "tendencies not kept", "Flagged by BERT, %")
    cards = {name: [real(name), score("gpt2", measure=name)] for name in of_kinds}
    ppl = [
        score("gpt2", value, seed=seed, measure="Perplexity", compared=False, p=None, n=None, real=None, margin=None)
        for seed, value in ((1, 20.0), (2, 30.0))
    ]
    blocks = scorecard({**cards, "intruders": ppl}, dict.fromkeys((*cards, "intruders"), ""))
    ((real_row, row),) = [block.rows for block in blocks]
    assert len(row.cells) == 5
    assert len(real_row.cells) == 4
    cell = row.cells[blocks[0].columns[-1]]
    assert (cell.verdict, verdict_of(cell), cell.strength) == (NOT_COMPARED, "", 0)
    assert not any("Perplexity" in sentence.about for sentence in sentences(blocks))
    assert not any("not tested" in line for line in legend(blocks))
    (line,) = [line for line in card_lines(blocks, 200) if line.startswith("Perplexity:")]
    assert line.startswith("Perplexity: seeds 1")
    text = card_html(blocks, TEMPLATES)
    assert "exact value" not in text
    assert html.numbers_sheet(blocks).body[-1][4].text == ""


def test_each_corpus_has_its_own_rows_and_columns_real_text_first():
    scores = [score("gpt2"), real(), real(corpus="wiki"), score("gpt2", corpus="wiki", measure="Other")]
    docs, wiki = card_of(*scores)
    assert [row.label for row in docs.rows] == ["real text", "gpt2"]
    assert (docs.corpus, wiki.corpus) == ("docs", "wiki")
    assert [column.measure for column in docs.columns] == ["Latent PPL"]
    assert [column.measure for column in wiki.columns] == ["Latent PPL", "Other"]


@pytest.mark.parametrize(
    ("keys", "labels"),
    [
        ([("w-title", "a"), ("wo-title", "a")], ["GPT-2, with titles", "GPT-2, without titles"]),
        ([("w-title", "a"), ("w-title", "b")], ["GPT-2, a", "GPT-2, b"]),
        ([("", "a"), ("", "b"), ("w-title", "b")], ["GPT-2, a", "GPT-2, b", "GPT-2, with titles"]),
    ],
)
def test_sources_of_one_name_are_told_apart(keys, labels):
    scores = [score("gpt2", setting=setting, decoding=decoding, label="GPT-2") for setting, decoding in keys]
    (block,) = card_of(*scores)
    assert [row.label for row in block.rows] == labels


def test_trainings_share_a_cell_with_their_mean_and_students_interval():
    values = [8.0, 9.0, 12.5]
    scores = [score("gpt2", value, seed=seed, left_out=50) for seed, value in enumerate(values, 1)]
    (block,) = card_of(real(), *scores)
    cell = block.rows[1].cells[block.columns[0]]
    ends = stats.ttest_1samp(values, 0).confidence_interval()
    assert [cell.number.value, cell.number.low, cell.number.high] == pytest.approx([np.mean(values), *ends], rel=1e-12)
    assert cell.is_recipe
    assert (cell.n, cell.seeds) == (1500, (1, 2, 3))
    assert cell.left_out == pytest.approx(150 / 1650)
    # Each model differs; the spread of three trainings is too large to say so of the recipe.
    assert {one.verdict for one in scores} == {DIFFERENT}
    assert cell.p == trainings_p(values, REAL) > 0.05
    assert (cell.verdict, cell.strength) == (UNCLEAR, 0.0)
    assert (value_of(cell), doubt_of(cell)) == ("9.83", "3.96–15.7")
    (alone,) = card_of(real(), scores[0])
    cell = alone.rows[1].cells[alone.columns[0]]
    assert (cell.number, cell.is_recipe, doubt_of(cell)) == (scores[0].number, False, "7.50–8.50")


def test_draws_of_one_training_are_about_this_model():
    numbers = [Number(6.0, 5.0, 7.0), Number(8.0, 7.0, 9.0)]
    cell = Cell(tuple(score("gpt2", number=one, seed=3, draw=draw) for draw, one in enumerate(numbers, 1)))
    assert (cell.is_recipe, cell.seeds, cell.number.value) == (False, (3,), 7.0)
    assert cell.number.high == pytest.approx(7 + math.sqrt(2) / 2)
    assert cell.p == runs_p([(3, one) for one in numbers], REAL)


def test_the_mean_of_perplexities_over_trainings_is_geometric():
    values = [8.0, 9.0, 12.5]
    cell = Cell(tuple(score("gpt2", value, seed=seed, by_ratio=True) for seed, value in enumerate(values, 1)))
    ends = stats.ttest_1samp(np.log(values), 0).confidence_interval()
    expected = [stats.gmean(values), *np.exp(ends)]
    assert [cell.number.value, cell.number.low, cell.number.high] == pytest.approx(expected, rel=1e-12)
    assert cell.p == trainings_p(values, REAL, by_ratio=True) < 0.05
    assert verdict_of(cell) == "≠ higher"


def test_the_interval_of_trainings_goes_below_0_only_if_that_of_a_model_does():
    values = [(1.0, 0.5, 1.5), (3.0, 2.5, 3.5)]  # a mean of 2, and 12.706 standard errors of 1
    shares = [score("a", number=Number(*value), seed=seed) for seed, value in enumerate(values)]
    assert doubt_of(Cell(tuple(shares))) == "0–14.7"
    distances = [score("a", number=Number(1.0, -0.5, 2.5), seed=0), shares[1]]
    assert doubt_of(Cell(tuple(distances))) == "−10.7 to 14.7"


@pytest.mark.parametrize(
    ("said", "verdict", "words"),
    [
        # Of two trainings Student's t is 12.7 standard errors.
        ([(8.0, 0.01), (8.1, 0.04)], DIFFERENT, "≠ higher"),
        ([(3.0, 0.01), (2.98, 0.04)], DIFFERENT, "≠ lower"),
        ([(8.0, 0.01), (9.0, 0.04)], UNCLEAR, "? unclear"),
        ([(8.0, 0.01), (2.0, 0.04)], UNCLEAR, "? unclear"),
        ([(4.05, 0.01), (4.04, 0.4)], SAME, "≈ the same"),
        ([(4.2, 0.3), (4.3, None)], UNCLEAR, "? unclear"),
        ([(8.0, None), (8.1, None)], NOT_TESTED, "not tested"),
        ([(None, None), (8.0, 0.01)], DIFFERENT, "≠ higher"),
        ([(None, None), (None, None)], NOT_SCORED, "not scored"),
        ([(math.inf, None), (8.0, 0.01)], DIFFERENT, "≠ higher"),
    ],
)
def test_the_verdict_on_several_trainings(said, verdict, words):
    cell = Cell(tuple(score("gpt2", value, seed=seed, p=p) for seed, (value, p) in enumerate(said)))
    assert cell.verdict == verdict
    assert verdict_of(cell) == words
    assert (cell.strength > 0) is (verdict == DIFFERENT)
    assert value_of(cell) != "nan"


def test_trainings_are_not_tested_against_real_text_of_too_few_documents():
    few = {"real": Number(4.0), "margin": None}
    cell = Cell(tuple(score("gpt2", 8.0 + seed / 100, seed=seed, **few) for seed in range(3)))
    assert (cell.p, cell.verdict) == (None, NOT_TESTED)


def test_infinite_values_have_no_interval():
    cell = Cell((score("gpt2", math.inf), score("gpt2", 8.0, seed=2)))
    assert (value_of(cell), doubt_of(cell), cell.way) == ("∞", "", HIGHER)


def test_where_no_difference_is_seen_it_is_said_which_would_be():
    """1.43 half-widths of the interval of the difference: (1.96 + 0.84) / 1.96."""
    half = math.hypot(0.5, 0.1)
    cell = Cell((score("a", 4.3, p=0.2),))
    assert noticed_of(cell) == f"{1.4294 * half:.2f}"
    logs = Number(*np.exp([1.5, 1.4, 1.6])), Number(*np.exp([1.45, 1.35, 1.55]))
    ratio = Cell((score("a", p=0.2, number=logs[0], real=logs[1], margin=0.1, by_ratio=True),))
    share = math.expm1(1.4294 * math.hypot(0.1, 0.1))
    assert noticed_of(ratio) == f"{share:.0%}"
    for other in (score("a"), score("a", p=0.2, number=NEAR), score("a", 4.3, p=0.2, margin=None)):
        assert noticed_of(Cell((other,))) == ""
    assert noticed_of(Cell((score("a", None, n=0),))) == ""


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([score("a")], "a scores higher than real text (4.00): 8.00, 4.0 more (7.50–8.50; p < 0.001)."),
        (
            [score("a", 3.8, p=0.2)],
            "a may or may not differ from real text (4.00): 3.80 (3.30–4.30; p = 0.20; a difference of 0.73 would be "
            "noticed in 80% of cases).",
        ),
        (
            [score("a", p=0.2, number=NEAR)],
            "a is the same as real text (4.00) within the margin: 4.10 (4.00–4.20; p = 0.20).",
        ),
        ([score("a", p=None)], "a was not tested against real text (4.00): 8.00 (7.50–8.50)."),
        ([score("a", None, n=0)], "of a nothing could be scored."),
        (
            [score("a", left_out=500)],
            "a scores higher than real text (4.00): 8.00, 4.0 more (7.50–8.50; p < 0.001), but 50% of its documents "
            "are left out.",
        ),
        (
            [score("a"), score("a", 8.1, seed=2, p=0.2)],
            "a scores higher than real text (4.00): 8.05, 4.1 more (7.41–8.69; p = 0.006).",
        ),
        (
            [score("a"), score("b", 9.0), score("c", 7.0)],
            "of 3 samples, c is nearest to real text (7.00 against 4.00, 3.0 more); compared with real text, "
            "all 3 differ.",
        ),
        (
            [score("a"), score("b", 3.0), score("c", 4.1, p=0.3), score("d", 2.0), score("e", None, n=0)],
            "of 5 samples, c is nearest to real text (4.10 against 4.00, 0.100 more); compared with real text, 3 "
            "(b; d; a) differ, 1 (c) may or may not differ; 1 (e) lost more than half of its "
            "documents.",
        ),
        (
            [score(name, 4.1, p=0.3) for name in "abcd"],
            "of 4 samples, a is nearest to real text (4.10 against 4.00, 0.100 more), but all the others may be as "
            "near; compared with real text, all 4 may or may not differ.",
        ),
        (
            [score(name, p=0.3, number=NEAR) for name in "ab"],
            "of 2 samples, a is nearest to real text (4.10 against 4.00), but b may be as near; compared with "
            "real text, both are the same within the margin.",
        ),
        (
            [score("a", 4.1, p=0.3), score("b", 4.1, p=None), score("c", 99.0, left_out=501)],
            "of 3 samples, a is nearest to real text (4.10 against 4.00, 0.100 more), but b may be as near; compared "
            "with real text, 1 (a) may or may not differ, 1 (b) was not tested; 1 (c) lost more than half of its "
            "documents.",
        ),
    ],
)
def test_a_sentence_says_how_many_differ_and_how_far_they_are(scores, says):
    (sentence,) = sentences(card_of(real(), *scores, score("bad", 99.0, baseline=True)))
    assert sentence.says == says
    assert (sentence.experiment, sentence.about, sentence.section) == ("one", "One, Latent PPL", "Latent-PPL")
    # What lost more than half of its documents does not count; of trainings their mean does.
    (block,) = card_of(real(), *scores)
    cells = [row.cells[block.columns[0]] for row in block.rows if not row.is_real]
    assert sentence.strength == max((cell.strength for cell in cells if cell.left_out <= 0.5), default=0.0)


def test_by_ratio_a_sentence_says_how_many_times_as_much():
    numbers = {"a": Number(8.0, 7.9, 8.1), "b": Number(1.0, 0.9, 1.1)}
    scores = [score(name, number=number, by_ratio=True) for name, number in numbers.items()]
    (sentence,) = sentences(card_of(real(), *scores))
    assert "a is nearest to real text (8.00 against 4.00, 2.0 times as much);" in sentence.says


def test_lower_is_not_better_and_rows_are_ordered_by_their_distance():
    """9 is farther from 4 than 1.5 is, and a sample that lost most of its documents is last but for the bad one."""
    few = score("few", 4.0, left_out=501)
    scores = [score("bad", 4.0, baseline=True), few, score("far", 9.0), score("low", 1.5), score("near", 5.0)]
    (block,) = card_of(*scores, real())
    assert [row.label for row in block.rows] == ["real text", "near", "low", "far", "few", "bad"]
    assert block.nearest(block.columns[0]) == {"near"}


def test_rows_are_ordered_by_the_first_measure_then_by_the_next():
    """c is nearest by two measures, but not by the first; of d and e the first says nothing, the second does."""
    measures = ["Latent PPL", "Latent NLL", "Apart"]
    values = {"a": (4.5, 9.0, 9.0), "b": (9.0, 8.0, 8.0), "c": (5.0, 4.5, 4.5)}
    values |= {"d": (None, 9.5, 4.0), "e": (None, 4.5, 9.5)}
    scores = [
        score(name, value, measure=measure)
        for name, each in values.items()
        for measure, value in zip(measures, each, strict=True)
    ]
    (block,) = card_of(*map(real, measures), *scores)
    assert [row.label for row in block.rows] == ["real text", "a", "c", "b", "e", "d"]


def test_the_page_says_how_much_is_left_out_at_most():
    page = str(card_html(card_of(real(), score("a"), score("b")), TEMPLATES))
    assert "<li>No document of a sample is left out.</li>" in page
    page = str(card_html(card_of(real(left_out=90), score("a", left_out=9), score("b", left_out=500)), TEMPLATES))
    assert "<li>At most 50% of a sample&#39;s documents are left out. The section of the measure says why.</li>" in page
    assert "left out;" not in str(card_html(card_of(real()), TEMPLATES))


def test_measures_of_one_name_are_explained_with_their_experiments():
    scores = {"b": [real(means="how titles follow")], "a": [real(means="how states follow")]}
    said = legend(scorecard(scores, {"b": "Order", "a": "Process"}))
    assert said[:2] == ["Latent PPL (Order): how titles follow.", "Latent PPL (Process): how states follow."]
    assert legend(card_of(real(means="how titles follow")))[0] == "Latent PPL: how titles follow."
    same = [real(f"Flagged by {name}, %", means="what is flagged") for name in "AB"]
    assert legend(card_of(*same)) == ["Flagged by A, %; Flagged by B, %: what is flagged."]


def test_a_headline_names_the_measure_and_percent_stands_behind_its_values():
    scores = [score(name, measure="Flagged by A, %", number=Number(8.0, 7.0, 9.0)) for name in "ab"]
    blocks = card_of(real("Flagged by A, %"), *scores)
    headline, repeated = headline_of(blocks, "one")
    assert headline == (
        "Of 2 samples, a is nearest to real text by “Flagged by A” (8.00% against 4.00%, 4.0 points more), but b may be"
        " as near; compared with real text, both differ."
    )
    assert [repeated] == sentences(blocks)
    assert repeated.says == headline.replace("Of 2", "of 2").replace(" by “Flagged by A”", "")
    assert headline_of(blocks, "two") == ("", None)
    assert headline_of(card_of(real()), "one") == ("", None)


def test_a_headline_of_several_corpora_names_its_own_and_a_label_stays_as_it_is():
    sets = [card for corpus in ("docs", "wiki") for card in (real(corpus=corpus), score("model.jsonl", corpus=corpus))]
    headline, repeated = headline_of(card_of(*sets), "one")
    assert headline.startswith("On docs, model.jsonl scores higher than real text (4.00) by “Latent PPL”: 8.00")
    assert repeated.about == "One, Latent PPL on docs"
    headline, _ = headline_of(card_of(real(), score("model.jsonl")), "one")
    assert headline.startswith("model.jsonl scores higher")


def test_pairs_are_compared_by_their_distances_and_not_by_their_values():
    numbers = {"above": (5.0, 4.9, 5.1), "below": (3.0, 2.9, 3.1), "far": (9.0, 8.9, 9.1)}
    (block,) = card_of(real(), *(score(name, number=Number(*number)) for name, number in numbers.items()))
    found = block.pairs(block.columns[0])
    assert set(found) == {("above", "below"), ("above", "far"), ("below", "far")}
    assert found["above", "below"].difference == pytest.approx(0.0)
    assert found["above", "below"].p == pytest.approx(1.0)
    assert found["above", "far"].difference == pytest.approx(-4.0)
    assert block.nearest(block.columns[0]) == {"above", "below"}
    text = str(card_html([block], TEMPLATES))
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", text[text.index('id="table-pairs-docs"') :])
    assert cells == ["cannot be said (p = 1.00)", "above (p &lt; 0.001)", "below (p &lt; 0.001)"]
    assert text.count("★") == 2 + 2, "of two samples, in the legend and in what the signs mean"


def test_a_single_sample_is_not_called_the_nearest():
    (block,) = card_of(real(), score("a"))
    assert block.nearest(block.columns[0]) == frozenset()
    assert "★" not in str(card_html([block], TEMPLATES))


def test_there_is_no_sentence_without_real_text_or_without_samples():
    assert sentences(card_of(score("a"))) == []
    assert sentences(card_of(real())) == []


def test_with_several_corpora_a_sentence_says_which():
    two = card_of(real(), score("a"), real(corpus="wiki"), score("a", corpus="wiki"))
    assert [s.about for s in sentences(two)] == ["One, Latent PPL on docs", "One, Latent PPL on wiki"]


def test_the_front_page_has_the_strongest_of_each_experiment_then_of_the_rest():
    pool = [Sentence(name, f"{name}{n}", "", "", n) for name, n in (("a", 9), ("a", 8), ("a", 7), ("a", 6), ("a", 5.5))]
    pool += [Sentence("b", "b1", "", "", 1), Sentence("b", "b0", "", "", 0.5), Sentence("c", "c0", "", "", 0)]
    assert [sentence.about for sentence in chosen(pool)] == ["a9", "a8", "a7", "b1", "c0"]
    assert len(chosen(pool)) == MOST_SENTENCES
    many = [Sentence(str(n), str(n), "", "", n) for n in range(9)]
    assert [sentence.about for sentence in chosen(many)] == ["8", "7", "6", "5", "4"]


ONE_TRAINING = (
    "Values of one seed are about this model, one training: the interval is over documents, and another training gives "
    "another value."
)
TRAININGS = (
    "Values of several seeds are about this recipe: the mean over trainings (of perplexities the geometric one) with "
    "Student's interval."
)


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([score("a")], "≠ differs from real text (p < 0.05, or an infinite value)."),
        (
            [score("a", p=0.5, number=NEAR)],
            "≈ the same: the 95% interval of the difference lies within a tenth of real text's value, or within 0.1 of "
            "a distance of 0.",
        ),
        ([score("a", 4.1, p=0.5)], "? unclear: no difference was found, but so few documents may hide one."),
        ([score("a", p=None)], "not tested: there is no test against real text."),
    ],
)
def test_the_legend_explains_what_stands_there(scores, says):
    assert legend(card_of(real(), *scores)) == [says, ONE_TRAINING]
    assert legend(card_of(real())) == []


def test_the_legend_tells_a_model_from_a_recipe():
    model, recipe = [score("a")], [score("b", 8.0, p=0.2), score("b", 8.1, seed=2, p=0.2)]
    assert [words in legend(card_of(real(), *recipe)) for words in (ONE_TRAINING, TRAININGS)] == [False, True]
    assert [words in legend(card_of(real(), *model, *recipe)) for words in (ONE_TRAINING, TRAININGS)] == [True, True]
    # Texts that nobody trained have no seed.
    assert "training" not in " ".join(legend(card_of(real(), score("a", seed=None))))


def test_what_is_unclear_of_a_recipe_is_so_for_its_few_trainings():
    recipe, model = [score("a", 3.0, p=0.2), score("a", 7.0, seed=2, p=0.2)], [score("b", 4.1, p=0.5)]
    for scores, few in ((recipe, "trainings"), (model, "documents"), (recipe + model, "documents or trainings")):
        assert f"? unclear: no difference was found, but so few {few} may hide one." in legend(card_of(real(), *scores))


@pytest.mark.parametrize(
    ("p_values", "says"),
    [
        (
            [0.01, 0.04, 0.3],
            "Of 3 tests chance alone would mark about 0.15; 2 have p < 0.05, 1 after Holm's correction.",
        ),
        ([0.03, 0.3], "Of 2 tests chance alone would mark about 0.10; 1 has p < 0.05, 0 after Holm's correction."),
        ([0.3] * 40, "Of 40 tests chance alone would mark about 2.0; 0 have p < 0.05, 0 after Holm's correction."),
    ],
)
def test_the_legend_counts_what_chance_would_mark(p_values, says):
    scores = [score(f"s{place}", p=p) for place, p in enumerate(p_values)]
    assert legend(card_of(real(), *scores, score("none", p=None)))[-1] == says


def test_one_test_needs_no_correction():
    assert "chance alone" not in " ".join(legend(card_of(real(), score("a"), score("b", p=None))))


@pytest.fixture
def wide():
    """A card of six columns with all verdicts, seeds and a long name."""
    measures = ["Latent PPL", "Latent NLL", "Covariances apart", "Accuracy", "A measure of a rather long name", "MAUVE"]
    scores = [real(measure) for measure in measures]
    for measure in measures:
        for name, value, said in (
            ("small GPT-2, with titles", 14.5, {}),
            ("an interpolated trigram of a very long name, without titles", 135.2, {"left_out": 200}),
            ("same", None, {"p": 0.6, "number": Number(4.06, 3.96, 4.16)}),
            ("infinite", math.inf, {"because": "a step never occurs"}),
            ("none", None, {"n": 0, "left_out": 700}),
        ):
            scores.append(score(name, value, measure=measure, **said))
    return card_of(*scores, score("same", 4.3, seed=2, p=0.7))


@pytest.mark.parametrize("width", [100, 80, 50])
def test_the_terminal_shows_every_number_within_its_width(wide, width):
    lines = card_lines(wide, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert text.count("≠ 14.5 (14.0–15.0)") == text.count("≠ 135 (135–136)*") == text.count("≠ ∞") == 6
    assert text.count("≈ 4.06 (3.96–4.16)") == 5
    assert "? 4.18 (2.66–5.70)" in text
    words = re.sub(r"\s+", " ", text)
    (trainings,) = (cell for row in wide[0].rows for cell in row.cells.values() if cell.is_recipe)
    assert (
        "Latent PPL: n = 700 of real text, 0 to 1,000 of a sample, seeds 1, 2, at most 100% of a sample left out, "
        f"a difference of {noticed_of(trainings)} would be noticed in 80% of cases." in words
    )
    assert "* 5% of the documents or more are left out." in words
    # As many tables as columns side by side make necessary, each with the real text first.
    assert text.count("real text  ") == {100: 2, 80: 3, 50: 6}[width]


def test_the_page_shows_every_number_with_its_words_and_a_way_to_its_section(wide):
    text = card_html(wide, TEMPLATES)
    page = Page(f"<div>{text}</div>")
    cells = [attrs for tag, attrs in page.tags if tag == "td" and "title" in attrs]
    assert len(cells) == sum(len(row.cells) for block in wide for row in block.rows)
    assert text.count("≠ higher") == 18
    assert (text.count("≈ the same"), text.count("? unclear")) == (5 + 2, 1 + 2), "and two legends"
    assert text.count("29% left out") == 6
    hints = {cell["title"] for cell in cells}
    assert {"n = 700", "n = 500, seed 1, p < 0.001", "n = 500, seed 1, a step never occurs"} <= hints
    (trainings,) = (cell for row in wide[0].rows for cell in row.cells.values() if cell.is_recipe)
    assert f"n = 1,000, seeds 1, 2, p = {trainings.p:.2f}" in hints
    assert text.count(f"{noticed_of(trainings)} would be noticed") == 1
    assert text.count("A difference that would be noticed is one that has p") == 1
    sections = {column.section for column in wide[0].columns}
    assert {load[1:] for load in page.loads if not load.startswith("#picture-")} == {*sections, "one"}
    # One row for each score of each seed in the table behind the click.
    (table,) = re.findall(r'id="table-scorecard".*?</table>', text, re.S)
    assert table.count("<tr>") - 1 == sum(len(c.scores) for row in wide[0].rows for c in row.cells.values())


def test_a_long_card_is_folded_by_corpus(wide, monkeypatch):
    assert str(card_html(wide, TEMPLATES)).count("<details") == 3
    monkeypatch.setattr(html, "MOST_ROWS", 5)
    folded = str(card_html([*wide, *wide], TEMPLATES))
    assert folded.count("<details") == 5
    assert folded.count("<details open>") == 1
    assert "docs: 3 of 5 samples differ from real text by Latent PPL, 3 of 5 by Latent NLL, 3 of 5 by" in folded


@pytest.mark.parametrize(("left_out", "grey"), [(0, False), (500, False), (501, True)])
def test_a_value_of_which_more_than_half_is_left_out_is_grey(left_out, grey):
    text = str(card_html(card_of(real(), score("a", left_out=left_out)), TEMPLATES))
    (cell,) = (a for tag, a in Page(f"<div>{text}</div>").tags if tag == "td" and "different" in a.get("class", ""))
    assert cell["class"].split() == ["different", *(["lost"] if grey else [])]
    style = (TEMPLATES / "report.css").read_text()
    assert "table.card .lost" in style


def test_what_people_call_a_source_cannot_break_the_page():
    (block,) = card_of(real(), score("<b>&", because="<i>"))
    text = str(card_html([block], Path(TEMPLATES)))
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;" in text


def test_of_few_documents_their_number_stands_in_place_of_an_interval():
    few = Cell((real(number=Number(4.0), n=6),))
    assert doubt_of(few) == "n = 6"
    assert doubt_of(Cell((real(number=Number(4.0), n=20),))) == ""
    assert doubt_of(Cell((real(number=Number(4.0), n=None),))) == ""
    assert "real text    4 (n = 6)" in "\n".join(card_lines(card_of(real(number=Number(4.0), n=6)), 100))


def test_a_verdict_from_few_documents_says_their_number_first():
    """On the page, in the terminal, in sentences and in causes, and there once."""
    few = score("few", number=Number(9.5), p=0.03, n=6)
    blocks = card_of(real(), few, score("many"))
    cell = blocks[0].rows[-1].cells[blocks[0].columns[0]]
    assert verdict_of(cell) == "n = 6: ≠ higher"
    page = str(card_html(blocks, TEMPLATES))
    assert page.count('<span class="verdict">n = 6: ≠ higher</span>') == 1
    assert '<span class="doubt">n = 6' not in page, "not beside its value too"
    lines = card_lines(blocks, 80)
    assert sum("few" in line and "n = 6: ≠ 9.50" in line for line in lines) == 1
    assert not any("n = 500:" in line for line in lines)
    (said,) = sentences(blocks)
    assert "; compared with real text (n = 6 of few), both differ." in said.says
    assert [test.says for test in comparisons([real(), few])] == ["n = 6: Latent PPL higher: 9.50 against 4.00"]
    (alone,) = sentences(card_of(real(), few))
    assert alone.says == "n = 6: few scores higher than real text (4.00): 9.50, 5.5 more (p = 0.03)."


def pair(first, second, n=500, **said):
    numbers = [Number(value, value - 0.5, value + 0.5) for value in (first, second)]
    both = [score(name, number=number, n=n, **said) for name, number in zip("ab", numbers, strict=True)]
    return card_of(real(), *both, score("far", 90.0))


@pytest.mark.parametrize(
    ("second", "n", "says"),
    [
        (8.4, 500, "About 3,200 documents of each would tell a and b apart by “Latent PPL” in 80% of cases, if they "
         "differ as much as here."),
        (8.1, 500, "a and b are too much alike by “Latent PPL” to say how many documents would tell them apart."),
        (8.4, 50_000, "More than 100,000 documents of each would be needed to tell a and b apart by “Latent PPL”."),
        (9.0, 500, None),
    ],
)  # fmt: skip
def test_beside_the_star_stands_how_many_documents_tell_the_first_two_apart(second, n, says):
    """By hand, of two standard errors of 0.2546: 500 x 2 x (0.2545 x 2.802 / 0.4)^2 = 3,178, to two digits."""
    blocks = pair(8.0, second, n)
    assert separations(blocks) == ([says] if says else [])
    page = str(card_html(blocks, TEMPLATES))
    assert page.count(says or "documents of each would") == bool(says)


def test_without_an_answer_nothing_is_said_of_how_many_documents():
    assert separations(card_of(real(), score("a"), score("b", 90.0))) == [], "told apart"
    assert separations(card_of(real(), score("a"))) == [], "one sample"
    assert separations(card_of(real(), *(score("a", v, seed=n) for n, v in enumerate((8, 8.4, 8.8))), score("b"))) == []
    few = [score(name, number=Number(8.0), n=9, p=0.3) for name in "ab"]
    assert separations(card_of(real(), *few)) == [], "without intervals"


@pytest.mark.parametrize(("n", "verdict"), [(1, NOT_TESTED), (3, NOT_TESTED), (4, DIFFERENT)])
def test_an_infinite_value_of_too_few_documents_is_no_difference(n, verdict):
    assert score("few", math.inf, n=n).verdict == verdict
