"""What is wrong with each sample: tests by sample with Holm's correction, controls, copies, and their lines."""

import math
from dataclasses import replace

import pytest

from textcritic.errors import TextcriticError
from textcritic.files import finite, write_json
from textcritic.inference import Number
from textcritic.measures.card import scorecard
from textcritic.measures.card_file import card_to_json
from textcritic.measures.causes import (
    Comparison,
    comparisons,
    comparisons_from_json,
    comparisons_to_json,
    judged,
    of_control,
    unmarked,
)
from textcritic.measures.score import HIGHER, Score
from textcritic.measures.sentences import headline_of, sentences, short_legend, signs
from textcritic.report.front import front_page

REAL = Number(4.0, 3.9, 4.1)


def score(generator, value=8.0, p=0.001, measure="Latent PPL", **said):
    plain = {"corpus": "docs", "setting": "w-title", "decoding": "plain", "label": generator, "section": "one-values"}
    numbers = {"number": Number(value, value - 0.5, value + 0.5), "real": REAL, "margin": 0.4, "n": 500, "p": p}
    return Score(**(plain | numbers | {"generator": generator, "measure": measure, "seed": 1} | said))


def real(measure="Latent PPL", number=REAL):
    return Score(corpus="docs", label="real text", measure=measure, section="one-values", number=number, n=700)


def one_test(generator, measure="Length", p=0.001, strength=2.0, says="its documents are longer"):
    of = {"corpus": "docs", "setting": "w-title", "generator": generator, "decoding": "plain", "label": generator}
    return Comparison(**of, measure=measure, p=p, says=says, strength=strength, section="two-kept")


def judge(tests, *scores):
    return judged(scorecard({"one": [real(), *scores]}, {"one": "One"}), tests)


def test_every_score_with_a_p_value_is_a_test_seeds_together():
    both = [score("a"), score("a", 9.0, seed=2), score("b", p=None), score("c", 4.1, 0.3)]
    found = {one.generator: one for one in comparisons([real(), *both])}
    assert set(found) == {"a", "c"}
    (cell,) = next(row for row in scorecard({"": [real(), *both]}, {"": ""})[0].rows if row.label == "a").cells.values()
    assert (found["a"].p, found["a"].strength) == (cell.p, cell.strength)
    assert found["a"].says == "Latent PPL higher: 8.50 against 4.00"
    assert (found["c"].p, found["c"].strength) == (0.3, 0.0)
    share = replace(score("d", 90.0, measure="Recited, %"), real=Number(10.0, 9.0, 11.0))
    (one,) = comparisons([real("Recited, %", Number(10.0, 9.0, 11.0)), share], lambda cell: "")
    assert (one.measure, one.says) == ("Recited", "Recited higher: 90.0% against 10.0%")
    assert comparisons([real(), score("a")], lambda cell: "it is bad")[0].says == "it is bad"


def test_an_infinite_value_needs_no_test():
    infinite = score("a", p=None, number=Number(math.inf))
    assert [one.p for one in comparisons([real(), infinite])] == [0.0]


def test_holms_correction_is_over_the_tests_of_one_sample():
    """p = 0.02 of two tests is marked, of three is not, whatever other samples have."""
    few = [one_test("a", p=0.02), one_test("a", "Symbols", p=0.5)]
    many = [one_test("b", p=0.02), *(one_test("b", name, p=0.5) for name in ("Symbols", "Burstiness"))]
    by_name = {one.name: one for one in judge([*few, *many], score("a"), score("b"))}
    assert [cause.measure for cause in by_name["a"].causes] == ["Length"]
    assert by_name["b"].causes == ()
    assert [by_name[name].tests for name in "ab"] == [2, 3]


