r"""An n-gram model of words: exact probabilities and exact sampling, without a Python object for any n-gram.

Tokens are the words between white space, `\n` for a line break, `\n\n` for the blank line between sections, and the end
of the article. Other white space is not kept: words are put back together with single spaces.

The n-grams of each length k are one sorted array of keys `(number of its first k - 1 words in the array before) * V +
last word`. So the continuations of a context are a slice, a look-up is a binary search, and no key overflows however
long the n-grams are. Every article begins after order - 1 ends of article.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textcritic.corpora import BODY, BOUNDARY, SEPARATOR, Article, render, spans
from textcritic.errors import TextcriticError
from textcritic.generators.decoding import Uniforms
from textcritic.generators.shards import CUT, ENDED

UNKNOWN, LINE_BREAK = "<unk>", "\n"
END_ID, UNKNOWN_ID = 0, 1
TOKEN = re.compile(r"\S+|\s+")
COUNT_BUCKETS = 16
ROUNDS, TOLERANCE = 100, 1e-6
TOKENS_AT_ONCE = 1_000_000
ARTICLES_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Words:
    """Articles one after the other.

    Attributes:
        ids: int64 [tokens]; every article ends with `END_ID`.
        kinds: uint8 [tokens]: 0 boundary (separators and ends), 1 title, 2 body.
        lengths: int64 [articles], tokens in each, the end included.
    """

    ids: np.ndarray
    kinds: np.ndarray
    lengths: np.ndarray

    def articles(self) -> np.ndarray:
        """Number of the article of each token, int64 [tokens]."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


