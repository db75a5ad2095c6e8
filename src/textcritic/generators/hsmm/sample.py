"""Ancestral sampling from a hidden semi-Markov model, and the job that writes one shard of raw draws."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.shards import CUT, ENDED, Draw, Shard, write_shard
from textcritic.generators.uniforms import Uniforms
from textcritic.training.hardware import cpu_settings
from textcritic.training.load import decode, load_tokenizer

COLUMNS_AT_ONCE = 16


def sample_hsmm(
    model_dir: str | os.PathLike[str],
    shard: Shard,
    segments: int | None = None,
    max_tokens: int = 4096,
    threads: int | None = None,
) -> None:
    """Draw the sequences of one shard and write them.

    Args:
        model_dir: model folder with its tokenizer.
        shard: which sequences, and where they are written.
        segments: number of segments of every sequence, as published; None: the model ends its sequences.
        max_tokens: a sequence that has not ended within so many tokens, the end token included, is cut there, and
            counted as such.
        threads: CPU threads of torch; None leaves torch's own number. The model stays on the CPU.

    Raises:
        TextcriticError: the model is missing or not whole, or a setting is out of range.
    """
    with cpu_settings(threads):
        tokenizer = load_tokenizer(model_dir)
        drawn = draw(HSMM.load(model_dir), shard.indices, shard.seed, segments, max_tokens)
    write_shard(
        shard.path,
        (
            Draw(index, decode(tokenizer, ids.tolist()), len(ids) + int(ended), ENDED if ended else CUT)
            for index, (ids, ended) in enumerate(zip(drawn, drawn.ended, strict=True), start=shard.first)
        ),
    )


@dataclass(frozen=True)
class Drawn:
    """n sequences one after the other.

    Attributes:
        tokens: int64 [tokens].
        offsets: where each sequence begins, and the end of the last, int64 [n + 1].
        ended: whether the sequence came to its end within the limit; those that did not were cut, bool [n].
        states: of the segments, int64 [segments]; a segment that was cut is the last of its sequence.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    ended: np.ndarray
    states: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:
        """The tokens of each sequence."""
        return iter(np.split(self.tokens, self.offsets[1:-1]))


def draw(model: HSMM, indices: Sequence[int], seed: int, segments: int | None = None, max_tokens: int = 4096) -> Drawn:
    """Draw sequences; sequence i depends on (seed, i) only, not on which are drawn with it.

    The states are a Markov chain whatever the segments are, so they are drawn first, and then the segments state by
    state, so that each column of the emission table is read once.

    Args:
        model: K states, R rows.
        indices: the numbers of the sequences.
        seed: 0 or more.
        segments: number of segments of every sequence, as published; None: as the model's `end` has it.
        max_tokens: a sequence that has not ended within so many tokens is cut there. As in other models' samples the
            end is one of them, with a given number of segments too: one with an end has at most max_tokens - 1 tokens.

    Raises:
        TextcriticError: `segments` or `max_tokens` is below 1, or the seed is negative.
    """
    for name, value in (("segments", segments), ("max_tokens", max_tokens)):
        if value is not None and value < 1:
            raise TextcriticError(f"{name}: {value} is not possible; give at least 1")
    uniforms = Uniforms.of(seed, indices)
    sequence, states, numbers, complete = _chains(model, uniforms, len(indices), segments, max_tokens)
    rows = _emit(model, states, numbers)
    return _cut(model, sequence, states, rows, complete, max_tokens)


def _chains(
    model: HSMM, uniforms: Uniforms, count: int, segments: int | None, longest: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sequence and state of each segment and a number in [0, 1) that will draw its row; whether each chain ended.

    The segments are sorted by sequence. Each has three numbers of its sequence's stream: state, row, end.
    """
    initial = _cumulative(model.initial[None])
    transition = _cumulative(model.transition)
    end = model.end.double().cpu().numpy()
    active, state = np.arange(count), np.zeros(count, np.int64)
    complete = np.zeros(count, bool)
    sequences, states, numbers = [], [], []
    for step in range(longest if segments is None else min(segments, longest)):
        table, given = (initial, np.zeros_like(state)) if step == 0 else (transition, state)
        state = _invert(table, given, uniforms.next(active))
        sequences.append(active)
        states.append(state)
        numbers.append(uniforms.next(active))
        chance = uniforms.next(active)
        last = chance < end[state] if segments is None else np.full(len(active), step == segments - 1)
        complete[active[last]] = True
        active, state = active[~last], state[~last]
        if not len(active):
            break
    sequence = np.concatenate(sequences)
    order = np.argsort(sequence, kind="stable")
    return sequence[order], np.concatenate(states)[order], np.concatenate(numbers)[order], complete


def _emit(model: HSMM, states: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """A row of the lexicon for each segment [segments]."""
    rows = np.empty(len(states), np.int64)
    by_state = np.argsort(states, kind="stable")
    stops = np.searchsorted(states[by_state], np.arange(model.states + 1))
    for first in range(0, model.states, COLUMNS_AT_ONCE):
        columns = range(first, min(first + COLUMNS_AT_ONCE, model.states))
        if stops[columns[0]] == stops[columns[-1] + 1]:
            continue
        tables = _cumulative(model.emission[:, first : columns[-1] + 1].T)
        for table, state in zip(tables, columns, strict=True):
            at = by_state[stops[state] : stops[state + 1]]
            rows[at] = np.searchsorted(table, _targets(table[-1], numbers[at]), side="right")
    return rows


def _cut(
    model: HSMM, sequence: np.ndarray, states: np.ndarray, rows: np.ndarray, complete: np.ndarray, max_tokens: int
) -> Drawn:
    """Segments to tokens, at most `max_tokens` of each sequence."""
    tokens, lengths = model.lexicon.segments(rows)
    total = np.bincount(sequence, lengths, len(complete)).astype(np.int64)
    before = np.cumsum(lengths) - lengths
    before -= np.repeat(np.cumsum(total) - total, np.bincount(sequence, minlength=len(complete)))
    inside = before < max_tokens
    taken = np.arange(tokens.shape[1]) < np.minimum(lengths, max_tokens - before)[:, None]
    return Drawn(
        tokens=tokens[taken],
        offsets=np.concatenate([[0], np.cumsum(np.minimum(total, max_tokens))]),
        ended=complete & (total < max_tokens),  # the end is a token too
        states=states[inside],
    )


def _cumulative(rows: torch.Tensor) -> np.ndarray:
    """Running sums along each row, float64 [n, m]."""
    sums: np.ndarray = rows.double().cumsum(dim=1).cpu().numpy()
    return sums


def _invert(cumulative: np.ndarray, row: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """In the running sums [m, K] of row `row` [n], the place where the share of the total is the number [n]."""
    targets = _targets(cumulative[row, -1], numbers)
    low, high = np.zeros(len(row), np.int64), np.full(len(row), cumulative.shape[1] - 1)
    while (low < high).any():
        middle = (low + high) // 2
        beyond = cumulative[row, middle] <= targets
        low, high = np.where(beyond, middle + 1, low), np.where(beyond, high, middle)
    return low


def _targets(total: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    # A product may round up to the total itself, beyond which there is nothing.
    targets: np.ndarray = np.minimum(numbers * total, np.nextafter(total, 0))
    return targets
