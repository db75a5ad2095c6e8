"""Looking documents up in training text: against sets of Python, and time and memory of a large text.

    pytest benchmarks/test_bench_recitation.py -s

The text is made up: documents of words drawn from Zipf's law, of which a fifth are passages of earlier documents. The
large one runs in a process of its own, so that its peak memory is its own; the text itself counts in it.
"""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from timing import cpu_seconds

from textcritic.critics.recitation import LENGTHS, index_articles, score_texts
from textcritic.plan.entries import Recitation

TYPES, LENGTH = 50_000, 150
TRAIN, TEST = 1_500, 300
LARGE = 40_000  # documents, 6 million words
MEASURE = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[2])
from test_bench_recitation import documents, ids_of
from textcritic.critics.recitation import index_articles, score_texts
from textcritic.plan.entries import Recitation
train, test = documents(int(sys.argv[1]), 1), documents(int(sys.argv[1]) // 10, 2)
began = time.process_time()
index = index_articles([(ids_of(train), train)], Recitation(kind="recitation", tokenizer="whitespace"))
indexed = time.process_time()
score_texts(index, ids_of(test), test)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([len(index.suffixes.tokens), indexed - began, time.process_time() - indexed, peak]))
"""


def documents(number, seed):
    """Texts of `LENGTH` words."""
    rng = np.random.default_rng(seed)
    shares = np.cumsum(np.arange(1, TYPES + 1) ** -1.1)
    drawn = np.searchsorted(shares / shares[-1], rng.random((number, LENGTH)))
    passages = rng.integers(0, number, (number, 1)), rng.integers(0, LENGTH - 30, (number, 1)) + np.arange(30)
    drawn[:, :30] = drawn[passages]
    names = pa.array([f"w{n}" for n in range(TYPES)])
    lists = pa.ListArray.from_arrays(
        np.arange(0, drawn.size + 1, LENGTH, np.int32), names.take(pa.array(drawn.ravel()))
    )
    return pa.compute.binary_join(lists, " ")


def ids_of(texts):
    return pa.array([str(n) for n in range(len(texts))])


def by_sets(train, test):
    """n-grams of each document that stand in the training text, a document at a time; no longest passage."""

    def grams(text, n):
        words = text.lower().split()
        return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]

    counts = []
    for n in LENGTHS:
        known = {gram for text in train for gram in grams(text, n)}
        counts.append([sum(gram in known for gram in grams(text, n)) for text in test])
    return np.array(counts).T


def test_against_sets(capsys):
    train, test = documents(TRAIN, 1), documents(TEST, 2)
    entry = Recitation(kind="recitation", tokenizer="whitespace")
    index_articles([(ids_of(train[:10]), train[:10])], entry)  # tables of Unicode

    def ours():
        index = index_articles([(ids_of(train), train)], entry)
        return score_texts(index, ids_of(test), test)

    fast, scores = cpu_seconds(ours, 3)
    slow, counts = cpu_seconds(lambda: by_sets(train.to_pylist(), test.to_pylist()))
    assert scores["seen"].to_pylist() == counts.tolist()
    with capsys.disabled():
        print(f"\n{TRAIN * LENGTH:,} words: {fast:.2f} s, by sets {slow:.2f} s: {slow / fast:.0f} times")


@pytest.mark.parametrize("number", [LARGE // 4, LARGE])
def test_a_large_text(number, capsys):
    arguments = [sys.executable, "-c", MEASURE, str(number), __file__.rpartition("/")[0]]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    tokens, indexing, scoring, peak = json.loads(done)
    with capsys.disabled():
        print(f"\n{tokens:,} words: indexed in {indexing:.1f} s, a tenth looked up in {scoring:.1f} s, {peak:,.0f} MiB")
