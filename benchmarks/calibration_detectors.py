"""Are tests and intervals of detectors what they say? Documents of 3 to 8 sentences, flagged by chance, in Markdown.

Two detectors of the same skill, whose scores depend on each other, read the same documents; and one of them reads two
sets of documents of unequal size and unequal lengths. p should be below 0.05 in 5%, and intervals should hold the truth
in 95%. With groups, so many groups of 1 to 7 documents that are alike.

python benchmarks/calibration_detectors.py    # 2 CPU minutes
"""

import numpy as np

from textcritic.critics.detectors.counts import counts_of, parts_of
from textcritic.inference import (
    Trials,
    bootstrap_interval,
    mcnemar_test,
    paired_permutation_test,
    ranking_interval,
    ratio_of_sums,
    standardised_share,
    unit_of,
    unit_sums,
)

REPETITIONS, RESAMPLES = 1000, 999
SIZES = ((60, 200), (200, 60), (200, 1000))
THRESHOLD, SHIFT, LARGE = 1.2, 1.0, 40_000
NUMBERS = ("accuracy", "f1")


def documents(number, groups, seed, lengths=(1, 1, 1, 1, 1, 1)):
    """Scores of two detectors on so many documents, or groups of them.

    (lengths, intruders or -1, scores [2, documents, 8], groups or None).
    Sentence 0 is never an intruder and has no score. Intruders score SHIFT higher.
    """
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(number), rng.integers(1, 8, number) if groups else 1)
    number = len(group)
    long = rng.choice(np.arange(3, 9), number, p=np.array(lengths) / sum(lengths))
    hard = rng.normal(0, 0.7, number)[group]  # of a group: its sentences score higher or lower, for both detectors
    intruder = np.where(rng.random(number) < 0.5, rng.integers(1, long), -1)
    scores = rng.normal(0, 0.7, (number, 8)) + hard[:, None] + rng.normal(0, 0.7, (2, number, 8))
    found = np.flatnonzero(intruder > 0)
    scores[:, found, intruder[found]] += SHIFT
    return long, intruder, scores, [f"g{n}" for n in group] if groups else None


def counted(long, intruder, scores):
    """`counts_of` of each document at the threshold: [documents, 5]."""
    rows = zip(long, intruder, scores, strict=True)
    flags = ((None if at < 0 else int(at), [n for n in range(1, size) if row[n] > THRESHOLD]) for size, at, row in rows)
    return np.array([counts_of(*one) for one in flags], float)


def ranked(long, intruder, scores, groups):
    """What `ranking_interval` reads: scores, truths and units of the sentences."""
    unit = unit_of(groups, len(long))
    places = [(row, n) for row, size in enumerate(long) for n in range(1, size)]
    rows, columns = np.array(places).T
    return scores[rows, columns], intruder[rows] == columns, unit[rows]


def truths():
    """Accuracy, F1 and AUC of many documents."""
    long, intruder, scores, _ = documents(LARGE, False, 999)
    counts = counted(long, intruder, scores[0])
    found = {name: float(ratio_of_sums(parts_of(counts, name).sum(axis=0))) for name in NUMBERS}
    return found | {"auc": ranking_interval(*ranked(long, intruder, scores[0], None), resamples=2).estimate}


def rates(sizes, groups, repetitions, resamples):
    """How often each p is below 0.05, and how often each interval holds the truth."""
    truth, found = truths(), {}

    def note(name, value):
        found[name] = found.get(name, 0) + value / repetitions

    for seed in range(repetitions):
        long, intruder, scores, group = documents(sizes[0], groups, 2 * seed)
        first, second = (counted(long, intruder, each) for each in scores)
        note("p of accuracy", mcnemar_test(first[:, 0], second[:, 0], group, resamples).p < 0.05)
        one, two = (unit_sums(parts_of(counts, "f1"), group) for counts in (first, second))
        note("p of F1", paired_permutation_test(one, two, ratio_of_sums, resamples).p < 0.05)
        for name in NUMBERS:
            interval = bootstrap_interval(unit_sums(parts_of(first, name), group), ratio_of_sums, resamples)
            note(f"held {name}", interval.low <= truth[name] <= interval.high)
        interval = ranking_interval(*ranked(long, intruder, scores[0], group), resamples=resamples)
        note("held auc", interval.low <= truth["auc"] <= interval.high)
        other = documents(sizes[1], groups, 2 * seed + 1, lengths=(1, 1, 2, 2, 4, 4))
        sets = ((long, scores[0], group), (other[0], other[2][0], other[3]))
        own, real = (Trials(np.array(flagged(size, row)), size, named) for size, row, named in sets)
        share = standardised_share(own, real, resamples)
        note("p of share", share.p < 0.05)
        note("held share", share.interval.low <= flagged_share(real.strata) <= share.interval.high)
    return found


def flagged(long, scores):
    """Whether any sentence of each document is above the threshold."""
    return [bool((row[1:size] > THRESHOLD).any()) for size, row in zip(long, scores, strict=True)]


def flagged_share(lengths):
    """The truth of the share at these lengths, from many documents of each."""
    return float(np.mean([_share_at(size) for size in lengths]))


def _share_at(size, known={}):  # noqa: B006 - a cache
    if size not in known:
        chosen = [int(length == size) for length in range(3, 9)]
        long, _, scores, _ = documents(LARGE, False, 77, lengths=chosen)
        known[size] = np.mean(flagged(long, scores[0]))
    return known[size]


if __name__ == "__main__":
    heads: list[str] = []
    for groups in (False, True):
        for sizes in SIZES:
            found = rates(sizes, groups, REPETITIONS, RESAMPLES)
            if not heads:
                heads = list(found)
                print(f"| documents | in groups | {' | '.join(heads)} |\n|{'---|' * (2 + len(heads))}")
            cells = " | ".join(f"{100 * found[name]:.1f}%" for name in heads)
            print(f"| {sizes[0]} and {sizes[1]} | {'yes' if groups else 'no'} | {cells} |", flush=True)
