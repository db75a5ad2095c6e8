"""Sums over the draws of each text, put in random orders again and again, for curves in K and pairings of texts.

A matrix of 10,000 texts and as many draws has 0.75 GB and takes over a second to shuffle, a hundred times. So of a
large matrix a block of texts shares an order, and so do some repeats: each text of each repeat begins at a place of its
own in it, chosen at random, and goes on from the last draw to the first. Each draw of a text is at each place equally
often, whatever the places of other texts' draws are; tests/oracle compares means and spreads with orders drawn for each
text and repeat. Weights are exponentiated once for all repeats that share an order.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference.importance.weights import LogWeights
from textcritic.inference.statistics import Array
from textcritic.runlog import Progress

MANY = 1_000_000
"""Weights of a matrix above which orders are shared."""
ROWS, REPEATS = 64, 10
"""Texts that share an order, at most, and repeats that do."""
TINY = 1e-280
"""Sums of weights, as shares of the largest of a text, below which they are taken in logarithms."""


class Sums(NamedTuple):
    """Of a block of texts in one order of the draws of each.

    Attributes:
        repeat: the number of the order.
        segments: log sum exp of the weights of each text in each segment of its order: [texts of the block, segments].
        places: sums over the texts of the log weights at each place of their orders: [K].
        last: whether there are no further texts in this repeat.
    """

    repeat: int
    segments: Array
    places: Array
    last: bool


def ordered_sums(weights: LogWeights, ends: Sequence[int], repeats: int, seed: int) -> Iterator[Sums]:
    """The sums of every block of texts and repeat.

    Args:
        weights: of all texts.
        ends: of the segments of an order, ascending, from 1 to K; a segment begins where the one before ends.
        repeats: orders of the draws of each text.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: there are no repeats.
    """
    if repeats < 1:
        raise TextcriticError(f"log weights: {repeats} repeats; give at least 1")
    texts, draws = weights.log_weights.shape
    rng, shared = np.random.default_rng(seed), texts * draws > MANY
    rows = max(1, min(ROWS, MANY // draws)) if shared else texts
    progress = Progress("curves in K", repeats * -(-texts // rows), "orders", brief=True)
    # Some repeats at a time, so that sums over the texts before need not be kept for all of them.
    for first in range(0, repeats, REPEATS):
        for start in range(0, texts, rows):
            block = weights.log_weights[start : start + rows]
            top = block.max(axis=1, keepdims=True)
            top[~np.isfinite(top)] = 0.0
            both, number = (block, np.exp(block - top)), min(REPEATS, repeats - first)
            for repeat, (values, shares) in enumerate(_in_orders(both, number, shared, rng), first):
                places = np.zeros(draws)
                for row in values:
                    places += row
                yield Sums(repeat, _log_sums(values, shares, top, ends), places, start + rows >= texts)
                progress.advance()


def _in_orders(
    both: tuple[Array, Array], number: int, shared: bool, rng: np.random.Generator
) -> Iterator[Sequence[Sequence[Array]]]:
    """The rows of two matrices, each row in a random order that is the same in both: so many times."""
    texts, draws = both[0].shape
    if not shared:
        for _ in range(number):
            order = rng.permuted(np.tile(np.arange(draws), (texts, 1)), axis=1)
            in_order: list[Array] = [np.take_along_axis(values, order, axis=1) for values in both]
            yield [list(values) for values in in_order]
        return
    order = np.tile(rng.permutation(draws), 2)
    twice = [values.take(order, axis=1) for values in both]
    for _ in range(number):
        begins = rng.integers(0, draws, (texts,))
        yield [[row[at : at + draws] for row, at in zip(values, begins, strict=True)] for values in twice]


def _log_sums(log_weights: Sequence[Array], shares: Sequence[Array], top: Array, ends: Sequence[int]) -> Array:
    """Log sum exp of each segment: [texts, segments]; shares are weights over that of the largest, whose log is top."""
    starts, stop = [0, *ends[:-1]], int(ends[-1])
    sums = np.stack([np.add.reduceat(row[:stop], starts) for row in shares])
    with np.errstate(divide="ignore"):
        found: Array = np.log(sums) + top
    for row in np.flatnonzero((sums < TINY).any(axis=1)).tolist():
        found[row] = np.logaddexp.reduceat(log_weights[row][:stop], starts)
    return found
