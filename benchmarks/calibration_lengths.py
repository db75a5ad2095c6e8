"""Does the interval of a perplexity over texts hold it where texts are of very unequal length?

Lengths are lognormal; the loss per token of a text is normal, gamma, lognormal, of Student's t or Pareto; the truth is
its mean. Prints a Markdown table: how often there is an interval, how often it holds the truth, and how often
a studentised bootstrap at 95% would, of all studies and of those that have an interval.
docs/results/importance.md has it.

    python benchmarks/calibration_lengths.py [--runs 1000] [--resamples 499]
"""

import argparse
from collections.abc import Callable

import numpy as np

from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.inference.importance import LogWeights, over_instances

LOSSES: dict[str, tuple[float, Callable[[np.random.Generator, int], np.ndarray]]] = {
    "normal": (3.0, lambda rng, n: 3 + 0.5 * rng.standard_normal(n)),
    "gamma, shape 2": (3.0, lambda rng, n: 3 * rng.gamma(2, 0.5, n)),
    "lognormal, sd 0.5": (3.0, lambda rng, n: 3 * np.exp(0.5 * rng.standard_normal(n) - 0.125)),
    "lognormal, sd 1": (3.0, lambda rng, n: 3 * np.exp(rng.standard_normal(n) - 0.5)),
    "Student's t, 3": (4.0, lambda rng, n: 4 + 0.4 * rng.standard_t(3, n)),
    "Pareto, 3": (3.25, lambda rng, n: 2.5 + 0.5 * (rng.pareto(3, n) + 1)),
}
"""The mean of each, and how it is drawn."""
SIGMAS, TEXTS = (0.5, 1.0, 1.5), (20, 50, 100, 200)


def rates(loss: str, sigma: float, texts: int, runs: int, resamples: int) -> tuple[float, float, float, float]:
    """Shares: there is an interval; it holds; one at 95% holds, of all; of those that have an interval."""
    mean, drawn = LOSSES[loss]
    truth, ids = np.exp(mean), tuple(map(str, range(texts)))
    held, plain, there = (np.zeros(runs, bool) for _ in range(3))
    for run in range(runs):
        rng = np.random.default_rng([run, texts, round(10 * sigma)])
        tokens = np.ceil(rng.lognormal(4, sigma, texts))
        nats = tokens * drawn(rng, texts)
        found = over_instances(LogWeights(ids, -nats[:, None], tokens), resamples, seed=run)
        there[run] = found.low is not None
        held[run] = found.low is not None and found.low <= truth <= found.high
        low, high = bootstrap_interval(np.column_stack([nats, tokens]), exp_ratio_of_sums, resamples, seed=run).ends
        plain[run] = low <= truth <= high
    some = max(1, int(there.sum()))
    return float(there.mean()), held.sum() / some, float(plain.mean()), plain[there].sum() / some


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=499)
    options = parser.parse_args()
    print("| loss per token | sigma of lengths | texts | has an interval | it holds | at 95%, of all | of these |")
    print(f"|{'---|' * 7}")
    for loss in LOSSES:
        for sigma in SIGMAS:
            for texts in TEXTS:
                there, held, plain, some = rates(loss, sigma, texts, options.runs, options.resamples)
                cells = [f"{100 * held:.1f}%", f"{100 * plain:.1f}%", f"{100 * some:.1f}%"]
                if there < 0.02:
                    cells[0] = cells[2] = ""
                print(f"| {loss} | {sigma:g} | {texts} | {100 * there:.0f}% | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
