"""Throughput and memory of the extraction from a Wikipedia dump, beside what mwparserfromhell's parse takes.

    pytest benchmarks/test_bench_wikipedia.py -s

On the English sample of ../shared/data. MB are those of the decompressed XML. The peer is one process that parses the
wikitext of the same articles with mwparserfromhell and does nothing else: no bzip2, no XML, no clean text. What bzip2
alone takes is printed too: how fast it is depends on what else uses the memory. The last test takes minutes.
"""

import bz2
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import deque
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import mwparserfromhell
import pytest
from timing import fastest

from textcritic.corpora import read_articles
from textcritic.corpora.wikipedia import Shard, bzip2, extract_shard
from textcritic.plan.entries.extraction import CorpusOptions

SAMPLE = Path(__file__).parents[2] / "shared" / "data" / "wikipedia" / "enwiki-sample.xml.bz2"
SPACE = "{http://www.mediawiki.org/xml/export-0.10/}"
OPTIONS = CorpusOptions()
pytestmark = [
    pytest.mark.skipif(not SAMPLE.is_file(), reason=f"{SAMPLE} is not there"),
    pytest.mark.benchmark(disable_gc=True),
]
PEAK = """
import json, resource, sys
from textcritic.corpora.wikipedia import Shard, extract_shard
from textcritic.plan.entries.extraction import CorpusOptions
dump, options, out = sys.argv[1:]
extract_shard(Shard([dump], 0, 1), CorpusOptions.restore(options), out, out + ".json", workers=2)
kilobytes = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([n / 1024 for n in kilobytes]))
"""


def extract(path, folder, workers=1):
    """Wall-clock seconds, and CPU seconds of this process and its workers."""
    before = time.perf_counter(), cpu()
    extract_shard(Shard([path], 0, 1), OPTIONS, folder / "out.parquet", folder / "out.json", workers=workers)
    return time.perf_counter() - before[0], cpu() - before[1]


def cpu():
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(t.ru_utime + t.ru_stime for t in times)


def repeated(path, megabytes):
    """The sample's pages again and again, every <id> a number of its own, as plain XML of so many MB."""
    xml = bz2.decompress(SAMPLE.read_bytes())
    begin, end = xml.index(b"<page>"), xml.rindex(b"</page>") + len(b"</page>")
    head, pages, tail = xml[:begin], xml[begin:end].split(b"</id>"), xml[end:]
    with path.open("wb") as handle:
        handle.write(head)
        number = 0
        while handle.tell() < megabytes * 1e6:
            for piece in pages[:-1]:
                before, _, _ = piece.rpartition(b"<id>")
                number += 1
                handle.write(before + b"<id>%d</id>" % number)
            handle.write(pages[-1])
        handle.write(tail)
    return path


def test_megabytes_a_second_of_one_core(benchmark, capsys, tmp_path):
    size = len(bz2.decompress(SAMPLE.read_bytes())) / 1e6
    seconds = min(benchmark.pedantic(lambda: [extract(SAMPLE, tmp_path)[1] for _ in range(3)], rounds=1))
    ids = {article.id for article in read_articles(tmp_path / "out.parquet")}
    pages = ET.fromstring(bz2.decompress(SAMPLE.read_bytes())).findall(f"{SPACE}page")
    texts = [p.findtext(f"{SPACE}revision/{SPACE}text") for p in pages if p.findtext(f"{SPACE}id") in ids]
    assert len(texts) == len(ids)

    peer = fastest(lambda: [mwparserfromhell.parse(text).nodes[:0] for text in texts], 2)
    packed = SAMPLE.read_bytes()
    unpacking = fastest(lambda: bz2.decompress(packed), 3)
    benchmark.extra_info |= {"MB/s": size / seconds, "ratio": peer / seconds}
    with capsys.disabled():
        print(
            f"\n{size:.1f} MB of XML, {len(texts)} articles: {seconds:.2f} s of a core, {size / seconds:.2f} MB/s; "
            f"mwparserfromhell.parse of their wikitext alone {peer:.2f} s, {size / peer:.2f} MB/s; "
            f"ratio {peer / seconds:.2f}; bzip2 alone {unpacking:.2f} s"
        )


