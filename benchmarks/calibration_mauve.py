"""Print how often the interval of MAUVE covers its mean over fresh samples, and its test rejects, as a markdown table.

    python benchmarks/calibration_mauve.py --documents 300 --repetitions 60

Points are of two Gaussians of 10 dimensions, whose means differ by `shift` in the first; 0 is the null hypothesis. The
truth is the mean over fresh samples of the same size and buckets: MAUVE at this number of documents, not at infinity.
"""

import argparse
import time

import numpy as np

from textcritic.critics.mauve import mauve
from textcritic.plan.entries import Mauve

DIMENSIONS = 10


def pair(rng: np.random.Generator, documents: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Points of both sides, float32 [documents, 10]; the spectrum falls as k^-0.75."""
    scale = np.arange(1, DIMENSIONS + 1) ** -0.375
    one, two = rng.normal(size=(2, documents, DIMENSIONS))
    two[:, 0] += shift
    return (one * scale).astype(np.float32), (two * scale).astype(np.float32)


def row(options: Mauve, shift: float, repetitions: int, fresh: int) -> str:
    """A line of the table: the truth, coverage and width of the interval, and how often p is below 0.05."""
    quick = options.changed(halves=2)
    rng = np.random.default_rng([1, int(100 * shift)])
    values = [mauve(*pair(rng, options.documents, shift), quick, independent=False).value for _ in range(fresh)]
    truth, rng = float(np.mean(values)), np.random.default_rng([2, int(100 * shift)])
    runs = [mauve(*pair(rng, options.documents, shift), options) for _ in range(repetitions)]
    covered = sum(run.low <= truth <= run.high for run in runs)
    width = np.mean([run.high - run.low for run in runs])
    rejected = sum(run.p <= 0.05 for run in runs)
    ideal = 2 * 1.96 * np.std(values, ddof=1)
    return (
        f"| {shift:g} | {truth:.3f} | {100 * covered / repetitions:.0f}% | {width:.3f} | {ideal:.3f} |"
        f" {100 * rejected / repetitions:.0f}% |"
    )


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--repetitions", type=int, default=60)
    parser.add_argument("--halves", type=int, default=40)
    parser.add_argument("--fresh", type=int, default=200)
    parser.add_argument("--shifts", type=float, nargs="+", default=[0.0, 0.5, 1.0])
    said = parser.parse_args()
    options = Mauve(kind="mauve", embedder="none", documents=said.documents, halves=said.halves)
    started = time.monotonic()
    print("| shift | MAUVE | covered | width | 2 x 1.96 sd | p <= 0.05 |\n|---|---|---|---|---|---|")
    for shift in said.shifts:
        print(row(options, shift, said.repetitions, said.fresh), flush=True)
    print(f"\n{said.documents} documents, {said.repetitions} repetitions, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
