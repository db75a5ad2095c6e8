"""The statistics of tendencies: their names, and how they are written."""

from dataclasses import dataclass

from textcritic.measures.numbers import NONE, count, decimals, missing, significant

REAL = {"data": "real text"}
"""The label of a row of real text."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number that is estimated on a set of documents, or a distance of a sample from real text.

    Attributes:
        name: its key in the statistics of a source, and in the published values.
        title: its name in tables.
        places: decimals; None: two significant digits; 0: a whole number.
    """

    name: str
    title: str
    places: int | None = None

    def written(self, value: float | None) -> str:
        """A value as tables show it."""
        if value is None or missing(value):
            return NONE
        if self.places == 0:
            return count(value)
        return significant(value) if self.places is None else decimals(value, self.places)


ESTIMATES = (
    Statistic("s", "Zipf’s s", 3),
    Statistic("heaps_beta", "Heaps’ β", 3),
    Statistic("heaps_alpha", "K", 3),
    Statistic("heaps_bigram_beta", "β of bigrams", 3),
    Statistic("heaps_bigram_alpha", "K of bigrams", 3),
    Statistic("types", "Different words", 0),
    Statistic("length_mean", "Mean length", 2),
    Statistic("stopwords_mean", "Stop words", 3),
    Statistic("symbols_mean", "Symbols", 3),
    Statistic("taylor", "Taylor’s α", 3),
    Statistic("recurrence", "Recurrence"),
)
DISTANCES = (
    Statistic("zipf_own", "Zipf’s law, own s"),
    Statistic("zipf_real", "Zipf’s law, s of real text"),
    Statistic("rank", "Ranks of real text"),
    Statistic("heaps_own", "Heaps’ law, own K and β"),
    Statistic("heaps_real", "Heaps’ law, those of real text"),
    Statistic("heaps", "Types of real text"),
    Statistic("unigram_max", "Words, largest difference"),
    Statistic("unigram_half_l1", "Words, total variation"),
    Statistic("bigram_max", "Pairs of words, largest difference"),
    Statistic("length_ks", "Length"),
    Statistic("stopwords_ks", "Stop words"),
    Statistic("symbols_ks", "Symbols"),
)
DIFFERENCES = (
    Statistic("length_difference", "Length, tokens", 2),
    Statistic("stopwords_difference", "Share of stop words", 4),
    Statistic("symbols_difference", "Share of symbols", 4),
)
BY_NAME = {statistic.name: statistic for statistic in (*ESTIMATES, *DISTANCES, *DIFFERENCES)}
_MORE = {
    "s": (
        Statistic("s_infinite_of_first", "s, fitted to first ranks", 3),
        Statistic("s_observed", "s, ranks that occur", 3),
        Statistic("s_first", "s, first ranks", 3),
    ),
    "types": (Statistic("types_chao1", "At least (Chao 1984)", 0),),
}
SIZED = (
    *(one for statistic in ESTIMATES for one in (statistic, *_MORE.get(statistic.name, ()))),
    BY_NAME["unigram_half_l1"],
)
"""The statistics that are shown by number of documents, in the order of the columns."""
