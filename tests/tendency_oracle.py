"""Made-up documents, and what is estimated of them by loops over their tokens and by statsmodels and mpmath."""

from collections import Counter
from math import log, sqrt
from statistics import linear_regression

import mpmath
import numpy as np
import pyarrow as pa
import statsmodels.api as sm

from textcritic.critics.tendencies.counting import count_texts
from textcritic.plan.entries import Tendencies

OPTIONS = Tendencies(kind="tendencies", window=8, longest_lag=64, groups=10)
STOP_WORDS, SYMBOLS = ("the", "of", "and", "don't"), (".", "1,200", "--")
WORDS = np.array([*STOP_WORDS, *SYMBOLS, *(f"w{number}" for number in range(400))])


def made_up(documents=300, seed=1, mean=20.0, s=1.0, prefix="", spread=60):
    """Documents of Zipf's law with words of their own, the more the smaller `spread`; one in ten is empty.

    Lengths vary, so that Heaps' law has something to be fitted to. Rare words may have a prefix.
    """
    rng = np.random.default_rng(seed)
    shares = np.arange(1, len(WORDS) + 1.0) ** -s
    order = np.concatenate([np.arange(7), 7 + np.random.default_rng(0).permutation(len(WORDS) - 7)])
    texts = []
    for _ in range(documents):
        length = 0 if rng.random() < 0.1 else 1 + rng.poisson(mean * rng.choice([0.1, 1.0, 2.5]))
        own = rng.dirichlet(spread * shares[order] / shares.sum())
        words = [prefix * (word[0] == "w") + word for word in rng.choice(WORDS, length, p=own).tolist()]
        texts.append(" ".join(word.upper() if rng.random() < 0.1 else word for word in words))
    return texts


def counted(texts, options=OPTIONS, seed=1):
    """Their counts."""
    return count_texts([pa.array(texts, pa.string())], len(texts), options.changed(seed=seed))


def tokens_of(texts):
    """The tokens of each, in lower case."""
    return [text.lower().split() for text in texts]


def words_of(texts):
    """How often each word occurs."""
    return Counter(token for tokens in tokens_of(texts) for token in tokens)


def of_groups(texts, counts, groups):
    """Those of the texts that are in some groups of their counts."""
    return [text for text, group in zip(texts, counts.group.tolist(), strict=True) if group in groups]


def zipf_by_hand(words, support, ranks):
    """Where the derivative of the likelihood is 0: the law has the mean log rank of the tokens."""
    counts = sorted(words.values(), reverse=True)
    counts = counts[:ranks] if support in ("first", "infinite-of-first") else counts
    mean = sum(count * log(rank) for rank, count in enumerate(counts, 1)) / sum(counts)
    last = {"infinite": None, "infinite-of-first": None, "observed": len(counts), "first": ranks}[support]
    low, high = 1.0 if last is None else -1.0, 9.0
    while high - low > 1e-12:
        s = (low + high) / 2
        if last is None:
            slope = -mpmath.zeta(s, derivative=1) - mean * mpmath.zeta(s)
        else:
            slope = sum(rank**-s * (log(rank) - mean) for rank in range(1, last + 1))
        low, high = (s, high) if slope > 0 else (low, s)
    return low


def heaps_by_hand(texts, size=1):
    """The Poisson regression of the distinct runs of `size` words on the length: statsmodels' result."""
    rows = [
        (len(tokens), len({tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)}))
        for tokens in tokens_of(texts)
        if len(tokens) >= size
    ]
    lengths, types = np.array(rows).T
    model = sm.GLM(types, sm.add_constant(np.log(lengths)), family=sm.families.Poisson())
    return model.fit(tol=1e-14, cov_type="HC0")


def chao1_by_hand(words):
    """Chao's bound, with words seen twice."""
    seen = Counter(words.values())
    return len(words) + seen[1] ** 2 / (2 * seen[2])


def segments_of(texts, window=OPTIONS.window):
    """The words of each whole segment."""
    return [
        Counter(tokens[start : start + window])
        for tokens in tokens_of(texts)
        for start in range(0, len(tokens) - window + 1, window)
    ]


def taylor_by_hand(texts, window=OPTIONS.window):
    """The slope of log sd on log mean over whole segments, of words whose number varies."""
    segments = segments_of(texts, window)
    number, x, y, totals, squares = len(segments), [], [], Counter(), Counter()
    for segment in segments:
        totals.update(segment)
        squares.update({word: count**2 for word, count in segment.items()})
    for word, total in totals.items():
        if number * squares[word] > total**2:
            x.append(log(total / number))
            y.append(log(sqrt(number * squares[word] - total**2) / number))
    return linear_regression(x, y).slope


def pairs_by_hand(texts, lag):
    """Pairs of tokens of a document so far apart, and how many of these are one word."""
    pairs = [pair for tokens in tokens_of(texts) for pair in zip(tokens, tokens[lag:], strict=False)]
    return len(pairs), sum(one == other for one, other in pairs)


def lags_by_hand(texts, least=1000):
    """The lags from 8 on with 1,000 pairs or more."""
    return [lag for lag in (8, 16, 32, 64) if pairs_by_hand(texts, lag)[0] >= least]


def recurrence_by_hand(texts, lags):
    """The mean over lags of how much likelier than by chance two tokens are one word."""
    words = words_of(texts)
    tokens = sum(words.values())
    chance = sum(count * (count - 1) for count in words.values()) / (tokens * (tokens - 1))
    shares = [same / pairs for pairs, same in (pairs_by_hand(texts, lag) for lag in lags)]
    return sum(share / chance - 1 for share in shares) / len(lags)


def stop_words_by_hand(texts):
    """Their share of the tokens of each document that has some."""
    return [sum(token in STOP_WORDS for token in tokens) / len(tokens) for tokens in tokens_of(texts) if tokens]


def symbols_by_hand(texts):
    """The same of marks and numbers."""
    return [sum(token in SYMBOLS for token in tokens) / len(tokens) for tokens in tokens_of(texts) if tokens]


def lengths_by_hand(texts):
    """Tokens of each document."""
    return [len(tokens) for tokens in tokens_of(texts)]


def cumulative_by_hand(words, ranks):
    """Shares of the tokens of the first ranks up to each of them."""
    counts = (sorted(words.values(), reverse=True) + [0] * ranks)[:ranks]
    return [sum(counts[: rank + 1]) / sum(counts) for rank in range(ranks)]


def ks_by_hand(first, second):
    """The largest difference of two distribution functions, at any of the values."""
    return max(
        abs(sum(x <= value for x in first) / len(first) - sum(x <= value for x in second) / len(second))
        for value in {*first, *second}
    )
