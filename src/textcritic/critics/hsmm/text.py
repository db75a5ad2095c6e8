"""What the training of a hidden semi-Markov model reads: settings, sequences, and their lattices batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from textcritic.critics.hsmm.lattice import Lattice
from textcritic.critics.hsmm.lexicon import ABSENT, MOST_COMMON, Lexicon
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.recursion import log_marginal

# Nodes times states of a batch; a pass holds about six such tables.
VALUES_AT_ONCE = {"cpu": 1 << 24, "cuda": 1 << 29}
LARGEST_BATCH = 1024
Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides a model; the keys of a registry entry of kind `hsmm` and of its `training`."""

    states: int  # the most states
    longest: int = 11  # tokens of the longest segment
    most_common: int = MOST_COMMON  # n-grams of each length that may be segments
    method: str = "em"  # or adam
    iterations: int = 10  # em: at most
    tolerance: float = 1e-4  # em: it ends when the validation loss, in nats per token, falls by less
    transition_prior: float = 0.1  # em: see `smoothing.estimate`
    epochs: int = 10  # adam: passes over the text
    pretraining_epochs: int = 1  # adam: passes before those, which train the emissions alone
    batch_size: int = 8  # adam: sequences of an update
    learning_rate: float = 0.3  # adam: at first
    pretraining_learning_rate: float = 0.1
    minimum_learning_rate: float = 3e-4
    decay: float = 2.0  # adam: what the learning rate is divided by when a validation is no better than the best
    evaluate_every: int = 240  # adam: updates between validations

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> "Settings":
        """From a registry entry with all its defaults."""
        keys = {**entry, **entry["training"]}
        return cls(**{field.name: keys[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class Text:
    """Sequences: tokens [tokens] one after the other, and where each begins and the last ends, [sequences + 1]."""

    tokens: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1


def exact_lattices(text: Text, lexicon: Lexicon, states: int, device: str) -> Iterator[Lattice]:
    """Lattices of all sequences with all their segmentations, batch by batch, on the CPU.

    Args:
        text: the sequences.
        lexicon: the segments.
        states: of the model that they are for, which decides the size of a batch.
        device: "cpu" or "cuda", which does too.
    """
    longest = int(np.diff(text.offsets).max(initial=1))
    size = int(np.clip(VALUES_AT_ONCE[device] // (states * longest), 1, LARGEST_BATCH))
    for at in range(0, len(text), size):
        part = Text(*_part(text, at, at + size))
        yield Lattice.build(lexicon.rows(part.tokens, part.offsets), part.offsets)


def sparse_lattices(text: Text, lexicon: Lexicon) -> list[Lattice]:
    """Lattices of all sequences without single tokens as segments, where a sequence can be cut without them.

    What those segmentations would add is below rounding: the smoothing leaves single tokens a small share of every
    state (`smoothing.estimate`), and a path pays it once a token. Without them a border is where segments really meet,
    a tenth of all places in section 3 of the paper, and a pass costs as much less.
    """
    lattices = []
    for at in range(0, len(text), LARGEST_BATCH):
        part = Text(*_part(text, at, at + LARGEST_BATCH))
        rows = lexicon.rows(part.tokens, part.offsets)
        several = rows.copy()
        several[:, 0] = ABSENT
        lattice = Lattice.build(several, part.offsets)
        lattices.append(lattice)
        if len(uncut := np.flatnonzero(~lattice.parsable.numpy())):
            lattices.append(Lattice.build(rows, part.offsets, uncut))
    return lattices


def log_likelihoods(model: HSMM, lattices: Iterable[Lattice], end: bool = False) -> np.ndarray:
    """The log p(x) of every parsable sequence in the order of the lattices, in nats, float64 [sequences]."""
    values = []
    for lattice in lattices:
        value = log_marginal(model, lattice.to(model.initial.device), end)
        values.append(value.cpu().numpy()[lattice.parsable.numpy()])
    return np.concatenate(values)


def _part(text: Text, first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    offsets = text.offsets[first : min(stop, len(text)) + 1]
    return text.tokens[offsets[0] : offsets[-1]], offsets - offsets[0]
