"""How much of real texts and samples also occurs in other real texts, by cross-fitting."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import compress

import numpy as np
import pyarrow as pa

from textcritic.api.crossed import estimates_of, fits_of
from textcritic.critics.recitation import MAIN_LENGTH
from textcritic.critics.recitation.index import words_in
from textcritic.critics.recitation.refit import RecitationRefit
from textcritic.critics.recitation.scoring import EMPTY
from textcritic.experiments.recitation.rows import RECITED
from textcritic.inference import Groups
from textcritic.inference.crossfit import CrossOptions
from textcritic.inference.statistics import Array
from textcritic.measures.measure import Estimate, Scored
from textcritic.plan.entries import Recitation

LEAST_FOUND = 10
"""Documents with a run that is found, counted as many of equal size, below which there is no interval."""
TOO_RARE = f"no interval, as fewer than {LEAST_FOUND} documents have such a run"


def crossed_recitation(
    texts: Mapping[str, pa.StringArray], groups: Mapping[str, Groups], entry: Recitation, how: CrossOptions
) -> dict[str, Scored]:
    """The share of 13-grams that occur in the other parts of real text; a set without 13-grams has no value.

    If only a few documents have such a 13-gram, the jackknife's interval does not hold and is left out.

    Args:
        texts: by label, real ones first.
        groups: by label, the group of each document.
        entry: how they are cut into words.
        how: the number of parts that documents are divided into, and how labels are exchanged.
    """
    lengths = {label: words_in(some, entry)[1] for label, some in texts.items()}
    kept = {label: of >= MAIN_LENGTH for label, of in lengths.items()}
    long = {label: some.filter(pa.array(kept[label])) for label, some in texts.items()}
    kept_groups = {label: list(compress(groups[label] or [None] * len(kept[label]), kept[label])) for label in texts}
    real, *others = texts
    samples = [label for label in others if len(long[label])] if len(long[real]) else []
    refits = {label: RecitationRefit(pa.concat_arrays([long[real], long[label]]), entry) for label in samples}
    sizes = {label: len(some) for label, some in long.items()}
    fits = fits_of(refits, kept_groups, sizes, replace(how, rare=True))
    estimates = estimates_of(fits, RECITED, real) if fits else {}
    scored = {}
    for label, of in lengths.items():
        short, empty = int(((of > 0) & (of < MAIN_LENGTH)).sum()), int((of == 0).sum())
        reasons = {why: n for why, n in ((f"fewer than {MAIN_LENGTH} words", short), (EMPTY, empty)) if n}
        more: dict[str, object] = {"ngrams": int(np.maximum(of - MAIN_LENGTH + 1, 0).sum())}
        if label in fits:
            more |= {"pairs": fits[label].pairs, "narrower": fits[label].narrower}
        one: dict[str, Estimate] = {}
        if label in estimates:
            fit_of = label if label in fits else samples[0]
            seen = refits[fit_of].found(fits[fit_of].parts)
            side = seen[: sizes[real]] if label == real else seen[sizes[real] :]
            one = {RECITED.value: _held(estimates[label], side)}
        scored[label] = Scored({}, sizes[label], reasons, more, kept_groups[label], one)
    return scored


def _held(estimate: Estimate, found: Array) -> Estimate:
    """The estimate, without its interval if that would depend on a few documents.

    Args:
        estimate: the estimate of the share of runs that are found.
        found: the number of runs of each document that are found.
    """
    squares = float((found**2).sum())
    if estimate.low is None or (squares and found.sum() ** 2 / squares >= LEAST_FOUND):
        return estimate
    return replace(estimate, low=None, high=None, reason=TOO_RARE)
