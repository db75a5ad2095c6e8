"""Estimates of a sample and of real text at one size: the larger of both is thinned to the tokens of the smaller.

Zipf's s, the number of different words and Taylor's exponent depend on how much text they are made of: two samples of
one source, one of them ten times as large, differ by many standard errors. They are compared where both have as many
tokens.
"""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from textcritic.critics.tendencies.counts import LENGTH, Counts
from textcritic.critics.tendencies.estimates import Estimate, Options, estimates

SIZED = ("s", "s_infinite_of_first", "s_observed", "s_first", "types", "types_chao1", "taylor", "recurrence")
"""Estimates that depend on how much text they are made of."""
ALIKE = 0.01  # sizes that differ by less are one
PARTS = 10  # random parts of the larger set, at least, over which estimates are averaged
FINE = 50  # groups of a part, from which a group more or less does not matter


def at_one_size(real: Counts, sample: Counts, made: Mapping[str, Estimate], options: Options) -> dict[str, Any]:
    """The estimates of `SIZED` of a sample and of real text, of as many tokens each, as JSON has them.

    The larger set is cut into random parts, which are whole groups of documents, of as many tokens as the smaller set
    has. Its estimates are the means over these parts, so that they do not depend on chance's choice.

    The interval is that of the difference, sample less real text, from the standard errors that both have in full.

    Args:
        real: real text.
        sample: the sample.
        made: its estimates.
        options: see `Options`.

    Returns:
        `tokens`, the size; `estimates`, by name: `value` of the sample, `real`, `difference`, `low`, `high`.
    """
    tokens = min(real.tokens, sample.tokens)
    whole = [made, _in_full(real, options)]
    thinned = [
        found if counts.tokens <= (1 + ALIKE) * tokens else _thinned(counts, tokens, options)
        for counts, found in zip((sample, real), whole, strict=True)
    ]
    said = {}
    for name in SIZED:
        if all(name in found for found in thinned):
            value, of_real = (found[name].value for found in thinned)
            half = math.hypot(*(_half(found.get(name)) for found in whole))
            gap = value - of_real
            numbers = {"value": value, "real": of_real, "difference": gap, "low": gap - half, "high": gap + half}
            said[name] = {key: None if math.isnan(number) else number for key, number in numbers.items()}
    return {"tokens": tokens, "estimates": said}


@lru_cache(maxsize=1)
def _in_full(real: Counts, options: Options) -> dict[str, Estimate]:
    """The estimates of real text, once for all samples that are compared with it."""
    return estimates(real, options, only=SIZED)[0]


def _half(estimate: Estimate | None) -> float:
    return math.nan if estimate is None else (estimate.high - estimate.low) / 2


def _thinned(counts: Counts, tokens: int, options: Options) -> dict[str, Estimate]:
    """The mean of each estimate over random parts of so many tokens; those that some part does not have are missing."""
    values: dict[str, list[float]] = {}
    parts = list(_parts(counts, tokens, options.seed))
    for some, more, weight in parts:
        both = [estimates(counts.take(part), options, intervals=False, only=SIZED)[0] for part in (some, more) if part]
        for name, last in both[-1].items():
            first = both[0].get(name)
            if first is not None:
                values.setdefault(name, []).append(float((1 - weight) * first.value + weight * last.value))
    return {name: Estimate(float(np.mean(found))) for name, found in values.items() if len(found) == len(parts)}


def _parts(counts: Counts, tokens: int, seed: int) -> Iterator[tuple[list[int], list[int], float]]:
    """Random groups with hardly fewer and hardly more tokens, and the weight of the second; parts share few groups."""
    rng, made = np.random.default_rng(seed), 0
    each = np.bincount(counts.group, counts.column(LENGTH), counts.groups)
    while made < PARTS:
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
            made += 1
            order = order[last + 1 :]
