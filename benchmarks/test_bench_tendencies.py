"""Counting a million documents: time, memory, and a plain loop over the tokens of some of them.

    pytest benchmarks/test_bench_tendencies.py -s

Documents of 57 tokens in the mean, as long as the paper's lines of Wikipedia, of words drawn from Zipf's law. Times are
of a fresh process each, whose peak memory is printed too: the text, which is mapped from a file, counts in it. Nothing
is asserted about time. It takes some minutes.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.feather as feather
import pytest

from textcritic.options.tendencies import CountOptions
from textcritic.tendencies.counting import count_texts
from textcritic.tendencies.words import stop_words_of

MEAN_LENGTH = 57
WORDS = 1_000_000
PART = 4_000
MEASURE = """
import json, resource, sys, time
import pyarrow.feather as feather
from textcritic.options.tendencies import CountOptions
from textcritic.tendencies.counting import count_texts
path, copies, threads, tokenizer = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4]
texts = feather.read_table(path, memory_map=True)["text"]
options = CountOptions(tokenizer)
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
        for lag in options.lags():
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
    options = CountOptions()
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
