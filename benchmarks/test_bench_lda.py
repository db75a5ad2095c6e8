"""Latent Dirichlet allocation: the fit and the posterior against plain loops, as ratios measured in one run.

The loop is the collapsed Gibbs sampler as one would write it down in Python with numpy, on a part of the sentences; its
time for a token stands for the whole. All times are of the CPU. A fit of 100,000 sentences should take under 3 minutes
on 2 cores.
"""

import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from textcritic.critics.lda import LDA, infer
from textcritic.critics.lda.fit import fit_lda
from textcritic.plan.entries import Lda

SENTENCES, TOPICS, VOCABULARY = 100_000, 3, 60_000
ITERATIONS = 1000
LEAST = 100  # times as fast as the loop, the fit and the posterior
LOOP_SENTENCES = 60


@pytest.fixture(scope="module")
def sentences():
    """Made-up sentences of 27 words on average, as of news: three languages of Zipf's law that share 200 words."""
    rng = np.random.default_rng(1)
    lengths = rng.poisson(27, SENTENCES).clip(1)
    owner = np.repeat(np.arange(SENTENCES) % TOPICS, lengths)
    size = VOCABULARY // TOPICS
    ranks = (np.exp(rng.random(len(owner)) * np.log(size)) - 1).astype(np.int64).clip(0, size - 1)
    ids = np.where((ranks < 400) & (ranks % 2 == 0), ranks, ranks + owner * size)
    rows = np.repeat(np.arange(SENTENCES), lengths)
    counts = csr_matrix((np.ones(len(ids), np.int32), (rows, ids)), shape=(SENTENCES, VOCABULARY))
    counts.sum_duplicates()
    return counts


def loop(counts, sweeps, alpha, beta):
    """CPU seconds a token and sweep of collapsed Gibbs sampling, written down plainly; and of phi fixed."""
    rng = np.random.default_rng(2)
    documents = [np.repeat(row.indices, row.data) for row in counts]
    topics = [rng.integers(0, TOPICS, len(words)) for words in documents]
    in_document = np.zeros((len(documents), TOPICS))
    in_topic = np.zeros((TOPICS, counts.shape[1]))
    for number, (words, own) in enumerate(zip(documents, topics, strict=True)):
        np.add.at(in_document[number], own, 1)
        np.add.at(in_topic, (own, words), 1)
    totals = in_topic.sum(axis=1)
    began = time.process_time()
    for _ in range(sweeps):
        for number, (words, own) in enumerate(zip(documents, topics, strict=True)):
            for place, word in enumerate(words):
                old = own[place]
                in_document[number, old] -= 1
                in_topic[old, word] -= 1
                totals[old] -= 1
                weights = (in_document[number] + alpha) * (in_topic[:, word] + beta) / (totals + beta * counts.shape[1])
                cumulated = np.cumsum(weights)
                new = int(np.searchsorted(cumulated, rng.random() * cumulated[-1]))
                own[place] = new
                in_document[number, new] += 1
                in_topic[new, word] += 1
                totals[new] += 1
    return (time.process_time() - began) / (sweeps * counts.sum())


def test_fit_of_100_000_sentences(benchmark, capsys, sentences):
    a_token = loop(sentences[:LOOP_SENTENCES], 5, 1 / TOPICS, 0.01)
    began = time.process_time()
    fit = benchmark.pedantic(fit_lda, (sentences, Lda(kind="lda", iterations=ITERATIONS)), rounds=1)
    seconds = time.process_time() - began
    ratio = a_token * ITERATIONS * sentences.sum() / seconds
    with capsys.disabled():
        print(
            f"\nlda: {SENTENCES:,} sentences, {sentences.sum():,} tokens, {ITERATIONS} iterations on one core:"
            f" {seconds:.0f} CPU-seconds ({fit.seconds:.0f} s); {ratio:,.0f} times as fast as a loop"
            f" ({a_token * 1e6:.1f} microseconds a token)"
        )
    assert ratio > LEAST


def test_posterior_of_sentences(benchmark, capsys, sentences):
    rng = np.random.default_rng(3)
    phi = rng.gamma(0.1, size=(TOPICS, VOCABULARY)) + 1e-9
    critic = LDA(phi / phi.sum(axis=1, keepdims=True), np.full(TOPICS, 0.02))
    some, options = sentences[:2000], Lda(kind="lda")
    a_token = loop(sentences[:LOOP_SENTENCES], 5, 0.02, 0.01)
    began = time.process_time()
    benchmark.pedantic(infer, (critic, some, options), rounds=1)
    seconds = time.process_time() - began
    ratio = a_token * options.draws * (options.sweeps + 1) * some.sum() / seconds
    began = time.process_time()
    infer(critic, some, Lda(kind="lda", posterior="exact"))
    exact = time.process_time() - began
    with capsys.disabled():
        print(
            f"\nlda: posteriors of {some.shape[0]:,} sentences, {options.draws} draws after {options.sweeps} sweeps:"
            f" {seconds:.1f} s, {ratio:,.0f} times as fast as a loop; exact: {exact:.1f} s"
        )
    assert ratio > LEAST
