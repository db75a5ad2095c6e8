"""Own measures: is p < 0.05 in 5% of cases where nothing differs, and does the interval hold the truth in 95%?

Documents of one population, in groups that differ from each other, are measured by functions as a user writes them
(mean, median, ratio of sums, of documents and of sections). Both sides are then drawn from it again and again: single
documents on both sides, or whole groups on one side; they go through the functions that tables use. Prints a Markdown
table with the 95% interval of each rate; docs/results/calibration.md has it.

    python benchmarks/calibration_metrics.py [--repetitions 400] [--resamples 499] [--only "Median"]
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import textcritic
from textcritic.corpora import Article, Section
from textcritic.critics.own import measure_documents, measured_of
from textcritic.inference import share_interval
from textcritic.measures.measure import Measure, Resampling
from textcritic.measures.own import metric_of
from textcritic.measures.own_rows import Measured, measure_of, scored_of
from textcritic.measures.rows import estimated

GROUPS = 700  # of the population; each has 1 to 12 documents
SINGLE = ((50, 50), (100, 1000), (1000, 100), (20, 20), (20, 1000))
"""Documents of the sample and of real text, all alone."""
GROUPED = ((20, 200), (40, 1000), (100, 200))
"""Groups of the sample, and documents of real text, which are alone."""
HEAD = "| measure | sample / real | p < 0.05 | covers: sample | real text |"


def words(document: Article) -> int:
    return len(document.text.split())


def section_words(section: Section) -> int:
    return len(section.text.split())


def long_words(document: Article) -> tuple[int, int]:
    """Long words, and all."""
    found = document.text.split()
    return sum(len(word) > 6 for word in found), len(found)


MEASURES: dict[str, tuple[Any, dict[str, Any]]] = {
    "Mean": (words, {}),
    "Median": (words, {"statistic": "median"}),
    "Ratio": (long_words, {"statistic": "ratio"}),
    "Mean of sections": (section_words, {"of": "sections"}),
    "Median of sections": (section_words, {"of": "sections", "statistic": "median"}),
}


@dataclass(frozen=True, eq=False)
class Population:
    """The numbers of all documents, and their groups.

    Attributes:
        measure: what is estimated.
        pairs: of each document: [values, 2].
        groups: the documents of each group.
    """

    measure: Measure
    pairs: Sequence[np.ndarray]
    groups: Sequence[np.ndarray]

    @property
    def truth(self) -> float:
        """The value of the population."""
        every = np.concatenate(self.pairs)
        if self.measure.estimate is not None:
            return float(np.median(every[:, 0]))
        return float(every[:, 0].sum() / every[:, 1].sum())

    def alone(self, number: int, rng: np.random.Generator) -> Measured:
        """Documents that are alone."""
        return self._some(rng.integers(0, len(self.pairs), number), None)

    def grouped(self, number: int, rng: np.random.Generator) -> Measured:
        """Whole groups."""
        drawn = [self.groups[place] for place in rng.integers(0, len(self.groups), number)]
        names: list[str | None] = [f"g{place}" for place, some in enumerate(drawn) for _ in some]
        return self._some(np.concatenate(drawn), names)

    def _some(self, documents: np.ndarray, groups: list[str | None] | None) -> Measured:
        pairs = [self.pairs[place] for place in documents]
        owner = np.repeat(np.arange(len(pairs)), [len(one) for one in pairs])
        return Measured(np.concatenate(pairs), owner, groups)


def corpus(seed: int = 1) -> tuple[list[Article], list[np.ndarray]]:
    """Documents of one to six sections in groups; a group has a length and a share of long words of its own."""
    rng = np.random.default_rng(seed)
    documents: list[Article] = []
    groups = []
    for group in range(GROUPS):
        size = int(rng.integers(1, 13))
        length, share = rng.lognormal(3, 0.4), rng.beta(4, 12)
        groups.append(np.arange(len(documents), len(documents) + size))
        for number in range(size):
            lengths = np.ceil(length * rng.lognormal(0, 0.6, rng.integers(1, 7))).astype(int)
            texts = [" ".join(np.where(rng.random(n) < share, "sentence", "word")) for n in lengths]
            sections = tuple(Section(None, text) for text in texts)
            documents.append(Article(f"{group}-{number}", None, sections, "made up", f"{group}"))
    return documents, groups


def population(name: str, documents: Sequence[Article], groups: Sequence[np.ndarray]) -> Population:
    """All documents, measured."""
    function, declared = MEASURES[name]

    def measured(given: Any) -> Any:
        return function(given)

    metric = metric_of(textcritic.measure(title=name, **declared)(measured))
    found = measured_of(measure_documents(metric, documents, len(documents)))
    pairs = np.split(found.pairs, np.cumsum(np.bincount(found.document))[:-1])
    return Population(measure_of(metric.declared), pairs, groups)


def rates(one: Population, sizes: tuple[int, int], grouped: bool, repetitions: int, resamples: int) -> dict[str, Any]:
    """(How often, of how many) of each fact: p below 0.05, and both intervals that hold the truth."""
    counts = {name: [0, 0] for name in ("p", "sample", "real")}
    truth = one.truth
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, *sizes])
        sample = scored_of(one.measure, (one.grouped if grouped else one.alone)(sizes[0], rng))
        real = scored_of(one.measure, one.alone(sizes[1], rng))
        resampling = Resampling(resamples, seed)
        found = {"sample": estimated(one.measure, sample, real, resampling)}
        found["real"] = estimated(one.measure, real, None, resampling)
        for name, estimate in found.items():
            if estimate is not None and estimate.low is not None:
                counts[name][1] += 1
                counts[name][0] += estimate.low <= truth <= estimate.high
        if (p := found["sample"].p) is not None:
            counts["p"][1] += 1
            counts["p"][0] += p < 0.05
    return counts


def cases() -> Iterator[tuple[tuple[int, int], bool]]:
    """Sizes, and whether the sample is of whole groups."""
    yield from ((sizes, False) for sizes in SINGLE)
    yield from ((sizes, True) for sizes in GROUPED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=499)
    parser.add_argument("--only", nargs="*", default=[""], help="measures whose names begin so")
    options = parser.parse_args()
    documents, groups = corpus()
    print(f"{HEAD}\n|{'---|' * 5}")
    for name in MEASURES:
        if not name.startswith(tuple(options.only)):
            continue
        one = population(name, documents, groups)
        for sizes, grouped in cases():
            counts = rates(one, sizes, grouped, options.repetitions, options.resamples)
            cells = []
            for held, asked in counts.values():
                low, high = (100 * end for end in share_interval(held, asked)) if asked else (0, 0)
                cells.append(f"{100 * held / asked:.1f}% ({low:.1f}–{high:.1f})" if asked else "")
            what = f"{sizes[0]:,} groups" if grouped else f"{sizes[0]:,}"
            print(f"| {name} | {what} / {sizes[1]:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
