"""Counting and comparing a million documents: time, memory, and plain loops over some of them.

    pytest benchmarks/test_bench_tendencies.py -s

Documents of 57 tokens in the mean, as long as the paper's lines of Wikipedia, of words drawn from Zipf's law. Times are
of a fresh process each, whose peak memory is printed too: the text, which is mapped from a file, counts in it. Nothing
is asserted about time. It takes some minutes.
"""

import json
import random
import subprocess
import sys
import time
from bisect import bisect_right
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.feather as feather
import pytest

from textcritic.critics.tendencies.counting import count_texts, lags_up_to
from textcritic.critics.tendencies.measure import measure_sample
from textcritic.critics.tendencies.words import stop_words_of
from textcritic.plan.entries import Tendencies

MEAN_LENGTH = 57
WORDS = 1_000_000
PART = 4_000
COMPARED = 50_000
PERMUTED = 3
MEASURE = """
import json, resource, sys, time
import pyarrow.feather as feather
from textcritic.critics.tendencies.counting import count_texts
from textcritic.plan.entries import Tendencies
path, copies, threads, tokenizer = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4]
texts = feather.read_table(path, memory_map=True)["text"]
options = Tendencies(kind="tendencies", tokenizer=tokenizer)
count_texts([texts.chunk(0)[:10]], 10, options)  # tables of Unicode, imports
wall, cpu = time.perf_counter(), time.process_time()
batches = (chunk for _ in range(copies) for chunk in texts.chunks)
counts = count_texts(batches, copies * len(texts), options, threads=threads)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([wall, cpu, peak, counts.tokens, len(counts.words)]))
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Two files: of a million documents, and of the first tenth of them."""
    folder = tmp_path_factory.mktemp("bench")
    rng = np.random.default_rng(1)
    words = spelt(rng)
    probabilities = 1 / np.arange(1, WORDS + 1) ** 1.1
    cumulative = np.cumsum(probabilities / probabilities.sum())
    parts = []
    for _ in range(100):
        lengths = np.maximum(rng.negative_binomial(2, 2 / (2 + MEAN_LENGTH), 10_000), 0)
        drawn = words.take(pa.array(np.minimum(np.searchsorted(cumulative, rng.random(lengths.sum())), WORDS - 1)))
        lists = pa.ListArray.from_arrays(np.concatenate([[0], lengths.cumsum()]).astype(np.int32), drawn)
        parts.append(pa.compute.binary_join(lists, " "))
    for name, number in (("million", 100), ("tenth", 10)):
        table = pa.table({"text": pa.chunked_array(parts[:number])})
        feather.write_feather(table, folder / name, compression="uncompressed", chunksize=10_000)
    return folder


def spelt(rng):
    """Distinct words of letters, the commonest the shortest; some are stop words, numbers or marks."""
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxzé"))
    made = dict.fromkeys(["the", ",", ".", "of", "and", "in", "1,200", "to", "a", "''"])
    while len(made) < WORDS:
        size = 2 + len(made) // 150_000
        made.update(dict.fromkeys(map("".join, letters[rng.integers(0, len(letters), (100_000, size + 2))])))
    return pa.array(list(made)[:WORDS])


def measured(path, copies=1, threads=1, tokenizer="whitespace"):
    """Wall-clock and CPU seconds, peak MiB, tokens and types, of a fresh process."""
    arguments = [sys.executable, "-c", MEASURE, str(path), str(copies), str(threads), tokenizer]
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def loop(texts, options, group, groups):
    """What is counted, a token at a time."""
    stop_words = stop_words_of(options.stop_words)
    documents, words = [], [Counter() for _ in range(groups)]
    sums, squares = [Counter() for _ in range(groups)], [Counter() for _ in range(groups)]
    recurrence = Counter()
    for text, g in zip(texts, group, strict=True):
        tokens = [token.lower() for token in text.split()]
        stop, symbols = (
            sum(token in stop_words for token in tokens),
            sum(not any(map(str.isalpha, token)) for token in tokens),
        )
        documents.append((len(tokens), len(set(tokens)), len(set(pairwise(tokens))), stop, symbols))
        words[g].update(tokens)
        for start in range(0, len(tokens) - options.window + 1, options.window):
            for word, count in Counter(tokens[start : start + options.window]).items():
                sums[g][word] += count
                squares[g][word] += count**2
        for lag in lags_up_to(options.longest_lag):
            recurrence[g, lag] += sum(one == other for one, other in zip(tokens, tokens[lag:], strict=False))
    return documents


@pytest.mark.parametrize("tokenizer", ["whitespace", "words"])
def test_a_million_documents(corpus, capsys, tokenizer):
    for name in ("tenth", "million"):
        for threads in (1, 2):
            wall, cpu, peak, tokens, types = measured(corpus / name, 1, threads, tokenizer)
            with capsys.disabled():
                print(
                    f"\n{tokenizer}, {name}: {tokens:,} tokens, {types:,} types, {threads} threads: {wall:.1f} s,"
                    f" {cpu:.1f} s of CPU, peak {peak:,.0f} MiB"
                )


def test_memory_goes_with_the_types(corpus, capsys):
    """The same documents ten times over have no further words."""
    _, cpu, peak, tokens, types = measured(corpus / "tenth", copies=10)
    with capsys.disabled():
        print(f"\nten times the tenth: {tokens:,} tokens, {types:,} types: {cpu:.1f} s of CPU, peak {peak:,.0f} MiB")


