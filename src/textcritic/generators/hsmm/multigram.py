"""Which n-grams are segments: a model with one state, the multigram model (Deligne and Bimbot 1995), fitted by EM.

After some iterations only a few of the millions of n-grams in a text still have any probability. A hidden semi-Markov
model that begins with these is thousands of times cheaper than one over all n-grams. But without states a frequent
pair of segments looks like a segment of its own. Such compounds are taken out.

With one state there is nothing but a sum at each border, so the windows of a batch are one padded table, and a step is
a few operations on [D, B] numbers. That is many times faster than a general lattice.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.lexicon import ABSENT, Lexicon
from textcritic.generators.hsmm.text import Text
from textcritic.runlog import Progress, log

FIRST_BATCHES = 10  # what the first iterations read: after that, most n-grams are known not to be segments
FIRST_ITERATIONS, ITERATIONS, LAST_ITERATIONS = 4, 8, 4
NEGLIGIBLE = 0.01  # expected occurrences below which an n-gram is dropped between iterations
LEAST = 0.5  # and at the end
PART = 0.1  # of a compound's occurrences, what each of its two parts has at least
PART_LEAST = 5.0  # and in all: rarer parts are leftovers of segments that are rare themselves
# Nats added for each segment. With states, a segment costs less than its own log-probability, as the segment before it
# helps to predict it. Without this bonus, pairs of segments are too often taken for one. From 2 log 2 on, a symbol
# that ends every segment would become a segment of its own.
BONUS = 1.0
SEQUENCES_AT_ONCE = 1024
VALUES_AT_ONCE = 1 << 24  # windows of a batch; its recursions hold about 12 bytes for each
NEVER = -1e30  # a logarithm; finite, so that differences are
FAINT = -600.0  # smaller logarithms count as zero probability: exp is many times slower where it underflows


@dataclass(frozen=True)
class Segments:
    """Text as its likeliest segments.

    Attributes:
        lexicon: the kinds of segments with how often each occurs, S rows.
        types: of the segments in the order of the text, int64 [segments].
        offsets: where the segments of each sequence begin, and the end of the last, int64 [sequences + 1]; a sequence
            that could not be cut has no segments.
    """

    lexicon: Lexicon
    types: np.ndarray
    offsets: np.ndarray


def find_segments(
    lexicon: Lexicon,
    text: Text,
    name: str = "hsmm",
    device: torch.device | str = "cpu",
    check: Callable[[], None] = lambda: None,
) -> Segments:
    """Fit the multigram model to some text and cut the text by it.

    Args:
        lexicon: the n-grams that may be segments, with their counts.
        text: the sequences; the first of them should be like the others.
        name: for progress lines.
        device: where the recursions run; on a CPU, batches are shared out among as many threads as torch has.
        check: called after each batch; what it raises ends the work.

    Raises:
        TextcriticError: no sequence can be cut.
    """
    fit = _Fit(lexicon, Windows.batches(lexicon, text, device), name, check)
    first = fit.batches[:FIRST_BATCHES]
    fit.progress.total = sum(
        iterations * sum(len(batch.tokens) for batch in batches)
        for iterations, batches in ((FIRST_ITERATIONS, first), (ITERATIONS + LAST_ITERATIONS, fit.batches))
    )
    for _ in range(FIRST_ITERATIONS):
        fit.iterate(first)
    # N-grams that the first sequences do not have keep their counts.
    seen = np.zeros(len(lexicon) + 1, bool)
    for batch in first:
        seen[batch.rows.cpu().numpy()] = True
    fit.weights = np.where(seen[:-1], fit.weights, lexicon.counts / len(text.tokens))
    fit.prune(~seen[:-1] | (fit.weights >= NEGLIGIBLE))
    fit.bonus = BONUS
    for iteration in range(ITERATIONS + LAST_ITERATIONS):
        fit.iterate(fit.batches)
        keep = fit.weights >= NEGLIGIBLE
        if iteration == ITERATIONS - 1:
            compound = compounds(fit.lexicon, fit.weights)
            log.info("%s: %d of %d kinds of segments are two others", name, (compound & keep).sum(), keep.sum())
            keep &= ~compound
        fit.prune(keep)
    fit.prune(fit.weights >= LEAST)
    return fit.cut()


def compounds(lexicon: Lexicon, weights: np.ndarray) -> np.ndarray:
    """Whether each row is the concatenation of two rows that both occur often enough: bool [R].

    Args:
        lexicon: R rows.
        weights: how often each occurs [R].
    """
    compound = np.zeros(len(lexicon), bool)
    lengths, codes = lexicon.lengths, np.concatenate(lexicon.codes)
    for tail in range(1, lexicon.longest):
        power = np.uint64(lexicon.vocabulary**tail)
        at = np.flatnonzero(lengths > tail)
        after = _weights_of(lexicon, weights, codes[at] % power, np.full(len(at), tail))
        before = _weights_of(lexicon, weights, codes[at] // power, lengths[at] - tail)
        compound[at] |= np.minimum(before, after) >= np.maximum(PART * weights[at], PART_LEAST)
    return compound


@dataclass(frozen=True)
class Windows:
    """The windows of B sequences of at most T tokens, of 1 to D tokens each.

    Attributes:
        rows: of a lexicon, int32 [T + D - 1, D, B]: at [t, D - n, b] that of the n-gram whose last token is token t of
            sequence b, and R, the number of rows, where there is none.
        tokens: of each sequence, int64 [B].
    """

    rows: torch.Tensor
    tokens: torch.Tensor

    @classmethod
    def batches(cls, lexicon: Lexicon, text: Text, device: torch.device | str) -> list["Windows"]:
        """Those of all sequences of a text in their order."""
        depth = lexicon.longest
        longest = int(np.diff(text.offsets).max()) + depth - 1
        size = int(np.clip(VALUES_AT_ONCE // (longest * depth), 1, SEQUENCES_AT_ONCE))
        batches = []
        for at in range(0, len(text), size):
            part = text.part(at, at + size)
            tokens = np.diff(part.offsets)
            found = lexicon.rows(part.tokens, part.offsets)[:, ::-1]
            place = np.arange(tokens.max() + depth - 1)[:, None]
            inside = place < tokens
            rows = np.where(inside[:, :, None], found[np.where(inside, part.offsets[:-1] + place, 0)], ABSENT)
            rows[rows == ABSENT] = len(lexicon)
            padded = torch.from_numpy(np.ascontiguousarray(rows.transpose(0, 2, 1)))
            batches.append(cls(padded.to(device), torch.from_numpy(tokens).to(device)))
        return batches

    def occurrences(self, log_weights: torch.Tensor) -> torch.Tensor:
        """Expected occurrences of each row under the posterior, in all sequences that can be cut, float64 [R].

        Args:
            log_weights: log-probability of each row, float64 [R].
        """
        arcs, steps = self._arcs(log_weights), len(self.rows) - self._depth + 1
        ahead = self._borders(arcs)
        for t in range(steps):
            ahead[t + self._depth] = _log_sum(ahead[t : t + self._depth] + arcs[t])
        behind = arcs.new_full((steps + self._depth, len(self.tokens)), NEVER)
        sequence = torch.arange(len(self.tokens), device=arcs.device)
        behind[self.tokens, sequence] = 0
        # The n-gram that begins at border t has its last token at t + n - 1: a diagonal.
        width = len(self.tokens)
        shape, strides = (steps, self._depth, width), (self._depth * width, (self._depth - 1) * width, 1)
        leaving = arcs.as_strided(shape, strides, (self._depth - 1) * width)
        for t in reversed(range(steps)):
            value = _log_sum(leaving[t] + behind[t + 1 : t + 1 + self._depth])
            torch.maximum(behind[t], value, out=behind[t])  # nothing leaves an end
        total = ahead[self._depth - 1 + self.tokens, sequence]
        total = torch.where(total > NEVER / 2, total, torch.inf)
        posterior = arcs[:steps]
        posterior += ahead.as_strided(shape, (width, width, 1))
        posterior += (behind[1 : steps + 1] - total)[:, None]
        found = torch.zeros(len(log_weights) + 1, dtype=arcs.dtype, device=arcs.device)
        posterior = torch.threshold_(posterior, FAINT, -torch.inf).exp_()
        return found.index_add_(0, self.rows[:steps].view(-1), posterior.view(-1))[:-1]

    def likeliest(self, log_weights: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest segments, for weights as above: rows int64 [segments], and how many each sequence has [B].

        A sequence that cannot be cut has no segments; of equally likely segmentations one is taken.
        """
        arcs = self._arcs(log_weights)
        best = self._borders(arcs)
        came = torch.empty_like(best, dtype=torch.int64)
        for t in range(len(best) - self._depth):
            torch.max(best[t : t + self._depth] + arcs[t], 0, out=(best[t + self._depth], came[t + 1]))
        every = torch.arange(len(self.tokens), device=arcs.device)
        sequence = every[best[self._depth - 1 + self.tokens, every] > NEVER / 2]
        border, rows, sequences = self.tokens[sequence], [], []
        while len(sequence):
            arc = came[border, sequence]
            rows.append(self.rows[border - 1, arc, sequence])
            sequences.append(sequence)
            border = border - (self._depth - arc)
            border, sequence = border[border > 0], sequence[border > 0]
        if not rows:
            return np.zeros(0, np.int64), np.zeros(len(self.tokens), np.int64)
        found, owner = (torch.cat(parts[::-1]).cpu().numpy() for parts in (rows, sequences))
        order = np.argsort(owner, kind="stable")
        return found[order].astype(np.int64), np.bincount(owner, minlength=len(self.tokens))

    @property
    def _depth(self) -> int:
        return self.rows.shape[1]

    def _arcs(self, log_weights: torch.Tensor) -> torch.Tensor:
        """The log-weight of each window [T + D - 1, D, B]."""
        values = torch.cat([log_weights.clamp_min(NEVER), log_weights.new_full((1,), NEVER)])
        return values.index_select(0, self.rows.view(-1)).view(self.rows.shape)

    def _borders(self, arcs: torch.Tensor) -> torch.Tensor:
        """A number for each border [T + D, B]; the D-th border is the beginning."""
        values = arcs.new_full((len(self.rows) + 1, len(self.tokens)), NEVER)
        values[self._depth - 1] = 0
        return values


