"""What the training of a hidden semi-Markov model reads: sequences, and their lattices batch by batch."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.lexicon import ABSENT, Lexicon, check_sequences
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.recursion import log_marginal
from textcritic.generators.symbols import read_sequences

# Nodes times states of a batch; a pass holds about six such tables.
VALUES_AT_ONCE = {"cpu": 1 << 24, "gpu": 1 << 29}
LARGEST_BATCH = 1024
SPELLED_AT_ONCE = 64  # sequences whose places are all nodes
OWN = 0.05  # least share of a token's occurrences that are segments, if it does not only spell other segments
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Text:
    """Sequences: tokens [tokens] one after the other, and where each begins and the last ends, [sequences + 1]."""

    tokens: np.ndarray
    offsets: np.ndarray

    @classmethod
    def read(cls, prefix: str | os.PathLike[str], end: int) -> "Text":
        """An encoded split, see `generators.symbols`; its symbols are the tokens below the end of text.

        Raises:
            TextcriticError: as `read_sequences`, or a token is not below `end`.
        """
        text = cls(*read_sequences(prefix, end))
        try:
            check_sequences(text.tokens, text.offsets, end)
        except TextcriticError as error:
            raise TextcriticError(f"{os.fspath(prefix)}.tokens.npy: {error}; encode it with this tokenizer") from error
        return text

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, first: int, stop: int) -> "Text":
        """The sequences from `first` to before `stop`, or to the last."""
        offsets = self.offsets[first : min(stop, len(self)) + 1]
        return Text(self.tokens[offsets[0] : offsets[-1]], offsets - offsets[0])


def exact_lattices(text: Text, lexicon: Lexicon, states: int, device: torch.device) -> Iterator[Lattice]:
    """Lattices of all sequences with all their segmentations, batch by batch, on the CPU.

    Args:
        text: the sequences.
        lexicon: the segments.
        states: how many states the model has; this and the device decide the size of a batch.
        device: the device that they are moved to later.
    """
    longest, kind = int(np.diff(text.offsets).max(initial=1)), "cpu" if device.type == "cpu" else "gpu"
    size = int(np.clip(VALUES_AT_ONCE[kind] // (states * longest), 1, LARGEST_BATCH))
    for at in range(0, len(text), size):
        part = text.part(at, at + size)
        yield Lattice.build(lexicon.rows(part.tokens, part.offsets), part.offsets)


def sparse_lattices(text: Text, lexicon: Lexicon, unigrams: np.ndarray) -> list[Lattice]:
    """Lattices of all sequences, without single tokens that only spell, where a sequence can be cut without these.

    A smoothed model can emit every single token, so a border between segments can be at every place. But paths through
    nearly all of these borders have a negligible weight: a state's share of such tokens is small (`em.estimate`), and a
    path pays it for each token. Without such tokens, borders are only where segments really meet, at a tenth of all
    places in section 3 of the paper, and a pass is ten times cheaper. The log-likelihood is lower by -log(1 - p), where
    p is the posterior probability that anything is spelled.

    Args:
        text: the sequences.
        lexicon: the segments with all single tokens; its counts say which single tokens are segments themselves.
        unigrams: how often each token occurs where the counts were taken [V].
    """
    spelling = lexicon.counts[: lexicon.vocabulary] < OWN * unigrams
    lattices = []
    for at in range(0, len(text), LARGEST_BATCH):
        part = text.part(at, at + LARGEST_BATCH)
        rows = lexicon.rows(part.tokens, part.offsets)
        several = rows.copy()
        several[:, 0] = np.where(spelling[rows[:, 0]], ABSENT, rows[:, 0])
        lattice = Lattice.build(several, part.offsets)
        lattices.append(lattice)
        uncut = np.flatnonzero(~lattice.parsable.numpy())
        for first in range(0, len(uncut), SPELLED_AT_ONCE):
            lattices.append(Lattice.build(rows, part.offsets, uncut[first : first + SPELLED_AT_ONCE]))
    return lattices


def log_likelihood(model: HSMM, lattices: Iterable[Lattice]) -> float:
    """The log p(x) of all parsable sequences of some lattices together, in nats, their ends not modelled."""
    total = 0.0
    for lattice in lattices:
        value = log_marginal(model, lattice.to(model.initial.device))
        total += float(value[lattice.parsable.to(value.device)].sum())
    return total
