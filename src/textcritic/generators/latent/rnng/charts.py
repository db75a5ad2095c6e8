"""Distributions over binary trees by scores of spans: their sums, exact draws, and their k best trees.

A tree's score is the sum of those of its spans of two words or more (those of one word are in all trees, and cancel).
All sums over trees are by the inside algorithm (Baker 1979), for all spans of a width at once, in log space.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt
import torch

from textcritic.generators.latent.rnng.stacks import actions_of

Choice = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Chart:
    """Sums over all subtrees, of some sentences together.

    Attributes:
        inside: of each width w from 1 on, the log of the sum over all subtrees of the exp of their scores
            [sentences, n - w + 1]; n: words of the longest sentence.
        splits: of each width w from 2 on, the log-probability that the left part has 1, 2, ..., w - 1 words
            [sentences, n - w + 1, w - 1].
    """

    inside: list[torch.Tensor]
    splits: list[torch.Tensor]

    @classmethod
    def of(cls, scores: torch.Tensor) -> "Chart":
        """From the scores of spans [sentences, first word, last word]; what is not above the diagonal is not read."""
        sentences, n = scores.shape[:2]
        inside, splits = [scores.new_zeros(sentences, n)], []
        for width in range(2, n + 1):
            left, right = _parts(inside, width)
            both = left + right
            total = both.logsumexp(2)
            splits.append(both - total[..., None])
            inside.append(total + scores.diagonal(width - 1, 1, 2))
        return cls(inside, splits)

    def log_partition(self, lengths: torch.Tensor) -> torch.Tensor:
        """The log of the sum over all trees of each sentence, by their numbers of words; [sentences]."""
        whole = torch.stack([width[:, 0] for width in self.inside], 1)
        return whole.gather(1, lengths[:, None].to(whole.device) - 1)[:, 0]

    def draw(self, count: int, generator: torch.Generator) -> tuple[npt.NDArray[np.int8], torch.Tensor]:
        """Trees of the only sentence, drawn in proportion to the exp of their scores.

        Returns:
            actions int8 [count, 2n - 1], and the log-probability of each, float64 [count].
        """
        log_q = torch.zeros(count, dtype=torch.float64)

        def choose(
            width: int, rows: torch.Tensor, starts: torch.Tensor, ranks: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
            uniforms = torch.rand(len(rows), dtype=torch.float64, generator=generator, device=generator.device).cpu()
            steps, log_p = self._steps[width - 2][starts], self._log_splits[width - 2]
            split = torch.searchsorted(steps, uniforms[:, None] * steps[:, -1:], right=True)[:, 0].clamp(max=width - 2)
            log_q.index_add_(0, rows, log_p[starts, split])
            return split + 1, ranks, ranks

        return _unfold(len(self.inside), count, torch.zeros(count, dtype=torch.int64), choose), log_q

    @cached_property
    def _log_splits(self) -> list[torch.Tensor]:
        return [splits[0].double().cpu() for splits in self.splits]

    @cached_property
    def _steps(self) -> list[torch.Tensor]:
        return [splits.exp().cumsum(1) for splits in self._log_splits]


def best_trees(scores: torch.Tensor, count: int) -> npt.NDArray[np.int8]:
    """The trees with the highest scores, the best first, all different: exact, by the k best of each span.

    Args:
        scores: of the spans of one sentence [first word, last word].
        count: how many trees.

    Returns:
        actions int8 [trees, 2n - 1]; all trees where there are fewer than `count`.
    """
    n = len(scores)
    # Of two sorted lists, the k largest sums are of pairs with (place + 1) * (other place + 1) <= k.
    pairs = torch.tensor([(a, b) for a, b in product(range(count), repeat=2) if (a + 1) * (b + 1) <= count])
    leaf = scores.new_full((1, n, count), -torch.inf)
    leaf[:, :, 0] = 0.0
    values, ways = [leaf], []
    for width in range(2, n + 1):
        left, right = _parts(values, width)  # [1, starts, splits, count]
        sums = (left[..., pairs[:, 0]] + right[..., pairs[:, 1]]).flatten(2)
        most = min(count, sums.shape[2])
        top, way = sums.topk(most, dim=2)
        own = scores.diagonal(width - 1)[None, :, None]
        values.append(torch.nn.functional.pad(top + own, (0, count - most), value=-torch.inf))
        ways.append(way[0].cpu())
    trees = int(torch.isfinite(values[-1][0, 0]).sum())

    def choose(
        width: int, rows: torch.Tensor, starts: torch.Tensor, ranks: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        way = ways[width - 2][starts, ranks]
        pair = pairs[way % len(pairs)]
        return way // len(pairs) + 1, pair[:, 0], pair[:, 1]

    return _unfold(n, trees, torch.arange(trees), choose)


def tree_scores(scores: torch.Tensor, sentence: torch.Tensor, start: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    """Sums of the scores [sentences, n, n] of spans that belong to trees [trees, spans]; -1: no span.

    Args:
        scores: of spans.
        sentence: of each tree, [trees].
        start: the first word of each span.
        end: the last word of each span.
    """
    picked = scores[sentence[:, None], start.clamp(min=0), end.clamp(min=0)]
    return torch.where(start >= 0, picked, 0.0).sum(1)


def _parts(widths: list[torch.Tensor], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The left and the right parts of all spans of a width, from those of each smaller one [sentences, starts, ...].

    Returns:
        [sentences, starts, splits, ...] each.
    """
    starts = widths[0].shape[1] - width + 1
    left = torch.stack([widths[k - 1][:, :starts] for k in range(1, width)], 2)
    right = torch.stack([widths[width - k - 1][:, k : k + starts] for k in range(1, width)], 2)
    return left, right


def _unfold(n: int, count: int, ranks: torch.Tensor, choose: Choice) -> npt.NDArray[np.int8]:
    """Trees from the top: `choose` says of each span of a width, in which tree it is and what its rank is there, how
    many words its left part has, and the ranks of both parts.
    """
    here = torch.zeros(n + 1, count, n, dtype=torch.int32)  # of each width, tree and start, the rank from 1; 0: no span
    here[n, :, 0] = ranks + 1
    reduces = torch.zeros(count, n, dtype=torch.int64)
    for width in range(n, 1, -1):
        rows, starts = here[width].nonzero(as_tuple=True)
        if not len(rows):
            continue
        split, left, right = choose(width, rows, starts, here[width][rows, starts].long() - 1)
        here[split, rows, starts] = left.int() + 1
        here[width - split, rows, starts + split] = right.int() + 1
        reduces[rows, starts + width - 1] += 1
    return actions_of(reduces.numpy())
