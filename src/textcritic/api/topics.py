"""`textcritic.topics`: the Latent NLL of documents under a correlated topic model, for one set of them or several."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from textcritic.api.documents import Given, documents_of
from textcritic.api.results import REAL, Result, Score
from textcritic.api.topic_options import TopicKeywords, TopicOptions
from textcritic.critics.ctm.counted import (
    Counted,
    Tokens,
    TrainAndTests,
    count_texts,
    counted_over,
    project,
    read_counts,
)
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.released import read_released
from textcritic.critics.ctm.scoring import EMPTY, latent_nll, top_words, with_last
from textcritic.critics.ctm.starts import Fits, fit_starts
from textcritic.errors import TextcriticError, named
from textcritic.inference import (
    Interval,
    bootstrap_interval,
    covariance_test,
    permutation_test,
    ratio_of_sums,
    with_ones,
)
from textcritic.latents.bags import read_ldac, read_words, vocabulary_of
from textcritic.runlog import progress_on_stderr

LDAC, TEXT = (".dat", ".ldac"), (".jsonl", ".jsonl.gz", ".parquet", ".arrow")
TOP_WORDS = 10
MEANS = ("in_expectation", "at_mean")
COVARIANCE_RESAMPLES = 1000  # at most: each takes a matrix product

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False, kw_only=True)
class TopicsResult(Result):
    """What `topics` gives; `scores` has the Latent NLL of the test set, in expectation.

    Attributes:
        bound: evidence lower bound of the train set in each iteration of the fit that is kept, before its M-step, nats.
        seconds: that the fits took.
        starts: last bounds of the fits from all starts, the one that is kept first; none of a critic that was read.
        over_starts: least and greatest Latent NLL of the test set over these, by the kinds of `latent_nll`: how far it
            depends on the start, which the interval does not say.
        converged: whether it ended by the tolerance.
        latent_nll: mean of `-log p(topic coefficients)` of a document with its 95% interval: "in_expectation" under its
            posterior, as the paper defines it; "at_mean", at the posterior's mean, as its released code has it.
        tokens: of the test set, with words that the train set has.
        tokens_unknown: of the test set, with other words.
        train: documents, empty ones among them, words, tokens, and the words that were left out, by reason; None of a
            critic that was read.
        num_topics: K.
        top_words: the ten most probable words of each topic; None where the words of the ids are not known.
    """

    bound: tuple[float, ...]
    seconds: float
    converged: bool
    starts: tuple[float, ...]
    over_starts: Mapping[str, tuple[float, float]]
    latent_nll: Mapping[str, Interval]
    tokens: int
    tokens_unknown: int
    train: Mapping[str, Any] | None
    num_topics: int
    top_words: Sequence[Sequence[str]] | None

    @property
    def n(self) -> int:
        """Documents of the test set scored."""
        return self.scores[0].n

    @property
    def empty(self) -> int:
        """Documents of the test set without a word that the train set has."""
        return self.scores[0].rejected

    def to_json(self) -> str:
        """The object that `textcritic topics` prints."""
        value = {
            "bound": self.bound,
            "seconds": self.seconds,
            "converged": self.converged,
            "starts": self.starts,
            "latent_nll_mean": {kind: found.estimate for kind, found in self.latent_nll.items()},
            "ci95": {kind: [found.low, found.high] for kind, found in self.latent_nll.items()},
            "over_starts": self.over_starts,
            "n": self.n,
            "empty": self.empty,
            "tokens": self.tokens,
            "tokens_unknown": self.tokens_unknown,
            "train": self.train,
            "topics": self.num_topics,
            "top_words": self.top_words,
        }
        return json.dumps(value, allow_nan=False)


def topics(
    train: Given | None,
    test: Given,
    num_topics: int | None = None,
    *,
    critic: str | os.PathLike[str] | None = None,
    vocabulary: str | os.PathLike[str] | None = None,
    **options: Unpack[TopicKeywords],
) -> TopicsResult:
    """Fit a correlated topic model on the documents of `train`, and give the Latent NLL of those of `test`.

    What is computed is what the command `textcritic topics` prints. Tokens are split at white space; words in more than
    half of the documents of `train`, and those that contain xmath, are left out.

    Args:
        train: texts or articles, in any form that `documents_of` takes; or a file in the format LDA-C (.dat, .ldac).
        test: likewise, of the same kind.
        num_topics: K, 2 or more.
        critic: a folder with the files of a model that Blei's ctm-c has fitted (`released.read_released`), instead of
            `train` and `num_topics`, which are None then.
        vocabulary: for LDA-C, and for text with `critic`, a file of words, one a line, the first is that of id 0; None:
            words have no names.
        options: the other keys of `TopicOptions`.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    if critic is not None:
        return _under(critic, train, test, num_topics, vocabulary, options)
    if train is None or num_topics is None:
        raise TextcriticError("topics: give documents to fit on and num_topics, or a folder with a fitted critic")
    chosen = TopicOptions(num_topics, **options)
    names = tuple(_name(*pair) for pair in ((train, "train"), (test, "test")))
    with progress_on_stderr("topics"):
        counted = _read(train, test, vocabulary, chosen)
        (tested,) = counted.tests
        _require_words(tested, names[1], names[0])
        fits = _fit(counted, chosen, names[0])
        critics = (fits.best.critic, *fits.others)
        return _scored(
            critics,
            tested,
            counted.words,
            chosen,
            bound=tuple(map(float, fits.best.bounds)),
            seconds=float(fits.seconds),
            converged=bool(fits.best.converged),
            starts=tuple(float(fit.bounds[-1]) for fit in fits.fits),
            train=counted.train_size(),
            facts=_facts(counted, fits, chosen),
        )


