"""Is p < 0.05 in 5% of cases where nothing differs, and does the interval hold the truth in 95%?

For each measure a population of documents is drawn from a known process and scored by the library, with a fitted critic
held fixed. Both sides are then drawn from it again and again, at equal and at unequal sizes, and go through the very
functions that tables and pages use: interval, test, verdict. "The same" is asked for once more with a sample that is
off by just the margin. Prints a Markdown table; docs/results/calibration.md has it.

    python benchmarks/calibration.py [--repetitions 400] [--resamples 499] [--only "Latent PPL" Share]

Tendencies have calibration_tendencies.py, trainings calibration_trainings.py.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix

from textcritic.corpora import Process
from textcritic.critics import TransitionCritic, document_columns, score_chains
from textcritic.critics.ctm import CTM
from textcritic.critics.ctm import infer as infer_topics
from textcritic.critics.ctm.scoring import latent_nll
from textcritic.critics.lda import LDA, Posteriors, infer, mixing_columns
from textcritic.critics.mentions import MentionCritic
from textcritic.critics.mentions.scoring import document_nll
from textcritic.inference import (
    DIFFERENT,
    MARGIN,
    SAME,
    Number,
    Statistic,
    bootstrap_interval,
    covariance_test,
    energy_test,
    exp_ratio_of_sums,
    gap,
    limit_of,
    permutation_test,
    ratio_of_sums,
    verdict,
    with_ones,
)
from textcritic.plan.entries import Lda
from textcritic.plan.entries.extraction import ProcessOptions

SIZES = ((50, 50), (100, 1000), (1000, 100))
"""Documents of the sample and of real text."""
SMALL = ((20, 1000), (20, 20))
POOL = 20_000
HEAD = "| measure | sample / real | p < 0.05 | differs | the same, at the margin | covers: value | difference |"

Columns = np.ndarray


@dataclass(frozen=True)
class Sums:
    """A measure that is a statistic of sums over documents: `pool` are the columns of the population."""

    pool: Columns
    statistic: Statistic

    def once(self, sizes: tuple[int, int], seed: int, resamples: int) -> Mapping[str, bool]:
        """One comparison of two sets from the population."""
        rng = np.random.default_rng(seed)
        sample, real = (self.pool[rng.integers(0, len(self.pool), size)] for size in sizes)
        truth = float(self.statistic(self.pool.sum(axis=0)))
        by_ratio = self.statistic is exp_ratio_of_sums
        numbers = [self._number(columns, resamples, seed) for columns in (sample, real)]
        p = permutation_test(sample, real, ratio_of_sums, resamples, seed).p
        limit = limit_of(MARGIN, numbers[1].value or 0.0, by_ratio)
        apart = gap(*numbers, by_ratio) if numbers[0].low is not None and numbers[1].low is not None else None
        off = self._number(self._moved(sample, truth), resamples, seed)
        far = gap(off, numbers[1], by_ratio) if off.low is not None and numbers[1].low is not None else None
        facts = {"p": p < 0.05, "differs": verdict(p, apart, limit) == DIFFERENT}
        # At the margin p is left out: a significant difference is never called the same.
        facts["same"] = verdict(None, far, limit) == SAME
        if numbers[0].low is not None:
            facts["value"] = numbers[0].low <= truth <= (numbers[0].high or 0.0)
        if apart is not None:
            facts["difference"] = apart.low <= 0 <= apart.high
        return facts

    def _number(self, columns: Columns, resamples: int, seed: int) -> Number:
        found = bootstrap_interval(columns, self.statistic, resamples, seed=seed)
        return Number(found.estimate, found.low, found.high)

    def _moved(self, columns: Columns, truth: float) -> Columns:
        """The documents, with a value that is higher by just the margin."""
        by = np.log1p(MARGIN) if self.statistic is exp_ratio_of_sums else MARGIN * truth
        return np.column_stack([columns[:, 0] + by * columns[:, 1], columns[:, 1]])


@dataclass(frozen=True)
class Points:
    """A distance between two sets of points, which is 0 on average where they have one distribution."""

    pool: Columns
    test: Callable[..., object]

    def once(self, sizes: tuple[int, int], seed: int, resamples: int) -> Mapping[str, bool]:
        """One comparison of two sets from the population."""
        rng = np.random.default_rng(seed)
        sample, real = (self.pool[rng.integers(0, len(self.pool), size)] for size in sizes)
        found = self.test(sample, real, resamples, seed)
        facts = {"p": found.p < 0.05, "differs": found.p < 0.05}
        return facts if found.low is None else facts | {"difference": found.low <= 1e-9}


def chains(number: int = POOL) -> Sums:
    """Section titles: a chain of 12 types whose transitions are uneven, and a critic that was fitted on other ones."""
    rng = np.random.default_rng(1)
    transition = rng.dirichlet(np.full(13, 0.15), 13)  # the last one is the end
    transition[0, 12] = 0.0
    transition /= transition.sum(axis=1, keepdims=True)
    names = [f"type {number}" for number in range(12)]

    def draw(number: int) -> list[list[str]]:
        found = []
        for _ in range(number):
            chain, state = [], 0
            while state != 12 and len(chain) < 40:
                state = int(rng.choice(13, p=transition[state]))
                chain += [names[state]] if state != 12 else []
            found.append(chain or [names[0]])
        return found

    critic = TransitionCritic.fit(draw(500), grid=[0.03])
    return Sums(
        document_columns(score_chains(critic, [str(n) for n in range(number)], draw(number))), exp_ratio_of_sums
    )


def sequences() -> Sums:
    """Sequences of the known process of the demo."""
    recipe = ProcessOptions(states=6, steps=10, subsequences=60, shortest=3, longest=5, letters=10, seed=2)
    process = Process.draw(recipe)
    states, _ = process.sample(POOL, 3)
    log_first, log_next = np.log(process.initial), np.log(process.transition)
    nll = -log_first[states[:, 0]] - log_next[states[:, :-1], states[:, 1:]].sum(axis=1)
    return Sums(np.column_stack([nll, np.full(POOL, states.shape[1])]), exp_ratio_of_sums)


def mentions() -> Sums:
    """Chains of mentions of documents of very different lengths; the windows of a short one are dear."""
    from test_bench_mentions import LENGTH, synthetic_chains

    rng = np.random.default_rng(2)
    critic = MentionCritic.fit(synthetic_chains(LENGTH * 300, 1))
    scored = synthetic_chains(LENGTH * POOL, 2)
    nll = document_nll(critic, scored) * rng.lognormal(0, 0.5, POOL)
    return Sums(np.column_stack([nll, scored.lengths * rng.lognormal(0, 0.4, POOL)]), exp_ratio_of_sums)


def topics() -> Iterator[tuple[str, Sums | Points]]:
    """Documents of a correlated topic model with 5 topics, under that model."""
    from ctm_oracle import draw_documents

    rng = np.random.default_rng(3)
    weights = np.exp(2.0 * rng.standard_normal((5, 300)))
    factor = rng.standard_normal((4, 4))
    critic = CTM(np.log(weights / weights.sum(1, keepdims=True)), np.zeros(4), factor @ factor.T + 0.5 * np.eye(4))
    posterior = infer_topics(critic, draw_documents(critic, rng.poisson(60, 4000).clip(5).tolist(), 4).counts)
    nll = latent_nll(critic, posterior.means, posterior.variances)[0]
    yield "Latent NLL", Sums(with_ones(nll), ratio_of_sums)
    means = np.column_stack([posterior.means, np.zeros(len(nll))])
    yield "Covariances apart", Points(means, lambda one, two, b, s: covariance_test(one, two, resamples=b, seed=s))


def languages() -> Iterator[tuple[str, Sums | Points]]:
    """Sentences of three languages, one in eight of two, under the LDA that made them."""
    rng = np.random.default_rng(5)
    phi = np.full((3, 900), 1e-4)
    for topic in range(3):  # neighbours share a few words
        phi[topic, (topic * 300 + np.arange(320)) % 900] += rng.dirichlet(np.full(320, 0.3))
    phi /= phi.sum(axis=1, keepdims=True)
    main, other = rng.integers(0, 3, 4000), rng.integers(0, 3, 4000)
    share = np.where(rng.random(4000) < 0.125, rng.uniform(0, 0.5, 4000), 0)[:, None]
    mixture = (1 - share) * phi[main] + share * phi[other]
    lengths = rng.poisson(20, 4000).clip(3)
    rows = [rng.multinomial(n, p) for n, p in zip(lengths, mixture, strict=True)]
    counts = csr_matrix(np.stack(rows).astype(np.int32))
    posterior = infer(LDA(phi=phi, alpha=np.full(3, 0.05)), counts, Lda(kind="lda"))
    kept = Posteriors.of(pa.array([str(n) for n in range(4000)]), posterior)
    for name, measure in (("Words of another language", "mixed"), ("Entropy", "entropy")):
        yield name, Sums(mixing_columns(kept)[measure], ratio_of_sums)
    yield "Energy distance", Points(kept.mean, lambda one, two, b, s: energy_test(one, two, resamples=b, seed=s))


def perplexity(number: int = POOL) -> Sums:
    """Nats and tokens of documents whose length and difficulty vary."""
    rng = np.random.default_rng(6)
    tokens = np.ceil(rng.lognormal(5, 0.8, number))
    return Sums(np.column_stack([tokens * (3.2 + 0.4 * rng.standard_normal(number)), tokens]), exp_ratio_of_sums)


def shares() -> Iterator[tuple[str, Sums]]:
    """Shares of what is common and of what is rare: unlikely steps, copied passages."""
    rng = np.random.default_rng(7)
    words = rng.poisson(60, POOL) + 5
    yield "Share, 20%", Sums(np.column_stack([rng.binomial(words, rng.beta(1, 4, POOL)), words]), ratio_of_sums)
    rare = np.where(rng.random(POOL) < 0.15, rng.beta(2, 8, POOL), 0)
    yield (
        "Share, 3%, in one document of seven",
        Sums(np.column_stack([rng.binomial(words, rare), words]), ratio_of_sums),
    )


def populations() -> Iterator[tuple[str, Sums | Points]]:
    """Every measure by its name."""
    yield "Latent PPL (sections)", chains()
    yield "Latent PPL (known process)", sequences()
    yield "Latent PPL of mentions", mentions()
    yield from topics()
    yield from languages()
    yield "Perplexity", perplexity()
    yield from shares()


def rates(population: Sums | Points, sizes: tuple[int, int], repetitions: int, resamples: int) -> dict[str, float]:
    """How often each fact holds, in percent of the repetitions in which it could."""
    held: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for seed in range(repetitions):
        facts = population.once(sizes, seed, resamples)
        held.update(name for name, fact in facts.items() if fact)
        asked.update(facts.keys())
    return {name: 100 * held[name] / asked[name] for name in asked}


def row(name: str, sizes: tuple[int, int], found: Mapping[str, float]) -> str:
    """A line of the table."""
    cells = [f"{found[key]:.1f}%" if key in found else "" for key in ("p", "differs", "same", "value", "difference")]
    return f"| {name} | {sizes[0]:,} / {sizes[1]:,} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=499)
    parser.add_argument("--only", nargs="*", default=[""], help="measures whose names begin so")
    options = parser.parse_args()
    print(f"{HEAD}\n|{'---|' * 7}")
    for name, population in populations():
        if name.startswith(tuple(options.only)):
            for sizes in (*SIZES, *SMALL):
                print(row(name, sizes, rates(population, sizes, options.repetitions, options.resamples)), flush=True)


if __name__ == "__main__":
    main()
