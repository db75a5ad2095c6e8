"""The two measures of plain text that are shipped: by hand in several scripts, by property, and on bad input."""

import random
import re
import subprocess
import sys
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import textcritic
from textcritic.corpora import Article, Section
from textcritic.corpora.words import UNSPACED, marks
from textcritic.critics.plain import _sentence_marks, repeated, unfinished, words_of
from textcritic.measures.own import LeftOut, load_metric


def document(text):
    return Article("1", "", (Section("", text),), "x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat's well-known, 3.5 TIMES!", ["the", "cat's", "well-known", "3", "5", "times"]),
        ("किताब अच्छी है।", ["किताब", "अच्छी", "है"]),
        ("ذهبَ الولد؟ نعم", ["ذهبَ", "الولد", "نعم"]),
        ("他说GPT2好。", ["他", "说", "gpt2", "好"]),
        ("コーヒー、を", [*list("コーヒー"), "を"]),
        ("cafe\u0301 a_b", ["café", "a", "b"]),
    ],
)
def test_words_of_several_scripts(text, words):
    assert words_of(text) == words


def test_words_are_those_of_a_pattern_that_goes_letter_by_letter():
    """A letter, then the marks that go with it: plainer than the pattern that is used, and four times as slow."""
    letter = rf"(?:[^\W_{UNSPACED}][{marks()}\u200c\u200d]*)"
    plain = re.compile(rf"[{UNSPACED}][{marks()}]*|{letter}+(?:['\u2019-]{letter}+)*")
    ranges = (0x20, 0x600), (0x900, 0x980), (0xE01, 0xE5C), (0x200C, 0x200E), (0x2019, 0x201A), (0x4E00, 0x4E02)
    signs, rng = [chr(code) for first, end in ranges for code in range(first, end)], random.Random(1)
    for _ in range(3000):
        text = "".join(rng.choice("ab '-_" if rng.random() < 0.4 else signs) for _ in range(20))
        text = unicodedata.normalize("NFC", text).lower()
        assert words_of(text) == plain.findall(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b c d e", (0, 2)),
        ("a b c d, A B C D!", (100, 5)),  # abcd bcda cdab dabc abcd
        ("a a a a a a", (200, 3)),
        ("我 喜欢猫我喜欢猫", (100, 5)),
        ("किताब है किताब है किताब है", (100, 3)),
    ],
)
def test_repeated_runs_by_hand(text, found):
    assert repeated(document(text)) == found


@pytest.mark.parametrize("text", ["", "a b c d", "...", "我喜欢猫"])
def test_short_documents_have_no_share_of_repeated_runs(text):
    assert repeated(document(text)) == LeftOut("fewer than 5 words")


@given(st.lists(st.sampled_from("abcdefghij"), min_size=5, max_size=60))
def test_a_document_twice_repeats_its_runs(words):
    """All runs inside the second copy, n - 3 of 2n - 3: nearly a half."""
    top, bottom = repeated(document(" ".join(words * 2)))
    assert bottom == 2 * len(words) - 3
    assert 100 * (len(words) - 3) <= top < 100 * bottom


LATIN = ["It ended.", "Did it?\n", '"It did!"', "so (he said…).", "Left.[1][12]", "Left.”²", "„Er ging.“", "«Да.»"]
OTHERS = ["他走了。", "「行った。」", "هل ذهب؟", "ذهب۔", "वह गया।", "Գնաց։", "ሄደ።"]


@pytest.mark.parametrize("text", [*LATIN, *OTHERS])
def test_finished(text):
    assert unfinished(document(text)) == 0


@pytest.mark.parametrize(
    "text", ["It ended, and", "the list:", "(see below)", "[1]", '"', "e.g. this", "他走", "वह गया"]
)
def test_unfinished(text):
    assert unfinished(document(text)) == 100


def test_empty_documents_are_left_out_as_unfinished():
    assert unfinished(document(" \n")) == LeftOut("no text")


def test_sentence_marks_are_those_of_unicode():
    """Of characters that Python knows; newer ones may be there."""
    known = {letter for letter in map(chr, range(sys.maxunicode)) if regex.match(r"\p{Sentence_Terminal}", letter)}
    assert {letter for letter in _sentence_marks() if unicodedata.name(letter, "")} <= known | {"…"}
    assert {letter for letter in known if unicodedata.name(letter, "")} <= _sentence_marks()


def test_through_the_door_of_criticise():
    """Shares in percent of the whole source, not means of documents."""
    real = [f"the {('cat', 'dog', 'cow')[n % 3]} of {n} sat on mat {n} and {n} ran." for n in range(40)]
    loop = [f"{text} {text}" for text in real[:25]] + ["cut off", ""]
    names = ["textcritic.critics.plain:repeated", "textcritic.critics.plain:unfinished"]
    options = {"num_topics": 2, "starts": 1, "workers": 1, "resamples": 50, "minimum_count": 1}
    found = textcritic.criticise(real, {"loop": loop}, metrics=names, **options)
    one, other = found["loop"]["repeated"], found["loop"]["unfinished"]
    words = len(words_of(real[0]))
    assert (one.measure, other.measure) == ("Repeated 4-grams, %", "Unfinished, %")
    assert one.value == pytest.approx(100 * (words - 3) / (2 * words - 3))
    assert one.rejected_by_reason == {"empty": 1, "fewer than 5 words": 1}
    assert (other.value, other.n, other.rejected_by_reason) == (pytest.approx(100 / 26), 26, {"empty": 1})
    assert one.verdict == "different"


def test_nothing_heavy_is_loaded():
    code = (
        "import sys; from textcritic.measures.own import load_metric; "
        "load_metric('textcritic.critics.plain:unfinished'); "
        "sys.exit(', '.join({'numpy', 'pyarrow', 'pandas', 'torch'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert load_metric("textcritic.critics.plain:repeated").declared.name == "Repeated 4-grams, %"
