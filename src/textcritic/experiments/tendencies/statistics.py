"""The statistics of tendencies: their names, how they are written, and which decides whether a sample keeps to them."""

from dataclasses import dataclass

from textcritic.report.numbers import NONE, count, decimals, missing, significant

REAL = {"data": "real text"}
"""What a row of real text is called."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number that is estimated on a set of documents, or a distance of a sample from real text.

    Attributes:
        name: its key in the statistics of a source, and in the published values.
        title: what people call it.
        places: decimals it is written with; None: two significant digits; 0: a whole number.
    """

    name: str
    title: str
    places: int | None = None

    def written(self, value: float | None) -> str:
        """A value as tables have it."""
        if value is None or missing(value):
            return NONE
        if self.places == 0:
            return count(value)
        return significant(value) if self.places is None else decimals(value, self.places)


@dataclass(frozen=True, slots=True)
class Tendency:
    """One tendency of text.

    Attributes:
        name, title: its name in tables, and for people.
        distance: the name of the distance that decides whether a sample keeps to it.
        says: what is the matter with a sample that does not, a clause about "its"; `{way}` is the word for its
            direction.
        ways: the estimate or signed difference that has a direction, and the words for above and below real text.
    """

    name: str
    title: str
    distance: str
    says: str
    ways: tuple[str, str, str] = ("", "", "")


LENGTH = ("length", "length", "Length")
SHARES = (("stopwords", "stop words", "Stop words"), ("symbols", "symbols", "Symbols"))

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
    Statistic("length_ks", "Length"),
    Statistic("stopwords_ks", "Stop words"),
    Statistic("symbols_ks", "Symbols"),
)
DIFFERENCES = (
    Statistic("length_difference", "Length, tokens", 2),
    Statistic("stopwords_difference", "Share of stop words", 4),
    Statistic("symbols_difference", "Share of symbols", 4),
)
TENDENCIES = (
    Tendency(
        "rank-frequency",
        "Rank and frequency",
        "rank",
        "its commonest words take up {way} of the text",
        ("rank_difference", "more", "less"),
    ),
    Tendency(
        "type-token",
        "Different words by length",
        "heaps",
        "a document has {way} different words than one of the same length by people",
        ("types_difference", "more", "fewer"),
    ),
    Tendency("unigrams", "Which words", "unigram_max", "it uses some words much more or less often than people do"),
    Tendency("length", "Length", "length_ks", "its documents are {way}", ("length_difference", "longer", "shorter")),
    Tendency(
        "stopwords", "Stop words", "stopwords_ks", "it has {way} stop words", ("stopwords_difference", "more", "fewer")
    ),
    Tendency(
        "symbols",
        "Symbols",
        "symbols_ks",
        "it has {way} punctuation marks and numbers",
        ("symbols_difference", "more", "fewer"),
    ),
    Tendency(
        "burstiness",
        "Burstiness",
        "taylor_distance",
        "its words are {way}",
        ("taylor_difference", "more bursty", "less bursty"),
    ),
    Tendency(
        "recurrence",
        "Recurrence",
        "recurrence_distance",
        "words recur {way} often within a document",
        ("recurrence_difference", "more", "less"),
    ),
)
BY_NAME = {statistic.name: statistic for statistic in (*ESTIMATES, *DISTANCES, *DIFFERENCES)}
