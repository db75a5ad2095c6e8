"""Speed of lines of Wikipedia: their extraction beside what sacremoses takes, their order beside a shuffle in memory.

    pytest benchmarks/test_bench_wikipedia_lines.py -s

On the English sample of tests/data; seconds are those of a core. Moses' steps are most of the extraction. The
order is that of 300,000 lines, some more than `shuffle.BUCKET`; its peer reads all lines, shuffles and writes them.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sacremoses import MosesPunctNormalizer, MosesTokenizer
from timing import fastest

from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.corpora.wikipedia import Shard, build_lines, extract_shard
from textcritic.corpora.wikipedia import extract as lines
from textcritic.plan.entries.corpora import Splits
from textcritic.plan.entries.extraction import CorpusOptions

SAMPLE = Path(__file__).parents[1] / "tests" / "data" / "wikipedia" / "enwiki-sample.xml.bz2"
OPTIONS = CorpusOptions(disambiguation_templates=[])
LINES = 300_000
pytestmark = pytest.mark.benchmark(disable_gc=True)


def extract(folder):
    extract_shard(Shard([SAMPLE], 0, 1, lines=True), OPTIONS, folder / "lines.parquet", folder / "lines.json")
    return [article.sections[0].text for article in read_articles(folder / "lines.parquet")]


def test_lines_a_second_beside_moses_steps_alone(benchmark, capsys, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(lines, "_moses", lambda _language: str)
        raw = extract(tmp_path)
    texts = extract(tmp_path)
    normaliser, tokeniser = MosesPunctNormalizer("en"), MosesTokenizer("en")

    def steps():
        for text in raw:
            tokeniser.tokenize(normaliser.normalize(text), escape=False, return_str=True)

    seconds = benchmark.pedantic(lambda: fastest(lambda: extract(tmp_path), 3), rounds=1)
    peer = fastest(steps, 3)
    words = sum(len(text.split()) for text in texts) / len(texts)
    benchmark.extra_info |= {"lines/s": len(texts) / seconds, "ratio": seconds / peer}
    with capsys.disabled():
        print(
            f"\n{len(texts):,} lines of {words:.0f} tokens: {1000 * seconds / len(texts):.2f} ms a line; Moses' steps"
            f" alone {1000 * peer / len(texts):.2f} ms; ratio {seconds / peer:.2f}"
        )


def test_order_beside_a_shuffle_in_memory(benchmark, capsys, tmp_path):
    texts = extract(tmp_path)
    rows = (Article(f"{n}-0", None, (Section(None, texts[n % len(texts)]),), "enwiki") for n in range(LINES))
    write_articles(tmp_path / "many.parquet", rows)
    report = json.loads((tmp_path / "lines.json").read_text()) | {"articles": LINES, "pages": LINES}
    (tmp_path / "many.json").write_text(json.dumps(report))
    splits, out = Splits(validation=1000, test=10_000), tmp_path / "corpus"

    def ours():
        build_lines([tmp_path / "many.parquet"], [tmp_path / "many.json"], splits, out, out / "extracted.json")

    def peer():
        table = pq.read_table(tmp_path / "many.parquet")
        order = np.random.default_rng(1).permutation(LINES)
        pq.write_table(table.take(order), tmp_path / "shuffled.parquet", compression="zstd")

    seconds = benchmark.pedantic(lambda: fastest(ours, 1), rounds=1)
    alone = fastest(peer, 1)
    benchmark.extra_info |= {"lines/s": LINES / seconds, "ratio": seconds / alone}
    with capsys.disabled():
        print(
            f"\n{LINES:,} lines: {seconds:.1f} s, {LINES / seconds:,.0f} lines/s; in memory {alone:.1f} s;"
            f" ratio {seconds / alone:.2f}"
        )
