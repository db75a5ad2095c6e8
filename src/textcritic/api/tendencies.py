"""`textcritic.compare_tendencies`: whether samples keep to the statistical tendencies of real text."""

import json
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.api.criticise import labelled
from textcritic.api.declare import takes
from textcritic.api.documents import Documents, Given, texts_of
from textcritic.api.options import TendencyOptions
from textcritic.api.results import REAL, Result, Score
from textcritic.corpora.splits import random_parts
from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import Counts
from textcritic.critics.tendencies.estimates import Options as MeasureOptions
from textcritic.critics.tendencies.measure import measure_real, measure_sample, require_tokens
from textcritic.critics.tendencies.options import CountOptions
from textcritic.critics.tendencies.verdicts import (
    DIFFERS,
    MISSING,
    TENDENCIES,
    UNCLEAR,
    Verdict,
    Word,
    by_chance_alone,
    sentence,
    verdicts,
)
from textcritic.errors import listed, named
from textcritic.inference import Number, are_grouped, unit_of

HEADS = ("source", "distance", "95% interval", "by chance", "p", "adjusted p", "documents", "verdict")
TABLE_HEADS = ("tendency", *HEADS[1:-2], "verdict")
FOOT = (
    "By chance: the same distance where documents of both are exchanged at random, in the mean. Differs: p < 0.05. "
    "Keeps: p is 0.05 or more, and the interval ends below the margin. Unclear: neither; the smallest distance that "
    "would be noticed in 80% of cases is beside it. "
)
BATCH = 4096  # documents of an array
Part = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Set:
    """The texts of a set in batches, and the group of each document, None for one that is alone."""

    batches: Sequence[pa.StringArray]
    groups: Sequence[str | None]

    @property
    def units(self) -> Part:
        """See `unit_of`."""
        return unit_of(self.groups, len(self.groups))


@dataclass(frozen=True, slots=True)
class TendencyScore(Score):
    """The distance of a sample from real text in one tendency.

    Attributes:
        p_adjusted: Holm's, over the tendencies of the sample.
        by_chance: the distance where documents are exchanged at random, in the mean.
        margin: the distance below which the tendency counts as kept.
        noticed: the distance that as many documents would notice in 80% of cases.
        floor, floor_most: the same of second draws of real text, in the mean and of the farthest; None without them.
        says: see `tendencies.verdicts.verdict_of`.
    """

    p_adjusted: float | None = None
    by_chance: float | None = None
    margin: float = 0.0
    noticed: float | None = None
    floor: float | None = None
    floor_most: float | None = None
    says: Word = UNCLEAR

    @property
    def yardstick(self) -> Number:
        """Real text is at 0."""
        return Number(0.0)

    @property
    def verdict(self) -> str:
        """Whether the sample keeps to the tendency: "keeps", "differs" or "unclear"."""
        return self.says


@dataclass(frozen=True, repr=False, kw_only=True)
class TendenciesResult(Result):
    """What `compare_tendencies` gives; `scores` has the distance of each sample in each tendency that was measured.

    Attributes:
        real: statistics of the real documents that samples are compared with, as `to_json` has them.
        samples: those of each sample, by label.
        verdicts: of each sample, by label: one for each tendency, those that could not be measured too.
    """

    real: Mapping[str, Any]
    samples: Mapping[str, Mapping[str, Any]]
    verdicts: Mapping[str, Sequence[Verdict]]

    def to_json(self) -> str:
        """The object that `textcritic tendencies` prints."""
        return json.dumps({"real": self.real, "samples": self.samples}, allow_nan=False, ensure_ascii=False)

    def blocks(self) -> Iterator[tuple[str, str, Sequence[str], list[Sequence[str]]]]:
        """As `Result.blocks`, with what chance gives, and adjusted p-values."""
        for name, words, _, rows in super().blocks():
            scores = [score for score in self.scores if TITLES[score.measure] == name]
            cells = [(row[0], *_written(score, row)) for row, score in zip(rows, scores, strict=True)]
            yield name, words, HEADS, [*cells]

    def tables(self) -> Iterator[tuple[str, str, Sequence[str], list[Sequence[str]]]]:
        """A table for each sample, with a row for each tendency."""
        rows: dict[str, list[Sequence[str]]] = {}
        for name, _, _, cells in self.blocks():
            for source, *numbers, _, verdict in cells:
                rows.setdefault(source, []).append((name, *numbers, verdict))
        for source, table in rows.items():
            documents = self.samples[source]["documents"]
            yield (
                source,
                f"{documents:,} document{'s' * (documents != 1)}; distances from real text",
                TABLE_HEADS,
                table,
            )

    def _foot(self) -> str:
        tested = Counter(score.source for score in self.scores if score.p is not None)
        foot = FOOT + by_chance_alone(max(tested.values(), default=len(TENDENCIES)))
        missing = {
            label: [TITLES[one.tendency].lower() for one in found if one.verdict == MISSING]
            for label, found in self.verdicts.items()
        }
        lacking = [f"Not measured of {label}: {listed(titles)}." for label, titles in missing.items() if titles]
        return " ".join([foot, *lacking, *(f"{label}: {fault}." for label, fault in _faults(self.samples))])


