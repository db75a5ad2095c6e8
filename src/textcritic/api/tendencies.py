"""`textcritic.compare_tendencies`: whether samples keep to the statistical tendencies of real text."""

import json
import warnings
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
from textcritic.api.results import Result, Score
from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import Counts
from textcritic.critics.tendencies.estimates import Options as MeasureOptions
from textcritic.critics.tendencies.job import number_of_draws
from textcritic.critics.tendencies.measure import measure_real, measure_sample, require_tokens
from textcritic.critics.tendencies.verdicts import DIFFERS, TENDENCIES, Verdict, Word, sentence, verdicts
from textcritic.errors import named
from textcritic.plan.checks.tendencies import CountOptions

HEADS = ("source", "distance", "95% interval", "second draw", "p", "documents", "verdict")
FOOT = (
    "Second draw: the same distance of other real documents, in the mean. Keeps: no farther than the farthest second "
    "draw; differs: farther, and p < 0.05, of one of eight tests; unclear: farther, but chance may explain it, or "
    "there was too little text for a test. Without second draws p alone decides."
)
# A sample that is larger than the draws can be is given so many of them, as one alone may be near or far by chance.
AT_LEAST = 2
BATCH = 4096  # documents of an array
Texts = Sequence[pa.StringArray]
Part = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TendencyScore(Score):
    """The distance of a sample from real text in one tendency.

    Attributes:
        floor, floor_most: the same of second draws of real text, in the mean and of the farthest; None without them.
        says: see `tendencies.verdicts.verdict_of`.
    """

    floor: float | None = None
    floor_most: float | None = None
    says: Word = "unclear"

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
        """As `Result.blocks`, with what second draws have."""
        for name, words, _, rows in super().blocks():
            scores = [score for score in self.scores if TITLES[score.measure] == name]
            cells = [(row[0], *_written(score), *row[3:5], row[6]) for row, score in zip(rows, scores, strict=True)]
            yield name, words, HEADS, [*cells]

    def _foot(self) -> str:
        return " ".join([FOOT, *(f"{label}: {fault}." for label, fault in _faults(self.samples))])


TITLES = {tendency.name: tendency.title for tendency in TENDENCIES}


