"""k-hat and curves of many texts against loops over texts with the same code, as ratios of one run.

Run with `python -m pytest benchmarks/test_bench_importance.py -s`. 1,000 texts with 1,000 draws are a test set of
sentences as the paper's; a loop runs over some of the texts, and its time for one stands for all.
"""

import numpy as np
import pytest
from timing import cpu_seconds

from textcritic.inference.importance import LogWeights, advice, curves, intervals, pareto_k

TEXTS, DRAWS = 1000, 1000
LOOPED = 100


def some(draws=DRAWS):
    rng = np.random.default_rng(1)
    return LogWeights(tuple(map(str, range(TEXTS))), rng.normal(-60, 1.5, (TEXTS, draws)), np.full(TEXTS, 20.0))


@pytest.mark.parametrize("draws", [100, 1000])
def test_k_hat(capsys, draws):
    weights = some(draws)
    singles = [
        LogWeights((one,), weights.log_weights[[row]], np.ones(1)) for row, one in enumerate(weights.ids[:LOOPED])
    ]
    loop, found = cpu_seconds(lambda: [pareto_k(one)[0] for one in singles])
    ours, every = cpu_seconds(lambda: pareto_k(weights), repeats=3)
    np.testing.assert_allclose(every[:LOOPED], found, rtol=1e-9)
    loop *= TEXTS / LOOPED
    with capsys.disabled():
        print(f"\nk-hat, {draws:,} draws: loop {loop:.2f} s, textcritic {ours:.2f} s, ratio {loop / ours:.1f}x")


def test_seconds(capsys):
    weights = some()
    for name, call in (
        ("intervals", lambda: intervals(weights)),
        ("curves of 100 repeats", lambda: curves(weights)),
        ("advice", lambda: advice(weights)),
    ):
        with capsys.disabled():
            print(f"\n{name} of {TEXTS:,} texts with {DRAWS:,} draws: {cpu_seconds(call)[0]:.2f} s")
