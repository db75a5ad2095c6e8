"""Is p < 0.05 in 5% where two models are equally near to real text, and does the interval hold the difference?

Perplexities of skewed documents of unequal numbers: both models on one side of real text, on opposite sides, at real
text itself, and one nearer than the other. Then recipes: means over trainings. In Markdown.

python benchmarks/calibration_nearness.py    # 3 CPU minutes
"""

import math

import numpy as np

from textcritic.inference import Number, bootstrap_interval, exp_ratio_of_sums, nearest, nearness, over_trainings

STUDIES, RESAMPLES = 400, 400
REAL = 1.0  # nats per step
PLACES = {"same side": (1.4, 1.4), "opposite sides": (0.7, 1.3), "at real text": (1.0, 1.0), "one nearer": (1.2, 1.5)}
SIZES = ((50, 50, 50), (50, 50, 400), (50, 400, 400), (400, 50, 100))  # documents: real, first, second
TRAININGS, TRAINING_SD = (2, 3, 5), 0.15


def perplexity(rng: np.random.Generator, per_step: float, documents: int) -> Number:
    """Latent PPL of documents of 3 to 12 steps whose NLL is per_step times a skewed factor."""
    steps = rng.integers(3, 13, documents)
    nll = steps * per_step * rng.lognormal(-0.18, 0.6, documents)
    found = bootstrap_interval(np.column_stack([nll, steps]), exp_ratio_of_sums, RESAMPLES)
    return Number(found.estimate, found.low, found.high)


def recipe(rng: np.random.Generator, per_step: float, trainings: int) -> Number:
    """The mean over trainings that differ, each of 100 documents."""
    values = [perplexity(rng, rng.normal(per_step, TRAINING_SD), 100).value for _ in range(trainings)]
    return over_trainings([value for value in values if value is not None], by_ratio=True).number


def calibrated(
    place: tuple[float, float], sizes: tuple[int, int, int], trainings: int | None = None
) -> tuple[float, float, float]:
    """Shares of p < 0.05, of intervals that hold the difference, and of studies whose truly nearest model is named."""
    truth = abs(place[0] - REAL) - abs(place[1] - REAL)
    significant, held, named = 0, 0, 0
    for seed in range(STUDIES):
        rng = np.random.default_rng(seed)
        real = perplexity(rng, REAL, sizes[0])
        if trainings is None:
            pair = [perplexity(rng, value, size) for value, size in zip(place, sizes[1:], strict=True)]
        else:
            pair = [recipe(rng, value, trainings) for value in place]
        found = nearness(pair[0], pair[1], real, by_ratio=True)
        assert found is not None
        significant += found.p < 0.05
        held += found.low <= truth <= found.high
        named += nearest(pair, real, by_ratio=True)[0]
    return significant / STUDIES, held / STUDIES, named / STUDIES


def main() -> None:
    """Print the table."""
    print("| models | documents (real, first, second) | p < 0.05 | interval holds | first among the nearest |")
    print("|---|---|---|---|---|")
    rows = [(name, sizes, None) for name in PLACES for sizes in SIZES]
    rows += [(name, (100, 100, 100), count) for name in PLACES for count in TRAININGS]
    for name, sizes, trainings in rows:
        shares = " | ".join(f"{100 * share:.1f}%" for share in calibrated(PLACES[name], sizes, trainings))
        what = ", ".join(map(str, sizes)) if trainings is None else f"{trainings} trainings of each"
        print(f"| {name} ({math.exp(PLACES[name][0]):.2f}, {math.exp(PLACES[name][1]):.2f}) | {what} | {shares} |")


if __name__ == "__main__":
    main()