class Vocabulary:
    """Words by number: the end of an article, the unknown word, then the words of train as they first appear.

    A word of the text that is spelled like one of these two is a word of its own.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = list(words)
        self._ids = {word: number for number, word in enumerate(self.words, start=2)}

    def __len__(self) -> int:
        return len(self.words) + 2

    def number(self, word: str) -> int:
        """The number of a word, that of the unknown word if it was not seen."""
        return self._ids.get(word, UNKNOWN_ID)

    def encode(self, articles: Iterable[Article], setting: str, *, grow: bool = False) -> Words:
        """Number the words of `articles`; an unseen word is added if `grow`, else it is the unknown word.

        Raises:
            TextcriticError: an article cannot be rendered in the setting.
        """
        ids, kinds = [np.empty(0, np.int64)], [np.empty(0, np.uint8)]
        for article in articles:
            words, of_word = split(article, setting)
            if grow:
                numbers = [self._ids.setdefault(word, len(self._ids) + 2) for word in words]
            else:
                numbers = [self.number(word) for word in words]
            ids.append(np.array([*numbers, END_ID], np.int64))
            kinds.append(np.append(of_word, BOUNDARY).astype(np.uint8))
        if grow:
            self.words = list(self._ids)
        lengths = np.array([len(part) for part in ids[1:]], np.int64)
        return Words(np.concatenate(ids), np.concatenate(kinds), lengths)

    def text(self, ids: Sequence[int]) -> str:
        """The text of drawn ids: words with single spaces between them, none around line breaks, no end."""
        return join([UNKNOWN if i == UNKNOWN_ID else self.words[i - 2] for i in ids if i != END_ID])


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
        counts: int64 [k-grams]; 0 for those that lie before an article's first word.
        weights: float64 [n * COUNT_BUCKETS, n + 1], or None for maximum likelihood.
    """

    vocabulary: Vocabulary
    order: int
    keys: list[np.ndarray]
    counts: list[np.ndarray]
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        self._size = len(self.vocabulary)
        self._cumulative = [np.concatenate([[0], np.cumsum(counts)]) for counts in self.counts]
        # Where the continuations of each (k-1)-gram begin among the k-grams; the only 0-gram is the root.
        self._first = [np.array([0, len(self.keys[0])])]
        for shorter, longer in zip(self.keys, self.keys[1:], strict=False):
            self._first.append(np.searchsorted(longer, np.arange(len(shorter) + 1) * self._size))

    @classmethod
    def count(cls, vocabulary: Vocabulary, train: Words, order: int) -> "NgramModel":
        """Count the n-grams of train.

        Raises:
            TextcriticError: train is empty, or the order is below 1.
        """
        if order < 1:
            raise TextcriticError(f"order: {order} is not possible; give at least 1")
        if not len(train.lengths):
            raise TextcriticError("the training split has no articles; an n-gram model needs some")
        padded, real, age = _padded(train, order)
        size = len(vocabulary)
        keys, counts = [np.arange(size)], [np.bincount(padded[real], minlength=size)]
        node = padded
        for k in range(2, order + 1):
            at = np.flatnonzero(age >= k - 1)
            unique, inverse = np.unique(node[at - 1] * size + padded[at], return_inverse=True)
            keys.append(unique)
            counts.append(np.bincount(inverse[real[at]], minlength=len(unique)))
            node = np.full(len(padded), -1)
            node[at] = inverse
        return cls(vocabulary, order, keys, counts)

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
        shares, longest, buckets = self._components(next(_chunks(validation)))
        lengths = np.arange(self.order * COUNT_BUCKETS) // COUNT_BUCKETS + 1
        available = np.arange(self.order + 1) <= lengths[:, None]
        uniform = available / available.sum(axis=1, keepdims=True)
        coarse, _ = _maximise(shares, (longest - 1) * COUNT_BUCKETS, uniform)
        self.weights, losses = _maximise(shares, buckets, coarse[(lengths - 1) * COUNT_BUCKETS])
        return losses

    def nll(self, words: Words) -> np.ndarray:
        """Negative log-probability of every token, in nats, float64 [tokens]; infinite where the probability is 0."""
        parts = [np.empty(0)]
        for chunk in _chunks(words):
            shares, _, buckets = self._components(chunk)
            if self.weights is None:
                probability = shares[:, self.order]
            else:
                probability = np.einsum("tk,tk->t", shares, self.weights[buckets])
            with np.errstate(divide="ignore"):
                parts.append(-np.log(probability))
        return np.concatenate(parts)

    def sample(self, seed: int, indices: Sequence[int], max_tokens: int) -> Iterator[tuple[int, np.ndarray, str]]:
        """Draw articles, yielding (index, ids with the end, "end" or "length"); article i depends on (seed, i) only."""
        for start in range(0, len(indices), ARTICLES_AT_ONCE):
            yield from self._sample_block(seed, indices[start : start + ARTICLES_AT_ONCE], max_tokens)

    def _sample_block(
        self, seed: int, indices: Sequence[int], max_tokens: int
    ) -> Iterator[tuple[int, np.ndarray, str]]:
        uniforms = Uniforms(seed, len(indices))
        for row, index in enumerate(indices):
            uniforms.assign(row, index)
        active = np.arange(len(indices))
        contexts = np.repeat(self._begin()[:, None], len(indices), axis=1)
        rows, drawn = [], []
        for _ in range(max_tokens):
            words = self._draw(contexts, uniforms.next(active))
            rows.append(active)
            drawn.append(words)
            going_on = words != END_ID
            active = active[going_on]
            if not len(active):
                break
            contexts = self._shift(contexts[:, going_on], words[going_on])
        by_article = np.argsort(np.concatenate(rows), kind="stable")
        lengths = np.bincount(np.concatenate(rows), minlength=len(indices))
        articles = np.split(np.concatenate(drawn)[by_article], np.cumsum(lengths)[:-1])
        for index, ids in zip(indices, articles, strict=True):
            yield index, ids, ENDED if ids[-1] == END_ID else CUT

    def _draw(self, contexts: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """One word for each article, given its contexts [order, articles], see `_shift`."""
        if self.weights is None:
            return self._draw_at(self.order, contexts[self.order - 1], uniforms)
        longest, buckets = self._longest(contexts)
        weights = self.weights[buckets]
        weights[:, 0] *= (self._size - 1) / self._size  # the uniform term without the unknown word
        limits = np.cumsum(weights, axis=1)
        at = uniforms * limits[:, -1]
        component = np.minimum((at[:, None] >= limits).sum(axis=1), longest)
        # Within its component, the same number is uniform again.
        everyone = np.arange(len(at))
        weight = weights[everyone, component]
        within = ((at - limits[everyone, component] + weight) / weight).clip(0, np.nextafter(1, 0))
        words = np.floor(within * (self._size - 1)).astype(np.int64)
        words += words >= UNKNOWN_ID
        for k in range(1, self.order + 1):
            chosen = component == k
            words[chosen] = self._draw_at(k, contexts[k - 1, chosen], within[chosen])
        return words

    def _draw_at(self, k: int, context: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Words in proportion to their counts after contexts of k - 1 words."""
        first, cumulative = self._first[k - 1], self._cumulative[k - 1]
        before = cumulative[first[context]]
        total = cumulative[first[context + 1]] - before
        target = before + np.minimum((uniforms * total).astype(np.int64), total - 1)
        words: np.ndarray = self.keys[k - 1][np.searchsorted(cumulative, target, side="right") - 1] % self._size
        return words

    def _begin(self) -> np.ndarray:
        """The contexts of an article's first word [order]."""
        contexts = np.zeros((self.order, 1), np.int64)
        for _ in range(self.order - 1):
            contexts = self._shift(contexts, np.array([END_ID]))
        return contexts[:, 0]

    def _shift(self, contexts: np.ndarray, words: np.ndarray) -> np.ndarray:
        """The contexts after `words` [articles]; row j holds the number of the last j words, -1 if never seen."""
        shifted = np.zeros_like(contexts)
        for j in range(1, self.order):
            shifted[j] = self._find(j, contexts[j - 1], words)
        return shifted

    def _find(self, k: int, context: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Numbers of k-grams, given their first k - 1 words' numbers and their last words; -1 where there is none."""
        keys = self.keys[k - 1]
        wanted = context * self._size + words
        at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        return np.where((context >= 0) & (keys[at] == wanted), at, -1)

    def _total(self, k: int, context: np.ndarray) -> np.ndarray:
        """How often contexts of k - 1 words were followed by a word; 0 for those never seen."""
        ends = self._cumulative[k - 1][self._first[k - 1]]
        return np.where(context >= 0, ends[context + 1] - ends[context], 0)

    def _longest(self, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The order that the longest seen context allows, 1 .. n, and the bucket of weights that belongs to it."""
        totals = np.stack([self._total(k, contexts[k - 1]) for k in range(1, self.order + 1)])
        longest = (totals > 0).sum(axis=0)  # a suffix of a seen context was seen, so these are the first rows
        count = np.take_along_axis(totals, longest[None] - 1, axis=0)[0]
        power = np.frexp(count)[1] - 1
        return longest, (longest - 1) * COUNT_BUCKETS + power.clip(max=COUNT_BUCKETS - 1)

    def _components(self, words: Words) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every token, the probability under each order 0 .. n [tokens, n + 1], and what `_longest` says."""
        padded, real, _ = _padded(words, self.order)
        at = np.flatnonzero(real)
        contexts = np.zeros((self.order, len(at)), np.int64)
        shares = np.full((len(at), self.order + 1), 1 / self._size)
        node = np.zeros(len(padded), np.int64)  # of the last k - 1 words up to each position
        for k in range(1, self.order + 1):
            contexts[k - 1] = node[at - 1] if k > 1 else 0
            node = self._find(k, np.concatenate([[-1], node[:-1]]) if k > 1 else np.zeros_like(node), padded)
            total = self._total(k, contexts[k - 1])
            count = np.where(node[at] >= 0, self.counts[k - 1][node[at]], 0)
            shares[:, k] = count / np.maximum(total, 1)
        return shares, *self._longest(contexts)


def shuffled(words: Words, vocabulary: Vocabulary, seed: int) -> Words:
    """Articles whose body words have changed places with each other at random, over all articles (a permutation).

    Titles, line breaks, blank lines and ends stay where they are: so do the lengths of articles, sections and lines.
    What is lost is which words occur together.
    """
    at = np.flatnonzero((words.kinds == BODY) & (words.ids != vocabulary.number(LINE_BREAK)))
    ids = words.ids.copy()
    ids[at] = words.ids[np.random.default_rng(seed).permutation(at)]
    return replace(words, ids=ids)


def split(article: Article, setting: str) -> tuple[list[str], np.ndarray]:
    """Tokens of an article without its end, and the kind of each, uint8 [tokens]."""
    text = render(article, setting)
    pieces = np.array(spans(article, setting), np.int64).reshape(-1, 3)
    of_character = np.repeat(pieces[:, 2], pieces[:, 1] - pieces[:, 0])
    words, starts = [], []
    for match in TOKEN.finditer(text):
        word = match.group()
        if not word.isspace():
            starts.append(match.start())
            words.append(word)
        elif "\n" in word:
            starts.append(match.start() + word.index("\n"))
            words.append(SEPARATOR if SEPARATOR in word else LINE_BREAK)
    return words, of_character[np.array(starts, np.int64)].astype(np.uint8)


def join(words: Sequence[str]) -> str:
    """The text of tokens; the inverse of `split` for text whose words are separated by single spaces."""
    return " ".join(words).replace(" \n", "\n").replace("\n ", "\n")


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


def _padded(words: Words, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids with order - 1 ends before each article; which of them are tokens; and the position within the article."""
    pad = order - 1
    lengths = words.lengths + pad
    age = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    padded = np.full(len(age), END_ID)
    real = age >= pad
    padded[real] = words.ids
    return padded, real, age


def _chunks(words: Words) -> Iterator[Words]:
    """Whole articles, about `TOKENS_AT_ONCE` tokens at a time."""
    stops = np.cumsum(words.lengths)
    cuts = np.flatnonzero(np.diff(stops // TOKENS_AT_ONCE)) + 1
    for part in np.split(np.arange(len(stops)), cuts):
        if len(part):
            start, stop = stops[part[0]] - words.lengths[part[0]], stops[part[-1]]
            yield Words(words.ids[start:stop], words.kinds[start:stop], words.lengths[part])
