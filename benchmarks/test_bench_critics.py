"""The transition critic and its tests against plain Python loops, as ratios measured in one run.

Run with `python -m pytest benchmarks/test_bench_critics.py -s`; nothing is asserted about time.
"""

import math
import random
import time
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from timing import cpu_seconds

from textcritic.critics import TransitionCritic, document_columns, latent_ppl, score_chains, score_posteriors
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums, permutation_test, ratio_of_sums

# CPU time, because a ratio of wall times would measure the other jobs of the machine.
pytestmark = pytest.mark.benchmark(timer=time.process_time, disable_gc=True)

DOCUMENTS = 200_000
DELTA = 0.1
TITLES = [f"title {i}" for i in range(96)]  # as many section types as the paper's Wiki (Table 11)


def synthetic_chains(documents, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 9, documents)
    flat = np.minimum(rng.zipf(1.4, int(lengths.sum())), len(TITLES)) - 1
    titles = pa.array(TITLES).take(pa.array(flat))
    return pa.ListArray.from_arrays(np.concatenate([[0], lengths.cumsum()]).astype(np.int32), titles)


def loop_fit(train):
    """What fit does with one smoothing, a chain and a transition at a time."""
    counts, totals = Counter(), Counter()
    for chain in train:
        for source, target in pairwise(["<begin>", *chain, "<end>"]):
            counts[source, target] += 1
            totals[source] += 1
    width = len(totals)  # the titles and the end

    def log_prob(source, target, delta):
        return math.log((counts[source, target] + delta) / (totals[source] + delta * width))

    return lambda source, target: log_prob(source, target, DELTA)


def loop_score(log_prob, chains):
    return [
        [-log_prob(source, target) for source, target in pairwise(["<begin>", *chain, "<end>"])] for chain in chains
    ]


def report(capsys, what, loop, ours):
    with capsys.disabled():
        print(f"\n{what}: loops {loop:.2f} s, textcritic {ours:.3f} s, ratio {loop / ours:.0f}x")


@pytest.fixture(scope="module")
def chains():
    return synthetic_chains(DOCUMENTS, 1)


def test_fit_and_score_columns(benchmark, capsys, chains):
    """Chains as they lie in Parquet, which is what the workflow's rules read."""
    train = chains
    ids = pa.array([str(i) for i in range(DOCUMENTS)])

    def ours():
        critic = TransitionCritic.fit(train, grid=[DELTA])
        return score_chains(critic, ids, train)

    scores = benchmark.pedantic(ours, rounds=3, warmup_rounds=1)
    lists = train.to_pylist()
    loop, step_nll = cpu_seconds(lambda: loop_score(loop_fit(lists), lists))
    expected = math.exp(sum(map(sum, step_nll)) / sum(map(len, step_nll)))
    assert latent_ppl(scores) == pytest.approx(expected, rel=1e-9)
    report(capsys, f"fit + score, {DOCUMENTS:,} chains in columns", loop, benchmark.stats.stats.median)


def test_fit_and_score_lists(benchmark, capsys, chains):
    """The same from lists of Python strings, whose conversion is most of the time."""
    train = chains.to_pylist()
    ids = [str(i) for i in range(DOCUMENTS)]

    def ours():
        critic = TransitionCritic.fit(train, grid=[DELTA])
        return score_chains(critic, ids, train)

    benchmark.pedantic(ours, rounds=3, warmup_rounds=1)
    loop, _ = cpu_seconds(lambda: loop_score(loop_fit(train), train))
    report(capsys, f"fit + score, {DOCUMENTS:,} chains in lists", loop, benchmark.stats.stats.median)


def test_million_documents(benchmark, capsys):
    million = synthetic_chains(1_000_000, 3)
    critic = TransitionCritic.fit(synthetic_chains(10_000, 4), titles=TITLES, grid=[1.0])
    ids = pa.array([str(i) for i in range(1_000_000)])
    benchmark.pedantic(lambda: score_chains(critic, ids, million), rounds=3, warmup_rounds=1)
    with capsys.disabled():
        print(f"\nscore, 1,000,000 chains: {benchmark.stats.stats.median:.2f} s")


def test_soft_scores(benchmark, capsys):
    rng = np.random.default_rng(5)
    critic = TransitionCritic.fit(synthetic_chains(10_000, 4), titles=TITLES, grid=[1.0])
    posteriors = [rng.dirichlet(np.full(96, 0.1), size=4).astype(np.float32) for _ in range(5000)]
    ids = [str(i) for i in range(5000)]
    benchmark.pedantic(lambda: score_posteriors(critic, ids, posteriors), rounds=3, warmup_rounds=1)
    nll = -critic.log_probs

    def loops(documents):
        for q in documents:
            total = sum(q[0][j] * nll[0, j] for j in range(96)) + sum(q[-1][i] * nll[i + 1, 96] for i in range(96))
            for before, after in pairwise(q):
                total += sum(before[i] * after[j] * nll[i + 1, j] for i in range(96) for j in range(96))

    loop, _ = cpu_seconds(lambda: loops(q.tolist() for q in posteriors[:20]))
    report(capsys, "soft scores, 5,000 documents", loop * 250, benchmark.stats.stats.median)


@pytest.mark.parametrize("documents", [5000, 1_000_000])
def test_bootstrap(benchmark, capsys, documents):
    columns = columns_of(documents, 6)
    resamples = 10_000 if documents <= 5000 else 100
    benchmark.pedantic(lambda: bootstrap_interval(columns, exp_ratio_of_sums, resamples), rounds=1)
    rows, rng, few = columns.tolist(), random.Random(1), 1 if documents > 5000 else 50

    def loops():
        for _ in range(few):
            drawn = [rows[rng.randrange(documents)] for _ in range(documents)]
            math.exp(sum(nll for nll, _ in drawn) / sum(steps for _, steps in drawn))

    loop, _ = cpu_seconds(loops)
    what = f"bootstrap, {documents:,} documents, {resamples:,} resamples"
    report(capsys, what, loop * resamples / few, benchmark.stats.stats.median)


@pytest.mark.parametrize("documents", [5000, 1_000_000])
def test_permutation(benchmark, capsys, documents):
    first, second = columns_of(documents // 2, 6), columns_of(documents // 2, 7)
    resamples = 10_000 if documents <= 5000 else 100
    benchmark.pedantic(lambda: permutation_test(first, second, ratio_of_sums, resamples), rounds=1)
    rows, rng, few = np.concatenate([first, second]).tolist(), random.Random(1), 1 if documents > 5000 else 50

    def loops():
        for _ in range(few):
            rng.shuffle(rows)
            halves = rows[: documents // 2], rows[documents // 2 :]
            sums = [(sum(nll for nll, _ in half), sum(steps for _, steps in half)) for half in halves]
            abs(sums[0][0] / sums[0][1] - sums[1][0] / sums[1][1])

    loop, _ = cpu_seconds(loops)
    what = f"permutation test, {documents:,} documents, {resamples:,} splits"
    report(capsys, what, loop * resamples / few, benchmark.stats.stats.median)


def columns_of(documents, seed):
    critic = TransitionCritic.fit(synthetic_chains(10_000, 4), titles=TITLES, grid=[1.0])
    return document_columns(score_chains(critic, [""] * documents, synthetic_chains(documents, seed)))