TITLES = {tendency.name: tendency.title for tendency in TENDENCIES}


@takes(TendencyOptions)
def compare_tendencies(real: Given, samples: Given, *, options: TendencyOptions) -> TendenciesResult:
    """Measure statistical tendencies of text on real documents and on samples (Meister and Cotterell 2021).

    Ranks and frequencies of words, different words by length, which words, length, stop words, symbols, burstiness and
    recurrence: how far samples are from real documents, with intervals and tests. With `draws`, a part of the real
    documents, at random, is what samples are compared with; from the others second draws are taken, disjoint and of as
    many documents as the largest sample has: how far real text is from real text. Where there are not enough for that,
    there are fewer draws, or none, and all real documents are compared with. Draws decide no verdict.

    What is computed is what the command `textcritic tendencies` prints.

    Args:
        real: texts, or articles, whose sections are put together, in any form that `documents_of` takes.
        samples: what a model wrote, in any of these forms; a dict of them by label; or a list of `Path`s.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item; or there is no token in real text
            or in a sample.
    """
    documents = texts_of(real, "real")
    every = _read(documents)
    compared = {label: _read(texts_of(given, name)) for label, name, given in labelled(samples)}
    yardstick, drawn = _parted(every.groups, max(len(one.groups) for one in compared.values()), options)
    test = _counted(every, yardstick, options)
    draws = [_counted(every, part, options) for part in drawn]
    with named(documents.name):
        of_real = _measured(test, None, draws, options)
    found = {}
    for label, given in compared.items():
        with named(label):
            counts = _counted(given, np.arange(len(given.groups)), options)
            found[label] = _measured(test, counts, draws, options)
    judged = {label: verdicts(statistics) for label, statistics in found.items()}
    return TendenciesResult(
        title="Statistical tendencies, beside real text",
        scores=tuple(_scores(judged, found)),
        facts=(
            *_facts(of_real, every, options),
            *_facts_of_groups({REAL: every, **compared}),
            *((f"Tokens of {label}", fault) for label, fault in _faults(found)),
        ),
        real=_described(of_real),
        samples={label: _described(said) | _judged(judged[label]) for label, said in found.items()},
        verdicts=judged,
    )


def _read(documents: Documents) -> _Set:
    groups: list[str | None] = []
    every = ("\n".join(parts) for parts in documents.noting(groups).texts())
    return _Set([pa.array(batch, pa.string()) for batch in iter(lambda: list(islice(every, BATCH)), [])], groups)


