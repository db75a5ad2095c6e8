"""Which tendencies of real text a sample keeps, from the statistics that `critics.tendencies.measure` makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from textcritic.inference import DIFFERENT, SAME, Number, gap, holm, verdict
from textcritic.values import Row

Word = Literal["keeps", "differs", "unclear", "not measured"]
KEPT: Word = "keeps"
DIFFERS: Word = "differs"
UNCLEAR: Word = "unclear"
MISSING: Word = "not measured"
# What a tendency does, by whether the sample differs from real text.
_WORDS: Mapping[str, Word] = {DIFFERENT: DIFFERS, SAME: KEPT}
UNTESTED = "there is too little text for a test"
NO_INTERVAL = "there are fewer than 20 documents, too few for an interval"


@dataclass(frozen=True, slots=True)
class Tendency:
    """One tendency of text.

    Attributes:
        name, title: its name in tables, and for people.
        distance: the name of the distance that decides whether a sample keeps to it.
        says: a clause on what is different in a sample that does not keep to it; `{way}` is the word for the direction.
        margin: the distance below which it counts as kept.
        unit: what the margin is a number of.
        ways: the estimate or signed difference that has a direction, and the words for above and below real text.
        share_of: an estimate of real text; a share `SHARE` of it is the margin where that is more.
    """

    name: str
    title: str
    distance: str
    says: str
    margin: float
    unit: str
    ways: tuple[str, str, str] = ("", "", "")
    share_of: str = ""


SHARE = 0.2
KS = "largest difference of the shares of documents up to a value"
TENDENCIES = (
    Tendency(
        "rank-frequency",
        "Rank and frequency",
        "rank",
        "its commonest words take up {way} of the text",
        0.03,
        "largest difference of the shares of tokens up to a rank",
        ("rank_difference", "more", "less"),
    ),
    Tendency(
        "type-token",
        "Different words by length",
        "heaps",
        "a document has {way} different words than one of the same length by people",
        0.1,
        KS + ", at equal length",
        ("types_difference", "more", "fewer"),
    ),
    Tendency(
        "unigrams",
        "Which words",
        "unigram_max",
        "it uses some words much more or less often than people do",
        0.01,
        "largest difference of the share of a word",
    ),
    Tendency(
        "bigrams",
        "Which pairs of words",
        "bigram_max",
        "some words follow each other much more or less often than in text by people",
        0.005,
        "largest difference of the share of a pair of neighbouring words",
    ),
    Tendency(
        "length", "Length", "length_ks", "its documents are {way}", 0.1, KS, ("length_difference", "longer", "shorter")
    ),
    Tendency(
        "stopwords",
        "Stop words",
        "stopwords_ks",
        "it has {way} stop words",
        0.1,
        KS,
        ("stopwords_difference", "more", "fewer"),
    ),
    Tendency(
        "symbols",
        "Symbols",
        "symbols_ks",
        "it has {way} punctuation marks and numbers",
        0.1,
        KS,
        ("symbols_difference", "more", "fewer"),
    ),
    Tendency(
        "burstiness",
        "Burstiness",
        "taylor_distance",
        "its words are {way}",
        0.02,
        "difference of Taylor’s exponent",
        ("taylor_difference", "more bursty", "less bursty"),
    ),
    Tendency(
        "recurrence",
        "Recurrence",
        "recurrence_distance",
        "words recur {way} often within a document",
        0.1,
        "difference of recurrence; or a fifth of that of real text, where it is more",
        ("recurrence_difference", "more", "less"),
        "recurrence",
    ),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a sample keeps to one tendency.

    Attributes:
        tendency: a name of `TENDENCIES`.
        distance: which distance decides.
        value, low, high: this distance, and the 95% interval of the distance of the two sources; None if there is no
            value or no interval.
        p_value: p-value of the test against real text.
        p_adjusted: Holm's, over all tendencies of the sample that were tested.
        by_chance: the mean distance if documents are exchanged at random.
        times: value over `by_chance`.
        margin: see `Tendency`.
        noticed: the distance that sets of these sizes would notice in 80% of cases.
        floor, floor_most: the same distance for second draws of real text: their mean, and the largest.
        verdict: see `verdict_of`.
        way: the word for the direction, or "".
        why: the reason if nothing was measured or tested, or if there is no interval; else "".
    """

    tendency: str
    distance: str
    value: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    by_chance: float | None
    times: float | None
    margin: float
    noticed: float | None
    floor: float | None
    floor_most: float | None
    verdict: Word
    way: str
    why: str


def verdicts(statistics: Row) -> list[Verdict]:
    """A verdict for each of `TENDENCIES`, in their order.

    Args:
        statistics: of a sample, as `tendencies.measure.measure_sample` makes them.
    """
    distances = statistics["distances"]
    numbers_of = [distances.get(tendency.distance, {}) for tendency in TENDENCIES]
    adjusted = holm([float("nan") if (p := one.get("p_value")) is None else p for one in numbers_of]).tolist()
    verdicts = []
    for tendency, numbers, p_adjusted in zip(TENDENCIES, numbers_of, adjusted, strict=True):
        value, high, p, chance = (numbers.get(key) for key in ("value", "high", "p_value", "by_chance"))
        margin = margin_of(tendency, statistics)
        word = verdict_of(value, high, p, margin)
        reason = "" if word != UNCLEAR else UNTESTED if p is None else NO_INTERVAL if high is None else ""
        signed, above, below = tendency.ways
        sign = distances.get(signed, {}).get("value") or 0.0
        verdicts.append(
            Verdict(
                tendency=tendency.name,
                distance=tendency.distance,
                **{key: numbers.get(key) for key in ("value", "low", "high", "p_value", "by_chance")},
                **{key: numbers.get(key) for key in ("noticed", "floor", "floor_most")},
                p_adjusted=None if p is None else p_adjusted,
                times=value / chance if value is not None and chance else None,
                margin=margin,
                verdict=word,
                way=above if sign > 0 else below if sign < 0 else "",
                why=statistics["missing"].get(tendency.distance, "") if value is None else reason,
            )
        )
    return verdicts


def verdict_of(value: float | None, high: float | None, p: float | None, margin: float) -> Word:
    """What a distance from real text says.

    As `inference.verdict`, with the words of tendencies. "differs" is the verdict on at most 5% of samples from the
    population of the real text. "keeps" is the verdict in at most 5% of cases if the distance is just the margin (two
    one-sided tests, Schuirmann 1987). "unclear" means too few documents for either, or for a test; "not measured" means
    that there is no value.

    Args:
        value: the distance, from 0 on.
        high: the upper end of its 95% interval; None where there is none.
        p: of the test against real text.
        margin: see `margin_of`.
    """
    if value is None:
        return MISSING
    if p is None:
        return UNCLEAR
    apart = None if high is None else gap(Number(value, value, high), Number(0.0))
    return _WORDS.get(verdict(p, apart, margin), UNCLEAR)


def margin_of(tendency: Tendency, statistics: Row) -> float:
    """The distance below which a tendency counts as kept, given the statistics of a sample and its real text."""
    real = statistics.get("one_size", {}).get("estimates", {}).get(tendency.share_of, {}).get("real")
    return tendency.margin if real is None else max(tendency.margin, SHARE * abs(real))
