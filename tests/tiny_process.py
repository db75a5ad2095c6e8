"""Sequences of synthetic processes small enough for a test, drawn, written and encoded as the workflow does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from textcritic.corpora import Process, write_process_corpus
from textcritic.generators.hsmm import HSMM, Lexicon
from textcritic.generators.hsmm.text import Text
from textcritic.generators.symbols import encode_process_split, make_symbol_tokenizer
from textcritic.plan.entries.extraction import ProcessOptions
from textcritic.training.load import load_tokenizer

SMALL = ProcessOptions(states=6, steps=10, subsequences=60, shortest=3, longest=5, letters=10, seed=2)
SPLITS = {"train": 4000, "validation": 200, "test": 400}


@dataclass(frozen=True)
class TinyProcess:
    """A process, and its sequences as Parquet and as token streams in a folder."""

    process: Process
    folder: Path

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer"

    @property
    def end(self) -> int:
        """Id of the end-of-text token; the symbols are those below."""
        return len(self.process.letters) + 1

    def prefix(self, split: str) -> Path:
        return self.folder / split

    def text(self, split: str) -> Text:
        return Text.read(self.prefix(split), self.end)

    def segments(self, split: str) -> Iterator[list[str]]:
        """The sub-sequences of each sequence, with their delimiters, read off the delimiters."""
        tokenizer = load_tokenizer(self.tokenizer)
        text = self.text(split)
        for sequence in np.split(text.tokens, text.offsets[1:-1]):
            yield [piece + " " for piece in tokenizer.decode(sequence).removesuffix(" ").split(" ")]


def tiny_process(folder: Path, recipe: ProcessOptions = SMALL, counts: Mapping[str, int] = SPLITS) -> TinyProcess:
    folder.mkdir(parents=True, exist_ok=True)
    paths = {split: folder / f"{split}.parquet" for split in counts}
    paths_of_all = {**paths, "process": folder / "p.npz", "statistics": folder / "s.json"}
    write_process_corpus(recipe.changed(**counts), paths_of_all)
    tiny = TinyProcess(Process.load(folder / "p.npz"), folder)
    make_symbol_tokenizer(tiny.tokenizer, tiny.process.letters)
    for split, path in paths.items():
        encode_process_split(path, tiny.tokenizer, tiny.prefix(split), 1 if split == "train" else None)
    return tiny


def model_of(process: Process, end: float = 0.1) -> HSMM:
    """The process as a hidden semi-Markov model in fp64, where `end` is the probability of ending after a segment."""
    symbols = {symbol: number for number, symbol in enumerate(process.letters + " ")}
    depth = int(process.lengths.max())
    grams: list[dict[int, int]] = [{} for _ in range(depth)]
    for number, letters in enumerate(process.subsequences):
        code = 0
        for symbol in letters + " ":
            code = code * len(symbols) + symbols[symbol]
        grams[len(letters)][code] = number
    order = np.concatenate([[by_code[code] for code in sorted(by_code)] for by_code in grams]).astype(np.int64)
    codes = tuple(np.array(sorted(by_code), np.uint64) for by_code in grams)
    emission = np.zeros((len(order), len(process.transition)))
    emission[np.arange(len(order)), process.owner[order]] = process.emission[order]
    tables = (emission, process.transition, process.initial, np.full(len(process.transition), end))
    return HSMM(Lexicon(len(symbols), codes, np.zeros(len(order), np.int64)), *map(torch.tensor, tables))
