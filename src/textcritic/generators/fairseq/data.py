"""Examples for fairseq's models: pairs of a parallel corpus, or documents of a token stream; and batches of them."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import torch

from textcritic.corpora import BODY, BOUNDARY
from textcritic.errors import TextcriticError
from textcritic.generators.encode import load_encoded
from textcritic.generators.fairseq.at_once import OFFSET
from textcritic.generators.fairseq.models import FairseqModel
from textcritic.generators.pairs import Pairs
from textcritic.generators.symbols import sequence_ends
from textcritic.runlog import log

Batch: TypeAlias = dict[str, Any]
"""What fairseq's `collate` makes: tensors by name, those that a model reads together under `net_input`."""


@dataclass(frozen=True)
class Side:
    """One text of every example, which becomes fairseq's symbols when it is asked for.

    Attributes:
        tokens: ids of the tokenizer [tokens]; of a stream a memory map, as billions of tokens have no room in memory.
        starts: where each text begins, int64 [examples].
        stops: where it ends, int64 [examples].
        symbols: fairseq's symbol of each id, see `FairseqModel.symbols`.
    """

    tokens: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    symbols: np.ndarray

    def lengths(self) -> np.ndarray:
        """Tokens of each text [examples]."""
        return self.stops - self.starts

    def text(self, number: int) -> torch.Tensor:
        """The symbols of one text, int64, without any at its ends."""
        return torch.from_numpy(self.symbols[self.tokens[self.starts[number] : self.stops[number]]])


@dataclass(frozen=True)
class Examples:
    """What a model is trained or measured on: a text to write each, and for a translator the text that it reads.

    Attributes:
        target: what is to be written.
        source: what is read; None for a language model.
        kinds: kind of each token of `target.tokens`, uint8 [tokens], see `corpora`.
        group: document that each belongs to, int64 [examples]: translations of a sentence belong together.
        usable: the examples that are not too long for the model [usable].
    """

    target: Side
    source: Side | None
    kinds: np.ndarray
    group: np.ndarray
    usable: np.ndarray

    @property
    def left_out(self) -> int:
        """How many examples are too long for the model."""
        return len(self.group) - len(self.usable)


def split_path(path: str | os.PathLike[str]) -> str:
    """The file that represents a split: the pairs' .npz, or the tokens of a stream given by its prefix."""
    text = os.fspath(path)
    return text if text.endswith(".npz") else f"{text}.tokens.npy"


def load_examples(path: str | os.PathLike[str], model: FairseqModel) -> Examples:
    """The examples of a split as a model takes them.

    Args:
        path: pairs (.npz, see `Pairs`) for a translator; for a language model the prefix of a token stream in the
            form `single`, each article a document of its own.
        model: whose symbols they become, and how long they may be; what is longer is left out, with a line in the log.

    Raises:
        TextcriticError: a fault of the file, or no example is short enough.
    """
    examples = _pairs(path, model) if model.translates else _documents(path, model)
    if examples.left_out:
        limit = f"{model.longest_target:,} tokens" + (
            f", or read from more than {model.longest_source:,}," if model.translates else ""
        )
        what = f"{examples.left_out:,} of {len(examples.group):,} texts of more than {limit} are left out"
        if not len(examples.usable):
            raise TextcriticError(
                f"{split_path(path)}: {what}; raise options.max_target_positions, and for a source max_source_positions"
            )
        log.warning("%s: %s", split_path(path), what)
    return examples


def target_streams(path: str | os.PathLike[str], translates: bool) -> list[np.ndarray]:
    """The tokens that a dictionary is counted on: both sides of pairs, or a stream."""
    if not translates:
        return [load_encoded(path)[0]]
    pairs = Pairs.load(path)
    return [pairs.source, pairs.target]


