"""How often tests of words are wrong where documents belong together, and what they notice, as a markdown table.

    python benchmarks/calibration_groups.py    # 35 minutes of CPU

Made-up documents: each group of five has a topic of its own, weak or strong. Real text is in groups, and the sample is
of single documents, as many or more, or in as many groups. Both are of one population; or one in five of the commonest
words of the sample is another word. Two tests of the same documents: all groups are exchanged; as many groups of both
are, drawn twenty times where the sample has more, and p is twice the median. In percent of the studies with p < 0.05,
with the exact interval.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tendency_calibration import Population

from textcritic.critics.tendencies.counts import Counts
from textcritic.critics.tendencies.distances import Pair, distances
from textcritic.inference import share_interval
from textcritic.plan.entries import Tendencies

WORDS, GROUPS, TOGETHER, MEAN = 1000, 400, 5, 90
TOPICS = {"strong": 0.4, "weak": 4.0}
"""The shape of the gamma distribution of how much more or less often a topic has each word."""
NAMES = {"unigram_max": "words", "bigram_max": "pairs", "rank": "ranks"}
SIDES = "one, as many", "one, more", "both"
FAULT, FAULTY = 0.2, 20


def texts_of(shape: float, seed: int = 1) -> tuple[list[str], list[str]]:
    """Documents of `GROUPS` groups, as they are and with the fault: of the `FAULTY` commonest words the next one."""
    rng = np.random.default_rng(seed)
    law = 1 / (np.arange(WORDS) + 2.7)
    plain, faulty = [], []
    for _ in range(GROUPS):
        weights = law * rng.gamma(shape, 1 / shape, WORDS)
        shares = (weights / weights.sum()).cumsum()
        for _ in range(TOGETHER):
            length = int(max(5, rng.lognormal(np.log(MEAN), 0.6)))
            words = np.minimum(np.searchsorted(shares, rng.random(length)), WORDS - 1)
            wrong = np.where((words < FAULTY) & (rng.random(length) < FAULT), words + FAULTY, words)
            plain.append(" ".join(f"w{word}" for word in words))
            faulty.append(" ".join(f"w{word}" for word in wrong))
    return plain, faulty


def pairs(
    populations: tuple[Population, Population], units: npt.NDArray[np.int64], groups: int, side: str, times: int
) -> Iterator[tuple[Counts, Counts]]:
    """Samples of the first population, and real text of the second."""
    several = {"both": groups, "one, as many": groups * TOGETHER, "one, more": GROUPS}[side]
    sizes = min(several, GROUPS - groups), groups
    drawn = (one.pairs_with_units(units, sizes, times, groups, side == "both") for one in populations)
    for (sample, _), (_, real) in zip(*drawn, strict=True):
        yield sample, real


def rates(found: Iterator[tuple[Counts, Counts]], options: Tendencies) -> Iterator[str]:
    """Of words, pairs and ranks how often p is below 0.05: all groups exchanged, and as many of both."""
    significant: dict[str, list[tuple[bool, bool]]] = {name: [] for name in NAMES}
    for sample, real in found:
        # Where no documents are said to belong together, groups stay what they are, and all are exchanged.
        alone = [replace(one, unit=np.arange(len(one.unit), dtype=np.int32)) for one in (real, sample)]
        tested = [distances(Pair(*both), options, NAMES)[0] for both in (alone, (real, sample))]
        for name, hits in significant.items():
            hits.append((tested[0][name].p < 0.05, tested[1][name].p < 0.05))
    for hits in significant.values():
        for several in zip(*hits, strict=True):
            low, high = share_interval(sum(several), len(several))
            yield f"{100 * np.mean(several):.1f} ({100 * low:.1f}–{100 * high:.1f})"


def main() -> None:
    """Read the arguments, and print a row for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200, help="under the null")
    parser.add_argument("--faulty", type=int, default=50, help="repetitions with the fault")
    parser.add_argument("--resamples", type=int, default=99, help="of each test")
    parser.add_argument("--groups", type=int, nargs="*", default=[20, 60])
    parser.add_argument("--topics", nargs="*", default=list(TOPICS), choices=list(TOPICS))
    parser.add_argument(
        "--sides", nargs="*", default=SIDES, help="with groups, and how many single documents another has"
    )
    given = parser.parse_args()
    units, options = np.repeat(np.arange(GROUPS), TOGETHER), Tendencies(kind="tendencies", resamples=given.resamples)
    heads = [f"{word}, {test}" for word in NAMES.values() for test in ("all", "as many")]
    print(f"| topics | groups | on | sample | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 4)}")
    for topics in given.topics:
        plain, faulty = (Population(texts, Tendencies(kind="tendencies")) for texts in texts_of(TOPICS[topics]))
        for groups in given.groups:
            for side in given.sides:
                for sample in (plain, faulty):
                    times = given.faulty if sample is faulty else given.repetitions
                    found = pairs((sample, plain), units, groups, side, times)
                    cells = " | ".join(rates(found, options))
                    what = "faulty" if sample is faulty else "the same"
                    print(f"| {topics} | {groups} | {side} | {what} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