def test_decompressors_beside_ours(benchmark, capsys, tmp_path):
    """The ones that are there, one core each, the extraction from XML and from bzip2, and WikiExtractor, by turns."""
    xml = bz2.decompress(SAMPLE.read_bytes()) * 3
    packed = tmp_path / "three.xml.bz2"
    packed.write_bytes(bz2.compress(xml))
    dump = repeated(tmp_path / "dump.xml", len(xml) / 1e6)
    squeezed = tmp_path / "dump.xml.bz2"
    squeezed.write_bytes(bz2.compress(dump.read_bytes()))
    ways = {
        "bz2 in pieces, ours": lambda: deque(bzip2.decompressed(packed), maxlen=0),
        "bz2 at once": lambda: bz2.decompress(packed.read_bytes()),
        "extraction from XML": lambda: extract(dump, tmp_path),
        "extraction from bzip2": lambda: extract(squeezed, tmp_path),
    }
    if find_spec("rapidgzip"):
        rapidgzip = import_module("rapidgzip")
        ways["rapidgzip"] = lambda: rapidgzip.IndexedBzip2File(str(packed), parallelization=1).read()
    if find_spec("cramjam"):
        cramjam = import_module("cramjam")
        ways["cramjam"] = lambda: cramjam.bzip2.decompress(packed.read_bytes())
    if extractor := shutil.which("wikiextractor"):  # for this alone: `pip install wikiextractor`, where one likes
        command = [extractor, "--no-templates", "--processes", "1", "-q", "-o", str(tmp_path / "texts"), str(squeezed)]
        ways["wikiextractor"] = lambda command=command: subprocess.run(command, check=True)
    for program in filter(shutil.which, ("bzip2", "lbzip2")):
        command = [program, *["-n1"] * (program == "lbzip2"), "-dc", str(packed)]
        ways[program] = lambda command=command: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    def turns():
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(4):
            for name, way in ways.items():
                before = cpu()
                way()
                best[name] = min(best[name], cpu() - before)
        return {name: len(xml) / 1e6 / seconds for name, seconds in best.items()}

    speeds = benchmark.pedantic(turns, rounds=1)
    benchmark.extra_info |= speeds
    with capsys.disabled():
        print("\nMB of XML a second of a core: " + "; ".join(f"{name} {speed:.1f}" for name, speed in speeds.items()))


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
@pytest.mark.parametrize("packing", ["plain", "multistream"])
def test_two_workers_against_one(benchmark, capsys, tmp_path, packing):
    path = repeated(tmp_path / "dump.xml", 30)
    if packing == "multistream":
        path = multistream(path)
    alone, (two, spent) = benchmark.pedantic(
        lambda: (extract(path, tmp_path)[0], extract(path, tmp_path, workers=2)), rounds=1
    )
    benchmark.extra_info |= {"speed-up": alone / two}
    with capsys.disabled():
        print(
            f"\n{packing}, 30 MB: one worker {alone:.1f} s, two {two:.1f} s: {alone / two:.2f} times as fast; "
            f"the two had {spent / two:.2f} cores"
        )


def multistream(path):
    """The same dump in streams as large as Wikimedia's, whose 100 pages are shorter on average than the sample's."""
    pages = path.read_bytes().split(b"<page>")
    groups = [b"".join(b"<page>" + page for page in pages[n : n + 15]) for n in range(1, len(pages), 15)]
    groups[-1], _, closing = groups[-1].rpartition(b"</page>")
    out = path.with_suffix(".bz2")
    out.write_bytes(b"".join(map(bz2.compress, [pages[0], *groups[:-1], groups[-1] + b"</page>\n", closing])))
    return out


def test_memory_is_flat(benchmark, capsys, tmp_path):
    paths = [repeated(tmp_path / "once.xml", 1), repeated(tmp_path / "again.xml", 500)]

    def peaks():
        found = []
        for path in paths:
            command = [sys.executable, "-c", PEAK, str(path), OPTIONS.canonical(), str(tmp_path / "out.parquet")]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found.append(json.loads(output))
        return found

    once, again = benchmark.pedantic(peaks, rounds=1)
    sizes = [path.stat().st_size / 1e6 for path in paths]
    benchmark.extra_info |= {"reader": again[0] / once[0], "worker": again[1] / once[1]}
    with capsys.disabled():
        for size, (reader, worker) in zip(sizes, (once, again), strict=True):
            print(
                f"\n{size:.0f} MB of XML: at most {reader:.0f} MiB in the reader, {worker:.0f} MiB in a worker", end=""
            )
        print(f"; ratio {again[0] / once[0]:.2f} and {again[1] / once[1]:.2f}")
