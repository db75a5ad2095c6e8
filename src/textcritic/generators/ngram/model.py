"""An n-gram model of words: exact probabilities, without a Python object for any n-gram.

The n-grams of each length k are one sorted array of keys `(number of its first k - 1 words in the array before) * V +
last word`. So the continuations of a context are a slice, a look-up is a binary search, and no key overflows however
long the n-grams are. Every article begins after order - 1 ends of article. The arrays are files, and are read where
they are looked at.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.generators.ngram.arrays import ArrayFile, open_array
from textcritic.generators.ngram.ranks import Ranked, blocks
from textcritic.generators.ngram.words import END_ID, Vocabulary, Words

COUNT_BUCKETS = 16
ROUNDS, TOLERANCE = 100, 1e-6
DAMAGED = "not a whole n-gram model; delete its folder and fit it again"


@dataclass
class NgramModel:
    """Maximum likelihood, or a mixture of all orders.

    With `weights`, P(w | h) = l_0 / V + sum over k of l_k c(h_k w) / c(h_k), where h_k is the last k - 1 words of h
    (Jelinek and Mercer 1980). The weights depend on the longest h_k that was seen in train and on the power of two of
    its count; orders beyond it have weight 0. Without, P(w | h) = c(h w) / c(h) at the full order, and 0 after a
    context that was never seen. The unknown word has no counts: its only mass is the uniform term's, and it is never
    drawn (the other words' probabilities are divided by what they sum to).

    Attributes:
        vocabulary: V words, the end of an article and the unknown word included.
        order: words in an n-gram, n.
        keys: of the k-grams, k = 1 .. n, sorted int64 [k-grams].
        cumulative: how often the k-grams before each one occur, int64 [k-grams + 1]; those that lie before an article's
            first word do not occur.
        first: where the continuations of each (k-1)-gram begin among the k-grams, int64 [(k-1)-grams + 1]; the only
            0-gram is the root.
        weights: float64 [n * COUNT_BUCKETS, n + 1], or None for maximum likelihood.
        ranked: the continuations of each context by how often they occur; None where there are weights.
    """

    vocabulary: Vocabulary
    order: int
    keys: list[np.ndarray]
    cumulative: list[np.ndarray]
    first: list[np.ndarray]
    weights: np.ndarray | None = None
    ranked: Ranked | None = None

    def __post_init__(self) -> None:
        self.size = len(self.vocabulary)

    @classmethod
    def of(cls, folder: Path, vocabulary: Vocabulary, order: int) -> "NgramModel":
        """From the arrays that `count_ngrams` wrote.

        Raises:
            TextcriticError: a file is missing or damaged.
        """
        arrays = {
            name: [open_array(folder / f"{name}{k}.npy", DAMAGED) for k in range(1, order + 1)]
            for name in ("keys", "cumulative", "first")
        }
        return cls(vocabulary, order, arrays["keys"], arrays["cumulative"], arrays["first"])

    def fit_weights(self, validation: Words) -> list[float]:
        """Set the mixture's weights by expectation maximisation on (the first million words of) validation.

        First one set of weights for each length of the longest seen context; with those as a prior that weighs one
        word, a set for each length and power of two of the context's count.

        Returns:
            nats per word of validation before each round of the second stage, and after the last.

        Raises:
            TextcriticError: validation is empty.
        """
        if not len(validation.lengths):
            raise TextcriticError("the validation split has no articles; interpolation weights are fitted on it")
        shares, longest, buckets = self._components(next(validation.chunks()))
        lengths = np.arange(self.order * COUNT_BUCKETS) // COUNT_BUCKETS + 1
        available = np.arange(self.order + 1) <= lengths[:, None]
        uniform = available / available.sum(axis=1, keepdims=True)
        coarse, _ = _maximise(shares, (longest - 1) * COUNT_BUCKETS, uniform)
        self.weights, losses = _maximise(shares, buckets, coarse[(lengths - 1) * COUNT_BUCKETS])
        return losses

    def nll(self, words: Words) -> np.ndarray:
        """Negative log-probability of every token, in nats, float64 [tokens]; infinite where the probability is 0."""
        parts = [np.empty(0)]
        for chunk in words.chunks():
            shares, _, buckets = self._components(chunk)
            if self.weights is None:
                probability = shares[:, self.order]
            else:
                probability = np.einsum("tk,tk->t", shares, self.weights[buckets])
            with np.errstate(divide="ignore"):
                parts.append(-np.log(probability))
        return np.concatenate(parts)

    def train_nll(self) -> float:
        """Nats of all tokens of train together, from the counts alone; of maximum likelihood."""
        cumulative, first = self.cumulative[-1], self.first[-1]
        total = 0.0
        for start, stop in blocks(first):
            counts = np.diff(cumulative[first[start] : first[stop] + 1])
            contexts = np.diff(cumulative[first[start : stop + 1]])
            total -= float(_times_log(counts).sum() - _times_log(contexts).sum())
        return total

    def draw(self, k: int, context: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Words in proportion to their counts, and their log-probabilities by these.

        Args:
            k: 1 .. order.
            context: numbers of (k-1)-grams [n] that were each followed by a word.
            uniforms: numbers in [0, 1) [n].

        Returns:
            words, int64 [n], and nats, float64 [n].
        """
        first, cumulative = self.first[k - 1], self.cumulative[k - 1]
        before = cumulative[first[context]]
        total = cumulative[first[context + 1]] - before
        target = before + np.minimum((uniforms * total).astype(np.int64), total - 1)
        number = np.searchsorted(cumulative, target, side="right") - 1
        return self.keys[k - 1][number] % self.size, np.log(self._count(k, number) / total)

    def begin(self) -> np.ndarray:
        """The contexts of an article's first word [order]."""
        contexts = np.zeros((self.order, 1), np.int64)
        for _ in range(self.order - 1):
            contexts = self.shift(contexts, np.array([END_ID]))
        return contexts[:, 0]

    def shift(self, contexts: np.ndarray, words: np.ndarray) -> np.ndarray:
        """The contexts after `words` [articles]; row j holds the number of the last j words, -1 if never seen."""
        shifted = np.zeros_like(contexts)
        for j in range(1, self.order):
            shifted[j] = self.find(j, contexts[j - 1], words)
        return shifted

    def find(self, k: int, context: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Numbers of k-grams, given their first k - 1 words' numbers and their last words; -1 where there is none."""
        if k == 1:
            return words
        keys = self.keys[k - 1]
        wanted = context * self.size + words
        at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        return np.where((context >= 0) & (keys[at] == wanted), at, -1)

    def total(self, k: int, context: np.ndarray) -> np.ndarray:
        """How often contexts of k - 1 words were followed by a word; 0 for those never seen."""
        cumulative, first = self.cumulative[k - 1], self.first[k - 1]
        return np.where(context >= 0, cumulative[first[context + 1]] - cumulative[first[context]], 0)

    def _count(self, k: int, number: np.ndarray) -> np.ndarray:
        """How often k-grams occur, given their numbers."""
        cumulative = self.cumulative[k - 1]
        counts: np.ndarray = cumulative[number + 1] - cumulative[number]
        return counts

    def longest(self, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The order that the longest seen context allows, 1 .. n, and the bucket of weights that belongs to it."""
        totals = np.stack([self.total(k, contexts[k - 1]) for k in range(1, self.order + 1)])
        longest = (totals > 0).sum(axis=0)  # a suffix of a seen context was seen, so these are the first rows
        count = np.take_along_axis(totals, longest[None] - 1, axis=0)[0]
        power = np.frexp(count)[1] - 1
        return longest, (longest - 1) * COUNT_BUCKETS + power.clip(max=COUNT_BUCKETS - 1)

    def _components(self, words: Words) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every token, the probability under each order 0 .. n [tokens, n + 1], and what `_longest` says."""
        padded, real = words.padded(self.order)
        at = np.flatnonzero(real)
        contexts = np.zeros((self.order, len(at)), np.int64)
        shares = np.full((len(at), self.order + 1), 1 / self.size)
        node = np.zeros(len(padded), np.int64)  # of the last k - 1 words up to each position
        for k in range(1, self.order + 1):
            contexts[k - 1] = node[at - 1] if k > 1 else 0
            node = self.find(k, np.concatenate([[-1], node[:-1]]) if k > 1 else np.zeros_like(node), padded)
            total = self.total(k, contexts[k - 1])
            count = np.where(node[at] >= 0, self._count(k, node[at]), 0)
            shares[:, k] = count / np.maximum(total, 1)
        return shares, *self.longest(contexts)


def save(model: NgramModel, folder: Path) -> None:
    """Write what the arrays of counts do not hold, into the folder that holds them."""
    with ArrayFile(folder / "words.npy", np.uint8) as file:
        file.append(np.frombuffer(" ".join(model.vocabulary.words).encode(), np.uint8))
    if model.weights is not None:
        np.save(folder / "weights.npy", model.weights)
    write_json(folder / "model.json", {"order": model.order, "interpolated": model.weights is not None})


def load(model_dir: str | os.PathLike[str]) -> NgramModel:
    """Open a model folder; of its files only the words are read.

    Raises:
        TextcriticError: it holds no n-gram model, or a damaged one.
    """
    folder = Path(model_dir)
    if not (folder / "model.json").exists():
        raise TextcriticError(f"{folder}/model.json: no such file; give the folder of an n-gram model, or fit it again")
    described = read_json(folder / "model.json")
    words = open_array(folder / "words.npy", DAMAGED).tobytes().decode()
    # Words hold no white space but the two tokens that are line breaks, so a space separates them.
    vocabulary = Vocabulary(words.split(" ") if words else [])
    model = NgramModel.of(folder, vocabulary, described["order"])
    if described["interpolated"]:
        model.weights = np.array(open_array(folder / "weights.npy", DAMAGED))
    else:
        model.ranked = Ranked.of(folder, model.first[-1], DAMAGED)
    return model


def _times_log(counts: np.ndarray) -> np.ndarray:
    """Counts times their logarithms, which is 0 at 0."""
    return counts * np.log(np.maximum(counts, 1))


def _maximise(shares: np.ndarray, buckets: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Weights [buckets, n + 1] of the components `shares` [tokens, n + 1], from `prior`, which weighs one token."""
    weights, losses = prior, [np.inf]
    for _ in range(ROUNDS):
        joint = shares * weights[buckets]
        evidence = joint.sum(axis=1)
        losses.append(float(-np.log(evidence).mean()))
        if losses[-2] - losses[-1] < TOLERANCE:
            break
        joint /= evidence[:, None]
        expected = np.stack([np.bincount(buckets, column, len(prior)) for column in joint.T], axis=1) + prior
        weights = expected / expected.sum(axis=1, keepdims=True)
    return weights, losses[1:]
