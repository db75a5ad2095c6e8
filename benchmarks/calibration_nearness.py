"""Is p < 0.05 in 5% where two models are equally near to real text, and does the interval hold the difference?

Perplexities of skewed documents of unequal numbers: both models on one side of real text, on opposite sides, at real
text itself, and one nearer than the other. Then recipes: means over trainings. In Markdown.

With `--apart`: how many documents `documents_apart` promises where the two cannot be told apart, and in how many of new
studies of so many documents they are.

python benchmarks/calibration_nearness.py    # 3 CPU minutes; --apart: 6
"""

import math
import sys

import numpy as np

from textcritic.inference import (
    Number,
    bootstrap_interval,
    documents_apart,
    exp_ratio_of_sums,
    nearest,
    nearness,
    over_trainings,
    share_interval,
)

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


def study(seed: int, place: tuple[float, float], documents: int) -> tuple[Number, Number, Number]:
    """Two models and real text, of as many documents each."""
    rng = np.random.default_rng([seed, documents])
    first, second, real = (perplexity(rng, value, documents) for value in (*place, REAL))
    return first, second, real


def got(place: tuple[float, float], documents: int) -> str:
    """The share of studies in which the two are told apart, with its interval."""
    compared = [nearness(*study(STUDIES + seed, place, documents), by_ratio=True) for seed in range(STUDIES)]
    hits = sum(found is not None and found.p < 0.05 for found in compared)
    low, high = share_interval(hits, STUDIES)
    return f"{100 * hits / STUDIES:.0f}% ({100 * low:.0f}–{100 * high:.0f})"


def true_number(place: tuple[float, float]) -> int:
    """The documents by the true difference, with intervals of 400 documents: the mean of 20 studies."""
    found = []
    for seed in range(20):
        moved = []
        for value, number in zip((*place, REAL), study(seed, place, 400), strict=True):
            assert number.value is not None
            assert number.low is not None
            assert number.high is not None
            factor = math.exp(value) / number.value
            moved.append(Number(math.exp(value), factor * number.low, factor * number.high))
        found.append(documents_apart(moved[0], moved[1], moved[2], (400, 400, 400), by_ratio=True))
    return round(float(np.mean([needed for needed in found if needed is not None])))


def promised() -> None:
    """Print what is promised where two models are not told apart, and what is got."""
    print("| distances | documents | told apart | too much alike | promised, quartiles | got with the middle one |")
    print("|---|---|---|---|---|---|")
    for place in ((1.05, 1.1), (1.25, 1.5), (0.75, 1.5)):
        name = " v ".join(f"{abs(value - REAL):.2f}" for value in place)
        name += ", opposite sides" * (min(place) < REAL)
        for documents in (30, 100, 400):
            found = []
            for seed in range(STUDIES):
                numbers = study(seed, place, documents)
                compared = nearness(*numbers, by_ratio=True)
                assert compared is not None
                if compared.p >= 0.05:
                    found.append(documents_apart(*numbers, (documents,) * 3, by_ratio=True))
            known = [needed for needed in found if needed is not None]
            quartiles = [round(value) for value in np.percentile(known, [25, 50, 75])]
            cells = (STUDIES - len(found), len(found) - len(known))
            shares = " | ".join(f"{100 * cell / STUDIES:.0f}%" for cell in cells)
            words = ", ".join(map(str, quartiles))
            print(f"| {name} | {documents} | {shares} | {words} | {got(place, quartiles[1])} |", flush=True)
        needed = true_number(place)
        print(f"| {name} | by the true difference | | | {needed} | {got(place, needed)} |", flush=True)


def main() -> None:
    """Print the table."""
    if "--apart" in sys.argv:
        promised()
        return
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