def test_the_first_cause_has_the_smallest_p_then_the_greatest_strength():
    tests = [one_test("a", "Weak", 0.004, 9.0, "weak"), one_test("a", "Near", 0.001, 2.0, "near")]
    tests += [one_test("a", "Far", 0.001, 5.0, "far"), one_test("a", "None", 0.9, 0.0)]
    worse = [one_test("b", name, 0.001, 1.0, name) for name in ("W", "X", "Y", "Z")]
    first, second, third = judge([*tests, *worse, one_test("c", p=0.9)], *map(score, "cab"))
    assert (first.name, second.name, third.name) == ("b", "a", "c"), "most causes first"
    assert second.line == "far; 2 other measures differ: Near and Weak."
    assert judge([one_test("a"), one_test("a", "X")], score("a"))[0].line == (
        "its documents are longer; 1 other measure differs: X."
    )
    assert judge([one_test("a")], score("a"))[0].line == "its documents are longer."


def test_what_no_test_marks_and_what_has_none_is_named():
    samples = judge([one_test("a", p=0.5), one_test("b", p=0.6), one_test("b", "X", 0.9)], *map(score, "abc"))
    assert unmarked(samples) == ["No measure marks a and b (of 1 to 2 tests each).", "No test was made of c."]
    assert unmarked(judge([one_test("a", p=0.5)], score("a"))) == ["No measure marks a (of 1 test)."]
    assert unmarked(judge([one_test("a")], score("a"))) == []


def test_they_come_back_from_json(tmp_path):
    said = [one_test("a", strength=math.inf), one_test("b", p=0.25)]
    write_json(tmp_path / "x.json", {"tests": finite(comparisons_to_json(said))})
    assert list(comparisons_from_json({"tests": finite(comparisons_to_json(said))}, "x")) == said
    assert comparisons_from_json({}, "x") == ()
    for bad in ([{"p": 1.0}], [7], [finite(comparisons_to_json(said))[0] | {"more": 1}]):
        with pytest.raises(TextcriticError, match=r"x\.json: no tests in it \(.*; delete it and rerun its rule"):
            comparisons_from_json({"tests": bad}, "x.json")


def test_a_control_is_shown_below_real_text_and_never_ranked():
    scores = [score("a", 4.6), score("b", 5.5), score("same", 4.0, label="same (control)", control=True)]
    (block,) = scorecard({"one": [real(), *scores]}, {"one": "One"})
    (column,) = block.columns
    assert [row.label for row in block.rows] == ["real text", "same (control)", "a", "b"]
    assert block.best(column) == "a"
    assert "same (control)" not in block.nearest(column)
    assert list(block.pairs(column)) == [("a", "b")]
    assert "control" not in " ".join(one.says for one in sentences([block]))
    assert "of 2 samples" in sentences([block])[0].says


def front_of(tmp_path, scores, **said):
    (tmp_path / "one").mkdir(exist_ok=True)
    path = tmp_path / "one/section.json"
    write_json(path, {"title": "One", "lines": [], "card": card_to_json(scores), **said})
    return lambda **more: front_page({"one": path}, **more)


def test_a_control_that_differs_is_one_warning_and_no_line(tmp_path):
    control = score("other", label="other (control)", control=True)
    front = front_of(tmp_path, [real(), score("a", 4.05, 0.6), control])()
    assert [one.name for one in front.judged] == ["a"]
    (warning,) = front.warnings
    assert (warning.about, warning.section) == ("other (control)", "one-values")
    assert warning.says == (
        "it is real text and differs too, in Latent PPL (Latent PPL higher: 8.00 against 4.00): differences of this "
        "size in Latent PPL are no fault of a model."
    )
    (same,) = (one for one in judge(comparisons([real(), control]), control) if one.row.control)
    assert of_control(same) == warning.says
    assert front_of(tmp_path, [real(), replace(control, p=0.6)])().warnings == ()


