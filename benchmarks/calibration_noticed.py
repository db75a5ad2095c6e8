"""Is a difference that "would be noticed in 80% of cases" noticed in 80% of cases?

Perplexities and means of skewed documents: what `Gap.noticeable` says in studies where nothing differs (the median),
and how often the permutation test finds just that difference. In Markdown.

python benchmarks/calibration_noticed.py    # 2 CPU minutes
"""

import numpy as np

from textcritic.inference import (
    Number,
    Statistic,
    bootstrap_interval,
    exp_ratio_of_sums,
    gap,
    permutation_test,
    ratio_of_sums,
    share_interval,
)
from textcritic.inference.statistics import Array

SIZES = ((30, 30), (60, 100), (100, 30), (100, 100), (400, 100), (400, 400))  # real, sample
NULL, STUDIES, RESAMPLES = 100, 600, 300


def documents(rng: np.random.Generator, number: int, by_ratio: bool, shift: float) -> Array:
    """(NLL, steps) with a higher NLL a step, or (value, 1) with a higher mean."""
    if by_ratio:
        steps = rng.integers(3, 13, number)
        return np.column_stack([steps * (rng.lognormal(-0.18, 0.6, number) + shift), steps])
    return np.column_stack([rng.lognormal(0, 0.8, number) + shift, np.ones(number)])


def number_of(columns: Array, statistic: Statistic) -> Number:
    """The value and its interval."""
    found = bootstrap_interval(columns, statistic, RESAMPLES)
    return Number(found.estimate, found.low, found.high)


def main() -> None:
    """Print the table."""
    print("| measure | real, sample | would be noticed | noticed in (%) |")
    print("|---|---|---|---|")
    for by_ratio, name in ((True, "perplexity"), (False, "mean")):
        statistic = exp_ratio_of_sums if by_ratio else ratio_of_sums
        for sizes in SIZES:
            said = []
            for seed in range(NULL):
                rng = np.random.default_rng(seed)
                sides = [number_of(documents(rng, size, by_ratio, 0.0), statistic) for size in sizes]
                apart = gap(sides[1], sides[0], by_ratio)
                assert apart is not None
                said.append(apart.noticeable)
            least, hits = float(np.median(said)), 0
            shift = np.log1p(least) if by_ratio else least
            for seed in range(STUDIES):
                rng = np.random.default_rng(10**6 + seed)
                sides = zip(sizes, (0.0, shift), strict=True)
                real, sample = (documents(rng, size, by_ratio, of) for size, of in sides)
                hits += permutation_test(sample, real, ratio_of_sums, 499, seed).p < 0.05
            low, high = share_interval(hits, STUDIES)
            print(
                f"| {name} | {sizes[0]}, {sizes[1]} | {least:.2g} | {100 * hits / STUDIES:.1f} "
                f"({100 * low:.1f}-{100 * high:.1f}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
