"""Does the gap between both bounds of log p see a proposal that misses states, and nothing else?

Texts are drawn from a model whose posterior has two parts. The proposal draws one of them by its share, the other (with
the share `missed` of the posterior) with probability `drawn` alone; in each part log weights are normal. Each study is
the draws and the exact state of each of its texts. Prints a Markdown table of how often each sign is given, and of how
often the interval of the gap holds its mean; docs/results/importance.md has it.

    python benchmarks/calibration_reverse.py [--runs 1000] [--resamples 499]
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from typing import get_args

import numpy as np

from textcritic.inference.importance import ExactWeights, Gap, LogWeights, gap
from textcritic.inference.importance.reverse import Sign

LOG_P, TOKENS = -60.0, 20.0  # of each text
MANY = 50_000  # texts that the mean gap is taken from
CASES = (  # missed, drawn, spread, texts, K
    (0, 0, 0, 100, 100),
    (0, 0, 0.1, 100, 100),
    (0, 0, 0.3, 100, 100),
    (0, 0, 0.5, 100, 100),
    (0, 0, 1, 100, 100),
    (0, 0, 1, 100, 1000),
    (0, 0, 0.3, 100, 20),
    (0, 0, 1, 100, 10),
    (0.1, 0, 0.1, 100, 100),
    (0.1, 1e-6, 0.1, 100, 100),
    (0.1, 1e-4, 0.1, 100, 100),
    (0.1, 1e-4, 0.5, 100, 100),
    (0.1, 1e-4, 1, 100, 100),
    (0.1, 1e-3, 0.1, 100, 100),
    (0.1, 1e-4, 0.3, 100, 1000),
    (0.1, 1e-4, 0.1, 50, 100),
    (0.5, 1e-4, 0.1, 20, 100),
    (0.02, 1e-6, 0.1, 100, 100),
)


@dataclass(frozen=True)
class Population:
    """Texts of a model.

    Attributes:
        missed: share of the posterior that the proposal hardly draws.
        drawn: the probability with which it does; 0: never.
        spread: standard deviation of log weights in each part.
    """

    missed: float
    drawn: float
    spread: float

    def weights(self, texts: int, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Log weights of draws [N, K] and of exact states [N, 1]."""
        normal = self.spread * rng.standard_normal((texts, draws + 1)) - self.spread**2 / 2
        normal[:, -1] += self.spread**2  # drawn by the posterior, the weights are themselves weighed
        part = np.concatenate([rng.random((texts, draws)) < self.drawn, rng.random((texts, 1)) < self.missed], axis=1)
        high = np.log(self.missed / self.drawn) if self.drawn else np.inf
        low = np.log((1 - self.missed) / (1 - self.drawn))
        found = LOG_P + normal + np.where(part, high, low)
        return found[:, :-1], found[:, -1:]

    def study(self, texts: int, draws: int, rng: np.random.Generator, resamples: int = 499) -> Gap:
        """One study."""
        forward, exact = self.weights(texts, draws, rng)
        ids, tokens = tuple(map(str, range(texts))), np.full(texts, TOKENS)
        return gap(LogWeights(ids, forward, tokens), ExactWeights(ids, exact, tokens), resamples)


def signs(population: Population, texts: int, draws: int, runs: int, resamples: int) -> dict[str, float]:
    """How often each sign is given; and `holds`: how often the interval of the gap holds its mean; `mean`."""
    truth = _mean(population, draws)
    found: Counter[str] = Counter()
    there = 0
    for seed in range(runs):
        one = population.study(texts, draws, np.random.default_rng([seed, texts, draws]), resamples)
        found[one.sign] += 1
        there += one.nats.low is not None
        found["holds"] += one.nats.low is not None and one.nats.low <= truth <= one.nats.high
        found["above 0"] += one.states > 0 or (one.nats.low is not None and one.nats.low > 0)
    rates = {name: found[name] / runs for name in (*get_args(Sign), "above 0")}
    return rates | {"holds": found["holds"] / there if there else np.nan, "mean": truth}


def _mean(population: Population, draws: int) -> float:
    rng, means = np.random.default_rng(1), []
    for _ in range(max(1, MANY * draws // 5_000_000)):
        forward, exact = population.weights(min(MANY, 5_000_000 // draws), draws, rng)
        below = np.logaddexp.reduce(forward, axis=1)
        means.append((np.logaddexp(below, exact[:, 0]) - below).mean() - np.log1p(1 / draws))
    return float(np.mean(means))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=499)
    options = parser.parse_args()
    print(f"| missed, drawn | spread | texts | K | mean gap | {' | '.join(get_args(Sign))} | above 0 | holds |")
    print(f"|{'---|' * 12}")
    for missed, drawn, spread, texts, draws in CASES:
        rates = signs(Population(missed, drawn, spread), texts, draws, options.runs, options.resamples)
        cells = [f"{100 * rates[name]:.1f}%" for name in (*get_args(Sign), "above 0")]
        holds = "" if np.isnan(rates["holds"]) else f"{100 * rates['holds']:.1f}%"
        about = f"{100 * missed:g}%, {drawn:g} | {spread:g} | {texts} | {draws:,} | {rates['mean']:.4f}"
        print(f"| {about} | {' | '.join(cells)} | {holds} |", flush=True)


if __name__ == "__main__":
    main()
