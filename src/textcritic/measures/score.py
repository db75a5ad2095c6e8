"""The numbers of a study's scorecard: what each kind of experiment puts there, and how they compare with real text.

A kind fills `Section.card` with scores: one for each row of its table and each measure, made by `scores_of`. Whatever
shows people the results of a study (the report, `textcritic show`, a Python result) reads these same numbers, see
`measures.card_file`. A score is of one seed. `measures.card` arranges scores of several experiments and seeds in rows.

Similar names: `critics.scores` has the scores of single documents, from which `measures.scored` helps to make the rows
of tables; `scores_of` here reads those rows; `api.scored` makes results for Python users.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from textcritic.inference import (
    DIFFERENT,
    LEAST_TESTED,
    NO_SPREAD,
    SAME,
    Gap,
    Nearness,
    Number,
    beyond,
    gap,
    limit_of,
    nearness,
    strength,
    verdict,
)
from textcritic.measures.labels import corpus_name, decoding_name, is_control
from textcritic.measures.measure import Measure
from textcritic.measures.numbers import NONE, count, counted, interval, missing, p_value
from textcritic.measures.phrases import with_n
from textcritic.measures.scored import reasons_from_words
from textcritic.plan.sources import DATA, RUN
from textcritic.values import Row

REAL, NOT_TESTED, NOT_SCORED, NOT_COMPARED = "real", "not tested", "not scored", "not compared"
HIGHER, LOWER = "higher", "lower"
BY_DEFINITION = "by definition"
ALIKE = f"{NO_SPREAD}, that of real text's"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Score:
    """One number of one source: a seed of a sample, or real text.

    Attributes:
        corpus: of the real text that it is compared with.
        setting, generator, decoding, seed, draw: of the sample; of real text "", "data", "", None and None.
        label: what people call the source, without its corpus and its seed.
        measure: what is measured, e.g. "Latent PPL": the head of the column.
        key: its name in Python, e.g. "latent_ppl".
        section: element id of the part of the report that is about it.
        number: the value, and its interval over documents. Infinite where a document has probability 0, see `because`;
            None where nothing could be scored.
        n: documents scored; None where the value is exact.
        left_out: documents that could not be scored.
        rejected_by_reason: how many of these for each reason.
        p: of the test against real text; None where there is none.
        real: the score of real text; None for real text itself, or if it is not known. A lower score is not better as
            such: the aim is this value.
        by_ratio: whether values are compared by their ratio, as perplexities are, or by their difference.
        margin: the difference from real text up to which the two are called the same, in the unit of the value; by
            ratio 0.1 is a ratio of 1.1. None: real text has no interval, so that they are never called the same.
        because: why the value is infinite, or has no interval or no test.
        baseline: whether the generator is there to be bad.
        compared: whether real text has such a number too, see `Measure.compared`.
        corpus_label, decoding_label: what people call these two; "" if they have no label besides their name.
        means: what is measured, in a few words; see `Measure.means`.
        aim: whether the highest or the lowest sample is the best, see `Measure.aim`.
        control: whether it is of other real text, which is shown and never ranked.
        out_of: for a count, its largest possible value; see `Measure.out_of`.
        copies: for a measure of copying, the words behind its percentage, see `Measure.copies`.
    """

    corpus: str
    setting: str = ""
    generator: str = "data"
    decoding: str = ""
    seed: int | None = None
    draw: int | None = None
    label: str
    measure: str
    section: str
    number: Number
    key: str = ""
    n: int | None = None
    left_out: int = 0
    rejected_by_reason: Mapping[str, int] = field(default_factory=dict)
    p: float | None = None
    real: Number | None = None
    by_ratio: bool = False
    margin: float | None = None
    because: str = ""
    baseline: bool = False
    compared: bool = True
    corpus_label: str = ""
    decoding_label: str = ""
    means: str = ""
    aim: str = ""
    control: bool = False
    out_of: int | None = None
    copies: str = ""

    def __repr__(self) -> str:
        number, value = self.number, NONE if self.value is None else counted(self.value, self.low)
        verdict_words = "" if self.is_real else with_n(self.n, self.verdict)
        parts = [
            f"95% {interval(number.low, number.high)}" if number.low is not None else "",
            p_value(self.p) if self.p is not None else "",
            verdict_words,
            f"{count(self.n)} documents" if self.n is not None and verdict_words in ("", self.verdict) else "",
        ]
        return f"<{self.key or self.measure} of {self.label}: {value} ({'; '.join(filter(None, parts))})>"

    @property
    def is_real(self) -> bool:
        """Whether it is of real text."""
        return self.generator == "data"

    @property
    def by_definition(self) -> bool:
        """Whether it is real text's distance from itself, which is not estimated."""
        return self.because == BY_DEFINITION

    @property
    def source(self) -> str:
        """What the source is called."""
        return self.label

    @property
    def rejected(self) -> int:
        """Documents that could not be scored."""
        return self.left_out

    @property
    def value(self) -> float | None:
        """The value of the number."""
        return self.number.value

    @property
    def low(self) -> float | None:
        """The lower end of the 95% interval; None where there is none."""
        return self.number.low

    @property
    def high(self) -> float | None:
        """The upper end of the 95% interval; None where there is none."""
        return self.number.high

    @property
    def verdict(self) -> str:
        """Whether the source differs from real text by this number.

        `REAL` of real text; `NOT_SCORED` without a value; `NOT_COMPARED` of a number that real text has not;
        `DIFFERENT` if p is below `ALPHA`, or the value is infinite and real text's is not; `SAME` if the 95% interval
        of the difference lies within the margin, or all documents of both have one value; else `UNCLEAR`, as no
        difference was found and none is ruled out; `NOT_TESTED` where there is no p-value, or real text has no finite
        value, or fewer than `LEAST_TESTED` documents are infinite.
        """
        if self.is_real:
            return REAL
        if self.number.value is None:
            return NOT_SCORED
        if not self.compared:
            return NOT_COMPARED
        if self.real is None or self.real.value is None or math.isinf(self.real.value):
            return NOT_TESTED
        if math.isinf(self.number.value):
            return DIFFERENT if self.n is None or self.n >= LEAST_TESTED else NOT_TESTED
        if self.p is None:
            return NOT_TESTED
        return SAME if self.because == ALIKE else verdict(self.p, self.gap, self.margin)

    @property
    def gap(self) -> Gap | None:
        """The difference from real text; None if one of the two has no value or no interval."""
        if self.real is None or self.margin is None or (self.n is not None and self.number.low is None):
            return None
        return gap(self.number, self.real, self.by_ratio)

    @property
    def way(self) -> str:
        """Whether the value is `HIGHER` or `LOWER` than real text's; "" if they are equal, or one is missing."""
        real = self.real.value if self.real else None
        if self.number.value is None or real is None or self.number.value == real:
            return ""
        return HIGHER if self.number.value > real else LOWER

    @property
    def yardstick(self) -> Number | None:
        """The number of real text; None if it is not known, or has no interval because there are too few documents."""
        return None if self.margin is None else self.real

    def nearer_than(self, other: "Score") -> Nearness | None:
        """The distance of this source from its aim (real text's value), minus that of another; None if not known.

        Args:
            other: of the same measure.
        """
        real = beyond([self.number, other.number], self.aim == HIGHER) if self.aim else self.yardstick
        return None if real is None else nearness(self.number, other.number, real, self.by_ratio)

    @property
    def strength(self) -> float:
        """How far it is from real text, see `strength`; 0 where no difference was found, or was not tested."""
        if self.verdict != DIFFERENT or self.real is None:
            return 0.0
        return strength(self.number, self.real, self.by_ratio)