def test_against_a_loop(corpus, capsys):
    texts = feather.read_table(corpus / "tenth")["text"].combine_chunks()[:PART]
    options = Tendencies(kind="tendencies")
    started = time.process_time()
    counts = count_texts([texts], PART, options)
    ours = time.process_time() - started
    strings = texts.to_pylist()
    started = time.process_time()
    documents = loop(strings, options, counts.group.tolist(), counts.groups)
    slow = time.process_time() - started
    assert counts.documents.tolist() == list(map(list, documents))
    large = feather.read_table(corpus / "tenth")["text"]
    started = time.process_time()
    count_texts(large.chunks, len(large), options)
    bulk = time.process_time() - started
    with capsys.disabled():
        print(
            f"\n{PART:,} documents: loop {slow:.2f} s, textcritic {ours:.2f} s; {len(large):,} documents: {bulk:.2f} s,"
            f" {slow / PART / (bulk / len(large)):.0f}x the loop's documents a second"
        )


COMPARE = """
import json, resource, sys, time
from textcritic.critics.tendencies.measure import measure_counts
from textcritic.plan.entries import Tendencies
real, draws, sample = sys.argv[1:4]
wall, cpu = time.perf_counter(), time.process_time()
measured = measure_counts(real, draws, sample, Tendencies(kind="tendencies"))
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([wall, cpu, peak, len(measured.statistics["distances"]), measured.statistics["missing"]]))
"""


def test_all_tendencies_of_a_million_documents(corpus, tmp_path, capsys):
    """A sample of a million documents beside real text and ten second draws, each of a million: counted, then compared.

    For time alone, all are the same documents, in other groups.
    """
    texts = feather.read_table(corpus / "million", memory_map=True)["text"]
    (tmp_path / "draws").mkdir()
    for name, seed in (("real", 1), ("draws/0", 2), ("sample", 3)):
        count_texts(texts.chunks, len(texts), Tendencies(kind="tendencies", seed=seed), threads=2).save(
            tmp_path / f"{name}.npz"
        )
    for number in range(1, 10):
        (tmp_path / f"draws/{number}.npz").symlink_to(tmp_path / "draws/0.npz")
    arguments = [str(tmp_path / name) for name in ("real.npz", "draws", "sample.npz")]
    run = subprocess.run([sys.executable, "-c", COMPARE, *arguments], check=True, capture_output=True, text=True)
    wall, cpu, peak, distances, missing = json.loads(run.stdout)
    with capsys.disabled():
        print(f"\ncompared: {distances} distances, {wall:.1f} s, {cpu:.1f} s of CPU, peak {peak:,.0f} MiB; {missing}")


def test_against_plain_loops_with_tests(corpus, tmp_path, capsys):
    """Counting and comparing 50,000 documents with as many, against loops over documents and tokens.

    Three permutations are made by loops, and their time is scaled to the thousand that both make.
    """
    texts = feather.read_table(corpus / "tenth", memory_map=True)["text"].combine_chunks()
    halves = [texts[start : start + COMPARED] for start in (0, COMPARED)]
    started = time.process_time()
    counts = [
        count_texts([half], COMPARED, Tendencies(kind="tendencies", seed=seed)) for seed, half in enumerate(halves)
    ]
    measure_sample(counts[0], counts[1], [], Tendencies(kind="tendencies"))
    ours = time.process_time() - started
    options = Tendencies(kind="tendencies")
    started = time.process_time()
    documents = [list(half.to_pylist()) for half in halves]
    both = [loop(half, options, [0] * COMPARED, 1) for half in documents]
    counted = time.process_time() - started
    started = time.process_time()
    for number in range(PERMUTED):
        permuted(documents, both, random.Random(number))
    each = (time.process_time() - started) / PERMUTED
    plain = counted + 1000 * each
    with capsys.disabled():
        print(
            f"\nloops: {counted:.1f} s to count, {each:.2f} s a permutation, {plain:,.0f} s in all; ours {ours:.1f} s:"
        )
        print(f"{plain / ours:.0f} times as fast")


def permuted(texts, rows, rng):
    """The distances of one random split of the documents of both sets, by loops."""
    pool = [(text, row) for half, own in zip(texts, rows, strict=True) for text, row in zip(half, own, strict=True)]
    rng.shuffle(pool)
    split = pool[:COMPARED], pool[COMPARED:]
    words = [Counter(token for text, _ in half for token in text.lower().split()) for half in split]
    totals = [sum(count.values()) for count in words]
    gaps = [abs(words[0][w] / totals[0] - words[1][w] / totals[1]) for w in words[0].keys() | words[1].keys()]
    found = [max(gaps), sum(gaps) / 2]
    for column in (0, 3, 4):
        values = [sorted(row[column] / (1 if column == 0 else max(1, row[0])) for _, row in half) for half in split]
        found.append(sum(values[0]) / len(values[0]) - sum(values[1]) / len(values[1]))
        shares = [[bisect_right(half, v) / len(half) for v in sorted({*values[0], *values[1]})] for half in values]
        found.append(max(abs(one - two) for one, two in zip(*shares, strict=True)))
    return found