def criticise_topics(
    train: Tokens, test: Tokens, samples: Mapping[str, Tokens], options: TopicOptions, split: tuple[str, str]
) -> Result:
    """Fit a topic model on real texts; compare each sample with other real ones by Latent NLL and by covariances.

    Args:
        train: real texts to fit on.
        test: real texts that are the yardstick.
        samples: texts by label.
        options: see `TopicOptions`.
        split: ("Real text", words on how `train` and `test` were parted).

    Raises:
        TextcriticError: a set of which nothing can be fitted or scored, with its label.
    """
    with progress_on_stderr("topics"):
        counted = count_texts(train, [test, *samples.values()], options.vocabulary)
        labels = [REAL, *samples]
        sets = dict(zip(labels, counted.tests, strict=True))
        for label in labels:
            _require_words(sets[label], label, "the real text that the critic is fitted on")
        fits = _fit(counted, options, "reference")
        critic = fits.best.critic
        moments = {label: project(critic, sets[label].filled, options.cores) for label in labels}
    nll = {label: latent_nll(critic, *moments[label])[0] for label in labels}
    scores = []
    for label in labels:
        interval, n, reasons = _interval(nll[label], options), len(nll[label]), _empty(sets[label])
        p = None
        if label != REAL:
            one, two = with_ones(nll[label]), with_ones(nll[REAL])
            p = permutation_test(one, two, ratio_of_sums, options.resamples, options.seed).p
        values = (interval.estimate, interval.low, interval.high, p, n, sets[label].empty, reasons)
        scores.append(Score(label, "latent_nll", *values))
    for label in samples:
        scores.append(_distance(label, moments[label], moments[REAL], sets[label], options))
    facts = (split, *_facts(counted, fits, options))
    return Result(title="Topics of texts against real ones", scores=tuple(scores), facts=facts)


def _name(given: Given, name: str) -> str:
    return os.fspath(given) if isinstance(given, str | os.PathLike) else name


def _read(train: Given, test: Given, vocabulary: str | os.PathLike[str] | None, options: TopicOptions) -> TrainAndTests:
    kinds = [_kind(given) for given in (train, test)]
    if kinds[0] != kinds[1] and "LDA-C" in kinds:
        raise TextcriticError(
            f"{_name(test, 'test')}: {kinds[1]}, while {_name(train, 'train')} is {kinds[0]}; give two files of"
            " one kind"
        )
    if kinds[0] == "LDA-C":
        if options.stop_words is not None or options.minimum_count is not None:
            raise TextcriticError(f"{train}: --stop-words and --minimum-count are for text; LDA-C is counted already")
        return read_counts(Path(train), Path(test), vocabulary)
    if vocabulary is not None:
        raise TextcriticError(f"{vocabulary}: --vocabulary is for LDA-C; text has the words itself")
    tokens = [documents_of(given, name).tokens for given, name in ((train, "train"), (test, "test"))]
    return count_texts(tokens[0], tokens[1:], options.vocabulary)


def _kind(given: Given) -> str:
    if not isinstance(given, str | os.PathLike):
        return "text"
    path = Path(given)
    if path.name.endswith(LDAC):
        return "LDA-C"
    if path.name.endswith(TEXT) or path.is_dir():
        return "text"
    raise TextcriticError(
        f"{path}: its name should end in {', '.join(LDAC)} (LDA-C) or {', '.join(TEXT)} (text), or be that of a folder"
    )