def scores_of(
    rows: pd.DataFrame,
    measure: Measure,
    name: Callable[..., str],
    section: str = "",
    real: Sequence[str] = (DATA,),
) -> tuple[Score, ...]:
    """The scores of a measure: of each row about a sample, and about real text.

    Args:
        rows: with the columns `KEYS` and those that the measure names; `documents`, `rejected` and `baseline` where the
            table has them.
        measure: the measure whose columns are read.
        name: as `Names.source`.
        section: element id of the part of the report that is about the measure, as `Place.id` gives it.
        real: values of the column `source` whose rows about real text are in the card; samples are compared with the
            last of them.
    """
    scores: list[Score] = []
    for _, group in rows.groupby("corpus", sort=False):
        reference: Score | None = None
        data = group["generator"] == "data"
        for row in pd.concat([group[data], group[~data]]).to_dict("records"):
            is_real = row["generator"] == "data"
            if is_real and (row["source"] not in real or not measure.compared):
                continue
            score = _score(row, measure, section, name(row, corpus=False, seed=False))
            if is_real:
                reference = score if row["source"] == real[-1] else reference
            scores.append(score if is_real else _against(score, reference, measure))
    return tuple(scores)


def _against(score: Score, reference: Score | None, measure: Measure) -> Score:
    """The score of a sample with the number of real text, and with the margin in the unit of the value."""
    if reference is None:
        return score
    real, exact = reference.number, reference.n is None or measure.of_real is not None
    if score.value == real.value and NO_SPREAD in score.because and NO_SPREAD in reference.because:
        score = replace(score, because=ALIKE)
    if real.value is None or not math.isfinite(real.value) or (real.low is None and not exact):
        return replace(score, real=real)
    margin = limit_of(measure.margin, real.value, measure.by_ratio, absolute=measure.of_real is not None)
    return replace(score, real=real, margin=margin)


