"""The n-gram critics of mentions in plain dictionaries, a window at a time, written from their definitions alone."""

import math
from collections import Counter, defaultdict

import numpy as np


def synthetic(seed, documents, symbols=("he", "He", "she", "MALE", "FEMALE", "None"), people=5, marks=True):
    """Lists of tokens with entities that persist over a document; some documents are short."""
    rng = np.random.default_rng(seed)
    chains = []
    for _ in range(documents):
        cast = rng.choice(10**6, size=int(rng.integers(1, people + 1)), replace=False)
        chain, current = [], cast[0]
        for _ in range(int(rng.integers(1, 30))):
            if marks and rng.random() < 0.25:
                chain.append(".")
                continue
            if rng.random() < 0.3:
                current = rng.choice(cast)
            chain.append(f"{symbols[int(rng.zipf(1.6)) % len(symbols)]}:{current}")
        chains.append(chain)
    return chains


def windows(chain, order):
    """Every window of a list of tokens, relabelled by first appearance inside the window."""
    padded = ["<bos>"] * (order - 1) + list(chain)
    for end in range(order, len(padded) + 1):
        names = {}
        window = []
        for token in padded[end - order : end]:
            symbol, colon, entity = token.rpartition(":")
            window.append(f"{symbol}:{names.setdefault(entity, len(names))}" if colon else token)
        yield tuple(window)


class AsReleased:
    """The formula of the released critic: counts, one discount an order, back-off to the longest seen context."""

    def __init__(self, chains, order):
        self.order = order
        self.counts = [None] + [Counter() for _ in range(order)]
        for chain in chains:
            for window in windows(chain, order):
                for k in range(1, order + 1):
                    self.counts[k][window[-k:]] += 1
        self.totals, self.types, self.discounts = [None], [None], [None]
        for k in range(1, order + 1):
            total, types = defaultdict(int), defaultdict(int)
            for gram, count in self.counts[k].items():
                total[gram[:-1]] += count
                types[gram[:-1]] += 1
            self.totals.append(total)
            self.types.append(types)
            once = sum(count == 1 for count in self.counts[k].values())
            twice = sum(count == 2 for count in self.counts[k].values())
            self.discounts.append(once / (once + 2 * twice) if k > 1 and once + twice else 0.0)

    def p(self, token, context):
        k = len(context) + 1
        if k == 1:
            count = self.counts[1].get((token,), 0)
            return count / self.totals[1][()] if count else 1e-20
        if context not in self.totals[k]:
            return self.p(token, context[1:])
        total, d = self.totals[k][context], self.discounts[k]
        kept = max(self.counts[k].get((*context, token), 0) - d, 0) / total
        return kept + d * self.types[k][context] / total * self.p(token, context[1:])

    def log_prob(self, chains):
        every = (window for chain in chains for window in windows(chain, self.order))
        return np.array([math.log(self.p(window[-1], window[:-1]) or 1e-20) for window in every])


class KneserNey:
    """Interpolated Kneser-Ney with one discount an order, or three (Chen and Goodman 1999), and KenLM's fall-back."""

    def __init__(self, chains, order, modified):
        self.order = order
        every = [window for chain in chains for window in windows(chain, order)]
        self.counts = [Counter(every)]
        for _ in range(order - 1):
            self.counts.append(Counter(gram[1:] for gram in self.counts[-1]))  # distinct n-grams that end in it
        self.counts = self.counts[::-1]
        self.discounts = [self.estimated(counts, modified) for counts in self.counts]
        self.after = [defaultdict(list) for _ in range(order)]
        for counts, after in zip(self.counts, self.after, strict=True):
            for gram, count in counts.items():
                after[gram[:-1]].append(count)

    @staticmethod
    def estimated(counts, modified):
        n = [sum(count == r for count in counts.values()) for r in range(5)]
        if not modified:
            return [n[1] / (n[1] + 2 * n[2]) if n[1] and n[2] else 0.5] * 3
        if not all(n[1:4]):
            return [0.5, 1.0, 1.5]
        y = n[1] / (n[1] + 2 * n[2])
        found = [r - (r + 1) * y * n[r + 1] / n[r] for r in (1, 2, 3)]
        return found if all(0 <= d <= r for r, d in enumerate(found, 1)) else [0.5, 1.0, 1.5]

    def p(self, token, context):
        k = len(context)
        after = self.after[k].get(context)
        if not after:
            return self.p(token, context[1:])
        taken = [self.discounts[k][min(count, 3) - 1] for count in after]
        count = self.counts[k].get((*context, token), 0)
        kept = count - self.discounts[k][min(count, 3) - 1] if count else 0
        lower = self.p(token, context[1:]) if k else 1 / (len(self.counts[0]) + 1)
        return max(kept, 0) / sum(after) + sum(taken) / sum(after) * lower

    def log_prob(self, chains):
        every = (window for chain in chains for window in windows(chain, self.order))
        return np.array([math.log(self.p(window[-1], window[:-1]) or 1e-20) for window in every])
