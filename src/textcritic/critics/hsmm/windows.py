"""All windows of a batch of sequences, and the recursions of a model with one state over them.

With one state there is nothing but a sum at each border, so the windows are one padded table and a step is a few
operations on [D, B] numbers, which is many times faster than a general lattice.
"""

from dataclasses import dataclass

import numpy as np
import torch

from textcritic.critics.hsmm.lexicon import ABSENT, Lexicon
from textcritic.critics.hsmm.text import Text

SEQUENCES_AT_ONCE = 1024
VALUES_AT_ONCE = 1 << 24  # windows of a batch; its recursions hold about 12 bytes for each
NEVER = -1e30  # a logarithm; finite, so that differences are
FAINT = -600.0  # smaller logarithms are none: where exp underflows to denormal numbers, it is many times slower


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

        A sequence that cannot be cut has none; of equally likely segmentations one is taken.
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
        """A number for each border, of which the beginning is the D-th [T + D, B]."""
        values = arcs.new_full((len(self.rows) + 1, len(self.tokens)), NEVER)
        values[self._depth - 1] = 0
        return values


def _log_sum(values: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of exp(values) [D, B], which are overwritten, over the D."""
    top = values.amax(dim=0)
    return values.sub_(top).clamp_min_(FAINT).exp_().sum(dim=0).log_().add_(top)
