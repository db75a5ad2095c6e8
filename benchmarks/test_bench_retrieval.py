"""Retrieval: time and memory of a large collection, and queries against one by one as DrQA answers them.

    pytest benchmarks/test_bench_retrieval.py -s
    python benchmarks/test_bench_retrieval.py 1000000    # so many paragraphs; some minutes

The text is made up: paragraphs of 30 to 300 words, 100 in the mean, stop words and marks among them. Words follow
Zipf's law; a quarter of them are those of the paragraph's topic, of which there is one for 50 paragraphs, so that
there is something to be found. Indexing runs in a process of its own, so that its peak memory is its own.
"""

import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.utils import murmurhash3_32
from timing import cpu_seconds

from textcritic.corpora.intruders.retrieval import Ranker
from textcritic.corpora.intruders.terms import BUCKETS, STOP_WORDS, tokens_of

PARAGRAPHS, TYPES, TOPIC, PER_TOPIC, TOP = 50_000, 400_000, 40, 50, 10
BATCHED, ALONE = 16_384, 100
"""Queries that are answered together, and one by one."""


def paragraphs(number, seed=1):
    """Texts, 10,000 after the other."""
    rng = np.random.default_rng(seed)
    marks = [",", ".", ",", "(", ")"]
    frequent = [word for pair in zip(sorted(STOP_WORDS), marks * 40, strict=False) for word in pair]
    names = pa.array([*frequent, *(f"w{n:x}" for n in range(TYPES - len(frequent)))])
    shares = np.cumsum(np.arange(1, TYPES + 1) ** -1.05)
    topics = rng.integers(1_000, TYPES, (number // PER_TOPIC + 1, TOPIC))
    for start in range(0, number, 10_000):
        sizes = rng.lognormal(4.5, 0.45, min(10_000, number - start)).clip(30, 300).astype(int)
        drawn = np.searchsorted(shares / shares[-1], rng.random(sizes.sum()))
        topic = np.repeat(rng.integers(0, len(topics), len(sizes)), sizes)
        own = rng.random(sizes.sum()) < 0.25
        drawn[own] = topics[topic[own], (TOPIC * rng.random(own.sum()) ** 2).astype(int)]
        lists = pa.ListArray.from_arrays(np.append(0, np.cumsum(sizes)).astype(np.int32), names.take(pa.array(drawn)))
        yield from pa.compute.binary_join(lists, " ").to_pylist()


class OneByOne:
    """Terms of a query in a loop, a product of one row with the matrix, the best of what is not 0."""

    def __init__(self, ranker):
        parts = [(shard.counts, shard.buckets, shard.starts, (shard.size, BUCKETS)) for shard in ranker._shards]
        counts = sparse.vstack([sparse.csr_array(part[:3], shape=part[3]) for part in parts], format="csr")
        self.idf = np.log((ranker.size - ranker._having + 0.5) / (ranker._having + 0.5)).clip(min=0)
        weights = np.log1p(counts.data, dtype=float) * self.idf[counts.indices]
        indices, starts = counts.indices.astype(np.int32), counts.indptr.astype(np.int32)
        self.by_term = sparse.csr_array((weights, indices, starts), shape=counts.shape).T.tocsr()

    def weights_of(self, text):
        words = [token.lower() for token in tokens_of(text)]
        good = [word not in STOP_WORDS and word not in ",.()'" for word in words]
        grams = [word for word, kept in zip(words, good, strict=True) if kept]
        for first in range(len(words) - 1):
            if good[first] and good[first + 1]:
                grams.append(f"{words[first]} {words[first + 1]}")
        buckets = [murmurhash3_32(gram, positive=True) % BUCKETS for gram in grams]
        terms, counts = np.unique(buckets, return_counts=True)
        weights = np.log1p(counts) * self.idf[terms]
        # With indices of the matrix' type, else scipy copies the matrix' for each query.
        terms, ends = terms.astype(np.int32), np.array([0, len(terms)], np.int32)
        return sparse.csr_array((weights, terms, ends), shape=(1, BUCKETS))

    def best(self, weights):
        scores = (weights @ self.by_term).tocsr()
        some = np.argpartition(-scores.data, TOP + 1)[: TOP + 1]
        some = some[np.argsort(-scores.data[some])]
        return scores.indices[some], scores.data[some]


def measured(number, folder):
    """Seconds of CPU and peak memory [MiB]: indexing, queries together, and one by one; all answers are compared."""
    places = np.sort(np.random.default_rng(2).permutation(number)[:BATCHED])
    queries, making = [], 0.0

    def texts():
        nonlocal making
        stream, wanted = paragraphs(number), set(places.tolist())
        for place in range(number):
            began = time.process_time()
            text = next(stream)
            making += time.process_time() - began
            if place in wanted:
                queries.append(text)
            yield text

    began = time.process_time()
    ranker = Ranker(texts(), folder)
    times = {"indexing": time.process_time() - began - making, "peak_indexing": peak()}
    times["ranking"], nearest = per_query(lambda: ranker.nearest_others(places, TOP), len(places))
    times["query"], _ = per_query(lambda: ranker.nearest(queries, TOP), len(places))
    times["peak_queries"] = peak()
    alone, rows = OneByOne(ranker), np.random.default_rng(3).permutation(len(places))[:ALONE]
    counting, weights = per_query(lambda: [alone.weights_of(queries[row]) for row in rows], ALONE)
    times["ranking_alone"], answers = per_query(lambda: [alone.best(weight) for weight in weights], ALONE)
    times["query_alone"] = counting + times["ranking_alone"]
    for row, (documents, scores) in zip(rows, answers, strict=True):
        np.testing.assert_allclose(nearest.scores[row], scores[documents != places[row]][:TOP], rtol=1e-9)
    return times


def per_query(call, queries):
    """CPU seconds for each query, and the answers."""
    seconds, answers = cpu_seconds(call)
    return seconds / queries, answers


def peak():
    """Of this process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_a_large_collection(capsys):
    done = subprocess.run(
        [sys.executable, __file__, str(PARAGRAPHS)], check=True, capture_output=True, text=True
    ).stdout
    with capsys.disabled():
        print("\n" + done)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        m = measured(int(sys.argv[1]), scratch)
    print(
        f"{int(sys.argv[1]):,} paragraphs: indexed in {m['indexing']:.0f} s of CPU, peak {m['peak_indexing']:,.0f} MiB,"
        f" with {BATCHED:,} queries {m['peak_queries']:,.0f} MiB.\n"
        f"A query: from text {1e3 * m['query']:.2f} ms, one by one {1e3 * m['query_alone']:.2f} ms:"
        f" {m['query_alone'] / m['query']:.1f} times; ranking alone {1e3 * m['ranking']:.2f} ms, one by one"
        f" {1e3 * m['ranking_alone']:.2f} ms: {m['ranking_alone'] / m['ranking']:.1f} times."
    )