@takes(TendencyOptions)
def compare_tendencies(real: Given, samples: Given, *, options: TendencyOptions) -> TendenciesResult:
    """Measure statistical tendencies of text on real documents and on samples (Meister and Cotterell 2021).

    Ranks and frequencies of words, different words by length, which words, length, stop words, symbols, burstiness and
    recurrence: how far samples are from real documents, with intervals and tests. Part of the real documents, at
    random, is what samples are compared with; from the others second draws are taken, disjoint and of as many documents
    as the largest sample has: how far real text is from real text. Where there are not enough for two of that size,
    they are smaller, but not below 20 documents, or that of the sample; where there are fewer, there are no draws, all
    real documents are compared with, and verdicts rest on p alone.

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
    texts = _texts(documents)
    compared = {label: _texts(texts_of(given, name)) for label, name, given in labelled(samples)}
    yardstick, drawn = _parted(_size(texts), max(map(_size, compared.values())), options)
    test = _counted(texts, yardstick, options)
    draws = [_counted(texts, part, options) for part in drawn]
    with named(documents.name):
        of_real = _measured(test, None, draws, options)
    found = {}
    for label, given in compared.items():
        with named(label):
            counts = _counted(given, np.arange(_size(given)), options)
            found[label] = _measured(test, counts, draws, options)
    judged = {label: verdicts(statistics) for label, statistics in found.items()}
    return TendenciesResult(
        title="Statistical tendencies, beside real text",
        scores=tuple(_scores(judged, found)),
        facts=(
            *_facts(of_real, _size(texts), options),
            *((f"Tokens of {label}", fault) for label, fault in _faults(found)),
        ),
        real=_described(of_real),
        samples={label: _described(said) | _judged(judged[label]) for label, said in found.items()},
        verdicts=judged,
    )


def _texts(documents: Documents) -> Texts:
    every = ("\n".join(parts) for parts in documents.texts())
    return [pa.array(batch, pa.string()) for batch in iter(lambda: list(islice(every, BATCH)), [])]


def _size(texts: Texts) -> int:
    return sum(map(len, texts))


def _parted(documents: int, sample: int, options: TendencyOptions) -> tuple[Part, list[Part]]:
    """The real documents that samples are compared with, and those of each second draw, as places."""
    order = np.random.default_rng(options.seed).permutation(documents)
    kept = max(1, min(documents - 1, round(options.held_out * documents)))
    rest = documents - kept
    number = number_of_draws(rest, min(options.draws, max(AT_LEAST, rest // sample)), sample)
    if not number:
        return np.arange(documents), []
    size = min(sample, rest // number)
    return np.sort(order[:kept]), [np.sort(order[kept + n * size :][:size]) for n in range(number)]


def _counted(texts: Texts, places: Part, options: TendencyOptions) -> Counts:
    chosen = np.zeros(_size(texts), dtype=bool)
    chosen[places] = True
    first = np.cumsum([0, *map(len, texts)])
    parts = (batch.filter(pa.array(chosen[at : at + len(batch)])) for at, batch in zip(first, texts, strict=False))
    return count_texts(
        parts,
        len(places),
        CountOptions(options.tokenizer, options.lower_case, options.stop_words),
        seed=options.seed,
        threads=options.workers or 1,
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
            keys = ("value", "low", "high", "by_chance", "floor", "floor_most")
            distances[name] = {key: numbers[key] for key in keys} | {key: v for key, v in p.items() if v is not None}
    return said | {"distances": distances, "missing": statistics["missing"], "fault": statistics.get("fault")}


def _judged(found: Sequence[Verdict]) -> dict[str, Any]:
    keys = ("verdict", "distance", "times", "way", "why")
    said = {one.tendency: {key: asdict(one)[key] for key in keys} for one in found}
    return {"verdicts": said, "sentences": [sentence(one) for one in found if one.verdict == DIFFERS]}


def _scores(judged: Mapping[str, Sequence[Verdict]], found: Mapping[str, Mapping[str, Any]]) -> Iterator[Score]:
    for place in range(len(TENDENCIES)):
        for label, of_sample in judged.items():
            one = of_sample[place]
            if one.value is not None:
                n = found[label]["documents"]
                score = TendencyScore(label, one.tendency, one.value, one.low, one.high, one.p_value, n)
                yield replace(score, floor=one.floor, floor_most=one.floor_most, says=one.verdict)


def _written(score: Score) -> tuple[str, str, str]:
    """Value, interval, and second draw: distances of words are small, so with significant digits."""
    from textcritic.report.numbers import significant  # here: it loads pandas

    ends = "" if score.low is None else f"{significant(score.low)}–{significant(score.high)}"
    floor = score.floor if isinstance(score, TendencyScore) else None
    return significant(score.value), ends, "" if floor is None else significant(floor)


def _faults(found: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Samples whose tokens are not cut as those of real text are, and how they differ."""
    return ((label, said["fault"]) for label, said in found.items() if said["fault"])


def _facts(real: Mapping[str, Any], documents: int, options: TendencyOptions) -> tuple[tuple[str, str], ...]:
    number, each = real["draws"]["number"], real["draws"]["documents"]
    draws = f"second draws: {number} of {each:,} others each, disjoint" if number else "there are no second draws"
    compared = f"{real['documents']:,} of {documents:,} documents, {real['tokens']:,} tokens"
    return (
        ("Real text", f"samples are compared with {compared}; {draws} (seed {options.seed})"),
        ("Interval", f"95%; resamples of bootstrap and tests: {options.resamples:,}"),
    )
