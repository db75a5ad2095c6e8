"""The critic of who is mentioned after whom: an n-gram model of windows of mentions (model criticism paper, section 5).

`P_k(w | h)`, of the token w after the k - 1 items h before it, interpolates all orders:

    P_k(w | h) = (a(h, w) - D(a(h, w))) / a(h) + B(h) P_(k-1)(w | h without its first item)

a is the adjusted count, a(h) its sum over all w, D the discount that is subtracted from it, and B(h) the sum of all
discounts after h, divided by a(h); `discounts_of` says which counts and discounts. A context that was never seen is
replaced by its longest end that was seen, at no cost.

`as_released`: P_1(w) = a(w) / a, and 1e-20 for a token that was never seen, so that the sum over the seen ones is one.
Otherwise unigrams are interpolated with 1/V, where V counts the V - 1 tokens seen and one more for all others: the sum
over these V is one. A probability of 0, which discounts of 0 can lead to, counts as 1e-20 in any case.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from textcritic.critics.mentions.counts import Level, find, find_contexts, levels_of
from textcritic.critics.mentions.windows import (
    CHUNK,
    Alphabet,
    Ints,
    Items,
    Windows,
    count_windows,
    items_of,
    iter_keys,
    sorted_runs,
)
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.plan.checks.critics import DISCOUNTS, Discount
from textcritic.values import JsonObject

Discounts = npt.NDArray[np.float64]
# Discounts of counts of 1, 2, and 3 or more, if the counts of counts give none; KenLM's `--discount_fallback`.
FALLBACK = (0.5, 1.0, 1.5)

Floats = npt.NDArray[np.float64]

FLOOR = 1e-20
"""The probability of a token to which a critic gives probability 0."""


@dataclass(frozen=True, eq=False)
class MentionCritic:
    """An n-gram model; see the head of this module. It never changes; derived values are computed when needed.

    A step is a token, sentence marks included.

    Attributes:
        windows: what was counted.
        discount: "kneser-ney", "as_released" or "modified".
        given: [n, 3], discounts to use instead of those from the counts, see `discounts_of`.
    """

    kind: ClassVar[str] = "mentions"

    windows: Windows
    discount: Discount = "kneser-ney"
    given: Discounts | None = None

    def __post_init__(self) -> None:
        if self.discount not in DISCOUNTS:
            raise TextcriticError(f"discount: {self.discount!r} is none of {', '.join(DISCOUNTS)}")
        if not len(self.windows.counts):
            raise TextcriticError("no mention and no sentence mark in the chains; a critic is fitted on real ones")

    @classmethod
    def fit(
        cls, chains: MentionChains, order: int = 5, discount: Discount = "kneser-ney", *, chunk: int = CHUNK
    ) -> Self:
        """Count the windows of chains.

        Args:
            chains: of real text.
            order: n, tokens of a window; 5 is the paper's.
            discount: see the head of this module; `as_released` is what the paper's numbers were computed with.
            chunk: tokens in memory at a time; no effect on the result.

        Raises:
            TextcriticError: no token at all, or an unknown order or discount.
        """
        return cls(count_windows(chains, order, chunk=chunk), discount)

    @property
    def order(self) -> int:
        """Tokens of a window, n."""
        return self.windows.alphabet.order

    @cached_property
    def levels(self) -> list[Level]:
        """The n-grams of orders 1 ... n."""
        return levels_of(self.windows)

    @cached_property
    def discounts(self) -> Discounts:
        """The discounts of counts of 1, 2, and 3 or more: [n, 3]."""
        return discounts_of(self._adjusted, self.discount) if self.given is None else self.given

    def log_prob(self, chains: MentionChains, chunk: int = CHUNK) -> Floats:
        """`log P(token | the n - 1 before it)` of every token, in nats: [tokens].

        Args:
            chains: of any text; symbols that were never seen count as one, unknown.
            chunk: tokens in memory at a time; no effect on the result.
        """
        return np.concatenate([self._each(chains, self.window_log_prob, chunk), np.empty(0)])

    def matched(self, chains: MentionChains, chunk: int = CHUNK) -> Ints:
        """How many last items of each token's window, itself included, were seen together; 0: not even it: [tokens]."""
        matched = self._each(chains, lambda items: self._probabilities(items)[1], chunk)
        return matched.astype(np.int64)

    def window_log_prob(self, items: Items) -> Floats:
        """`log P` of the last item of each window, nats: [windows, n] items of the critic's alphabet -> [windows]."""
        return np.log(np.where((p := self._probabilities(items)[0]) > 0, p, FLOOR))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `critic.npz`, whole or not at all."""
        about = {"kind": self.kind, "order": self.order, "discount": self.discount}
        text = json.dumps({**about, "symbols": self.windows.alphabet.symbols})
        arrays = {"about": np.frombuffer(text.encode(), np.uint8)}
        write_arrays(path, arrays | {"items": self.windows.items, "counts": self.windows.counts})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read `critic.npz`.

        Raises:
            TextcriticError: the file is missing, damaged, or not a critic of mentions.
        """
        wrong = "not a critic of mentions, or damaged; delete it and rerun the rule that makes it"
        with arrays_of(path, wrong) as arrays:
            about = json.loads(arrays["about"].tobytes())
            windows = _checked(about, arrays["items"], arrays["counts"])
            return cls(windows, about["discount"])

    @cached_property
    def _adjusted(self) -> list[Ints]:
        return adjusted_counts(self.levels, self.discount)

    @cached_property
    def estimates(self) -> tuple[list[Floats], list[Floats]]:
        """Of each order: P of every n-gram that was seen, and B of every context: [n][n-grams], [n][contexts]."""
        probabilities: list[Floats] = []
        weights: list[Floats] = []
        for level, counts, taken in zip(self.levels, self._adjusted, self.discounts, strict=True):
            context = level.grams // self.windows.alphabet.size
            total = np.bincount(context, counts, len(level.contexts))
            rank = np.minimum(counts, 3) - 1
            kinds = [np.bincount(context[rank == r], minlength=len(level.contexts)) for r in range(3)]
            weights.append(sum(d * number for d, number in zip(taken, kinds, strict=True)) / total)
            lower = probabilities[-1][level.lower] if probabilities else 1 / (len(level.grams) + 1)
            kept = np.maximum(counts - taken[rank], 0) / total[context]
            probabilities.append(kept + weights[-1][context] * lower)
        return probabilities, weights

    @property
    def _never_seen(self) -> float:
        """P_1 of a token that was never seen."""
        if self.discount == "as_released":
            return FLOOR
        return float(self.estimates[1][0][0]) / (len(self.levels[0].grams) + 1)

    def _probabilities(self, items: Items) -> tuple[Floats, Ints]:
        """P of the last item of each window, and how many of its last items were seen together: [windows] each."""
        size = self.windows.alphabet.size
        probabilities, weights = self.estimates
        p, matched = np.ones(len(items)), np.zeros(len(items), np.int64)
        contexts = find_contexts(self.levels, items[:, :-1], size)
        left = np.arange(len(items))
        for k in range(self.order, 0, -1):
            context = contexts[k - 1][left]
            gram = find(self.levels[k - 1].grams, context * size + items[left, -1])  # below 0 there is none
            seen = gram >= 0
            p[left[seen]] *= probabilities[k - 1][gram[seen]]
            matched[left[seen]] = k
            left, context = left[~seen], context[~seen]
            if k > 1:
                p[left] *= np.where(context < 0, 1.0, weights[k - 1][context])
        p[left] *= self._never_seen
        return p, matched

    def _each(self, chains: MentionChains, of_windows: Callable[[Items], Floats | Ints], chunk: int) -> Floats:
        """A number for each token's window, computed once for equal windows of a chunk: [tokens]."""
        result = np.empty(len(chains.codes))
        for some, order, runs, items in self._distinct(chains, chunk):
            lengths = np.diff(runs, append=len(order))
            result[some][order] = np.repeat(of_windows(items), lengths)
        return result

    def _distinct(self, chains: MentionChains, chunk: int) -> Iterator[tuple[slice, Ints, Ints, Items]]:
        """Of each chunk: its tokens, their order by windows, where each distinct one begins in it, and its items."""
        alphabet = self.windows.alphabet
        for some, keys in iter_keys(chains, alphabet, chunk):
            order, runs = sorted_runs(keys)
            yield some, order, runs, items_of(keys[:, order[runs]], alphabet)


