"""Which n-grams are segments: a model with one state, the multigram model (Deligne and Bimbot 1995), fitted by EM.

Of the millions of n-grams that a text has, few are left with any probability after some iterations, and a hidden
semi-Markov model that begins with those is thousands of times cheaper than one over all of them. One thing this model
gets wrong: without states, a frequent pair of segments is worth a segment of its own. Such compounds are taken out.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from textcritic.critics.hsmm.lattice import Lattice
from textcritic.critics.hsmm.lexicon import ABSENT, Lexicon
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.recursion import Counts, expected_counts
from textcritic.critics.hsmm.viterbi import viterbi
from textcritic.runlog import Progress, log

BATCH = 1024
FIRST = 10_240  # sequences that the first iterations read: most n-grams are known to be no segments after those
FIRST_ITERATIONS, ITERATIONS, LAST_ITERATIONS = 4, 8, 4
NEGLIGIBLE = 0.01  # expected occurrences below which an n-gram is dropped between iterations
LEAST = 0.5  # and at the end
PART = 0.1  # of a compound's occurrences, what each of its two parts has at least


@dataclass(frozen=True)
class Segments:
    """Text as its likeliest segments.

    Attributes:
        lexicon: the kinds of segments with how often each occurs, S rows.
        types: of the segments in the order of the text, int64 [segments].
        offsets: where the segments of each sequence begin, and the end of the last, int64 [sequences + 1]; a sequence
            that could not be cut has none.
    """

    lexicon: Lexicon
    types: np.ndarray
    offsets: np.ndarray


def find_segments(lexicon: Lexicon, rows: np.ndarray, offsets: np.ndarray, name: str = "hsmm") -> Segments:
    """Fit the multigram model to some text and cut the text by it.

    Args:
        lexicon: the n-grams that may be segments, with their counts.
        rows: int32 [tokens, D], see `Lexicon.rows`; overwritten.
        offsets: where each sequence begins, and the end of the last, [sequences + 1].
        name: for progress lines.
    """
    sequences = len(offsets) - 1
    first = np.arange(min(FIRST, sequences))
    work = FIRST_ITERATIONS * len(first) + (ITERATIONS + LAST_ITERATIONS) * sequences
    progress = Progress(f"{name}: finding segments", work, "sequences")
    weights = lexicon.counts / lexicon.counts.sum()
    for _ in range(FIRST_ITERATIONS):
        weights = _iterate(lexicon, weights, rows, offsets, first, progress)
    # What the first sequences do not have is still to be seen.
    seen = np.zeros(len(lexicon), bool)
    part = rows[: offsets[len(first)]]
    seen[part[part != ABSENT]] = True
    weights = np.where(seen, weights, lexicon.counts / len(rows))
    lexicon, weights = _prune(lexicon, weights, rows, ~seen | (weights >= NEGLIGIBLE))
    everything = np.arange(sequences)
    for iteration in range(ITERATIONS + LAST_ITERATIONS):
        weights = _iterate(lexicon, weights, rows, offsets, everything, progress)
        keep = weights >= NEGLIGIBLE
        if iteration == ITERATIONS - 1:
            compound = _compounds(lexicon, weights)
            log.info("%s: %d of %d kinds of segments are two others", name, (compound & keep).sum(), keep.sum())
            keep &= ~compound
        lexicon, weights = _prune(lexicon, weights, rows, keep)
    lexicon, weights = _prune(lexicon, weights, rows, weights >= LEAST)
    return _cut(lexicon, weights, rows, offsets, name)


def one_state(lexicon: Lexicon, weights: np.ndarray) -> HSMM:
    """The multigram model as a hidden semi-Markov model with one state; `weights` [R] need not sum to one."""
    emission = torch.from_numpy(weights / weights.sum()).float()[:, None]
    one = torch.ones(1)
    return HSMM(lexicon, emission, one[:, None], one, one / 2)


def _iterate(
    lexicon: Lexicon,
    weights: np.ndarray,
    rows: np.ndarray,
    offsets: np.ndarray,
    sequences: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Expected occurrences of each row in some sequences, float64 [R]."""
    model = one_state(lexicon, weights)
    total = np.zeros(len(lexicon))
    counts = Counts.zeros(model)
    for at in range(0, len(sequences), BATCH):
        batch = sequences[at : at + BATCH]
        expected_counts(model, Lattice.build(rows, offsets, batch), into=counts)
        total += counts.emission[:, 0].double().numpy()  # fp32 sums of millions would lose the rare ones
        counts.emission.zero_()
        progress.advance(len(batch))
    return total


def _prune(lexicon: Lexicon, weights: np.ndarray, rows: np.ndarray, keep: np.ndarray) -> tuple[Lexicon, np.ndarray]:
    """The lexicon with some rows only, and their weights; `rows` is renumbered in place."""
    number = np.full(len(keep) + 1, ABSENT, np.int32)
    number[:-1][keep] = np.arange(keep.sum())
    for column in rows.T:
        column[:] = number[column]
    return lexicon.select(keep), weights[keep]


def _compounds(lexicon: Lexicon, weights: np.ndarray) -> np.ndarray:
    """Rows that are two rows, one after the other, of which each occurs often enough: bool [R]."""
    found = np.zeros(len(lexicon), bool)
    lengths, codes = lexicon.lengths, np.concatenate(lexicon.codes)
    for tail in range(1, lexicon.longest):
        power = np.uint64(lexicon.vocabulary**tail)
        at = np.flatnonzero(lengths > tail)
        after = _weights_of(lexicon, weights, codes[at] % power, np.full(len(at), tail))
        before = _weights_of(lexicon, weights, codes[at] // power, lengths[at] - tail)
        found[at] |= np.minimum(before, after) >= np.maximum(PART * weights[at], LEAST)
    return found


def _weights_of(lexicon: Lexicon, weights: np.ndarray, codes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The weights of n-grams of given codes and lengths, 0 for those that are not in the lexicon."""
    values = np.zeros(len(codes))
    for n in np.unique(lengths):
        rows, known = np.flatnonzero(lengths == n), lexicon.codes[n - 1]
        if len(known):
            place = np.searchsorted(known, codes[rows]).clip(max=len(known) - 1)
            values[rows] = np.where(known[place] == codes[rows], weights[lexicon.row_offsets[n] + place], 0)
    return values


def _cut(lexicon: Lexicon, weights: np.ndarray, rows: np.ndarray, offsets: np.ndarray, name: str) -> Segments:
    """The likeliest segments of all sequences, and how often each kind is one of them."""
    model = one_state(lexicon, weights)
    kinds, lengths = [], []
    for at in range(0, len(offsets) - 1, BATCH):
        batch = np.arange(at, min(at + BATCH, len(offsets) - 1))
        cut = viterbi(model, Lattice.build(rows, offsets, batch))
        kinds.append(cut.rows)
        lengths.append(np.diff(cut.offsets))
    types, number = np.concatenate(kinds), np.concatenate(lengths)
    log.info(
        "%s: %.2f segments a sequence of %d kinds; %d sequences could not be cut",
        name,
        len(types) / max((number > 0).sum(), 1),
        len(lexicon),
        (number == 0).sum(),
    )
    counted = replace(lexicon, counts=np.bincount(types, minlength=len(lexicon)))
    return Segments(counted, types, np.concatenate([[0], np.cumsum(number)]))
