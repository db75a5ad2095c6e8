"""Do the three intervals of importance sampling hold what they say they hold, where the truth is known?

Texts are drawn from a population whose log p(x) is known, and log weights for each: lognormal ones around p, or those
of a made-up model with 50 latent states under a proposal of another temperature. Each of the library's three intervals
is then asked for its own target: over texts `exp(-E[log p-hat] / E[T])` of the population at this K; over draws the
mean of log p-hat of these texts at this K; for the truth log p of these texts. Prints a Markdown table;
docs/results/importance.md has it.

    python benchmarks/calibration_importance.py [--runs 400] [--resamples 299] [--texts 20 100] [--draws 10 100]

With --ways: the interval over draws beside other ways to it, which the library does not have. With --few: how often it
would hold of one text, which has none in the library, and of a few.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from textcritic.inference.importance import (
    LogWeights,
    effective_sample_sizes,
    intervals,
    log_likelihoods,
)
from textcritic.inference.importance.intervals import spread_over_draws

POOL = 4000  # texts of the population
STATES = 50
SIMULATED = 200_000  # log p-hat that their mean is taken from: its error is then small beside that of 1,000 texts
HEAD = "| log weights | texts | K | over texts | over draws | over draws: truth | for the truth | log p-hat too low |"


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
    """In how many percent of runs each interval holds its target; and by how many nats a text log p-hat is too low.

    Over texts: of the runs that have an interval; NaN where hardly one has.
    """
    tokens, log_p, expected = population.pool(draws)
    of_population = np.exp(-expected.sum() / tokens.sum())
    held: Counter[str] = Counter()
    there = 0  # intervals over texts: there is none where few long ones decide
    for seed in range(runs):
        rng = np.random.default_rng([seed, texts, draws])
        rows = rng.integers(0, len(tokens), texts)
        weights = population.draw(rows, log_p, draws, rng)
        found = intervals(
            LogWeights(tuple(map(str, range(texts))), weights, tokens[rows]), resamples=resamples, seed=seed
        )
        total = tokens[rows].sum()
        of_draws, truth = (np.exp(-values[rows].sum() / total) for values in (expected, log_p))
        there += found.over_instances.low is not None
        held["texts"] += found.over_instances.ends[0] <= of_population <= found.over_instances.ends[1]
        held["draws"] += found.over_draws.ends[0] <= of_draws <= found.over_draws.ends[1]
        held["draws, truth"] += found.over_draws.ends[0] <= truth <= found.over_draws.ends[1]
        held["truth"] += truth <= found.for_truth.perplexity
    rates = {name: 100 * number / runs for name, number in held.items()}
    rates["texts"] = 100 * held["texts"] / there if there > runs / 50 else np.nan
    return rates, float((log_p - expected).mean())


WAYS = (
    (0.5, 100, 100),
    (1, 100, 10),
    (2, 100, 10),
    (2, 100, 100),
    (3, 100, 10),
    (3, 100, 100),
    (3, 20, 1000),
    (3, 1, 100),
)
WAYS_HEAD = "| sd, texts, K | delta method | bootstrap, its variance | bootstrap, its quantiles | jackknife |"


def ways(sigma: float, texts: int, draws: int, runs: int, resamples: int = 200) -> dict[str, float]:
    """In how many percent of runs intervals over draws hold the mean of log p-hat, made in four ways.

    The delta method has `1 / ESS - 1 / K` as the variance of log p-hat of a text. The bootstrap draws K of the K draws
    of each text with replacement; its log p-hat are centred on their own mean, since they are too low once more.
    """
    population = Lognormal(sigma)
    _, log_p, expected = population.pool(draws)
    bias = (expected - log_p)[0]
    held: Counter[str] = Counter()
    for seed in range(runs):
        rng = np.random.default_rng([seed, texts, draws])
        rows = population.draw(np.zeros(texts, np.int64), np.zeros(1), draws, rng)
        weights = LogWeights(tuple(map(str, range(texts))), rows, np.ones(texts))
        off = abs(log_likelihoods(weights).sum() - texts * bias)
        variances = (1 / effective_sample_sizes(weights) - 1 / draws) * draws / (draws - 1)
        freedom = (draws - 1) * variances.sum() ** 2 / (variances**2).sum()
        held["delta"] += off <= stdtrit(freedom, 0.975) * np.sqrt(variances.sum())
        again = np.empty((resamples, texts))
        for resample in range(resamples):
            drawn = np.take_along_axis(np.exp(rows), rng.integers(0, draws, (texts, draws)), axis=1)
            again[resample] = np.log(drawn.mean(axis=1))
        spread = np.sqrt(again.var(axis=0).sum() * draws / (draws - 1))
        held["variance"] += off <= 1.96 * spread
        centred = again.sum(axis=1) - again.sum(axis=1).mean()
        low, high = np.quantile(centred, [0.025, 0.975])
        held["quantiles"] += low <= log_likelihoods(weights).sum() - texts * bias <= high
        held["jackknife"] += off <= spread_over_draws(weights)[0]
    return {name: 100 * number / runs for name, number in held.items()}


FEW = (1, 2, 5, 10, 20, 30)
SHAPES = {
    **{f"normal, sd {sigma}": Lognormal(sigma)._relative for sigma in (1, 2, 3)},
    **{f"Pareto, {k:g}": lambda rng, rows, draws, k=k: np.log1p(rng.pareto(k, (rows, draws))) for k in (1.5, 1.2)},
}


def few(shape: str, draws: int, runs: int) -> list[float]:
    """In how many percent of runs the interval over draws of one text, or a few, would hold the mean of log p-hat."""
    rng, drawn = np.random.default_rng(1), SHAPES[shape]
    truth = np.mean([np.logaddexp.reduce(drawn(rng, 100, draws), axis=1).mean() for _ in range(200)]) - np.log(draws)
    found = []
    for texts in FEW:
        held = 0
        for _ in range(runs):
            weights = LogWeights(tuple(map(str, range(texts))), drawn(rng, texts, draws), np.ones(texts))
            held += abs(log_likelihoods(weights).sum() - texts * truth) <= spread_over_draws(weights)[0]
        found.append(100 * held / runs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=299)
    parser.add_argument("--texts", type=int, nargs="+", default=[20, 100, 1000])
    parser.add_argument("--draws", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--ways", action="store_true")
    parser.add_argument("--few", action="store_true")
    options = parser.parse_args()
    if options.few:
        print(f"| log weights, K | {' | '.join(f'{n} texts' for n in FEW)} |\n|{'---|' * (1 + len(FEW))}")
        for shape in SHAPES:
            for draws in (20, 100, 1000):
                cells = " | ".join(f"{rate:.1f}%" for rate in few(shape, draws, options.runs))
                print(f"| {shape}; {draws:,} | {cells} |", flush=True)
        return
    if options.ways:
        print(f"{WAYS_HEAD}\n|{'---|' * 5}")
        for sigma, texts, draws in WAYS:
            found = ways(sigma, texts, draws, options.runs)
            cells = [f"{found[name]:.1f}%" for name in ("delta", "variance", "quantiles", "jackknife")]
            print(f"| {sigma:g}, {texts:,}, {draws:,} | {' | '.join(cells)} |", flush=True)
        return
    print(f"{HEAD}\n|{'---|' * 8}")
    for name, population in populations():
        for texts in options.texts:
            for draws in options.draws:
                rates, bias = coverage(population, texts, draws, options.runs, options.resamples)
                shown = (rates[key] for key in ("texts", "draws", "draws, truth", "truth"))
                cells = ["none" if np.isnan(rate) else f"{rate:.1f}%" for rate in shown]
                print(f"| {name} | {texts:,} | {draws:,} | {' | '.join(cells)} | {bias:.4f} |", flush=True)


if __name__ == "__main__":
    main()
