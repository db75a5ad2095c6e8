"""`persons` beside its baseline `nearest`: how good, how fast. Run `pytest benchmarks/test_bench_persons.py -s`.

LitBank and OntoGUM, sorted by name: persons was developed on the documents at even places, those at odd places are
measured.
"""

import json
import time
from pathlib import Path

import pytest

from textcritic.corpora.readers.conll import conll_documents
from textcritic.latents.resolvers.conll import resolved_of
from textcritic.latents.resolvers.quality import measure_resolver, summary_of
from textcritic.latents.resolvers.resolve import resolver_of
from textcritic.plan.entries import Nearest, Persons

DATA = Path(__file__).parents[2] / "shared/data"
RESOLVERS = {"persons": resolver_of(Persons(kind="persons")), "nearest": resolver_of(Nearest(kind="nearest"))}
MEASURES = ("mentions_precision", "mentions_recall", "muc_f1", "b3_f1", "ceafe_f1", "conll")
# Of LitBank, entities of one mention are marked.
CORPORA = {"litbank": ("litbank-conll.tar.gz", True), "ontogum": ("gum-ontogum-conll.tar.gz", False)}

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="../shared/data is absent")


def shown(measure):
    return f"{measure['value']:.3f} ({measure['low']:.3f}, {measure['high']:.3f})"


@pytest.mark.parametrize("corpus", CORPORA)
def test_quality(corpus):
    file, singletons = CORPORA[corpus]
    documents = map(resolved_of, conll_documents([DATA / "coreference" / file]))
    held_out = sorted(documents, key=lambda document: document.id)[1::2]
    for name, resolver in RESOLVERS.items():
        summary = summary_of(measure_resolver(resolver, held_out, singletons))
        print(f"\n{corpus}, {len(held_out)} documents, {name}")
        for measure in MEASURES:
            print(f"  {measure}: {shown(summary['people'][measure])}")
        for kind, share in summary["pronouns"].items():
            print(f"  pronouns, {kind}: {shown(share)} of {share['n']}")


@pytest.mark.parametrize("corpus", ["films", "litbank"])
def test_speed(corpus):
    if corpus == "films":
        texts = [json.loads(line)["text"] for line in (DATA / "films/synopses.jsonl").read_text().splitlines()]
    else:
        file, _ = CORPORA[corpus]
        texts = [resolved_of(document).text for document in conll_documents([DATA / "coreference" / file])]
    words = sum(len(text.split()) for text in texts)
    for name, resolver in RESOLVERS.items():
        start = time.process_time()
        for _ in resolver.resolve((str(number), text) for number, text in enumerate(texts)):
            pass
        print(f"\n{corpus}, {words:,} words, {name}: {words / (time.process_time() - start):,.0f} words a CPU second")
