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
from tendency_calibration import Population, Rates, distance_rates, estimate_rates, one_size_rates

from textcritic.plan.entries import Tendencies

WORDS, TOPICS, MADE_UP, UNITS = 4000, 40, 8000, 1100
COMMON = ("the", "of", "and", ",", ".", "(", "to", "in", "a", "is")


def made_up_texts(documents: int = MADE_UP, seed: int = 1, together: int = 1) -> list[str]:
    """Documents of log-normal length; each has one of several topics, and a tenth of its tokens recur within it.

    So many neighbours have one topic as `together` says.
    """
    rng = np.random.default_rng(seed)
    words = np.array([*COMMON, *(f"w{number}" for number in range(WORDS - len(COMMON)))])
    law = 1 / (np.arange(WORDS) + 2.7)
    weights = law * rng.gamma(0.4, 2.5, (TOPICS, WORDS))
    weights[:, : len(COMMON)] = law[: len(COMMON)]
    topics = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    texts, topic = [], 0
    for number in range(documents):
        topic = topic if number % together else int(rng.integers(TOPICS))
        length = int(max(5, rng.lognormal(np.log(90), 0.6)))
        tokens = np.minimum(np.searchsorted(topics[topic], rng.random(length)), WORDS - 1)
        for place in np.flatnonzero(rng.random(length) < 0.1)[1:]:
            tokens[place] = tokens[rng.integers(max(0, place - 60), place)]
        texts.append(" ".join(words[tokens]))
    return texts


def texts_of(path: str) -> list[str]:
    """The texts of a Parquet file of articles."""
    articles = pq.read_table(path, columns=["sections"])["sections"].to_pylist()
    return ["\n".join(section["text"] or "" for section in sections) for sections in articles]


def whole_units(paths: Sequence[str], of: int) -> tuple[list[str], np.ndarray]:
    """The texts of articles whose `group` has at least so many, the first so many of each, and the unit of each."""
    texts: list[str] = []
    by_group: dict[str, list[str]] = {}
    for path in paths:
        groups = pq.read_table(path, columns=["group"])["group"].to_pylist()
        for group, text in zip(groups, texts_of(path), strict=True):
            by_group.setdefault(str(group), []).append(text)
    chosen = [some[:of] for group, some in by_group.items() if group != "None" and len(some) >= of]
    texts = [text for some in chosen for text in some]
    return texts, np.repeat(np.arange(len(chosen)), of)


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
    parser.add_argument(
        "--units", type=int, default=0, help="documents that belong together in real text; sizes are then single:units"
    )
    parser.add_argument("--of", choices=["distances", "estimates", "one-size"], default="distances")
    given = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    units = np.arange(UNITS * given.units) // max(1, given.units)
    if given.units and given.articles:
        texts, units = whole_units(given.articles, given.units)
        print(f"{len(texts):,} documents in {units.max() + 1} units of {given.units}")
    elif given.units:
        texts = made_up_texts(len(units), together=given.units)
    else:
        texts = [text for path in given.articles for text in texts_of(path)] or made_up_texts()
    options = Tendencies(kind="tendencies", tokenizer="words", resamples=given.resamples)
    population = Population(texts, options)
    for sizes in given.sizes:
        start, (sample, real) = time.process_time(), map(int, sizes.split(":"))
        if given.units:
            pairs = population.pairs_with_units(units, (sample, real), given.repetitions, seed=sample)
        else:
            pairs = population.pairs((sample, real), given.repetitions, seed=sample)
        if given.of == "estimates":
            rates = estimate_rates((one for one, _ in pairs), options)
        else:
            rates = (distance_rates if given.of == "distances" else one_size_rates)(pairs, options)
        against = f"{real} units of {given.units}" if given.units else real
        print(f"\n{sample} documents against {against}, {given.repetitions} times\n\n{table(rates)}", flush=True)
        print(f"\n{time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