def _checked(about: JsonObject, items: Items, counts: Ints) -> Windows:
    """The windows that `save` wrote; ValueError, TypeError or KeyError where they are something else."""
    if about["kind"] != MentionCritic.kind or about["discount"] not in DISCOUNTS:
        raise ValueError("another critic")
    alphabet = Alphabet(tuple(about["symbols"]), int(about["order"]))
    whole = items.dtype == np.int32 and counts.dtype == np.int64 and counts.shape == items.shape[:1]
    if not whole or items.ndim != 2 or items.shape[1] != alphabet.order or not len(items):
        raise ValueError("arrays of another shape")
    if items.min() < 0 or items.max() >= alphabet.size or counts.min() < 1:
        raise ValueError("items or counts out of range")
    return Windows(alphabet, items, counts)


def adjusted_counts(levels: Sequence[Level], discount: Discount) -> list[Ints]:
    """The counts that are discounted: [n][n-grams]."""
    if discount == "as_released":
        return [level.raw for level in levels]
    return [*(level.extensions for level in levels[:-1]), levels[-1].raw]


def discounts_of(counts: Sequence[Ints], discount: Discount) -> Discounts:
    """The discounts of counts of 1, 2, and 3 or more, for each order: float64 [n, 3].

    - `as_released`: `d = N1 / (N1 + 2 N2)` of any count; 0 of unigrams, and of an order in which no n-gram occurs once
      or twice (the released code divides by zero there).
    - `kneser-ney`: the same `d`, unigrams included (Ney, Essen and Kneser 1994); 0.5 of an order in which N1 or N2 is
      0: a discount of 0 would give unseen events the probability 0, and one of 1 would give none to those seen once.
    - `modified`: `D_r = r - (r + 1) d N_(r+1) / N_r` for r = 1, 2, 3 (Chen and Goodman 1999); `FALLBACK`
      of an order in which N1, N2 or N3 is 0, or a D_r is outside [0, r], as KenLM has it.
    """
    return discounts_from([np.bincount(np.minimum(of_order, 5), minlength=6) for of_order in counts], discount)


def discounts_from(counts_of_counts: Sequence[Ints] | Floats, discount: Discount) -> Discounts:
    """The discounts, from how many n-grams of each order occur 0, 1, 2, 3 and 4 times: [n][5 or more]."""
    rows = [_row(of_order, discount) for of_order in counts_of_counts]
    if discount == "as_released":
        rows[0] = (0.0, 0.0, 0.0)
    return np.array(rows)


def _row(counts_of_counts: Ints | Floats, discount: Discount) -> tuple[float, float, float]:
    n1, n2, n3, n4 = (int(number) for number in counts_of_counts[1:5])
    absolute = n1 / (n1 + 2 * n2) if n1 + n2 else 0.0
    if discount == "as_released":
        return (absolute,) * 3
    if discount == "kneser-ney":
        return (absolute if n1 and n2 else FALLBACK[0],) * 3
    if not (n1 and n2 and n3):
        return FALLBACK
    row = (1 - 2 * absolute * n2 / n1, 2 - 3 * absolute * n3 / n2, 3 - 4 * absolute * n4 / n3)
    return row if all(0 <= taken <= r for r, taken in enumerate(row, 1)) else FALLBACK
