"""Topics over five held-out splits: how often is p < 0.05 where nothing differs, and how much hangs on the dealing?

Texts, one a line of files, are drawn anew in each study, real ones and a sample, and go through `textcritic.criticise`.
With --spread: standard deviation of log10 p over ten dealings, each with the texts in another order, by five splits and
by one (`held_out=0.2`), the mean over three pairs of files. In Markdown.

python benchmarks/calibration_topics_splits.py TEXTS.txt ... --sizes 50,50 --runs 200
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import textcritic
from textcritic.inference import share_interval

PAIRS, DEALINGS = 3, 10
SPOILT = 0.2


def p_values(real: Sequence[str], sample: Sequence[str], seed: int, **options: float) -> dict[str, float]:
    """The p-value of each measure of topics."""
    result = textcritic.criticise(list(real), {"sample": list(sample)}, measures=["topics"], seed=seed, **options)
    return {score.measure: score.p for score in result.scores if score.p is not None}


def main() -> None:
    """Print a table for each pair of sizes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--sizes", nargs="+", default=["50,50"])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--spread", action="store_true")
    asked = parser.parse_args()
    pool = [line for path in asked.texts for line in Path(path).read_text("utf-8").splitlines()]
    for pair in asked.sizes:
        sizes: tuple[int, int] = tuple(map(int, pair.split(",")))  # type: ignore[assignment]
        if asked.spread:
            spread(pool, sizes)
        else:
            level(pool, sizes, asked.runs)


def level(pool: Sequence[str], sizes: tuple[int, int], runs: int) -> None:
    """Print how often p is below 0.05."""
    start, found = time.process_time(), []
    for run in range(runs):
        drawn = random.Random(f"{sizes} {run}").sample(pool, sum(sizes))
        found.append(p_values(drawn[: sizes[0]], drawn[sizes[0] :], run + 1))
    seconds = (time.process_time() - start) / runs
    for measure in found[0]:
        hits = [one[measure] < 0.05 for one in found if measure in one]
        low, high = share_interval(sum(hits), len(hits))
        share = f"{100 * np.mean(hits):.1f} ({100 * low:.1f}-{100 * high:.1f})"
        print(f"| {measure} | {sizes[0]}, {sizes[1]} | {len(hits)} | {share} | {seconds:.1f} |", flush=True)


def spread(pool: Sequence[str], sizes: tuple[int, int]) -> None:
    """Print the standard deviation of log10 p over dealings, by five splits and by one."""
    found: dict[str, list[np.ndarray]] = {}
    for pair in range(PAIRS):
        drawn = random.Random(f"{sizes} {pair}").sample(pool, sum(sizes))
        each: dict[str, list[tuple[float, float]]] = {}
        for dealing in range(1, DEALINGS + 1):
            again = random.Random(dealing)
            real = again.sample(drawn[: sizes[0]], sizes[0])
            sample = again.sample(drawn[sizes[0] :], sizes[1])
            now = p_values(real, sample, dealing)
            before = p_values(real, sample, dealing, held_out=0.2)
            for measure in now.keys() & before.keys():
                each.setdefault(measure, []).append((before[measure], now[measure]))
        for measure, pairs in each.items():
            found.setdefault(measure, []).append(np.log10(pairs).std(axis=0, ddof=1))
    for measure, some in found.items():
        before, now = np.mean(some, axis=0)
        print(f"| {measure} | {sizes[0]}, {sizes[1]} | {before:.2f} | {now:.2f} |", flush=True)


if __name__ == "__main__":
    main()
