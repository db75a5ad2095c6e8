"""Print how often tests, verdicts and intervals of tendencies are wrong under the null, as a markdown table.

    python benchmarks/calibration_tendencies.py --articles results/corpora/docstrings/train.parquet --repetitions 400

Sample and real text are disjoint random sets of the same documents. Without `--articles` these are made up: words of
Zipf's law with topics, that recur within a document.
"""

import argparse
import time
import warnings
from collections.abc import Sequence

import numpy as np
import pyarrow.parquet as pq

from textcritic.critics.tendencies.calibration import (
    Population,
    Rates,
    distance_rates,
    estimate_rates,
    one_size_rates,
)
from textcritic.critics.tendencies.estimates import Options
from textcritic.plan.checks.tendencies import CountOptions

WORDS, TOPICS, MADE_UP = 4000, 40, 8000
COMMON = ("the", "of", "and", ",", ".", "(", "to", "in", "a", "is")


def made_up_texts(documents: int = MADE_UP, seed: int = 1) -> list[str]:
    """Documents of log-normal length; each has one of several topics, and a tenth of its tokens recur within it."""
    rng = np.random.default_rng(seed)
    words = np.array([*COMMON, *(f"w{number}" for number in range(WORDS - len(COMMON)))])
    law = 1 / (np.arange(WORDS) + 2.7)
    weights = law * rng.gamma(0.4, 2.5, (TOPICS, WORDS))
    weights[:, : len(COMMON)] = law[: len(COMMON)]
    topics = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    texts = []
    for _ in range(documents):
        length = int(max(5, rng.lognormal(np.log(90), 0.6)))
        tokens = np.minimum(np.searchsorted(topics[rng.integers(TOPICS)], rng.random(length)), WORDS - 1)
        for place in np.flatnonzero(rng.random(length) < 0.1)[1:]:
            tokens[place] = tokens[rng.integers(max(0, place - 60), place)]
        texts.append(" ".join(words[tokens]))
    return texts


def texts_of(path: str) -> list[str]:
    """The texts of a Parquet file of articles."""
    articles = pq.read_table(path, columns=["sections"])["sections"].to_pylist()
    return ["\n".join(section["text"] or "" for section in sections) for sections in articles]


def table(rates: Sequence[Rates]) -> str:
    """Rows of percentages."""
    heads = ("of", "measured", "p < 0.05", "differs", "keeps", "interval holds the truth")
    lines = [heads, ["---"] * len(heads)]
    for one in rates:
        shares = (one.significant, one.differs, one.keeps, one.covered)
        lines.append([one.name, str(one.measured), *("" if np.isnan(s) else f"{100 * s:.1f}%" for s in shares)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Read the arguments, and print a table for each pair of sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", help="Parquet files of articles", nargs="*", default=[])
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=99, help="of each test and interval")
    parser.add_argument("--sizes", nargs="*", default=["50:50", "100:1000", "1000:100"], help="sample:real text")
    parser.add_argument("--of", choices=["distances", "estimates", "one-size"], default="distances")
    given = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    texts = [text for path in given.articles for text in texts_of(path)] or made_up_texts()
    population, options = Population(texts, CountOptions(tokenizer="words")), Options(resamples=given.resamples)
    for sizes in given.sizes:
        start, (sample, real) = time.process_time(), map(int, sizes.split(":"))
        pairs = population.pairs((sample, real), given.repetitions, seed=sample)
        if given.of == "estimates":
            rates = estimate_rates((one for one, _ in pairs), options)
        else:
            rates = (distance_rates if given.of == "distances" else one_size_rates)(pairs, options)
        print(f"\n{sample} documents against {real}, {given.repetitions} times\n\n{table(rates)}", flush=True)
        print(f"\n{time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
