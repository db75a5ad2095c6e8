"""How much of a known mixing of artificial languages is recovered, and from which rate on tests notice it.

Both sides of a test have translations of the same sentences, which the critic has not seen. One side has real
translations; on the other side some words are of another language (`synthetic.languages.mixed`). Each side takes a
language at random for every sentence, so that without mixing the sides may be exchanged within a pair.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.spatial.distance import cdist

from textcritic.corpora import iter_articles
from textcritic.corpora.parallel.corpus import sentence_number
from textcritic.corpora.synthetic.languages import Drawn, draw_sentences, mixed
from textcritic.critics.lda.model import LDA
from textcritic.critics.lda.posterior import infer
from textcritic.errors import TextcriticError
from textcritic.files import write_json, write_table
from textcritic.inference import ALPHA, bootstrap_interval, ratio_of_sums, share_interval
from textcritic.inference.energy import ROUNDING
from textcritic.latents.bags import Vocabulary, count_words
from textcritic.plan.entries import Lda
from textcritic.plan.entries.parallel import LanguageOptions
from textcritic.runlog import Progress
from textcritic.values import Row

SWAPS = 199
"""Random swaps of a test: p is a multiple of 1/200, so the level is exactly `ALPHA`."""
AIM = 0.8
"""Mixing is noticed from the rate on where at least this share of the tests notices it."""

POWER_SCHEMA = pa.schema(
    [
        ("rate", pa.float64()),
        ("sentences", pa.int64()),
        ("repetitions", pa.int64()),
        ("expected", pa.float64()),
        ("recovered", pa.float64()),
        ("recovered_low", pa.float64()),
        ("recovered_high", pa.float64()),
        ("detected", pa.float64()),
        ("detected_low", pa.float64()),
        ("detected_high", pa.float64()),
        ("share_detected", pa.float64()),
        ("share_detected_low", pa.float64()),
        ("share_detected_high", pa.float64()),
    ]
)
"""A row for each rate and number of sentences; see `power_of`."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerOptions:
    """What is tried.

    Attributes:
        rates: of mixing; 0, no mixing, is always tried too.
        sentences: on each side of the test; more than there are in the test split are not tried.
        repetitions: of each test, with other sentences and languages.
        seed: of the draws.
    """

    rates: Sequence[float] = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
    sentences: Sequence[int] = (25, 50, 100, 200, 400, 800)
    repetitions: int = 100
    seed: int = 1


@dataclass(frozen=True, slots=True)
class PowerFiles:
    """The files of one study.

    Attributes:
        articles: test split of a corpus with the extractor `languages`.
        vocabulary: Parquet file of the critic's words.
        critic: critic.npz, fitted on the train split.
        power: Parquet to write, in `POWER_SCHEMA`.
        summary: JSON to write: of each test, `energy` and `share`, its `level`, how often it notices a rate of 0, by
            number of sentences, and `noticed`, the smallest rate from which on it does in `AIM` of the repetitions, or
            null; `documents` scored; `seconds`.
    """

    articles: str | os.PathLike[str]
    vocabulary: str | os.PathLike[str]
    critic: str | os.PathLike[str]
    power: str | os.PathLike[str]
    summary: str | os.PathLike[str]


def measure_mixing_power(
    files: PowerFiles, languages: LanguageOptions, entry: Lda, options: PowerOptions | None = None
) -> None:
    """The job: write the table of `power_of` for a corpus of artificial languages, and a summary.

    Args:
        files: what is read and written.
        languages: `options.languages` of the corpus.
        entry: how the critic's posteriors are drawn.
        options: None: the defaults.

    Raises:
        TextcriticError: a file is missing or not whole, or the test split is not of these languages.
    """
    began = time.monotonic()
    drawn = _held_out(draw_sentences(languages), files.articles)
    critic, vocabulary = LDA.load(files.critic), Vocabulary.load(files.vocabulary)
    table = power_of(critic, vocabulary, drawn, entry, options)
    write_table(files.power, table)
    rows = table.to_pylist()
    summary = {
        **{
            kind: {
                "level": {str(row["sentences"]): row[name] for row in rows if row["rate"] == 0},
                "noticed": {str(size): _noticed(rows, size, name) for size in {row["sentences"]: 0 for row in rows}},
            }
            for kind, name in (("energy", "detected"), ("share", "share_detected"))
        },
        "documents": len(drawn.sentences) * len(drawn.spellings) * (1 + len({row["rate"] for row in rows})),
        "seconds": time.monotonic() - began,
    }
    write_json(files.summary, summary)


