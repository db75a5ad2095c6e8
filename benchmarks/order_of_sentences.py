"""The order of sentences: its level, which faults it sees, and what it says of other text in right order.

Each run draws real documents and a sample from a pool, spoils the sample, and tests it as `criticise` does. Seen:
marked (p < 0.05), less order than real text. Named: seen, and said to be out of order. Documents are texts, one a line
(.txt) or the key `text` of JSON lines; those with fewer than two sentences are skipped. Prints Markdown, with 95%
intervals.

python benchmarks/order_of_sentences.py level TEXTS --sizes 300,50 300,200 --runs 500
python benchmarks/order_of_sentences.py faults TEXTS --sizes 300,200 --shares 100 20 5 --runs 40
python benchmarks/order_of_sentences.py controls TEXTS --other OTHER ... --sizes 300,200 --runs 100
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textcritic.critics.order.arrangements import arranged
from textcritic.critics.order.critic import accuracies, shape_of
from textcritic.critics.order.features import Vocabulary
from textcritic.critics.order.own import own_evidence, own_order
from textcritic.critics.order.refit import OrderRefit, weights_of
from textcritic.critics.order.sentences import MOST, Sentences, sentences_of
from textcritic.experiments.order.words import LEAST_NAMED, is_without_order
from textcritic.inference import share_interval
from textcritic.inference.crossfit import CrossFit, CrossOptions, cross_fit
from textcritic.plan.checks.critics import PARTS

EXCHANGES = 199  # of 999: whether p < 0.05 is as well seen
Ints = npt.NDArray[np.int64]
Document = Ints  # the rows of its sentences in the pool, in order
Spoil = Callable[[Document, "Pool", np.random.Generator], Document]
ROWS = ("words", "numbers", "year", "first", "pronoun", "of_person", "of_thing")


class Pool:
    """The sentences of some texts; documents are made from them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.sizes, texts = [], []
        for path in paths:
            found = list(_texts(Path(path)))
            texts += found
            self.sizes.append(len(found))
        self.sentences = sentences_of([[text] for text in texts])
        passages = self.sentences.document[self.sentences.passage]
        self.documents = [np.flatnonzero(passages == n) for n in range(len(texts))]

    def of(self, path: int) -> list[Document]:
        """The documents of a file with two sentences or more."""
        start = sum(self.sizes[:path])
        return [one for one in self.documents[start : start + self.sizes[path]] if len(one) > 1]

    def made(self, documents: Sequence[Document]) -> Sentences:
        """Documents of these sentences, cut into passages."""
        pieces = [np.array_split(one, -(-len(one) // MOST)) for one in documents]
        rows = np.concatenate(documents)
        return replace(
            self.sentences,
            document=np.repeat(np.arange(len(documents)), [len(some) for some in pieces]),
            length=np.array([len(piece) for some in pieces for piece in some]),
            number=np.concatenate([np.arange(len(one)) for one in documents]),
            total=np.array([len(one) for one in documents]),
            marks={name: mark[rows] for name, mark in self.sentences.marks.items()},
            **{one.name: getattr(self.sentences, one.name)[rows] for one in fields(Sentences) if one.name in ROWS},
        )


def _texts(path: Path) -> Iterable[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)["text"] if path.suffix == ".jsonl" else line


def shuffled(document: Document, _: Pool, rng: np.random.Generator) -> Document:
    """All sentences."""
    return rng.permutation(document)


def switched(pairs: int) -> Spoil:
    """Neighbours change places, one pair after the other."""

    def spoil(document: Document, _: Pool, rng: np.random.Generator) -> Document:
        made = document.copy()
        for _ in range(pairs):
            at = rng.integers(len(made) - 1)
            made[[at, at + 1]] = made[[at + 1, at]]
        return made

    return spoil


def other_half(document: Document, pool: Pool, rng: np.random.Generator) -> Document:
    """The second half comes from another document."""
    other = pool.documents[rng.choice([n for n, one in enumerate(pool.documents) if len(one) > 1])]
    return np.concatenate([document[: -(-len(document) // 2)], other[len(other) // 2 :]])


def replaced(document: Document, pool: Pool, rng: np.random.Generator) -> Document:
    """One sentence comes from another document."""
    made = document.copy()
    made[rng.integers(len(made))] = rng.integers(len(pool.sentences.number))
    return made


FAULTS: dict[str, Spoil] = {
    "all sentences shuffled": shuffled,
    "1 pair of neighbours switched": switched(1),
    "2 pairs of neighbours switched": switched(2),
    "6 pairs of neighbours switched": switched(6),
    "the second half of another document": other_half,
    "a sentence of another document": replaced,
}


class Judged:
    """What is said of a sample beside real text, as `criticise` says it."""

    def __init__(self, pool: Pool, real: Sequence[Document], sample: Sequence[Document], seed: int) -> None:
        self.sentences = pool.made([*real, *sample])
        self.found = arranged(self.sentences, Vocabulary.of(self.sentences))
        self.shape, self.size = shape_of(self.found), len(real)
        refit = OrderRefit(self.found.found, self.found.counted, self.shape)
        how = CrossOptions(parts=PARTS, exchanges=EXCHANGES, seed=seed)
        self.fit: CrossFit = cross_fit(refit, (None, None), (len(real), len(sample)), how)
        found, counted = self.found.found[len(real) :], self.found.counted[len(real) :]
        self.own, low, high = own_order(own_evidence(found, counted, self.shape), counted)
        self.marked = (self.fit.p or 1.0) < 0.05
        self.seen = self.marked and self.fit.sample.value < self.fit.real.value
        enough = len(sample) >= LEAST_NAMED
        self.named = self.seen and enough and is_without_order(low, high, self.fit.real.value)

    def accuracy(self) -> float:
        """Of real documents against 20 random orders each, by critics that have not seen them."""
        parts = self.fit.parts
        weights = weights_of(self.found.found, self.found.counted, self.shape, parts)
        every = np.array([accuracies(self.sentences, self.found, of) for of in weights])
        return float(every[parts[: self.size], np.arange(self.size)].mean())


def drawn(documents: Sequence[Document], number: int, rng: np.random.Generator) -> list[Document]:
    """So many documents at random, fewer if there are fewer."""
    return [documents[n] for n in rng.permutation(len(documents))[:number]]


def row(name: str, judged: Sequence[Judged], more: Sequence[str] = ()) -> None:
    """Print a row of the table."""
    shares = []
    for key in ("marked", "seen", "named"):
        count = sum(getattr(one, key) for one in judged)
        low, high = share_interval(count, len(judged))
        shares.append(f"{100 * count / len(judged):.1f} ({100 * low:.1f}-{100 * high:.1f})")
    values = [
        f"{np.mean([one.fit.real.value for one in judged]):.1f}",
        f"{np.mean([one.fit.sample.value for one in judged]):.1f}",
        f"{np.mean([one.own for one in judged]):.1f}",
    ]
    print(f"| {' | '.join([name, str(len(judged)), *shares, *values, *more])} |", flush=True)


def main() -> None:
    """Print a row for each pair of sizes, and each fault and share, or each control."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["level", "faults", "controls"])
    parser.add_argument("texts")
    parser.add_argument("--other", nargs="*", default=[], help="files of texts in right order")
    parser.add_argument("--sizes", nargs="+", default=["300,200"], help="real documents, and those of the sample")
    parser.add_argument("--faults", default="", help="those alone that have these words in their names")
    parser.add_argument("--shares", nargs="+", type=int, default=[100, 20], help="spoilt, in percent")
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    start, pool = time.process_time(), Pool([options.texts, *options.other])
    real, others = pool.of(0), {Path(path).stem: pool.of(n) for n, path in enumerate(options.other, start=1)}
    heads = ("what", "runs", "marked, %", "seen, %", "named, %", "real", "sample", "in common")
    heads += ("accuracy, % (n)",) if options.what == "level" else ()
    print(
        f"{len(real):,} documents of {len(np.concatenate(real)):,} sentences; {options.what}\n\n| {' | '.join(heads)} |"
    )
    print("|---" * len(heads) + "|")
    for sizes in options.sizes:
        numbers = [int(size) for size in sizes.split(",")]
        if options.what == "level":
            found = [_one(pool, real, numbers, run, lambda one, _: one) for run in range(options.runs)]
            accuracy = np.mean([one.accuracy() for one in found[:5]])
            row(f"{sizes}: one population", found, [f"{100 * accuracy:.1f} ({len(found[:5]) * numbers[0]:,})"])
        elif options.what == "faults":
            for fault, spoil in ((name, of) for name, of in FAULTS.items() if options.faults in name):
                for share in options.shares:
                    found = [_spoilt(pool, real, numbers, run, (spoil, share)) for run in range(options.runs)]
                    row(f"{sizes}: {fault}, {share}%", found)
        else:
            _controls(pool, (real, others), numbers, options.runs)
    print(f"\n{time.process_time() - start:.0f} CPU-seconds")


def _one(
    pool: Pool,
    documents: Sequence[Document],
    sizes: Sequence[int],
    run: int,
    change: Callable[[list[Document], np.random.Generator], list[Document]],
) -> Judged:
    rng = np.random.default_rng(run)
    chosen = drawn(documents, sum(sizes), rng)
    return Judged(pool, chosen[: sizes[0]], change(chosen[sizes[0] :], rng), run)


def _spoilt(
    pool: Pool, documents: Sequence[Document], sizes: Sequence[int], run: int, fault: tuple[Spoil, int]
) -> Judged:
    spoil, share = fault

    def change(sample: list[Document], rng: np.random.Generator) -> list[Document]:
        count = round(share / 100 * len(sample))
        return [spoil(one, pool, rng) if n < count else one for n, one in enumerate(sample)]

    return _one(pool, documents, sizes, run, change)


def _controls(
    pool: Pool, of: tuple[Sequence[Document], dict[str, list[Document]]], sizes: Sequence[int], runs: int
) -> None:
    """Samples in right order that are other text than the reference."""
    real, others = of
    for name, documents in others.items():
        found = []
        for run in range(runs):
            rng = np.random.default_rng(run)
            found.append(Judged(pool, drawn(real, sizes[0], rng), drawn(documents, sizes[1], rng), run))
        row(f"{sizes[0]},{sizes[1]}: {name}", found)
    halves = [one[: len(one) // 2] for one in real]

    def half(sample: list[Document]) -> list[Document]:
        return [one[: max(2, len(one) // 2)] for one in sample]

    found = [_one(pool, real, sizes, run, lambda sample, _: half(sample)) for run in range(runs)]
    row(f"{sizes[0]},{sizes[1]}: the first half of each document", found)
    long = [one for one, part in zip(real, halves, strict=True) if len(part) > 1]
    found = []
    for run in range(runs):
        chosen = drawn(long, sum(sizes), np.random.default_rng(run))
        found.append(Judged(pool, half(chosen[: sizes[0]]), chosen[sizes[0] :], run))
    row(f"{sizes[0]},{sizes[1]}: twice as long", found)


if __name__ == "__main__":
    main()