class Batches:
    """Examples of about one length, as many as have no more tokens than a budget, padding included.

    A batch has so many rows that rows times the longest text, of source and target, does not exceed `max_tokens`, as
    fairseq counts. There are as many batches in every epoch; which examples are together, and in which order batches
    come, depends on the seed and the epoch alone.

    Args:
        model: whose collation they get.
        examples: the usable ones of them are used.
        max_tokens: the budget.

    Raises:
        TextcriticError: an example that alone exceeds the budget.
    """

    def __init__(self, model: FairseqModel, examples: Examples, max_tokens: int) -> None:
        self.model, self.examples = model, examples
        ends = 1 if model.autoregressive else 2
        targets = examples.target.lengths()
        longest = targets if examples.source is None else np.maximum(targets, examples.source.lengths())
        self.longest = longest + ends
        most = int(self.longest[examples.usable].max())
        if most > max_tokens:
            raise TextcriticError(f"training.max_tokens: {max_tokens} is less than the longest text, {most} tokens")
        self.cuts = _cuts(np.sort(self.longest[examples.usable]), max_tokens)
        self._target_tokens = targets + ends

    def __len__(self) -> int:
        return len(self.cuts) - 1

    def in_order(self) -> list[np.ndarray]:
        """All batches, as arrays of examples, from the shortest to the longest."""
        return self._of(self.examples.usable)

    def at(self, seed: int, number: int) -> np.ndarray:
        """The examples of batch `number` of the endless stream of epochs."""
        epoch, place = divmod(number, len(self))
        return self._epoch(seed, epoch)[place]

    def tokens(self, rows: np.ndarray) -> int:
        """Target tokens of these examples, the symbols at their ends included."""
        return int(self._target_tokens[rows].sum())

    def collate(self, rows: np.ndarray) -> Batch:
        """A batch as fairseq's criteria take it, on the CPU.

        A translator's source is padded on the left and its batch sorted by the length of the source, as fairseq does;
        `id` [rows] says which example a row is. Non-autoregressive models read and write <s> at the beginning. Theirs
        are padded on the right: with `src_embedding_copy` fairseq copies from the beginning of the row, so that what
        it copies would depend on the padding.
        """
        dictionary, model = self.model.dictionary, self.model
        from fairseq.data import language_pair_dataset, monolingual_dataset

        begin = torch.tensor([dictionary.bos()] if not model.autoregressive else [], dtype=torch.long)
        end = torch.tensor([dictionary.eos()])
        samples = []
        for row in rows:
            target = self.examples.target.text(row)
            sample = {"id": int(row), "target": torch.cat([begin, target, end])}
            if self.examples.source is None:
                sample["source"] = torch.cat([end, target])
            else:
                sample["source"] = torch.cat([begin, self.examples.source.text(row), end])
            samples.append(sample)
        pad, eos = dictionary.pad(), dictionary.eos()
        if self.examples.source is None:
            batch: Batch = monolingual_dataset.collate(samples, pad, eos)
        else:
            reads = model.autoregressive
            batch = language_pair_dataset.collate(samples, pad, eos, left_pad_source=reads, input_feeding=reads)
        return batch

    def _of(self, shuffled: np.ndarray) -> list[np.ndarray]:
        """Batches of examples: sorted by length, those of one length in the order given."""
        lengths = (self._target_tokens[shuffled], self.longest[shuffled])
        ordered = shuffled[np.lexsort(lengths)]
        return [ordered[a:b] for a, b in zip(self.cuts[:-1], self.cuts[1:], strict=True)]

    @lru_cache(maxsize=2)  # noqa: B019  (a training has one such object)
    def _epoch(self, seed: int, epoch: int) -> list[np.ndarray]:
        numbers = np.random.default_rng([seed, epoch])
        batches = self._of(numbers.permutation(self.examples.usable))
        return [batches[place] for place in numbers.permutation(len(batches))]


def to_device(batch: Batch, device: torch.device) -> Batch:
    """A batch with its tensors moved."""
    moved = lambda value: value.to(device, non_blocking=True) if torch.is_tensor(value) else value  # noqa: E731
    return {key: to_device(item, device) if isinstance(item, dict) else moved(item) for key, item in batch.items()}


def _cuts(lengths: np.ndarray, max_tokens: int) -> np.ndarray:
    """Where batches begin in examples sorted by length, the end of the last one behind them."""
    cuts = [0]
    for place, length in enumerate(lengths):
        if (place + 1 - cuts[-1]) * int(length) > max_tokens:
            cuts.append(place)
    return np.array([*cuts, len(lengths)], np.int64)


def _pairs(path: str | os.PathLike[str], model: FairseqModel) -> Examples:
    pairs = Pairs.load(path)
    _require_known(path, (pairs.source, pairs.target), model)
    source, target = np.diff(pairs.source_offsets), np.diff(pairs.target_offsets)
    # A model that predicts the difference of the lengths has 256 classes for it.
    near = (target - source >= -OFFSET) & (target - source < OFFSET)
    near |= not getattr(model.module.decoder, "pred_length_offset", False)
    return Examples(
        Side(pairs.target, pairs.target_offsets[:-1], pairs.target_offsets[1:], model.symbols),
        Side(pairs.source, pairs.source_offsets[:-1], pairs.source_offsets[1:], model.symbols),
        np.full(len(pairs.target), BODY, np.uint8),
        pairs.sentence,
        np.flatnonzero((source <= model.longest_source) & (target <= model.longest_target) & near),
    )


def _documents(path: str | os.PathLike[str], model: FairseqModel) -> Examples:
    ends = sequence_ends(path, int(model.tokenizer.eos_token_id))
    tokens, kinds = load_encoded(path)
    _require_known(path, (tokens,), model)
    side = Side(tokens, ends[:-1] + 1, ends[1:], model.symbols)
    usable = np.flatnonzero(side.lengths() <= model.longest_target)
    return Examples(side, None, kinds, np.arange(len(ends) - 1), usable)


def _require_known(path: str | os.PathLike[str], streams: Iterable[np.ndarray], model: FairseqModel) -> None:
    most = max(int(tokens.max()) for tokens in streams)
    if most >= len(model.tokenizer):
        raise TextcriticError(
            f"{split_path(path)}: holds token {most}, the tokenizer has {len(model.tokenizer)}; rerun the encoding"
        )


def iter_kinds(examples: Examples, rows: np.ndarray) -> Iterator[np.ndarray]:
    """For each example, the kinds of its tokens, followed by `BOUNDARY` for the end token."""
    for row in rows:
        first, stop = examples.target.starts[row], examples.target.stops[row]
        yield np.append(examples.kinds[first:stop], np.uint8(BOUNDARY))
