"""Exact numbers of a probabilistic grammar: of each sentence by the inside algorithm, and the mean length."""

import numpy as np


def log_probability(grammar, texts):
    """The log of the sum over all trees of their probability, in nats [texts]: the inside algorithm (Baker 1979).

    These are probabilities among sentences of all lengths. -inf: no tree, or a word that the grammar does not know.
    Texts of one length are computed together, a width of spans after the other.
    """
    places = {word: number for number, word in enumerate(grammar.words)}
    lengths = np.array([len(text) for text in texts])
    result = np.full(len(texts), -np.inf)
    for n in np.unique(lengths):
        rows = np.flatnonzero(lengths == n)
        result[rows] = _inside(grammar, np.array([[places.get(word, -1) for word in texts[row]] for row in rows]))
    return result


def expected_length(grammar):
    """Words of a sentence in expectation."""
    children = grammar.rules.sum(axis=2) + grammar.rules.sum(axis=1)  # [symbols, symbols], how many of each
    return np.linalg.solve(np.eye(len(children)) - children, grammar.lexicon.sum(axis=1))[0]


def _inside(grammar, numbers):
    """Texts of one length, numbers of words [texts, n] with -1 for unknown ones -> log probabilities [texts]."""
    n = numbers.shape[1]
    with np.errstate(divide="ignore"):
        leaves = np.log(grammar.lexicon.T[numbers])  # [texts, n, symbols]
    leaves[numbers < 0] = -np.inf
    widths = [leaves]  # of each width, [texts, starts, symbols]
    for width in range(2, n + 1):
        starts = n - width + 1
        left = np.stack([widths[k - 1][:, :starts] for k in range(1, width)], axis=2)
        right = np.stack([widths[width - k - 1][:, k : k + starts] for k in range(1, width)], axis=2)
        widths.append(_combined(grammar, left, right))
    return widths[-1][:, 0, 0]


def _combined(grammar, left, right):
    """Spans by their parts, log probabilities [texts, starts, splits, symbols] each -> [texts, starts, symbols]."""
    tops = [part.max(axis=3) for part in (left, right)]
    both = tops[0] + tops[1]
    top = both.max(axis=2)
    top[np.isneginf(top)] = 0.0
    scaled = [
        np.exp(part - np.where(np.isneginf(best), 0, best)[..., None])
        for part, best in zip((left, right), tops, strict=True)
    ]
    weight = np.exp(both - top[..., None])
    pairs = np.matmul((scaled[0] * weight[..., None]).swapaxes(2, 3), scaled[1])  # [texts, starts, left, right]
    flat = pairs.reshape(*top.shape, -1) @ grammar.rules.reshape(len(grammar.rules), -1).T
    with np.errstate(divide="ignore"):
        return np.log(flat) + top[..., None]
