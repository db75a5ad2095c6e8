"""Words and sentences of a text, ordinary or with spaces between its tokens."""

import pytest

from textcritic.latents.resolvers.language import load_language
from textcritic.latents.resolvers.text import split_words

ENGLISH = load_language("en")


def sentences(text):
    words = split_words(text, ENGLISH)
    assert [text[start:end] for start, end in words.spans] == words.words
    assert [text[start:end].split() for start, end in words.sentence_spans()] == [
        "".join(text[words.spans[first][0] : words.spans[last - 1][1]]).split() for first, last in words.sentences
    ]
    return [" ".join(words.words[first:last]) for first, last in words.sentences]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n \n ", []),
        ("One. Two! Three? Four", ["One .", "Two !", "Three ?", "Four"]),
        (
            "Mr. Long met Dr. J. K. Low at St. Ives. He left.",
            ["Mr . Long met Dr . J . K . Low at St . Ives .", "He left ."],
        ),
        ("He came at 5 p.m. Then he left.", ["He came at 5 p . m .", "Then he left ."]),
        ("It was I. John left.", ["It was I .", "John left ."]),
        ("She paused... and went on. Good.", ["She paused ... and went on .", "Good ."]),
        ("“Oh!” he said. “Yes.” He left.", ["“ Oh ! ” he said .", "“ Yes . ”", "He left ."]),
        ('"No." "Yes." He left.', ['" No . "', '" Yes . "', "He left ."]),
        ("(She left.) He came.", ["( She left . )", "He came ."]),
        ("A title\n\nand text\nwith lines", ["A title", "and text with lines"]),
        ("A title\n \t\n\nText", ["A title", "Text"]),
        ("Mr.\n\nLong", ["Mr .", "Long"]),
        ("O'Brien's dog didn’t bark", ["O'Brien 's dog didn’t bark"]),
        ("He 's here , Mr. Long . She did n't go .", ["He 's here , Mr . Long .", "She did n't go ."]),
        ("`` Oh , '' she said . He left .", ["`` Oh , '' she said .", "He left ."]),
        ("father-in-law re\u0301sume\u0301 🙂 x_y", ["father-in-law re\u0301sume\u0301 🙂 x _ y"]),
    ],
)
def test_words_and_sentences(text, expected):
    assert sentences(text) == expected