class _Fit:
    """Expectation maximisation: the rows that are left and their expected occurrences."""

    def __init__(self, lexicon: Lexicon, batches: list[Windows], name: str, check: Callable[[], None]) -> None:
        self.lexicon, self.batches, self.name, self.check = lexicon, batches, name, check
        self.weights, self.bonus = lexicon.counts.astype(np.float64), 0.0
        self.progress = Progress(f"{name}: finding segments", 0, "sequences")

    def iterate(self, batches: list[Windows]) -> None:
        """Expected occurrences in some batches, summed in their order."""
        log_weights, total = self._log_weights(), np.zeros(len(self.weights))
        workers = torch.get_num_threads() if batches[0].rows.device.type == "cpu" else 1
        with ThreadPoolExecutor(workers) as pool:
            expected = pool.map(lambda batch: batch.occurrences(log_weights).cpu().numpy(), batches)
            for batch, occurrences in zip(batches, expected, strict=True):
                total += occurrences
                self.progress.advance(len(batch.tokens))
                self.check()
        if not total.any():
            raise TextcriticError(
                f"{self.name}: no sequence of the train split can be cut into the {len(total)} n-grams that may be "
                "segments; give a larger `most_common`"
            )
        self.weights = total

    def prune(self, keep: np.ndarray) -> None:
        """Go on with some of the rows; the windows are renumbered once that makes the tables much smaller."""
        self.weights[~keep] = 0
        if 2 * keep.sum() > len(keep):
            return
        number = np.full(len(keep) + 1, keep.sum(), np.int32)
        number[:-1][keep] = np.arange(keep.sum())
        renumbered = torch.from_numpy(number).to(self.batches[0].rows.device)
        for batch in self.batches:
            batch.rows.copy_(renumbered[batch.rows])
        self.lexicon, self.weights = self.lexicon.select(keep), self.weights[keep]

    def cut(self) -> Segments:
        """The likeliest segments of all sequences, and how often each kind is one of them."""
        log_weights = self._log_weights()
        parts = [batch.likeliest(log_weights) for batch in self.batches]
        types, number = (np.concatenate(part) for part in zip(*parts, strict=True))
        counts = np.bincount(types, minlength=len(self.lexicon))
        used = counts > 0
        log.info(
            "%s: %.2f segments a sequence of %d kinds; %d sequences could not be cut",
            self.name,
            len(types) / max((number > 0).sum(), 1),
            used.sum(),
            (number == 0).sum(),
        )
        lexicon = replace(self.lexicon.select(used), counts=counts[used])
        return Segments(lexicon, (np.cumsum(used) - 1)[types], np.concatenate([[0], np.cumsum(number)]))

    def _log_weights(self) -> torch.Tensor:
        with np.errstate(divide="ignore"):
            values = np.log(self.weights / self.weights.sum())
        return torch.from_numpy(values + self.bonus).to(self.batches[0].rows.device)


def _weights_of(lexicon: Lexicon, weights: np.ndarray, codes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The weights of n-grams of given codes and lengths, 0 for those that are not in the lexicon."""
    values = np.zeros(len(codes))
    for n in np.unique(lengths):
        rows, same_length = np.flatnonzero(lengths == n), lexicon.codes[n - 1]
        if len(same_length):
            place = np.searchsorted(same_length, codes[rows]).clip(max=len(same_length) - 1)
            values[rows] = np.where(same_length[place] == codes[rows], weights[lexicon.row_offsets[n] + place], 0)
    return values


def _log_sum(values: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of exp(values) [D, B], which are overwritten, over the D."""
    top = values.amax(dim=0)
    return values.sub_(top).clamp_min_(FAINT).exp_().sum(dim=0).log_().add_(top)
