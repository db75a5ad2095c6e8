"""`textcritic.compare_tendencies`: whether samples keep to the statistical tendencies of real text."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from textcritic.api.declare import takes
from textcritic.api.documents import Documents, Given, texts_of
from textcritic.api.options import TendencyOptions
from textcritic.api.results import Table
from textcritic.api.scored import Described
from textcritic.api.sets import labelled
from textcritic.batches import batched
from textcritic.corpora.splits import random_parts
from textcritic.corpora.words import SPACES
from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import Counts
from textcritic.critics.tendencies.distances import DRAWINGS
from textcritic.critics.tendencies.measure import measure_real, measure_sample, require_tokens
from textcritic.critics.tendencies.options import NO_STOP_WORDS
from textcritic.critics.tendencies.verdicts import DIFFERS, MISSING, TENDENCIES, UNCLEAR, Verdict, verdicts
from textcritic.errors import listed, named
from textcritic.experiments.tendencies.rows import MEASURES
from textcritic.experiments.tendencies.words import by_chance_alone, sentence
from textcritic.inference import are_grouped, unit_of
from textcritic.measures.memory import REAL, keys_of
from textcritic.measures.numbers import count, number, p_value, plural, significant
from textcritic.measures.phrases import with_n
from textcritic.measures.score import Score, scores_of
from textcritic.plan.entries import Tendencies
from textcritic.plan.sources import DATA
from textcritic.values import JsonObject, Row

HEADS = ("source", "distance", "95% interval", "by chance", "p", "adjusted p", "documents", "verdict")
TABLE_HEADS = ("tendency", *HEADS[1:-2], "verdict")
FOOT = (
    "By chance: the same distance where documents of both are exchanged at random, in the mean. Differs: p < 0.05. "
    "Keeps: p is 0.05 or more, and the interval ends below the margin. Unclear: neither; next to it is the smallest "
    "distance that would be noticed in 80% of cases. "
)
# Columns of a verdict that the table has in addition to those of every score.
MORE = dict.fromkeys(("p_adjusted", "by_chance", "margin", "noticed", "floor", "floor_most"), float)
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


@dataclass(frozen=True, repr=False, kw_only=True)
class TendenciesResult(Described):
    """What `compare_tendencies` gives; `scores` has the distance of each sample in each tendency that was measured.

    Attributes:
        verdicts: by label, one verdict for each tendency, also for tendencies that could not be measured.
    """

    verdicts: Mapping[str, Sequence[Verdict]]

    @property
    def table(self) -> pd.DataFrame:
        """As `Result.table`, with `p_adjusted`, `by_chance`, `margin`, `noticed`, `floor` and `floor_most`."""
        judged = {(label, one.tendency): one for label, found in self.verdicts.items() for one in found}
        more = [asdict(one) if (one := judged.get((score.source, score.key))) else {} for score in self.scores]
        return super().table.assign(**{name: [found.get(name) for found in more] for name in MORE}).astype(MORE)

    def blocks(self) -> Iterator[Table]:
        """As `Result.blocks`, with what chance gives, and adjusted p-values."""
        for tendency, column in zip(self._measured, self.block.columns, strict=True):
            cells = [
                (label, *_cells(one), count(n := self.samples[label]["documents"]), _verdict(one, n))
                for label, judged in self.verdicts.items()
                for one in judged
                if one.tendency == tendency and one.value is not None
            ]
            yield column.measure, column.means, HEADS, [*cells]

    def tables(self) -> Iterator[Table]:
        """A table for each sample, with a row for each tendency."""
        for label, judged in self.verdicts.items():
            n = self.samples[label]["documents"]
            rows = [(TITLES[one.tendency], *_cells(one), _verdict(one, n)) for one in judged if one.value is not None]
            if rows:
                about = f"{plural(n, 'document')}; distances from real text"
                yield label, about, TABLE_HEADS, [*rows]

    def _under(self, name: str) -> str:
        """Nothing: a table is of one sample."""
        return ""

    @property
    def _measured(self) -> list[str]:
        """The tendencies that have scores, in their order."""
        return list(dict.fromkeys(score.key for score in self.scores))

    def _foot(self) -> list[str]:
        tested = Counter(score.source for score in self.scores if score.p is not None)
        foot = FOOT + by_chance_alone(max(tested.values(), default=len(TENDENCIES)))
        missing = {
            label: [TITLES[one.tendency].lower() for one in found if one.verdict == MISSING]
            for label, found in self.verdicts.items()
        }
        lacking = [f"Not measured of {label}: {listed(titles)}." for label, titles in missing.items() if titles]
        return [" ".join([foot, *lacking, *(f"{label}: {fault}." for label, fault in _faults(self.samples))])]


TITLES = {tendency.name: tendency.title for tendency in TENDENCIES}


@takes(TendencyOptions)
def compare_tendencies(real: Given, samples: Given, *, options: TendencyOptions) -> TendenciesResult:
    """Measure statistical tendencies of text on real documents and on samples (Meister and Cotterell 2021).

    Ranks and frequencies of words, different words by length, which words, length, stop words, symbols, burstiness and
    recurrence: how far samples are from real documents, with intervals and tests. With `draws`, a part of the real
    documents, at random, is what samples are compared with; from the others second draws are taken, disjoint and of as
    many documents as the largest sample has: how far real text is from real text. Where there are not enough for that,
    there are fewer draws, or none, and all real documents are compared with. Draws decide no verdict.

    The command `textcritic tendencies` prints the same numbers.

    Args:
        real: texts, or articles, whose sections are put together, in any form that `documents_of` takes.
        samples: what a model wrote, in any of these forms; a dict of them by label; or a list of `Path`s.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item; or there is no token in real text
            or in a sample.
    """
    documents = texts_of(real, "real", options.reading).cut_by(options.words)
    every = _read(documents)
    compared = {
        label: _read(texts_of(given, name, options.reading).cut_by(options.words, documents.words))
        for label, name, given in labelled(samples)
    }
    options = _with_words(options, documents.words)
    kept, drawn = _parted(every.groups, max(len(one.groups) for one in compared.values()), options)
    test = _counted(every, kept, options)
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
        title="Statistical tendencies, compared with real text",
        scores=tuple(_scores(judged, found, of_real["documents"])),
        facts=(
            *_facts(of_real, every, options),
            *_facts_of_groups({REAL: every, **compared}),
            *((f"Tokens of {label}", fault) for label, fault in _faults(found)),
        ),
        real=_described(of_real),
        samples={
            label: _described(counts) | _judged(judged[label], counts["documents"]) for label, counts in found.items()
        },
        verdicts=judged,
    )


def _read(documents: Documents) -> _Set:
    groups: list[str | None] = []
    every = ("\n".join(parts) for parts in documents.noting(groups).texts())
    return _Set([pa.array(batch, pa.string()) for batch in batched(every, BATCH)], groups)


def _with_words(options: TendencyOptions, words: str) -> TendencyOptions:
    """The options with the way to find words; where they have no spaces, no list of stop words is assumed."""
    unlisted = words != SPACES and "stop_words" not in options.asked()
    return replace(options, words=words, stop_words=NO_STOP_WORDS if unlisted else options.stop_words)


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
        entry_of(options),
        threads=options.workers or 1,
        units=np.unique(given.units[chosen], return_inverse=True)[1] if are_grouped(given.groups) else None,
    )


def _measured(test: Counts, sample: Counts | None, draws: Sequence[Counts], options: TendencyOptions) -> JsonObject:
    chosen = entry_of(options)
    with warnings.catch_warnings():
        # Curves of short documents, which are not shown here, have lengths and lags at which there is nothing.
        warnings.simplefilter("ignore", RuntimeWarning)
        if sample is None:
            return measure_real(test, draws, chosen).statistics
        require_tokens(sample, "the sample")
        return measure_sample(test, sample, draws, chosen).statistics


def entry_of(options: TendencyOptions) -> Tendencies:
    """How documents are counted and measured."""
    names = ("tokenizer", "lower_case", "stop_words", "ranks", "resamples", "seed")
    given = {name: getattr(options, name) for name in names}
    return Tendencies.read({"kind": "tendencies", "words": options.words or SPACES, **given}, "tendencies")


def _described(statistics: JsonObject) -> JsonObject:
    """Statistics as they are printed: `p` is called so everywhere, and what is not there is left out."""
    counts = {key: statistics[key] for key in ("documents", "tokens", "empty", "draws", "estimates")}
    distances = {}
    for name, numbers in statistics["distances"].items():
        if numbers["value"] is not None:
            p = {"p": numbers["p_value"], "p_as_printed": numbers["p_as_printed"]}
            keys = ("value", "low", "high", "by_chance", "noticed", "floor", "floor_most")
            distances[name] = {key: numbers[key] for key in keys} | {key: v for key, v in p.items() if v is not None}
    sized = {"one_size": statistics["one_size"]} if "one_size" in statistics else {}
    return counts | sized | {"distances": distances, "missing": statistics["missing"], "fault": statistics.get("fault")}


def _judged(found: Sequence[Verdict], n: int) -> JsonObject:
    keys = ("verdict", "distance", "p_adjusted", "margin", "noticed", "times", "way", "why")
    verdicts = {one.tendency: {key: asdict(one)[key] for key in keys} for one in found}
    return {"verdicts": verdicts, "sentences": [with_n(n, sentence(one)) for one in found if one.verdict == DIFFERS]}


def _scores(
    judged: Mapping[str, Sequence[Verdict]], found: Mapping[str, JsonObject], documents: int
) -> Iterator[Score]:
    """The scores of each tendency that was measured: real text, which is at 0, and the samples with their margins."""
    keys = keys_of([REAL, *judged])
    first: dict[str, str] = {}
    for place, tendency in enumerate(TENDENCIES):
        for label, of_sample in judged.items():
            one = of_sample[place]
            if one.value is not None:
                first.setdefault(tendency.name, label)
                own = keys[label] | asdict(one) | {"documents": found[label]["documents"]}
                rows = pd.DataFrame([keys[REAL] | {"documents": documents}, own])
                measure = replace(MEASURES[tendency.name], margin=one.margin)
                real, score = scores_of(rows, measure, partial(_name, label), measure.anchor)
                yield from (real, score) if label == first[tendency.name] else (score,)


def _name(label: str, row: Row, **_: bool) -> str:
    return REAL if row["source"] == DATA else label


def _cells(one: Verdict) -> Sequence[str]:
    """Distance, interval, chance, p and adjusted p; distances of words are small, so with significant digits."""
    ends = "" if one.low is None else f"{significant(one.low)}–{significant(one.high)}"
    chance = "" if one.by_chance is None else significant(one.by_chance)
    p = "" if one.p_value is None else p_value(one.p_value).removeprefix("p ").removeprefix("= ")
    adjusted = "" if one.p_adjusted is None else number(one.p_adjusted, 2)
    return significant(one.value), ends, chance, p, adjusted


def _verdict(one: Verdict, n: int) -> str:
    """The verdict from so many documents; if it is unclear, with the distance that would be noticed."""
    unclear = one.verdict == UNCLEAR and one.noticed is not None
    return with_n(n, f"{one.verdict} (noticed from {significant(one.noticed)})" if unclear else one.verdict)


def _faults(found: Mapping[str, JsonObject]) -> Iterator[tuple[str, str]]:
    """Samples whose tokens are not cut as those of real text are, and how they differ."""
    return ((label, counts["fault"]) for label, counts in found.items() if counts["fault"])


def _facts(real: JsonObject, every: _Set, options: TendencyOptions) -> tuple[tuple[str, str], ...]:
    number, each = real["draws"]["number"], real["draws"]["documents"]
    draws = f"second draws: {number} of {each:,} others each, disjoint" if number else "there are no second draws"
    compared = f"{real['documents']:,} of {len(every.groups):,} documents, {real['tokens']:,} tokens"
    return (
        ("Real text", f"samples are compared with {compared}; {draws} (seed {options.seed})"),
        (
            "Interval",
            f"95%, of the distance of the two sources; {options.resamples:,} resamples, and exchanges at most",
        ),
        ("Margins", "; ".join(f"{one.title.lower()} {one.margin:g}" for one in TENDENCIES)),
    )


def _facts_of_groups(sets: Mapping[str, _Set]) -> Iterator[tuple[str, str]]:
    grouped = {label: one for label, one in sets.items() if are_grouped(one.groups)}
    counts = (
        f"{label}: {len(one.groups):,} documents in {one.units.max() + 1:,} groups" for label, one in grouped.items()
    )
    if grouped:
        alone = (
            "lengths, shares and types by length are those of one document of each group; the p-values of words, pairs "
            f"and ranks are of as many groups on both sides, twice the median of {DRAWINGS} drawings where one has more"
        )
        yield "Groups", f"{'; '.join(counts)}; documents of a group count as one, and {alone}"
