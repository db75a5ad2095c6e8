"""Which tendencies of real text a sample keeps, from the statistics that `critics.tendencies.measure` makes of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from textcritic.inference import ALPHA

Word = Literal["keeps", "differs", "unclear", "not measured"]
KEPT: Word = "keeps"
DIFFERS: Word = "differs"
UNCLEAR: Word = "unclear"
UNTESTED = "there is too little text for a test"
MISSING: Word = "not measured"


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a sample keeps to one tendency.

    Attributes:
        tendency: a name of `TENDENCIES`.
        distance: which distance decides.
        value, low, high: that distance and its 95% interval; None where there is none.
        p_value: of the test against real text.
        floor, floor_most: the same distance of second draws of real text, in the mean and of the farthest.
        times: value over floor.
        verdict: see `verdict_of`.
        way: the word for the direction, or "".
        why: the reason where nothing was measured, or where it is unclear as nothing was tested; else "".
    """

    tendency: str
    distance: str
    value: float | None
    low: float | None
    high: float | None
    p_value: float | None
    floor: float | None
    floor_most: float | None
    times: float | None
    verdict: Word
    way: str
    why: str


def verdicts(statistics: Mapping[str, Any]) -> list[Verdict]:
    """A verdict for each of `TENDENCIES`, in their order.

    Args:
        statistics: of a sample, as `tendencies.measure.measure_sample` makes them.
    """
    distances, found = statistics["distances"], []
    for tendency in TENDENCIES:
        numbers = distances.get(tendency.distance, {})
        value, low, high, p, floor, most = (
            numbers.get(key) for key in ("value", "low", "high", "p_value", "floor", "floor_most")
        )
        signed, above, below = tendency.ways
        verdict = verdict_of(value, p, most)
        untested = UNTESTED if verdict == UNCLEAR and p is None else ""
        sign = distances.get(signed, {}).get("value") or 0.0
        found.append(
            Verdict(
                tendency=tendency.name,
                distance=tendency.distance,
                **{"value": value, "low": low, "high": high, "p_value": p, "floor": floor, "floor_most": most},
                times=value / floor if value is not None and floor else None,
                verdict=verdict,
                way=above if sign > 0 else below if sign < 0 else "",
                why=statistics["missing"].get(tendency.distance, "") if value is None else untested,
            )
        )
    return found


def verdict_of(value: float | None, p: float | None, floor_most: float | None) -> Word:
    """What a distance from real text says.

    "keeps" where it is not beyond the farthest second draw of real text; "differs" where it is, and p is below
    `ALPHA`; else "unclear". Without second draws p alone decides: "keeps" from `ALPHA` upwards, else "differs".
    "not measured" where there is no value.
    """
    if value is None:
        return MISSING
    different = p is not None and p < ALPHA
    if floor_most is None:
        return UNCLEAR if p is None else DIFFERS if different else KEPT
    return KEPT if value <= floor_most else DIFFERS if different else UNCLEAR


def sentence(row: Mapping[str, Any] | Verdict) -> str:
    """A failure in one sentence, with how far it is.

    Args:
        row: a verdict, or a mapping with its attributes, where a number that is not there may be NaN.
    """
    from textcritic.report.numbers import missing, number, p_value  # here: it loads pandas

    said = asdict(row) if isinstance(row, Verdict) else row
    tendency = next(tendency for tendency in TENDENCIES if tendency.name == said["tendency"])
    clause = tendency.says.format(way=said["way"])
    if tendency.ways[0] and not said["way"]:  # e.g. of shares whose means are equal
        clause = f"{tendency.title.lower()}: it differs from real text, but neither way in the mean"
    times = "" if missing(said["times"]) else f"{number(float(said['times']), 2)} times a second draw, "
    return f"{clause[0].upper()}{clause[1:]} ({times}{p_value(float(said['p_value']))})."
