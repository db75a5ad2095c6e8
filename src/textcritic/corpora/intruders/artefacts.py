"""What may give intruders away without their document: how they differ from the sentences that they replace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textcritic.corpora.intruders.documents import Document
from textcritic.errors import TextcriticError

_PRONOUNS = ("he", "she", "it", "they", "we", "you", "i", "his", "her", "its", "their", "our", "this", "these", "those")
_JOINING = ("and", "but", "or", "so", "for", "then", "also", "however", "therefore", "moreover", "thus", "yet", "nor")


@dataclass(frozen=True, slots=True)
class Difference:
    """A property of sentences.

    Attributes:
        intruders: its mean over the intruders.
        replaced: its mean over the sentences that they replace.
        error: standard error of the mean difference, over pairs; these share sources, so that it is somewhat too small.
    """

    intruders: float
    replaced: float
    error: float


PROPERTIES: Mapping[str, Callable[[str], float]] = {
    "words": lambda sentence: len(sentence.split()),
    "letters in a word": lambda sentence: float(np.mean([len(word) for word in sentence.split()])),
    "begins with a pronoun": lambda sentence: _first(sentence) in _PRONOUNS,
    "begins with a joining word": lambda sentence: _first(sentence) in _JOINING,
    "has a digit": lambda sentence: any(letter.isdigit() for letter in sentence),
    "ends with a full stop": lambda sentence: sentence.endswith("."),
}
"""Numbers that a sentence has by itself."""


def differences(documents: Sequence[Document]) -> dict[str, Difference]:
    """Each of `PROPERTIES` in intruders and in what they replace.

    Raises:
        TextcriticError: fewer than two documents have an intruder and the sentence that it replaced.
    """
    pairs = [(d.sentences[d.intruder], d.replaced) for d in documents if d.intruder is not None and d.replaced]
    if len(pairs) < 2:
        raise TextcriticError(
            f"artefacts: {len(pairs)} intruder(s) with what they replaced; give documents with 2 or more"
        )
    by_property = {}
    for name, value_of in PROPERTIES.items():
        values = np.array([[value_of(intruder), value_of(replaced)] for intruder, replaced in pairs], float)
        error = float(np.std(values[:, 0] - values[:, 1], ddof=1) / np.sqrt(len(pairs)))
        by_property[name] = Difference(float(values[:, 0].mean()), float(values[:, 1].mean()), error)
    return by_property


def _first(sentence: str) -> str:
    return sentence.split()[0].strip("\"'“‘([,").lower()
