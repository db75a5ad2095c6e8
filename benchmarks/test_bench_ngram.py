"""Counting n-grams on disk in bounded memory, and drawing texts from them, against a loop over the texts.

    pytest benchmarks/test_bench_ngram.py -s

The corpus is made up: lines of 57 words in the mean, as those of "Beyond Perplexity", of 600,000 words by Zipf's law.
Counting runs in a process of its own, so that its peak memory is its own; files that it reads are part of it as far as
they are in memory at the time.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from textcritic.corpora import Article, Section, write_articles
from textcritic.generators.ngram.draws import draw_texts
from textcritic.generators.ngram.model import NgramModel, load
from textcritic.generators.ngram.words import END_ID
from textcritic.generators.uniforms import Uniforms
from textcritic.plan.entries import Decoding

LINES, WORDS, MEAN = 100_000, 600_000, 57.45
# Of one thread, so that other work on the machine does not count.
CPU_TIME = pytest.mark.benchmark(timer=time.process_time)
FIT = """
import json, resource, sys, time
from textcritic.generators.ngram.job import NgramFiles, fit_ngram
from textcritic.plan.entries import Ngram
folder, lines, memory = sys.argv[1], sys.argv[2], float(sys.argv[3])
before = time.process_time()
splits = {"train": f"{folder}/{lines}.parquet"} | dict.fromkeys(("validation", "test"), f"{folder}/100.parquet")
files = NgramFiles(*(f"{folder}/{lines}/{name}" for name in ("model", "training.json", "perplexity.json")))
report = fit_ngram(splits, "wo-title", Ngram(kind="ngram"), files, memory_mb=memory)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": time.process_time() - before, "tokens": report["tokens_seen"], "mb": peak}))
"""


def write_lines(path: Path, number: int) -> None:
    rng = np.random.default_rng(number)
    names = np.array([f"w{word:x}" for word in range(WORDS)], dtype=object)
    shares = 1 / np.arange(1, WORDS + 1) ** 1.1
    limits = np.cumsum(shares / shares.sum())

    def lines():
        for line in range(number):
            words = np.searchsorted(limits, rng.random(max(int(rng.gamma(1.2, MEAN / 1.2)), 1)))
            yield Article(str(line), None, (Section(None, " ".join(names[words.clip(max=WORDS - 1)])),), "made up")

    write_articles(path, lines())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for lines in (100, LINES // 4, LINES):
        write_lines(folder / f"{lines}.parquet", lines)
    return folder


def fit(folder: Path, lines: int, memory_mb: float) -> dict[str, float]:
    command = [sys.executable, "-c", FIT, str(folder), str(lines), str(memory_mb)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_counting_is_linear_and_bounded(benchmark, folder):
    def measure() -> list[dict[str, float]]:
        return [fit(folder, LINES // 4, 200), fit(folder, LINES, 200), fit(folder, LINES, 4)]

    quarter, whole, little = benchmark.pedantic(measure, rounds=1, iterations=1)
    for run in (quarter, whole, little):
        run["rate"] = run["tokens"] / run["seconds"]
        print(f"\n{run['tokens']:,} tokens: {run['seconds']:.1f} s, {run['rate']:,.0f} tokens/s, {run['mb']:.0f} MB")
    benchmark.extra_info["rate, four times as long"] = whole["rate"] / quarter["rate"]
    benchmark.extra_info["seconds, a fiftieth of the memory"] = little["seconds"] / whole["seconds"]


@CPU_TIME
@pytest.mark.parametrize(
    ("name", "keys", "texts"),
    [
        ("random", {}, 20_000),
        ("nucleus", {"top_p": 0.9}, 20_000),
        ("beam sampling", {"method": "beam-sampling", "beam": 5}, 4_000),
        ("best of five", {"method": "best-of", "beam": 5}, 4_000),
    ],
)
def test_texts(benchmark, folder, name, keys, texts):
    if not (folder / str(LINES)).exists():
        fit(folder, LINES, 200)
    model = load(folder / str(LINES) / "model")
    decoding = Decoding(max_tokens=1024, **keys)

    def draw() -> list[int]:
        return [len(ids) for _, ids, _ in draw_texts(model, decoding, 0, range(texts))]

    lengths = benchmark.pedantic(draw, rounds=1, iterations=1)
    rate = texts / benchmark.stats.stats.min
    print(f"\n{name}: {rate:,.0f} texts/s of {np.mean(lengths):.1f} tokens, {rate * np.mean(lengths):,.0f} tokens/s")
    if name == "random":
        few = 500
        started = time.process_time()
        plain = sum(plainly(model, few))
        seconds = time.process_time() - started
        benchmark.extra_info["ratio, one text at a time"] = rate * np.mean(lengths) / (plain / seconds)
        print(f"one text at a time: {plain / seconds:,.0f} tokens/s")


def plainly(model: NgramModel, texts: int) -> list[int]:
    """Lengths of texts that are drawn one after the other, each word from its context's counts."""
    lengths = []
    for text in range(texts):
        numbers, context, length, word = Uniforms.of(0, [text]), int(model.begin()[-1]), 0, -1
        while word != END_ID:
            low, high = model.first[-1][context : context + 2].tolist()
            counts = np.diff(model.cumulative[-1][low : high + 1]).tolist()
            followers = (model.keys[-1][low:high] % model.size).tolist()
            word = choices(followers, counts, float(numbers.next(np.array([0]))[0]))
            before = np.array([model.keys[1][context] % model.size])
            context = int(model.find(2, before, np.array([word]))[0])
            length += 1
        lengths.append(length)
    return lengths


def choices(words: list[int], counts: list[int], number: float) -> int:
    target = int(number * sum(counts))
    at = -1
    while target >= 0:
        at += 1
        target -= counts[at]
    return words[at]
