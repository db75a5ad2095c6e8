"""The tables of Unicode against Python, asked for every code point."""

import unicodedata

import numpy as np

from textcritic.corpora.unicode import CODE_POINTS, NAMES, by_category, of_categories, spaces
from textcritic.corpora.words import marks


def test_every_code_point_is_as_python_says():
    every = [unicodedata.category(chr(code)) for code in range(CODE_POINTS)]
    names = np.array(NAMES)
    assert len({*NAMES}) == 30
    assert names[by_category({name: number for number, name in enumerate(NAMES)})].tolist() == every
    assert of_categories(["L", "Nd"]).tolist() == [code for code, c in enumerate(every) if c[0] == "L" or c == "Nd"]
    assert marks() == "".join(chr(code) for code, name in enumerate(every) if name[0] == "M")
    assert spaces().tolist() == [code for code in range(CODE_POINTS) if chr(code).isspace()]


def test_a_category_is_before_its_first_letter():
    table = by_category({"L": 3, "Lu": 5}, other=7)
    assert [table[ord(letter)] for letter in "aA1"] == [3, 5, 7]
