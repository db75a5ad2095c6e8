"""What Unicode says of each character, as tables that arrays of code points are looked up in."""

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

CODE_POINTS = 0x110000
# Planes with characters. The others are not assigned, or private: of these unicodedata need not be asked, one by one.
ASSIGNED = (range(0x40000), range(0xE0000, 0xF0000))
PRIVATE = range(0xF0000, CODE_POINTS)
NAMES = [first + second for first, kinds in {
    "L": "ultmo", "M": "nce", "N": "dlo", "P": "cdseifo", "S": "mcko", "Z": "slp", "C": "cfson"
}.items() for second in kinds]  # fmt: skip

Codes = npt.NDArray[np.int64]


def by_category(values: Mapping[str, int], other: int = 0) -> npt.NDArray[np.uint8]:
    """A number for each code point: [code points].

    Args:
        values: by general category, such as `Lu`, or by its first letter.
        other: the number of all other categories.
    """
    return np.array([values.get(name, values.get(name[0], other)) for name in NAMES], np.uint8)[_categories()]


def of_categories(names: Iterable[str]) -> Codes:
    """The code points of some categories, in order."""
    return np.flatnonzero(by_category(dict.fromkeys(names, 1)))


@cache
def spaces() -> Codes:
    """The code points that Python takes for white space, in order."""
    # Those that are no separator are control characters.
    candidates = of_categories(["Z", "Cc"]).tolist()
    return np.array([code for code in candidates if chr(code).isspace()])


@cache
def _categories() -> npt.NDArray[np.uint8]:
    """The category of each code point, as a position in `NAMES`: [code points]."""
    numbers = {name: number for number, name in enumerate(NAMES)}
    table = np.full(CODE_POINTS, numbers["Cn"], np.uint8)
    table[PRIVATE.start :] = numbers["Co"]
    table[[plane | end for plane in (0xF0000, 0x100000) for end in (0xFFFE, 0xFFFF)]] = numbers["Cn"]
    for codes in ASSIGNED:
        categories = map(numbers.__getitem__, map(unicodedata.category, map(chr, codes)))
        table[codes.start : codes.stop] = np.fromiter(categories, np.uint8, len(codes))
    return table
