"""Print how often intervals of shares of answers cover, for other annotators and for these, as a markdown table.

    python benchmarks/calibration_people.py --repetitions 2000

The log-odds of an answer are those of the system, plus a normal number of the article (spread 1.5) and one of the
annotator (spread 0.5); one system has 70% coherent answers, the other 85%.
"""

import argparse
import time

import numpy as np

from textcritic.inference.annotation_plan import NODES, WEIGHTS, Design, log_odds
from textcritic.inference.crossed import Crossed, share, share_difference

BETWEEN = (1.5, 0.5)
SHARES = (0.7, 0.85)


def answers(rng: np.random.Generator, odds: float, design: Design, people: np.ndarray, start: int) -> Crossed:
    """Answers on new articles: each by annotators who come in turn, so that all have as many."""
    texts = rng.normal(0, BETWEEN[0], design.articles)
    article = np.repeat(np.arange(design.articles), design.answers)
    turns = [rng.permutation(len(people)) for _ in range(-(-len(article) // len(people)))]
    who = np.concatenate(turns)[: len(article)]
    if design.answers > 1:  # nobody answers twice on one article
        who = np.concatenate([rng.permutation(len(people))[: design.answers] for _ in range(design.articles)])
    p = 1 / (1 + np.exp(-(odds + texts[article] + people[who])))
    return Crossed((rng.random(len(p)) < p).astype(float), who.tolist(), (start + article).tolist())


def of_these(odds: float, people: np.ndarray) -> float:
    """The share that these annotators would have over all articles."""
    p = 1 / (1 + np.exp(-(odds + BETWEEN[0] * NODES[:, None] + people[None])))
    return float((WEIGHTS @ p).mean())


def row(design: Design, repetitions: int) -> str:
    """Coverage and mean width for a share and a difference, for other annotators and for these."""
    rng = np.random.default_rng([design.annotators, design.articles, design.answers])
    odds = [log_odds(design, value) for value in SHARES]
    covered, widths = np.zeros((repetitions, 4)), np.zeros((repetitions, 4))
    for n in range(repetitions):
        people = rng.normal(0, BETWEEN[1], design.annotators)
        sides = [answers(rng, middle, design, people, 10**6 * k) for k, middle in enumerate(odds)]
        own = [of_these(middle, people) for middle in odds]
        truths = (SHARES[0], own[0], SHARES[0] - SHARES[1], own[0] - own[1])
        found = [share(sides[0], 2), share(sides[0], 10**6)]
        found += [share_difference(*sides, 2), share_difference(*sides, 10**6)]
        for k, (truth, one) in enumerate(zip(truths, found, strict=True)):
            low, high = (np.nan, np.nan) if one.low is None else (one.low, one.high)
            covered[n, k], widths[n, k] = low <= truth <= high, high - low
    cells = [f"{100 * c:.1f}% ({w:.2f})" for c, w in zip(covered.mean(axis=0), np.nanmean(widths, axis=0), strict=True)]
    return f"| {design.annotators} | {design.articles} x {design.answers} | {' | '.join(cells)} |"


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=2000)
    said, started = parser.parse_args(), time.monotonic()
    print("| annotators | articles x answers | share, others | share, these | difference, others | difference, these |")
    print("|---|---|---|---|---|---|")
    for annotators in (3, 5, 8, 12):
        for articles, number in ((100, 1), (100, 3), (300, 1)):
            print(row(Design(articles, number, annotators), said.repetitions), flush=True)
    print(f"\n{said.repetitions} repetitions, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
