"""CPU time and memory of the stages that an article goes through, at two sizes each, in Markdown (docs/scale.md).

Made-up articles of 6 sections of 100 words. Each stage runs in a process of its own, on one thread; what is subtracted
from its peak of memory is that of the same process before the stage. The section classifiers have random weights,
which takes as long as trained ones.

python benchmarks/cost_per_article.py    # 10 CPU minutes
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

TITLES = [f"title {number}" for number in range(24)]
SECTIONS, WORDS, VOCABULARY = 6, 100, 30_000
RESAMPLES = 10_000
BASE = {"num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}
SMALL = {"num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 512}


def texts(sections: int) -> list[str]:
    """Words by Zipf's law, a section each."""
    rng = np.random.default_rng(1)
    drawn = np.minimum(rng.zipf(1.3, (sections, WORDS)), VOCABULARY)
    return [" ".join(f"w{number}" for number in row) for row in drawn.tolist()]


def chains(documents: int, seed: int) -> pa.ListArray:
    """Titles of 6 sections a document, as a column."""
    drawn = np.random.default_rng(seed).zipf(1.4, documents * SECTIONS)
    flat = pa.array(TITLES).take(pa.array(np.minimum(drawn, len(TITLES)) - 1))
    return pa.ListArray.from_arrays(pa.array(np.arange(documents + 1, dtype=np.int32) * SECTIONS), flat)


def articles_file(folder: Path, documents: int) -> Path:
    """JSON lines, a few thousand texts again and again."""
    parts = texts(min(documents, 2_000) * SECTIONS)
    titles = chains(documents, 1).to_pylist()
    with (folder / "articles.jsonl").open("w") as handle:
        for number, names in enumerate(titles):
            at = number * SECTIONS % len(parts)
            sections = [{"title": title, "text": parts[at + place]} for place, title in enumerate(names)]
            handle.write(json.dumps({"id": str(number), "sections": sections}) + "\n")
    return folder / "articles.jsonl"


def reading(folder: Path, documents: int) -> Callable[[], object]:
    """JSON lines in, Parquet out."""
    from textcritic.corpora.extract import extract_corpus
    from textcritic.plan.entries import Corpus

    path = articles_file(folder, documents)
    outputs = folder / "extracted.parquet", folder / "extracted.json"
    corpus = Corpus.read({"extractor": "jsonl", "options": {"paths": [str(path)]}}, "benchmark")
    return lambda: extract_corpus(corpus, [path], *outputs)


def building(folder: Path, documents: int) -> Callable[[], object]:
    """Titles standardised, filters, splits, statistics."""
    from textcritic.api.articles.configure import corpus_template
    from textcritic.corpora.build import build_corpus, words_of

    reading(folder, documents)()
    return partial(build_corpus, folder / "extracted.parquet", folder / "corpus", corpus_template(), words_of)


def given_titles(folder: Path, documents: int) -> Callable[[], object]:
    """Titles that are there, as chains."""
    from textcritic.latents.titles.posteriors import take_titles

    reading(folder, documents)()
    return partial(take_titles, folder / "extracted.parquet", folder / "titles.parquet")


def inferred_titles(shape: dict[str, int], folder: Path, documents: int) -> Callable[[], object]:
    """Titles by a BERT of some shape that reads 64 word pieces (small) or 512 (base)."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    from textcritic.latents.titles.infer import infer_titles

    reading(folder, documents)()
    byte_pairs = ByteLevelBPETokenizer()
    byte_pairs.train_from_iterator(texts(2_000), vocab_size=2048, special_tokens=["<pad>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=byte_pairs._tokenizer, pad_token="<pad>")
    tokenizer.save_pretrained(folder / "model")
    most = 64 if shape is SMALL else 512
    labels = {"id2label": dict(enumerate(TITLES)), "label2id": {title: n for n, title in enumerate(TITLES)}}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=most, pad_token_id=0, **shape, **labels)
    BertForSequenceClassification(config).save_pretrained(folder / "model")
    return partial(infer_titles, folder / "model", folder / "extracted.parquet", folder / "titles.parquet", most, 1)


def critic(folder: Path, documents: int) -> Callable[[], object]:
    """The transition critic fitted on as many chains as it scores, smoothing by cross-validation."""
    from textcritic.critics import TransitionCritic, score_chains

    train, test = chains(documents, 1), chains(documents, 2)
    ids = pa.array([str(number) for number in range(documents)])
    return lambda: score_chains(TransitionCritic.fit(train), ids, test)


def numbers(folder: Path, documents: int) -> Callable[[], object]:
    """The interval of a sample and its test against as many real articles."""
    from textcritic.inference import bootstrap_interval, exp_ratio_of_sums, permutation_test, ratio_of_sums

    rng = np.random.default_rng(1)
    first, second = (np.column_stack([rng.gamma(4, 3, documents), np.full(documents, 7.0)]) for _ in range(2))

    def both() -> None:
        bootstrap_interval(first, exp_ratio_of_sums, RESAMPLES)
        permutation_test(first, second, ratio_of_sums, RESAMPLES)

    return both


def people(folder: Path, documents: int) -> Callable[[], object]:
    """Mentions of people, found by rules; a name or a pronoun every tenth word."""
    from textcritic.latents.resolvers.resolve import resolver_of
    from textcritic.plan.entries import Persons

    rng = np.random.default_rng(2)
    named = ["Ann", "Tom", "she", "he", "her", "his", "Mary"]
    whole = []
    for text in texts(documents * SECTIONS):
        words = [rng.choice(named) if place % 10 == 0 else word for place, word in enumerate(text.split())]
        whole.append(" ".join(words) + ".")
    pairs = [(str(n), " ".join(whole[n * SECTIONS : (n + 1) * SECTIONS])) for n in range(documents)]
    return lambda: sum(1 for _ in resolver_of(Persons(kind="persons")).resolve(pairs))


STAGES: dict[str, tuple[Callable[[Path, int], Callable[[], object]], tuple[int, ...]]] = {
    "JSON lines read, Parquet written": (reading, (5_000, 20_000)),
    "corpus built: titles, filters, splits": (building, (5_000, 20_000)),
    "titles taken as given": (given_titles, (5_000, 20_000)),
    "titles inferred, BERT of the demo (2 layers, 64 pieces)": (partial(inferred_titles, SMALL), (500, 2_000)),
    "titles inferred, BERT base (12 layers, 512 pieces)": (partial(inferred_titles, BASE), (4, 8)),
    "chain of titles: fit and score": (critic, (100_000, 1_000_000)),
    "interval and test, 10,000 resamples": (numbers, (1_000, 100_000)),
    "people found by rules": (people, (500, 2_000)),
}


def measured(stage: str, documents: int) -> tuple[float, float]:
    """CPU seconds and MB of a stage, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        call = STAGES[stage][0](Path(folder), documents)
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        call()
        taken = time.process_time() - began
    return taken, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    """Print the table."""
    print("| stage | articles | CPU s | ms an article | MB more at most |")
    print("|---|---|---|---|---|")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    for stage, (_, sizes) in STAGES.items():
        for documents in sizes:
            command = [sys.executable, __file__, stage, str(documents)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            seconds, memory = map(float, done.stdout.split()[-2:])
            print(
                f"| {stage} | {documents:,} | {seconds:.2f} | {1000 * seconds / documents:.3g} | {memory:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(*measured(sys.argv[1], int(sys.argv[2])))
    else:
        main()