def test_each_reason_why_something_was_not_measured_is_said_once(tmp_path):
    pairs = [("Length", "few groups"), ("Symbols", "few groups"), ("Length", "few groups"), ("Words", "no text")]
    front = front_of(tmp_path, [real(), score("a")], not_measured=pairs)
    expected = (("Length and Symbols", "few groups"), ("Words", "no text"), ("mentions", "no English"))
    assert front(study={"not_measured": {"mentions": "no English"}}).not_measured == expected


def test_without_a_measure_that_ranks_the_headline_counts_what_differs(tmp_path):
    """A count is no verdict: nothing is nearest by it, and it has no sign and no star."""
    counts = [score(name, 0.0, None, "Count", compared=False, out_of=4, real=None, margin=None) for name in "abc"]
    tests = finite(comparisons_to_json([one_test("a"), one_test("b", p=0.4), one_test("c", p=0.6)]))
    front = front_of(tmp_path, counts, tests=tests)()
    assert front.headline == "1 of 3 samples differs from real text."
    assert short_legend(front.blocks) == []
    assert front.sentences == ()


def test_nothing_is_starred_where_no_test_is_made():
    (block,) = scorecard({"one": [real(), score("a", p=None), score("b", 9.0, None)]}, {"one": "One"})
    assert block.nearest(block.columns[0]) == frozenset()


BESIDE = Number(4.1, 3.0, 5.0)


def copied(value=98.0, p=0.001, by=BESIDE):
    said = {"copies": "of its runs of 13 words stand in the reference", "measure": "Recited, %"}
    return score("copy", p=p, **said, number=Number(value, value - 1, value + 1), real=by, margin=0.4)


def test_a_copy_is_never_named_nearest_without_its_copying():
    share = "copy (98% of its runs of 13 words stand in the reference)"
    others = [real("Recited, %", BESIDE), copied()]
    for first in ([score("copy", 4.0, 0.9), score("a", 9.0)], [score("a", 4.0, 0.9), score("copy", 4.1, 0.9)]):
        blocks = scorecard({"one": [real(), *first], "two": others}, {"one": "One", "two": "Two"})
        headline, _ = headline_of(blocks, "one")
        assert share in headline
        for words in (short_legend(blocks), signs(blocks)):
            assert f"★ says nothing good about copied text: {share}." in words
    alone, _ = headline_of(scorecard({"one": [real(), first[1]], "two": others}, {"one": "One", "two": "Two"}), "one")
    assert alone.startswith(share)


@pytest.mark.parametrize("one", [copied(49.0), copied(98.0, 0.4), copied(98.0, by=Number(99.5, 99.0, 99.9))])
def test_what_has_less_than_half_or_no_more_than_real_text_is_no_copy(one):
    (block,) = scorecard({"two": [real("Recited, %", one.real), one]}, {"two": "Two"})
    assert [row.copied for row in block.rows] == ["", ""]


def test_a_long_name_is_shortened_unless_two_would_be_the_same():
    long = "samples-of-a-model-with-a-name-of-some-sixty-characters-{}-step.jsonl"
    (block,) = scorecard({"one": [real(), score(long.format("a")), score(long.format("b" * 9), 9.0)]}, {"one": "One"})
    labels = {row.label: row.name for row in block.rows}
    assert list(labels.values()) == ["real text", long.format("a"), long.format("b" * 9)]
    assert all(len(label) <= 40 for label in labels)
    twins = [score(name, label=f"samples-of-a-model-{name * 20}-with-a-name-of-sixty-step.jsonl") for name in "xy"]
    (block,) = scorecard({"one": [real(), *twins]}, {"one": "One"})
    assert [row.label for row in block.rows][1:] == [row.name for row in block.rows][1:]


def test_a_measure_whose_aim_is_a_high_value_has_its_own_star():
    values = {"a": 9.0, "b": 7.0}
    scores = [replace(real(), aim=HIGHER), *(score(name, value, aim=HIGHER) for name, value in values.items())]
    assert short_legend(scorecard({"one": scores}, {"one": "One"}))[1] == "★ highest value, or perhaps as high."