def _parted(groups: Sequence[str | None], sample: int, options: TendencyOptions) -> tuple[Part, list[Part]]:
    """The real documents that samples are compared with, and those of each second draw, as places; in whole groups."""
    documents = len(groups)
    kept = max(1, min(documents - 1, round(options.held_out * documents)))
    number = min(options.draws, (documents - kept) // sample)
    if not number:
        return np.arange(documents), []
    first, *draws, _ = random_parts(documents, [kept, *[sample] * number], options.seed, groups)
    return first, [part for part in draws if len(part)]


def _counted(given: _Set, places: Part, options: TendencyOptions) -> Counts:
    chosen = np.zeros(len(given.groups), dtype=bool)
    chosen[places] = True
    first = np.cumsum([0, *map(len, given.batches)])
    parts = (b.filter(pa.array(chosen[at : at + len(b)])) for at, b in zip(first, given.batches, strict=False))
    return count_texts(
        parts,
        len(places),
        CountOptions(options.tokenizer, options.lower_case, options.stop_words),
        seed=options.seed,
        threads=options.workers or 1,
        units=np.unique(given.units[chosen], return_inverse=True)[1] if are_grouped(given.groups) else None,
    )


def _measured(test: Counts, sample: Counts | None, draws: Sequence[Counts], options: TendencyOptions) -> dict[str, Any]:
    chosen = measure_options(options)
    with warnings.catch_warnings():
        # Curves of short documents, which are not shown here, have lengths and lags at which there is nothing.
        warnings.simplefilter("ignore", RuntimeWarning)
        if sample is None:
            return measure_real(test, draws, chosen).statistics
        require_tokens(sample, "the sample")
        return measure_sample(test, sample, draws, chosen).statistics


def measure_options(options: TendencyOptions) -> MeasureOptions:
    """What measuring needs of them."""
    return MeasureOptions(ranks=options.ranks, resamples=options.resamples, seed=options.seed)


def _described(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Statistics as they are printed: `p` is called so everywhere, and what is not there is left out."""
    said = {key: statistics[key] for key in ("documents", "tokens", "empty", "draws", "estimates")}
    distances = {}
    for name, numbers in statistics["distances"].items():
        if numbers["value"] is not None:
            p = {"p": numbers["p_value"], "p_as_printed": numbers["p_as_printed"]}
            keys = ("value", "low", "high", "by_chance", "noticed", "floor", "floor_most")
            distances[name] = {key: numbers[key] for key in keys} | {key: v for key, v in p.items() if v is not None}
    sized = {"one_size": statistics["one_size"]} if "one_size" in statistics else {}
    return said | sized | {"distances": distances, "missing": statistics["missing"], "fault": statistics.get("fault")}


def _judged(found: Sequence[Verdict]) -> dict[str, Any]:
    keys = ("verdict", "distance", "p_adjusted", "margin", "noticed", "times", "way", "why")
    said = {one.tendency: {key: asdict(one)[key] for key in keys} for one in found}
    return {"verdicts": said, "sentences": [sentence(one) for one in found if one.verdict == DIFFERS]}


def _scores(judged: Mapping[str, Sequence[Verdict]], found: Mapping[str, Mapping[str, Any]]) -> Iterator[Score]:
    for place in range(len(TENDENCIES)):
        for label, of_sample in judged.items():
            one = of_sample[place]
            if one.value is not None:
                n = found[label]["documents"]
                score = TendencyScore(label, one.tendency, one.value, one.low, one.high, one.p_value, n)
                more = {key: getattr(one, key) for key in ("p_adjusted", "by_chance", "margin", "noticed", "floor")}
                yield replace(score, **more, floor_most=one.floor_most, says=one.verdict)


def _written(score: Score, row: Sequence[str]) -> Sequence[str]:
    """The cells behind the source: distances of words are small, so with significant digits.

    `row` is that of `Result.blocks`: source, value, interval, p, documents, ..., verdict.
    """
    from textcritic.measures.numbers import number, significant  # here: it loads pandas

    assert isinstance(score, TendencyScore)
    ends = "" if score.low is None else f"{significant(score.low)}–{significant(score.high)}"
    chance = "" if score.by_chance is None else significant(score.by_chance)
    adjusted = "" if score.p_adjusted is None else number(score.p_adjusted, 2)
    told = score.says != UNCLEAR or score.noticed is None
    says = row[6] if told else f"{row[6]} (noticed from {significant(score.noticed)})"
    return significant(score.value), ends, chance, row[3], adjusted, row[4], says


def _faults(found: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Samples whose tokens are not cut as those of real text are, and how they differ."""
    return ((label, said["fault"]) for label, said in found.items() if said["fault"])


def _facts(real: Mapping[str, Any], every: _Set, options: TendencyOptions) -> tuple[tuple[str, str], ...]:
    number, each = real["draws"]["number"], real["draws"]["documents"]
    draws = f"second draws: {number} of {each:,} others each, disjoint" if number else "there are no second draws"
    compared = f"{real['documents']:,} of {len(every.groups):,} documents, {real['tokens']:,} tokens"
    return (
        ("Real text", f"samples are compared with {compared}; {draws} (seed {options.seed})"),
        ("Interval", f"95%, of the distance of the two sources; resamples and exchanges: {options.resamples:,}"),
        ("Margins", "; ".join(f"{one.title.lower()} {one.margin:g}" for one in TENDENCIES)),
    )


def _facts_of_groups(sets: Mapping[str, _Set]) -> Iterator[tuple[str, str]]:
    grouped = {label: one for label, one in sets.items() if are_grouped(one.groups)}
    counts = (
        f"{label}: {len(one.groups):,} documents in {one.units.max() + 1:,} groups" for label, one in grouped.items()
    )
    if grouped:
        alone = "lengths, shares and types by length are those of one document of each group"
        yield "Groups", f"{'; '.join(counts)}; documents of a group count as one, and {alone}"