def _under(
    folder: str | os.PathLike[str],
    train: Given | None,
    test: Given,
    num_topics: int | None,
    vocabulary: str | os.PathLike[str] | None,
    options: TopicKeywords,
) -> TopicsResult:
    """The test set under a model that ctm-c has fitted."""
    if train is not None or num_topics is not None or options.get("stop_words") or options.get("minimum_count"):
        raise TextcriticError(f"{folder}: a critic is fitted already; give it alone, with documents to score")
    critic = read_released(folder)
    chosen = TopicOptions(critic.num_topics, **options)
    with progress_on_stderr("topics"):
        words = None if vocabulary is None else read_words(vocabulary)
        if words is not None and len(words) != critic.num_words:
            raise TextcriticError(f"{vocabulary}: {len(words):,} words, and {folder} has {critic.num_words:,}")
        if _kind(test) == "LDA-C":
            tested = Counted(read_ldac(Path(os.fspath(test)), critic.num_words), 0)
        elif words is None:
            raise TextcriticError(f"{folder}: to read text, give the file of its words, one a line, as the vocabulary")
        else:
            tested = counted_over(vocabulary_of(words, ()), documents_of(test, "test").tokens)
        _require_words(tested, _name(test, "test"), os.fspath(folder))
        facts = (
            ("Critic", f"correlated topic model of {critic.num_topics} topics that ctm-c fitted, read from {folder}"),
            *_meanings(chosen),
        )
        return _scored(
            (critic,), tested, words, chosen, bound=(), seconds=0.0, converged=True, starts=(), train=None, facts=facts
        )


def _scored(
    critics: Sequence[CTM], tested: Counted, words: Sequence[str] | None, options: TopicOptions, **of_fit: Any
) -> TopicsResult:
    """The test set under a critic and the models of its other starts; `of_fit` is what the result says of the fit."""
    nll = [latent_nll(critic, *project(critic, tested.filled, options.cores)) for critic in critics]
    found = {kind: _interval(values, options) for kind, values in zip(MEANS, nll[0], strict=True)}
    means = [[float(values.mean()) for values in both] for both in nll]
    over = {kind: (min(values), max(values)) for kind, values in zip(MEANS, zip(*means, strict=True), strict=True)}
    first, n = found[MEANS[0]], len(nll[0][0])
    values = (first.estimate, first.low, first.high, None, n, tested.empty, _empty(tested))
    return TopicsResult(
        title="Topics of documents under a correlated topic model",
        scores=(Score("test", "latent_nll", *values),),
        latent_nll=found,
        over_starts=over if len(critics) > 1 else {},
        tokens=int(tested.counts.sum()),
        tokens_unknown=tested.unknown,
        num_topics=critics[0].num_topics,
        top_words=None if words is None else top_words(critics[0], words, TOP_WORDS),
        **of_fit,
    )


def _fit(counted: TrainAndTests, options: TopicOptions, name: str) -> Fits:
    with named(name):
        return fit_starts(counted.train.counts, options.fit, options.starts, workers=options.cores)


def _require_words(tested: Counted, name: str, train: str) -> None:
    if tested.empty == tested.counts.shape[0]:
        raise TextcriticError(f"{name}: no document has a word that {train} has; nothing is left to score")


def _interval(values: Array, options: TopicOptions) -> Interval:
    return bootstrap_interval(with_ones(values), ratio_of_sums, resamples=options.resamples, seed=options.seed)


def _distance(
    label: str, sample: tuple[Array, Array], real: tuple[Array, Array], counted: Counted, options: TopicOptions
) -> Score:
    """How far the covariances of a sample's topics are from real text's, less what finite sets add to it."""
    (means, variances), (real_means, real_variances) = (tuple(map(with_last, part)) for part in (sample, real))
    resamples = min(options.resamples, COVARIANCE_RESAMPLES)
    with named(label):
        test = covariance_test(means, real_means, (variances, real_variances), resamples, seed=options.seed)
    values = (test.corrected, test.low, test.high, test.p, len(means), counted.empty, _empty(counted))
    return Score(label, "distance", *values)


def _empty(counted: Counted) -> dict[str, int]:
    return {EMPTY: counted.empty} if counted.empty else {}


def _facts(counted: TrainAndTests, fits: Fits, options: TopicOptions) -> tuple[tuple[str, str], ...]:
    size, fitted = counted.train_size(), fits.best
    end = "converged" if fitted.converged else "stopped before it converged"
    return (
        (
            "Critic",
            f"correlated topic model of {options.num_topics} topics, fitted on {size['documents']:,} texts of "
            f"{size['words']:,} different words in {len(fitted.bounds)} iterations ({end}), seed {options.seed}; "
            f"the highest bound of {len(fits.fits)} {'starts' if len(fits.fits) > 1 else 'start'}",
        ),
        *_meanings(options),
    )


def _meanings(options: TopicOptions) -> tuple[tuple[str, str], ...]:
    return (
        ("Latent NLL", "of the topics of a text, in expectation under their posterior, nats"),
        ("Interval", f"95%, percentile bootstrap over documents, {options.resamples:,} resamples"),
        ("p-value", "two-sided permutation test against held-out real text"),
    )
