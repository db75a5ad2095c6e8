"""Judges samples as the scorecard of `textcritic criticise` does, in memory: fits once, and reads a document once.

The numbers are those of textcritic's own estimators (`measures.memory`, `critics.tendencies.distances`). Beside them
are measures of others, at the same level: MAUVE by exchange of labels, perplexity, and a t-test on length.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.stats import ttest_ind

from textcritic.corpora import Article, Section
from textcritic.critics.ctm.counted import count_texts, counted_over, project
from textcritic.critics.ctm.scoring import latent_nll
from textcritic.critics.ctm.starts import fit_starts
from textcritic.critics.mauve import histogram_test
from textcritic.critics.mentions import MentionCritic, score_mentions
from textcritic.critics.plain import repeated, unfinished
from textcritic.critics.recitation import index_articles, score_texts
from textcritic.critics.tendencies.counting import count_texts as count_words
from textcritic.critics.tendencies.counts import Counts
from textcritic.critics.tendencies.distances import Pair, distances
from textcritic.critics.tendencies.verdicts import TENDENCIES
from textcritic.critics.word_order import order_of_words, pairs_of
from textcritic.experiments.coreference.rows import PPL
from textcritic.experiments.coreference.rows import read_scored as read_mentions
from textcritic.experiments.recitation.rows import RECITED
from textcritic.experiments.recitation.rows import read_scored as read_recited
from textcritic.experiments.topics.rows import DISTANCE, GAP, NLL
from textcritic.inference import Number, permutation_test, ratio_of_sums, strength, with_ones
from textcritic.latents.bags import VocabularyOptions, build_vocabulary
from textcritic.latents.resolvers.chains import ChainOptions, chains_of
from textcritic.latents.resolvers.resolve import resolver_of
from textcritic.measures.measure import Measure, Resampling, Scored
from textcritic.measures.memory import REAL, rows_in_memory
from textcritic.plan.entries import Ctm, Persons, Recitation, Tendencies

RESAMPLES, TOPICS, STARTS = 499, 20, 4
Values = Mapping[str, tuple[float, float]]
"""By the key of a measure: p, and how far the sample is from real text (to break ties)."""


@dataclass(frozen=True, eq=False)
class Read:
    """What is known of each document of a set, in order; `take` chooses some of them."""

    texts: np.ndarray
    topics: tuple[np.ndarray, ...]  # of each start: latent NLL, means, variances; nan of a document without words
    mentions: pa.Table
    recited: pa.Table
    form: np.ndarray  # [documents, 6]: numerator and denominator of each of `FORM`; denominator 0: left out

    def take(self, rows: np.ndarray) -> "Read":
        """Some documents."""
        place = pa.array(rows)
        return Read(
            self.texts[rows],
            tuple(part[rows] for part in self.topics),
            self.mentions.take(place),
            self.recited.take(place),
            self.form[rows],
        )

    @staticmethod
    def joined(parts: Sequence["Read"]) -> "Read":
        """Several sets as one."""
        return Read(
            np.concatenate([one.texts for one in parts]),
            tuple(np.concatenate(each) for each in zip(*(one.topics for one in parts), strict=True)),
            pa.concat_tables([one.mentions for one in parts]),
            pa.concat_tables([one.recited for one in parts]),
            np.concatenate([one.form for one in parts]),
        )


class Critics:
    """Critics fitted on real texts, and what other real texts score: the yardstick."""

    def __init__(self, train: Sequence[str], test: Sequence[str], seed: int) -> None:
        self.seed, self._train = seed, list(train)
        tokens = [text.split() for text in train]
        options = VocabularyOptions()
        self._vocabulary, _ = build_vocabulary(iter(tokens), options, "real")
        counted = count_texts(lambda: iter(tokens), [], options, "real")
        fits = fit_starts(counted.train.counts, Ctm(kind="ctm", topics=TOPICS, starts=STARTS, seed=seed), workers=1)
        self._topic_models = (fits.best.critic, *fits.others)
        self._resolver = resolver_of(Persons(kind="persons"))
        self._mentions = MentionCritic.fit(self._chains(train), 5, "kneser-ney")
        ids = [str(n) for n in range(len(train))]
        self._index = index_articles(iter([(pa.array(ids), pa.array(train))]), Recitation(kind="recitation"))
        model = pairs_of(
            [Article(i, None, (Section(None, text),), "x", None) for i, text in zip(ids, train, strict=True)]
        )
        self._form = (lambda one: order_of_words(one, model), repeated, unfinished)
        self.real = self.read(test)
        self._counts = self._count(self.real.texts)
        self._ngrams = Bigrams(tokens)

    def read(self, texts: Sequence[str]) -> Read:
        """Read each document once."""
        ids = [str(n) for n in range(len(texts))]
        articles = [Article(i, None, (Section(None, text),), "x", None) for i, text in zip(ids, texts, strict=True)]
        form = [[number for of in self._form for number in _pair(of(article))] for article in articles]
        return Read(
            np.array(texts, dtype=object),
            self._topics(texts),
            score_mentions(self._mentions, ids, self._chains(texts)),
            score_texts(self._index, pa.array(ids), pa.array(texts)),
            np.array(form, dtype=float),
        )

    def judge(self, sample: Read) -> dict[str, tuple[float, float]]:
        """p and strength of each measure of the scorecard; a measure without a test is left out."""
        found: dict[str, tuple[float, float]] = {}
        for key, measure, read in self._scored():
            rows = rows_in_memory({REAL: read(self.real), "sample": read(sample)}, measure, self._resampling)
            for one in measure:
                p = rows[one.p].iloc[1] if one.p in rows else None
                if p is not None and not pd.isna(p):
                    name = key if len(measure) == 1 else one.known_as
                    found[name] = (float(p), self._strength(rows, one))
        return found | self._tendencies(sample)

    def copies(self, sample: Read) -> bool:
        """Whether more of a sample than of the yardstick stands in the real text."""
        own, real = (read_recited(read.recited).data[RECITED.value].sum(axis=0) for read in (sample, self.real))
        return bool(own[0] * real[1] > real[0] * own[1])

    @property
    def _resampling(self) -> Resampling:
        return Resampling(RESAMPLES, self.seed)

    def _scored(self) -> list[tuple[str, tuple[Measure, ...], Callable[[Read], Scored]]]:
        return [
            ("", (GAP, DISTANCE), self._topics_scored),
            ("latent_ppl_mentions", (PPL,), lambda read: read_mentions(read.mentions)),
            ("recited", (RECITED,), lambda read: read_recited(read.recited)),
            *((name, (measure,), partial(_form, place, measure)) for place, (name, measure) in enumerate(FORM.items())),
        ]

    def _topics_scored(self, read: Read) -> Scored:
        words = ~np.isnan(read.topics[0])
        nll = [part[words] for part in read.topics[0::3]]
        moments = [(m[words], v[words]) for m, v in zip(read.topics[1::3], read.topics[2::3], strict=True)]
        data = {NLL.value: with_ones(nll[0]), GAP.value: np.stack(nll, axis=1), DISTANCE.value: lambda: moments}
        return Scored(data, int(words.sum()), groups=[None] * int(words.sum()))

    def _strength(self, rows: pd.DataFrame, measure: Measure) -> float:
        real, sample = (_number(row, measure) for _, row in rows.iterrows())
        if measure.of_real is not None:
            real = Number(measure.of_real)
        return strength(sample, real, measure.by_ratio) if sample.low is not None else 0.0

    def _tendencies(self, sample: Read) -> dict[str, tuple[float, float]]:
        counts = self._count(sample.texts)
        made, _ = distances(
            Pair(self._counts, counts), Tendencies(kind="tendencies", ranks=10_000, resamples=RESAMPLES, seed=self.seed)
        )
        found = {}
        for tendency in TENDENCIES:
            one = made.get(tendency.distance)
            if one is not None and not math.isnan(one.p):
                found[tendency.name] = (one.p, strength(Number(one.value, one.low, one.high), Number(0.0)))
        return found

    def _count(self, texts: Sequence[str]) -> Counts:
        return count_words(
            iter([pa.array(list(texts), pa.string())]),
            len(texts),
            Tendencies(kind="tendencies", tokenizer="words", seed=self.seed),
        )

    def _topics(self, texts: Sequence[str]) -> tuple[np.ndarray, ...]:
        tokens = [text.split() for text in texts]
        counted = counted_over(self._vocabulary, lambda: iter(tokens))
        rows, parts = np.flatnonzero(counted.has_words), []
        for critic in self._topic_models:
            means, variances = project(critic, counted.filled, 1)
            nll = latent_nll(critic, means, variances)[0]
            for values in (nll, means, variances):
                filled = np.full((len(texts), *values.shape[1:]), np.nan)
                filled[rows] = values
                parts.append(filled)
        return tuple(parts)

    def _chains(self, texts: Sequence[str]) -> Any:
        resolved = self._resolver.resolve((str(n), text) for n, text in enumerate(texts))
        return chains_of(resolved, ChainOptions()).chains

    # Measures of others.

    def beside(self, sample: Read, points: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
        """p of each: MAUVE of each kind of points (of real text and of the sample), perplexity, length."""
        rng = np.random.default_rng(self.seed)
        real, other = self.real.texts, sample.texts
        found = {f"MAUVE, {name}": mauve_p(*both, rng) for name, both in points.items()}
        lengths = [np.array([len(text.split()) for text in texts], float) for texts in (real, other)]
        found["length, t-test"] = float(ttest_ind(*lengths, equal_var=False).pvalue)
        sums = [np.array([self._ngrams.nll(text) for text in texts]) for texts in (real, other)]
        found["bigram perplexity"] = float(permutation_test(*sums, ratio_of_sums, RESAMPLES, self.seed).p)
        return found


FORM = {
    name: Measure(name=name, value=name, statistic=ratio_of_sums)
    for name in ("order_of_words", "repeated", "unfinished")
}


def _pair(value: Any) -> tuple[float, float]:
    """Numerator and denominator of a document; (0, 0) of one that is left out."""
    return value if isinstance(value, tuple) else (value, 1.0) if isinstance(value, float) else (0.0, 0.0)


def _form(place: int, measure: Measure, read: Read) -> Scored:
    data = read.form[:, 2 * place : 2 * place + 2]
    kept = data[data[:, 1] > 0]
    return Scored({measure.value: kept}, len(kept), groups=[None] * len(kept))


def _number(row: pd.Series, measure: Measure) -> Number:
    """The value and the interval of a row."""
    read = [row.get(column) for column in (measure.value, measure.low, measure.high)]
    return Number(*(None if one is None or pd.isna(one) else float(one) for one in read))


class Bigrams:
    """A bigram model with Jelinek-Mercer smoothing, and the unigrams below it."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._one: dict[str, int] = {}
        self._two: dict[tuple[str, str], int] = {}
        self._before: dict[str, int] = {}
        for words in texts:
            lower = [word.lower() for word in words]
            for word in lower:
                self._one[word] = self._one.get(word, 0) + 1
            for pair in itertools.pairwise(lower):
                self._two[pair] = self._two.get(pair, 0) + 1
                self._before[pair[0]] = self._before.get(pair[0], 0) + 1
        self._total, self._types = sum(self._one.values()), len(self._one) + 1

    def _log_one(self, word: str) -> float:
        return math.log((self._one.get(word, 0) + 1) / (self._total + self._types))

    def _log_two(self, first: str, second: str) -> float:
        seen = self._before.get(first, 0)
        weight = seen / (seen + 5)
        own = self._two.get((first, second), 0) / seen if seen else 0.0
        return math.log(weight * own + (1 - weight) * math.exp(self._log_one(second)))

    def nll(self, text: str) -> tuple[float, float]:
        """Sum of -log p of the words of a text but the first, and their number."""
        words = text.lower().split()
        return -sum(self._log_two(a, b) for a, b in itertools.pairwise(words)), max(len(words) - 1, 1)


def mauve_p(real: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> float:
    """p of MAUVE by exchange of labels: documents are clustered once, pooled; low MAUVE is extreme.

    They are clustered in random order: k-means begins with some rows, and which set these are of has to be chance.
    """
    from sklearn.cluster import KMeans

    pooled = np.concatenate([real, other])
    pooled = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
    clusters = max(2, min(len(real), len(other)) // 10)
    order = rng.permutation(len(pooled))
    labels = KMeans(clusters, n_init=5, random_state=0, max_iter=100).fit_predict(pooled[order])
    is_real = order < len(real)
    first, second = (np.bincount(labels[side], minlength=clusters).tolist() for side in (is_real, ~is_real))
    return histogram_test(first, second, resamples=RESAMPLES)
