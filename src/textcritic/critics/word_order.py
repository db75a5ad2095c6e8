"""How well each word follows from the word before it: a measure of text that learns pairs of words from real text.

It is written like a user's measure with a `fit`. The number is the mean of

    log p(word | word before) - log p(word)

over a document, in nats: the pointwise mutual information of neighbours (Church and Hanks 1990) under a model of real
text. The probability of single words cancels out, and what is left is how they follow one another: it is lower where
words are dropped, swapped, inflected wrongly or from elsewhere, and higher where real text is copied.

p(word) has one count added to each word. p(word | before) has `PRIOR` counts of it added, shared out as p(word) is (a
hierarchical Dirichlet model, MacKay and Peto 1995).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from textcritic.critics.plain import Text, words_of
from textcritic.measures.own import LeftOut, left_out, measure

PRIOR = 5.0  # counts


@dataclass(frozen=True, slots=True)
class Pairs:
    """Counts of the words of real text, of its pairs of neighbours, and of the first words of these."""

    words: Counter[str]
    pairs: Counter[tuple[str, str]]
    first: Counter[str]
    total: int

    def gain(self, before: str, word: str) -> float:
        """Log p(word | before) - log p(word), nats."""
        alone = (self.words[word] + 1) / (self.total + len(self.words) + 1)
        return math.log((self.pairs[before, word] / alone + PRIOR) / (self.first[before] + PRIOR))


def pairs_of(documents: Sequence[Text]) -> Pairs:
    """The model of real documents."""
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    first: Counter[str] = Counter()
    for document in documents:
        some = words_of(document.text)
        words.update(some)
        pairs.update(pairwise(some))
        first.update(some[:-1])
    return Pairs(words, pairs, first, words.total())


@measure(
    title="Order of words",
    statistic="ratio",
    fit=pairs_of,
    means="how much likelier a word is after the one before it than by itself, to a model of real text, nats",
)
def order_of_words(document: Text, model: Pairs) -> tuple[float, float] | LeftOut:
    """The sum over the pairs of a document, and their number."""
    words = words_of(document.text)
    if len(words) < 2:
        return left_out("fewer than 2 words")
    return math.fsum(model.gain(*pair) for pair in pairwise(words)), float(len(words) - 1)
