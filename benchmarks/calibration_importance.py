"""Do the three intervals of importance sampling hold what they say they hold, where the truth is known?

Texts are drawn from a population whose log p(x) is known, and log weights for each: lognormal ones around p, or those
of a made-up model with 50 latent states under a proposal of another temperature. Each of the library's three intervals
is then asked for its own target: over texts `exp(-E[log p-hat] / E[T])` of the population at this K; over draws the
mean of log p-hat of these texts at this K; for the truth log p of these texts. Prints a Markdown table;
docs/results.md has it.

    python benchmarks/calibration_importance.py [--runs 400] [--resamples 299] [--texts 20 100] [--draws 10 100]
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textcritic.inference.importance import LogWeights, intervals

POOL = 4000  # texts of the population
STATES = 50
SIMULATED = 200_000  # log p-hat that their mean is taken from: its error is then small beside that of 1,000 texts
HEAD = (
    "| log weights | texts | K | over texts | over draws | over draws: truth | for the truth | log p-hat too low |"
)


@dataclass(frozen=True)
class Lognormal:
    """Log weights that are normal around log p(x) - sigma^2 / 2 for each text."""

    sigma: float

    def pool(self, draws: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens, log p and E[log p-hat] at K of every text of the population."""
        rng = np.random.default_rng(1)
        tokens = np.ceil(rng.lognormal(3, 0.5, POOL))
        log_p = -tokens * (4 + 0.4 * rng.standard_normal(POOL))
        means = (np.log(np.exp(self._relative(rng, 500, draws)).mean(axis=1)) for _ in range(SIMULATED // 500))
        bias = np.mean([one.mean() for one in means])
        return tokens, log_p, log_p + bias

    def draw(self, rows: np.ndarray, log_p: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Log weights of these texts: [n, K]."""
        return log_p[rows, None] + self._relative(rng, len(rows), draws)

    def _relative(self, rng: np.random.Generator, rows: int, draws: int) -> np.ndarray:
        return self.sigma * rng.standard_normal((rows, draws)) - self.sigma**2 / 2


@dataclass(frozen=True)
class Discrete:
    """A made-up model with 50 states for each of 200 kinds of text; the proposal is its posterior, tempered."""

    temperature: float
    kinds: int = 200

    def pool(self, draws: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(2)
        tokens = np.ceil(rng.lognormal(3, 0.5, self.kinds))
        log_p = -tokens * (4 + 0.4 * rng.standard_normal(self.kinds))
        relative, proposal = self._states()
        means = []
        for weights, q in zip(np.exp(relative), proposal, strict=True):
            means.append(np.log(rng.multinomial(draws, q, 5000) @ weights / draws).mean())
        return tokens, log_p, log_p + np.array(means)

    def draw(self, rows: np.ndarray, log_p: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
        relative, proposal = self._states()
        below = proposal[rows].cumsum(axis=1)
        below[:, -1] = 1.0
        places = [np.searchsorted(one, rng.random(draws), side="right") for one in below]
        return log_p[rows, None] + np.take_along_axis(relative[rows], np.stack(places), axis=1)

    def _states(self) -> tuple[np.ndarray, np.ndarray]:
        """Log weights relative to p(x), and q, of each state: [kinds, states]."""
        scores = 2 * np.random.default_rng(3).standard_normal((self.kinds, STATES))
        posterior, proposal = (np.exp(one) for one in (scores, scores / self.temperature))
        posterior, proposal = (one / one.sum(axis=1, keepdims=True) for one in (posterior, proposal))
        return np.log(posterior / proposal), proposal


def populations() -> Iterator[tuple[str, Lognormal | Discrete]]:
    for sigma in (0.5, 1.0, 2.0):
        yield f"normal, sd {sigma:g}", Lognormal(sigma)
    yield "50 states, temperature 3", Discrete(3.0)


def coverage(
    population: Lognormal | Discrete, texts: int, draws: int, runs: int, resamples: int
) -> tuple[dict[str, float], float]:
    """In how many percent of runs each interval holds its target; and by how many nats a text log p-hat is too low."""
    tokens, log_p, expected = population.pool(draws)
    of_population = np.exp(-expected.sum() / tokens.sum())
    held: Counter[str] = Counter()
    for seed in range(runs):
        rng = np.random.default_rng([seed, texts, draws])
        rows = rng.integers(0, len(tokens), texts)
        weights = population.draw(rows, log_p, draws, rng)
        found = intervals(
            LogWeights(tuple(map(str, range(texts))), weights, tokens[rows]), resamples=resamples, seed=seed
        )
        total = tokens[rows].sum()
        of_draws, truth = (np.exp(-values[rows].sum() / total) for values in (expected, log_p))
        held["texts"] += found.over_instances.ends[0] <= of_population <= found.over_instances.ends[1]
        held["draws"] += found.over_draws.ends[0] <= of_draws <= found.over_draws.ends[1]
        held["draws, truth"] += found.over_draws.ends[0] <= truth <= found.over_draws.ends[1]
        held["truth"] += truth <= found.for_truth.perplexity
    return {name: 100 * number / runs for name, number in held.items()}, float((log_p - expected).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=299)
    parser.add_argument("--texts", type=int, nargs="+", default=[20, 100, 1000])
    parser.add_argument("--draws", type=int, nargs="+", default=[10, 100, 1000])
    options = parser.parse_args()
    print(f"{HEAD}\n|{'---|' * 8}")
    for name, population in populations():
        for texts in options.texts:
            for draws in options.draws:
                rates, bias = coverage(population, texts, draws, options.runs, options.resamples)
                cells = [f"{rates[key]:.1f}%" for key in ("texts", "draws", "draws, truth", "truth")]
                print(f"| {name} | {texts:,} | {draws:,} | {' | '.join(cells)} | {bias:.4f} |", flush=True)


if __name__ == "__main__":
    main()
