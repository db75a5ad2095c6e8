"""Cross-fitting of sets in memory: who is judged by it, and the numbers that follow, as rows and scores take them."""

import math
from collections.abc import Mapping, Sequence

from textcritic.api.options import CoreferenceOptions, CriticiseOptions
from textcritic.errors import TextcriticError
from textcritic.inference import Groups, unit_of
from textcritic.inference.crossfit import GROUPS, CrossFit, CrossOptions, CrossValue, Refit, cross_fit
from textcritic.inference.jackknife import shared_groups
from textcritic.measures.measure import Estimate, Measure, Scored
from textcritic.measures.memory import REAL
from textcritic.plan.checks.critics import MOST


def is_crossed(groups: Sequence[str | None], options: CriticiseOptions | CoreferenceOptions, name: str) -> bool:
    """Whether a set of real documents is judged by cross-fitting; else some are held out, or others are given.

    Args:
        groups: the group of each document.
        options: `held_out` asks for a split, and so does `test`.
        name: the name of the set in errors.

    Raises:
        TextcriticError: the documents cannot be divided into `parts` parts.
    """
    split = options.held_out is not None or getattr(options, "test", None) is not None
    if split or getattr(options, "as_released", False) or len(groups) > MOST:
        if "parts" in options.asked():
            why = "of all its documents" if not split else "without `held_out` and `test`"
            raise TextcriticError(
                f"parts: real documents are divided into parts {why}, up to {MOST:,}, not as released"
            )
        return False
    units = int(unit_of(groups, len(groups)).max(initial=-1)) + 1
    what = "documents" if units == len(groups) else "groups of documents"
    if len(groups) < 2:
        raise TextcriticError(
            f"{name}: {len(groups)} document{'s' * (len(groups) != 1)}; one part is for fitting and the other for"
            " comparison, so give two or more"
        )
    if units < 2:
        raise TextcriticError(
            f"{name}: documents of a group stay together, and all {len(groups):,} are of one group; give more groups, "
            "or other real documents as `test`"
        )
    if "parts" in options.asked() and options.parts > units:
        raise TextcriticError(f"parts: {options.parts}, and {name} has {units} {what}; give at most {units}")
    return True


def fits_of(
    refits: Mapping[str, Refit], groups: Mapping[str, Groups], sizes: Mapping[str, int], how: CrossOptions
) -> dict[str, CrossFit]:
    """The results of cross-fitting for each sample, compared with real text.

    Args:
        refits: by sample, what fits critics on parts of its documents and the real ones, which come first.
        groups: by label, the group of each document; real text first.
        sizes: likewise, how many documents there are.
        how: the number of parts that documents are divided into, and how labels are exchanged.
    """
    real = next(iter(sizes))
    shared = shared_groups([groups[label] or () for label in refits], how.seed) if how.paired else {}
    return {
        label: cross_fit(refit, (groups[real], groups[label]), (sizes[real], sizes[label]), how, shared)
        for label, refit in refits.items()
    }


def how_of(options: CriticiseOptions | CoreferenceOptions) -> CrossOptions:
    """The number of parts that documents are divided into, and how labels are exchanged."""
    return CrossOptions(parts=options.parts, seed=options.seed, paired=not options.unpaired)


def words_of_pairs(label: str, pairs: int, narrower: float | None) -> str:
    """The facts about one sample."""
    width = "" if narrower is None else f"; the interval of the difference is {narrower:.2f} times as wide as without"
    return f"{label} and real text share {pairs:,} groups, whose labels are exchanged with each other{width}"


def estimates_of(fits: Mapping[str, CrossFit], measure: Measure, real: str = REAL) -> dict[str, Estimate]:
    """The estimates of a measure from the fits: for real text, which is called `real`, and for each sample."""
    first = next(iter(fits.values()))
    of_real = {real: _estimate(first.real, measure, None)}
    return of_real | {label: _estimate(fit.sample, measure, fit.p) for label, fit in fits.items()}


def facts_of_crossing(how: CrossOptions, sets: Mapping[str, Scored]) -> tuple[tuple[str, str], ...]:
    """How the numbers of some sets were computed, in words."""
    paired = [
        words_of_pairs(label, one.more["pairs"], one.more["narrower"])
        for label, one in sets.items()
        if one.more.get("pairs")
    ]
    return (
        *((("Pairs", "; ".join(paired)),) if paired else ()),
        (
            "Real text",
            f"cross-fitted: divided at random into {how.parts} parts (seed {how.seed}); each part is judged by a "
            "critic of the others, and samples by the mean over these critics",
        ),
        (
            "Interval",
            f"95%, Student's t: {GROUPS} times a twentieth of all documents is left out, and critics refitted",
        ),
        (
            "p-value",
            f"two-sided: the labels real and sample are exchanged, and critics refitted, at most {how.exchanges} times",
        ),
    )


def _estimate(found: CrossValue, measure: Measure, p: float | None) -> Estimate:
    """A ratio of sums in the unit of the measure: its exponential, or a share between 0 and 1."""
    low, high = (end if end is None else _in_unit(end, measure) for end in (found.low, found.high))
    value = _in_unit(found.value, measure) if math.isfinite(found.value) else math.inf
    return Estimate(value, low, high, p, reason=found.reason, without=found.without)


def _in_unit(value: float, measure: Measure) -> float:
    if measure.by_ratio:
        return math.exp(value)
    return min(max(value, 0.0), 1.0) if measure.whole else value
