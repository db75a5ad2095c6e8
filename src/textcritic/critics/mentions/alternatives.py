"""What a critic of mentions would have expected instead: the likeliest token after a context."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from textcritic.critics.mentions.counts import find_contexts
from textcritic.critics.mentions.model import Floats, MentionCritic
from textcritic.critics.mentions.windows import CHUNK, Ints, Items, items_of, iter_keys, run_of_each, sorted_runs
from textcritic.latents.resolvers.mention_chains import NO_ENTITY, MentionChains

NEW_ENTITY = -2
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """The likeliest token in place of each token of a set of chains.

    Attributes:
        symbols: the critic's.
        codes: int32 [tokens], the index in `symbols`; `NONE` where the critic knows no possible token.
        entities: int64 [tokens], the entity of the document, `NO_ENTITY` for a sentence mark, `NEW_ENTITY` for one that
            does not occur in the context.
        log_prob: float64 [tokens], nats; NaN where there is none.
    """

    symbols: tuple[str, ...]
    codes: npt.NDArray[np.int32]
    entities: Ints
    log_prob: Floats


def expected_tokens(critic: MentionCritic, chains: MentionChains, marks: bool = True, chunk: int = CHUNK) -> Expected:
    """The likeliest token after the context of each token, see `Alternatives`.

    Args:
        critic: any.
        chains: of any text.
        marks: False leaves the mark of a sentence out.
        chunk: tokens in memory at a time; no effect on the result.
    """
    alternatives, alphabet = Alternatives(critic, marks), critic.windows.alphabet
    tokens = len(chains.codes)
    codes, entities, log_prob = np.empty(tokens, np.int32), np.empty(tokens, np.int64), np.empty(tokens)
    for some, keys in iter_keys(chains, alphabet, chunk):
        order, runs = sorted_runs(keys)
        row = run_of_each(order, runs)
        windows = items_of(keys[:, order[runs]], alphabet)
        best, of_windows = alternatives.of(windows)
        codes[some] = np.where(best == NONE, NONE, (best - 1) // (alphabet.order + 1))[row]
        log_prob[some] = of_windows[row]
        labels = np.where(best == NONE, -1, alphabet.labels(best))
        entities[some] = _entities(chains, some, _lags(labels, alphabet.labels(windows))[row])
    return Expected(alphabet.symbols, codes, entities, log_prob)


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Finds the token w that maximises `P(w | h)` of a critic.

    Only tokens that are possible in the window count: after a context with j entities, a label is one of 0 ... j. (The
    critic gives other labels a little probability too, because lower orders see only a part of the context.)

    With interpolation, an n-gram that was seen is at least as likely as under the lower order. So the best token after
    a context is either the best of those seen after it or the best after the shorter context, whichever is likelier.

    Attributes:
        critic: any.
        marks: False leaves the mark of a sentence out.
    """

    critic: MentionCritic
    marks: bool = True

    def of(self, items: Items) -> tuple[Ints, Floats]:
        """The best alternative to the last item of each window, `NONE` if there is none, and its `log P` in nats.

        Args:
            items: [windows, n], of the critic's alphabet; the last of each is not looked at.

        Returns:
            [windows] and [windows].
        """
        alphabet, levels = self.critic.windows.alphabet, self.critic.levels
        contexts = items[:, :-1]
        places = np.stack(find_contexts(levels, contexts, alphabet.size))
        # The longest end of the context that was seen; the orders seen are 1, 2, ... without a gap.
        order = (places >= 0).sum(axis=0)
        people = np.max(alphabet.labels(contexts), axis=1, initial=-1) + 1
        best, p = np.full(len(items), NONE, np.int64), np.full(len(items), np.nan)
        for number in np.unique(people):
            tables = self._tables[number]
            for k in np.unique(order[people == number]):
                rows = np.flatnonzero((people == number) & (order == k))
                gram_items, probabilities = tables[k - 1]
                best[rows] = gram_items[places[k - 1, rows]]
                p[rows] = probabilities[places[k - 1, rows]]
        return best, np.log(np.where(best == NONE, np.nan, p))

    @cached_property
    def _tables(self) -> list[list[tuple[Ints, Floats]]]:
        """By number of entities in the context, and order: the best item of each context, and P: [n][n]."""
        alphabet = self.critic.windows.alphabet
        labels = alphabet.labels(np.arange(alphabet.size))
        allowed = np.full(alphabet.size, True)
        allowed[alphabet.mark()] = self.marks
        return [self._best(allowed & (labels <= people)) for people in range(alphabet.order)]

    def _best(self, allowed: npt.NDArray[np.bool_]) -> list[tuple[Ints, Floats]]:
        """Of each order: the best of the allowed items after each context, and its P (0 where there is none)."""
        size = self.critic.windows.alphabet.size
        tables: list[tuple[Ints, Floats]] = []
        for level, seen, weight in zip(self.critic.levels, *self.critic.estimates, strict=True):
            context, item = level.grams // size, level.grams % size
            p = np.where(allowed[item], seen, 0.0)
            highest = np.maximum.reduceat(p, np.flatnonzero(np.diff(context, prepend=-1)))
            rows = np.flatnonzero(p == highest[context])[::-1]
            best = np.empty(len(highest), np.int64)
            best[context[rows]] = item[rows]  # of several the first, which is written last
            best[highest == 0] = NONE
            if tables:
                shorter = level.contexts // size
                lower_best, lower = tables[-1]
                lower_p = weight * lower[shorter]
                best = np.where(lower_p > highest, lower_best[shorter], best)
                highest = np.maximum(highest, lower_p)
            tables.append((best, highest))
        return tables


def _lags(label: Ints, labels: Ints) -> Ints:
    """How many tokens before the last one of a window its label is found; 0: it is new, -1: no label: [windows]."""
    lag = np.where(label < 0, -1, 0)
    last = labels.shape[1] - 1
    for column in range(last):
        lag[(labels[:, column] == label) & (label >= 0)] = last - column
    return lag


def _entities(chains: MentionChains, some: slice, lag: Ints) -> Ints:
    """The entity of the document so many tokens before each token: [tokens]."""
    entities = chains.entities[np.arange(some.start, some.stop) - np.maximum(lag, 0)]
    return np.select([lag < 0, lag == 0], [NO_ENTITY, NEW_ENTITY], entities)