def power_of(
    critic: LDA,
    vocabulary: Vocabulary,
    drawn: Drawn,
    entry: Lda,
    options: PowerOptions | None = None,
) -> pa.Table:
    """How much of a known mixing is recovered, and how often two tests by swaps within pairs notice it.

    One is the energy test of posterior means: it notices any difference, so that each side's choice of languages is
    noise to it. The other tests only the share of words outside the main topic, whichever topic that is.

    The sentences and languages of a repetition are the same for all rates. The intervals of `detected` are over
    repetitions: they hold for these languages, this critic and these sentences; many repetitions share some sentences.

    Args:
        critic: fitted on other sentences.
        vocabulary: its words.
        drawn: the sentences.
        entry: how posteriors are drawn.
        options: None: the defaults.

    Returns:
        Table of schema `POWER_SCHEMA`. `expected`: of the words of the sentences with mixing, those that are visibly of
        another language than most words of their sentence; `recovered`, the posterior mean of that share, with its 95%
        document-bootstrap interval `recovered_low`, `recovered_high`; both of the sentences of the first repetition.
        `detected`: the share of repetitions in which the energy test has p of at most `ALPHA`, with its 95%
        Clopper-Pearson interval; `share_detected`, likewise of the test of the share of words outside the main topic.

    Raises:
        TextcriticError: no repetitions, or no sentences of a size that is tried.
    """
    chosen = options or PowerOptions()
    if chosen.repetitions < 1:
        raise TextcriticError(f"power: {chosen.repetitions} repetitions; give at least 1")
    number = len(drawn.sentences)
    sizes = [size for size in sorted(set(chosen.sentences)) if 2 <= size <= number]
    if not sizes:
        raise TextcriticError(f"power: {number} sentences in the test split; the smallest test has more")
    rng = np.random.default_rng(chosen.seed)
    judge = _Judge(critic, vocabulary, drawn, entry)
    real = judge.scored(0.0, chosen.seed, first=0)
    rates = sorted({0.0, *chosen.rates})
    others = [judge.scored(rate, chosen.seed + place, first=place) for place, rate in enumerate(rates, start=1)]
    progress = Progress("power", len(sizes) * chosen.repetitions, "repetitions")
    rows = []
    for size in sizes:
        hits = np.zeros((2, len(rates)), dtype=np.int64)
        for repetition in range(chosen.repetitions):
            some = rng.choice(number, size, replace=False)
            ours, theirs = rng.integers(0, len(drawn.spellings), (2, size))
            swaps = _swaps(size, rng)
            hits[0] += _notices(real.mean[some, ours], [other.mean[some, theirs] for other in others], swaps)
            sides = [np.stack([real.share[some, ours], other.share[some, theirs]]) for other in others]
            hits[1] += [_share_notices(side, swaps) for side in sides]
            if not repetition:
                first = [_recovered(other, some, theirs) for other in others]
            progress.advance()
        for place, rate in enumerate(rates):
            row = {"rate": rate, "sentences": size, "repetitions": chosen.repetitions, **first[place]}
            for name, noticed in zip(("detected", "share_detected"), hits[:, place].tolist(), strict=True):
                low, high = share_interval(noticed, chosen.repetitions)
                row |= {name: noticed / chosen.repetitions, f"{name}_low": float(low), f"{name}_high": float(high)}
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=POWER_SCHEMA)


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """Translations of all sentences into all languages at one rate.

    Attributes:
        mean: [sentences, L, K], posterior means of the topic shares.
        outside: [sentences, L], expected words outside the main topic.
        truly: [sentences, L], words visibly of another language than most.
        words: [sentences, L], of the vocabulary.
    """

    mean: Array
    outside: Array
    truly: Array
    words: Array

    @property
    def share(self) -> Array:
        """Words outside the main topic, and all: [sentences, L, 2]."""
        return np.stack([self.outside, self.words], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    critic: LDA
    vocabulary: Vocabulary
    drawn: Drawn
    entry: Lda

    def scored(self, rate: float, seed: int, first: int) -> _Scored:
        """Translations at a rate; `first` numbers the set, so that its draws are its own.

        A translation without a known word has the prior's mean.
        """
        texts = [
            translation.split()
            for sentence in mixed(self.drawn, rate, seed)
            for translation in sentence.translations.values()
        ]
        inferred = infer(self.critic, count_words(texts, self.vocabulary), self.entry, first * len(texts))
        prior = self.critic.alpha / self.critic.alpha.sum()
        mean = np.where(inferred.tokens[:, None] > 0, inferred.mean, prior)
        outside = np.where(inferred.tokens > 0, inferred.tokens - inferred.counts.max(axis=1), 0.0)
        truly = np.array(list(self._truly(texts)))
        shape = (len(self.drawn.sentences), len(self.drawn.spellings))
        words = inferred.tokens.astype(np.float64)
        return _Scored(mean.reshape(*shape, -1), *(array.reshape(shape) for array in (outside, truly, words)))

    def _truly(self, texts: list[list[str]]) -> Iterator[float]:
        spellings = list(self.drawn.spellings.values())
        shared = np.all([spelling == spellings[0] for spelling in spellings], axis=0)
        owner = {word: language for language, spelling in enumerate(spellings) for word in spelling[~shared].tolist()}
        for text in texts:
            known = [owner[word] for word in text if word in owner and word in self.vocabulary.index]
            times = np.bincount(known, minlength=1)
            yield float(times.sum() - times.max())


def _recovered(scored: _Scored, some: npt.NDArray[np.int64], languages: npt.NDArray[np.int64]) -> dict[str, float]:
    outside, truly, words = (array[some, languages] for array in (scored.outside, scored.truly, scored.words))
    interval = bootstrap_interval(np.column_stack([outside, words]), ratio_of_sums, resamples=2000)
    low, high = interval.ends
    return {
        "expected": float(truly.sum() / words.sum()),
        "recovered": interval.estimate,
        "recovered_low": low,
        "recovered_high": high,
    }


def _swaps(pairs: int, rng: np.random.Generator) -> Array:
    """Which pairs are exchanged (-1): [pairs, 1 + SWAPS], none in the first column."""
    return np.column_stack([np.ones(pairs), 1 - 2.0 * rng.integers(0, 2, (pairs, SWAPS))])


def _notices(real: Array, others: Sequence[Array], swaps: Array) -> npt.NDArray[np.bool_]:
    """Whether `energy_test(other, real, paired=True)` has p of at most `ALPHA`: [others]."""
    within = cdist(real, real)
    noticed = []
    for points in others:
        across = cdist(points, real)
        kernel = within + cdist(points, points) - across - across.T
        values = -np.einsum("ib,ib->b", swaps, kernel @ swaps)
        noticed.append(_noticed_by(values, len(real) ** 2))
    return np.array(noticed)


def _share_notices(sides: Array, swaps: Array) -> bool:
    """Whether the words outside the main topic, and all words, of both sides [2, pairs, 2] differ in their ratio."""
    total, difference = sides.sum(axis=(0, 1)), swaps.T @ (sides[1] - sides[0])
    values = np.abs(ratio_of_sums(total + difference) - ratio_of_sums(total - difference))
    return _noticed_by(values, 1)


def _noticed_by(values: Array, scale: float) -> bool:
    """Whether p of the first value, among those of all swaps, is at most `ALPHA`."""
    extreme = int((values[1:] >= values[0] - ROUNDING * scale).sum())
    return (extreme + 1) / len(values) <= ALPHA


def _held_out(drawn: Drawn, articles: str | os.PathLike[str]) -> Drawn:
    """The sentences of the test split."""
    numbers = {}
    for article in iter_articles(articles):
        numbers[sentence_number(article.id)] = article.title
    for number, title in numbers.items():
        if number >= len(drawn.sentences) or " ".join(drawn.source[drawn.sentences[number]]) != title:
            raise TextcriticError(
                f"{articles}: sentence {number} is not the sentence of this number in these languages; delete the file"
                " and rerun the rule that makes it"
            )
    return replace(drawn, sentences=[drawn.sentences[number] for number in sorted(numbers)])


def _noticed(rows: Sequence[Row], size: int, name: str) -> float | None:
    """The smallest rate from which on `AIM` of the tests of a size notice mixing; None: there is none."""
    noticed = None
    of_size = [row for row in rows if row["sentences"] == size and row["rate"] > 0]
    for row in sorted(of_size, key=lambda row: -row["rate"]):
        if row[name] < AIM:
            break
        noticed = row["rate"]
    return noticed
