"""Is a distance of tendencies that "would be noticed in 80% of cases or more" noticed as often?

Words: one word is more frequent, by just the share that is promised. Length: lognormal lengths, longer by the factor
whose Kolmogorov-Smirnov distance is what is promised. The promise is the median over studies in which nothing differs.
In Markdown.

python benchmarks/calibration_noticed_tendencies.py    # 10 CPU minutes
"""

import math

import numpy as np
import pyarrow as pa
from scipy import stats

from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import Counts
from textcritic.critics.tendencies.distances import Distance, Pair, distances
from textcritic.inference import share_interval
from textcritic.plan.entries import Tendencies

SIZES = ((50, 50), (60, 100), (300, 100), (300, 300))  # real, sample
NULL, STUDIES, OPTIONS = 60, 300, Tendencies(kind="tendencies", resamples=300)
WORDS = np.array([f"w{number}" for number in range(300)])
SHARES = 1 / np.arange(1, len(WORDS) + 1)
SHARES /= SHARES.sum()
SPREAD = 0.5  # of the logarithm of a length
NAMES = {"Which words": "unigram_max", "Length": "length_ks"}


def texts(rng: np.random.Generator, number: int, more: float, longer: float) -> Counts:
    """Documents with words of their own liking; a share `more` of all tokens is turned into one word, the fifth."""
    shares = (1 - more) * SHARES
    shares[4] += more
    lengths = np.maximum(1, np.round(80 * longer * rng.lognormal(0, SPREAD, number))).astype(int)
    liking = rng.dirichlet(200 * shares, number)
    made = [" ".join(rng.choice(WORDS, length, p=own)) for length, own in zip(lengths, liking, strict=True)]
    return count_texts([pa.array(made)], number, OPTIONS)


def found(seed: int, sizes: tuple[int, int], name: str, apart: float) -> Distance:
    """A distance of two sets whose sources are so far apart."""
    rng = np.random.default_rng(seed)
    # One word takes from all others, so that its own share grows by less than what is turned into it.
    more = apart / (1 - SHARES[4]) if name == "unigram_max" else 0.0
    longer = math.exp(2 * SPREAD * stats.norm.ppf((1 + apart) / 2)) if name == "length_ks" else 1.0
    real, sample = texts(rng, sizes[0], 0.0, 1.0), texts(rng, sizes[1], more, longer)
    return distances(Pair(real, sample), OPTIONS, [name])[0][name]


def main() -> None:
    """Print the table."""
    print("| tendency | real, sample | would be noticed | noticed in (%) |")
    print("|---|---|---|---|")
    for title, name in NAMES.items():
        for sizes in SIZES:
            least = float(np.median([found(seed, sizes, name, 0.0).noticed for seed in range(NULL)]))
            hits = sum(found(10**6 + seed, sizes, name, least).p < 0.05 for seed in range(STUDIES))
            low, high = share_interval(hits, STUDIES)
            share = f"{100 * hits / STUDIES:.1f} ({100 * low:.1f}-{100 * high:.1f})"
            print(f"| {title} | {sizes[0]}, {sizes[1]} | {least:.2g} | {share} |", flush=True)


if __name__ == "__main__":
    main()