def _score(row: Row, measure: Measure, section: str, label: str) -> Score:
    value = _float(row, measure.value)
    infinite = value is not None and math.isinf(value)
    exact = value is None and row["generator"] == "data" and measure.of_real is not None
    if exact:
        value = measure.of_real
    words = row.get("rejected_by_reason")
    seed, draw, n, left_out = (_float(row, column) for column in (*RUN, "documents", "rejected"))
    out_of = _float(row, measure.out_of)
    return Score(
        corpus=row["corpus"],
        setting=row["setting"],
        generator=row["generator"],
        decoding=row["decoding"],
        seed=None if seed is None else int(seed),
        draw=None if draw is None else int(draw),
        label=label,
        measure=measure.name,
        key=measure.known_as,
        section=section,
        number=Number(value, _float(row, measure.low), _float(row, measure.high), _without(row, measure)),
        n=None if n is None or not measure.compared else int(n),
        left_out=int(left_out or 0) if measure.compared else 0,
        rejected_by_reason={} if missing(words) or not measure.compared else reasons_from_words(str(words)),
        p=_float(row, measure.p),
        by_ratio=measure.by_ratio,
        because=BY_DEFINITION if exact else _because(row, measure, infinite),
        baseline=bool(row.get("baseline", False)),
        compared=measure.compared,
        corpus_label=_other_than(row["corpus"], corpus_name(row["corpus"])),
        decoding_label=_other_than(row["decoding"], decoding_name(row["decoding"])),
        means=measure.means,
        aim=measure.aim,
        control=is_control(row["generator"]),
        out_of=None if out_of is None else int(out_of),
        copies=measure.copies,
    )


def _without(row: Row, measure: Measure) -> tuple[float, ...]:
    words = row.get(measure.without)
    return () if missing(words) else tuple(map(float, str(words).split()))


def _other_than(name: str, label: str) -> str:
    return "" if label == name else label


def _because(row: Row, measure: Measure, infinite: bool) -> str:
    """Why the value is infinite, or has no interval or no test; "" where it has both."""
    why = row.get(measure.because) if infinite else None
    why = row.get(measure.why) if missing(why) else why
    return "" if missing(why) else str(why)


def _float(row: Row, column: str) -> float | None:
    value = row.get(column)
    return None if missing(value) else float(str(value))
