"""Estimates of a sample and of real text at one size: the larger of both is thinned to the tokens of the smaller.

Zipf's s, the number of different words and Taylor's exponent depend on the amount of text: two samples of one source,
one of them ten times as large, differ by many standard errors. So they are compared at equal numbers of tokens.
"""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from textcritic.critics.tendencies.counts import LENGTH, Counts
from textcritic.critics.tendencies.estimates import Estimate, estimates
from textcritic.plan.entries import Tendencies
from textcritic.values import JsonObject

SIZED = ("s", "s_infinite_of_first", "s_observed", "s_first", "types", "types_chao1", "taylor", "recurrence")
"""Estimates that depend on the amount of text."""
ALIKE = 0.01  # sizes that differ by less count as equal
PARTS = 10  # random parts of the larger set, at least, over which estimates are averaged
FINE = 50  # groups of a part, from which a group more or less does not matter


def at_one_size(real: Counts, sample: Counts, of_sample: Mapping[str, Estimate], options: Tendencies) -> JsonObject:
    """The estimates of `SIZED` of a sample and of real text at the same number of tokens, as JSON has them.

    The larger set is cut into random parts with as many tokens as the smaller set; a part consists of whole groups of
    documents. The estimates of the larger set are the means over these parts, so that no single random part decides.

    The interval is that of the difference, sample minus real text, from the standard errors of both full sets.

    Args:
        real: real text.
        sample: the sample.
        of_sample: its estimates.
        options: how they are measured.

    Returns:
        `tokens`, the size; `estimates`, by name: `value` of the sample, `real`, `difference`, `low`, `high`.
    """
    tokens = min(real.tokens, sample.tokens)
    whole = [of_sample, _in_full(real, options)]
    thinned = [
        by_name if counts.tokens <= (1 + ALIKE) * tokens else _thinned(counts, tokens, options)
        for counts, by_name in zip((sample, real), whole, strict=True)
    ]
    rows = {}
    for name in SIZED:
        if all(name in by_name for by_name in thinned):
            value, of_real = (by_name[name].value for by_name in thinned)
            half = math.hypot(*(_half(by_name.get(name)) for by_name in whole))
            gap = value - of_real
            numbers = {"value": value, "real": of_real, "difference": gap, "low": gap - half, "high": gap + half}
            rows[name] = {key: None if math.isnan(number) else number for key, number in numbers.items()}
    return {"tokens": tokens, "estimates": rows}


@lru_cache(maxsize=1)
def _in_full(real: Counts, options: Tendencies) -> dict[str, Estimate]:
    """The estimates of real text, once for all samples that are compared with it."""
    return estimates(real, options, only=SIZED)[0]


def _half(estimate: Estimate | None) -> float:
    return math.nan if estimate is None else (estimate.high - estimate.low) / 2


def _thinned(counts: Counts, tokens: int, options: Tendencies) -> dict[str, Estimate]:
    """The mean of each estimate over random parts of `tokens` tokens; left out if some part does not have it."""
    values: dict[str, list[float]] = {}
    parts = list(_parts(counts, tokens, options.seed))
    for some, more, weight in parts:
        both = [estimates(counts.take(part), options, intervals=False, only=SIZED)[0] for part in (some, more) if part]
        for name, last in both[-1].items():
            first = both[0].get(name)
            if first is not None:
                values.setdefault(name, []).append(float((1 - weight) * first.value + weight * last.value))
    return {name: Estimate(float(np.mean(each))) for name, each in values.items() if len(each) == len(parts)}


def _parts(counts: Counts, tokens: int, seed: int) -> Iterator[tuple[list[int], list[int], float]]:
    """Random groups with slightly fewer and slightly more tokens, and the weight of these; parts share few groups."""
    rng, parts = np.random.default_rng(seed), 0
    each = np.bincount(counts.group, counts.column(LENGTH), counts.groups)
    while parts < PARTS:
        order = rng.permutation(counts.groups)
        while len(order) and each[order].sum() >= tokens:
            ends = each[order].cumsum()
            last = int(np.searchsorted(ends, tokens))
            below = float(ends[last - 1]) if last else 0.0
            weight = (tokens - below) / (float(ends[last]) - below)
            some, more = order[:last].tolist(), order[: last + 1].tolist()
            if last >= FINE:
                some, more, weight = (more if weight > 0.5 else some), [], 0.0
            yield (some or more), more, weight
            parts += 1
            order = order[last + 1 :]
