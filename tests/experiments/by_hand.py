"""What a table should print, computed anew from the papers' definitions: sums over documents, intervals and tests.

Nothing here calls the code that it is compared with: chains are counted step by step, resamples one by one.
"""

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from bootstrap_oracle import studentised

BEGIN, END = "<begin>", "<end>"
SPLITS = 10_000
Columns = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Critic:
    """P(next | previous) by title, from counts in critic.json and a pseudo-count (paper, section 4)."""

    titles: list[str]
    counts: np.ndarray
    delta: float
    begin_too: bool = False

    @classmethod
    def of(cls, path: Path) -> "Critic":
        value = json.loads(path.read_text())
        return cls(value["titles"], np.array(value["counts"], float), value["delta"])

    def p(self, before: str, after: str) -> float:
        row = self.counts[0 if before == BEGIN else 1 + self.titles.index(before)]
        cell = row[-1] if after == END else row[self.titles.index(after)]
        targets = len(self.titles) + 1 + self.begin_too
        total = row.sum() + self.delta * targets
        return (cell + self.delta) / total if total else 0.0

    def nll(self, steps: Sequence[tuple[str, str]]) -> float:
        probabilities = [self.p(*step) for step in steps]
        return math.inf if 0 in probabilities else -sum(map(math.log, probabilities))


def steps_of(chain: Sequence[str]) -> list[tuple[str, str]]:
    """The K + 1 transitions of K sections."""
    return list(pairwise([BEGIN, *chain, END]))


def kept(path: Path) -> list[dict]:
    """The documents of a file of scores that were not rejected."""
    return [row for row in pq.read_table(path).to_pylist() if not row["rejected"]]


def documents(path: Path, critic: Critic) -> list[tuple[float, int]]:
    """(NLL, steps) of every scored document."""
    return [(critic.nll(steps_of(row["chain"])), len(row["chain"]) + 1) for row in kept(path)]


def ratio(columns: Columns) -> float:
    first, second = np.sum(columns, axis=0)
    return first / second


def ppl(columns: Columns) -> float:
    return math.exp(ratio(columns))


def percent(columns: Columns) -> float:
    return 100 * ratio(columns)


def interval(
    columns: Columns, statistic: Callable[[Columns], float], resamples: int
) -> tuple[float | None, float | None]:
    """The studentised interval of 95%, documents drawn with replacement; None where there is none."""
    if len(columns) < 20:
        return None, None
    low, high = studentised(columns, resamples=resamples, exponent=statistic is ppl)
    if low is None:
        return None, None
    scale = 100 if statistic is percent else 1
    return max(scale * low, 0), min(scale * high, 100) if statistic is percent else scale * high


def check_p(p: float, first: Columns, second: Columns, resamples: int) -> None:
    """A two-sided permutation test of the difference in log PPL per step, within five standard errors of ours.

    Documents are dealt anew without replacement; the observed deal counts as one of those drawn.
    """
    pooled = np.array([*first, *second], float)
    rng = np.random.default_rng(77)
    order = rng.permuted(np.tile(np.arange(len(pooled)), (SPLITS, 1)), axis=1)
    one, two = (pooled[part].sum(axis=1) for part in (order[:, : len(first)], order[:, len(first) :]))
    dealt = np.abs(one[:, 0] / one[:, 1] - two[:, 0] / two[:, 1])
    expected = (1 + (dealt >= abs(ratio(first) - ratio(second)) - 1e-12).sum()) / (1 + SPLITS)
    # As many random splits as the study asks for, a tenth (200 at least) where p is above 0.1, and the observed one.
    made = max(200, resamples // 10) if p > 0.1 and resamples >= 400 else resamples
    error = 5 * math.sqrt(max(expected * (1 - expected), 1 / made) * (1 / made + 1 / SPLITS))
    assert abs(p - expected) <= error
    splits = p * (made + 1)
    assert splits == round(splits, 6) >= 1 or abs(splits - round(splits)) < 1e-6


def decomposition(steps: Sequence[tuple[str, str]], p: Callable[[str, str], float]) -> dict[str, float]:
    """Nats per step (paper, appendix B), and Miller and Madow's correction of each row's entropy."""
    cells, rows = Counter(steps), Counter(before for before, _ in steps)
    total = len(steps)
    cross = -sum(n * math.log(p(*step)) for step, n in cells.items()) / total
    entropy = -sum(n * math.log(n / rows[step[0]]) for step, n in cells.items()) / total
    bias = (len(cells) - len(rows)) / (2 * total)
    found = {"cross_entropy": cross, "entropy": entropy, "kl": cross - entropy}
    return found | {"entropy_corrected": entropy + bias, "kl_corrected": cross - entropy - bias}


def printed(folder: Path, name: str) -> list[dict[str, str]]:
    """The rows of a table's CSV, as text."""
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def check(row: dict[str, str], expected: dict[str, object]) -> None:
    """Every expected cell: numbers to the ninth digit, text as it is, None as an empty cell.

    The p-value of a recipe, whose real text has a standard error to seven digits, is looked at to the fifth.
    """
    for column, value in expected.items():
        cell = row[column]
        if value is None or isinstance(value, str):
            assert cell == (value or ""), column
        else:
            assert cell, column
            digits = 1e-5 if column == "seeds_p" else 1e-9
            assert math.isclose(float(cell), float(value), rel_tol=digits, abs_tol=1e-12), (column, cell, value)
