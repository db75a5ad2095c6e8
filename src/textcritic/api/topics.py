"""`textcritic.topics`: the Latent NLL of documents under a correlated topic model, for one set of them or several."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textcritic.api.declare import takes
from textcritic.api.documents import Documents, Given, texts_of
from textcritic.api.options import Name, TopicFit, TopicOptions
from textcritic.api.scored import facts_of_groups, reason_of, resampling
from textcritic.api.sets import labelled
from textcritic.api.topics_numbers import TopicNumbers, numbers_of
from textcritic.api.topics_result import TopicsOfSet, TopicsResult
from textcritic.critics.ctm.counted import (
    Array,
    Counted,
    TrainAndTests,
    count_texts,
    counted_over,
    project,
    read_counts,
)
from textcritic.critics.ctm.held_out import compared, completed
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.released import read_released
from textcritic.critics.ctm.scoring import EMPTY, latent_nll, top_words
from textcritic.critics.ctm.starts import Fits, fit_starts
from textcritic.errors import TextcriticError, named
from textcritic.experiments.topics.rows import AT_MEAN, NLL
from textcritic.inference import (
    Groups,
    Interval,
    bootstrap_interval,
    ratio_of_sums,
    unit_sums,
    with_fits,
    with_ones,
)
from textcritic.latents.bags import VocabularyOptions, read_ldac, read_words, vocabulary_of
from textcritic.measures.measure import Measure, Scored
from textcritic.measures.memory import REAL, rows_in_memory, scores_in_memory, scores_of_sets
from textcritic.measures.score import Score
from textcritic.plan.entries import Ctm

TOP_WORDS = 10
MEANS: Mapping[str, Measure] = {"in_expectation": NLL, "at_mean": AT_MEAN}


@takes(TopicOptions)
def topics(train: Given | None, test: Given, *, options: TopicOptions) -> TopicsResult:
    """Fit a correlated topic model on the documents of `train`, and give the Latent NLL of those of `test`.

    The command `textcritic topics` prints the same numbers. Tokens are split at white space; words in more than
    half of the documents of `train`, and those that contain xmath, are left out.

    Args:
        train: texts or articles, in any form that `documents_of` takes; or a file in the format LDA-C (.dat, .ldac);
            None with the option `critic`.
        test: likewise, of the same kind; or a dict of such sets by label, or a list of `Path`s.
        options: see below; `num_topics` may be the third argument, and is needed without a critic. Of several numbers
            one is taken, see `critics.ctm.held_out`, and what each says is in the attribute `search`.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    if options.critic is not None:
        return _under(options.critic, train, _tests(test, options), options)
    if train is None:
        raise TextcriticError("train: not given; give documents to fit on, or `critic`, a folder with a fitted critic")
    if options.num_topics is None:
        raise TextcriticError(
            "num_topics: not given; say how many topics are fitted on the documents, or give `critic`, a folder with a"
            " fitted critic"
        )
    fitted_on = texts_of(train, "train", options.reading).cut_by(options.words)
    tests = {label: one.cut_by(options.words, fitted_on.words) for label, one in _tests(test, options).items()}
    groups: dict[str, list[str | None]] = {label: [] for label in tests}
    of_train: list[str | None] = []
    counted = _read(fitted_on.noting(of_train), [one.noting(groups[label]) for label, one in tests.items()], options)
    tested = dict(zip(tests, counted.tests, strict=True))
    for label, documents in tests.items():
        _require_words(tested[label], documents.name, fitted_on.name)
    numbers = numbers_of(options.num_topics, counted.train)

    def under(number: int) -> TopicsResult:
        chosen = replace(options, num_topics=number)
        fits = _fit(counted, options, number, fitted_on.name)
        return _scored(
            (fits.best.critic, *fits.others),
            tested,
            chosen,
            groups=groups,
            words=counted.words,
            searching=len(numbers) > 1,
            bound=tuple(map(float, fits.best.bounds)),
            seconds=float(fits.seconds),
            converged=bool(fits.best.converged),
            starts=tuple(float(fit.bounds[-1]) for fit in fits.fits),
            train=counted.train_size(),
            facts=_facts(counted, fits, chosen),
            warnings=_warnings(fits),
        )

    if len(numbers) == 1:
        return under(numbers[0])
    with named(fitted_on.name):
        of_held_out = of_train or None
        found = completed(counted.train.counts, numbers, entry_of(options, 2), of_held_out, options.threads)
        held_out = compared(found, of_held_out, options.resamples, options.seed)
    results = {k: under(k) for k in numbers}
    search = TopicNumbers(
        held_out,
        {k: result.against_first for k, result in results.items()},
        documents=len(found.documents),
        tokens=int(found.tokens.sum()),
        unknown=found.unknown,
    )
    return replace(results[search.taken.num_topics], search=search)


def _tests(test: Given, options: TopicOptions) -> dict[str, Documents]:
    """The test sets by label."""
    return {label: texts_of(given, name, options.reading) for label, name, given in labelled(test, "test")}


def _read(train: Documents, tests: Sequence[Documents], options: TopicOptions) -> TrainAndTests:
    for test in tests:
        if train.counted != test.counted:
            raise TextcriticError(
                f"{test.name}: {_kind(test)}, while {train.name} is {_kind(train)}; give files of one kind"
            )
    if train.counted:
        if not {"stop_words", "minimum_count"}.isdisjoint(options.asked()):
            raise TextcriticError(
                f"{train.name}: `stop_words` and `minimum_count` can be used with text only; in a file in LDA-C format"
                " the words are already counted; leave both out"
            )
        return read_counts(train.file, [test.file for test in tests], options.vocabulary)
    if options.vocabulary is not None:
        raise TextcriticError(f"{options.vocabulary}: `vocabulary` is for LDA-C; text has the words itself")
    return count_texts(train.tokens, [test.tokens for test in tests], _vocabulary(options), train.name)


def _kind(documents: Documents) -> str:
    return "LDA-C" if documents.counted else "text"


def _under(folder: Name, train: Given | None, tests: Mapping[str, Documents], options: TopicOptions) -> TopicsResult:
    """The test sets under a model that ctm-c has fitted."""
    if train is not None or not {"num_topics", "stop_words", "minimum_count"}.isdisjoint(options.asked()):
        raise TextcriticError(f"{folder}: a critic is fitted already; give it alone, with documents to score")
    critic, groups = read_released(folder), {label: list[str | None]() for label in tests}
    words = None if options.vocabulary is None else read_words(options.vocabulary)
    if words is not None and len(words) != critic.num_words:
        raise TextcriticError(f"{options.vocabulary}: {len(words):,} words, and {folder} has {critic.num_words:,}")
    tested = {}
    for label, test in tests.items():
        if test.counted:
            tested[label] = Counted(read_ldac(test.file, critic.num_words), 0)
        elif words is None:
            raise TextcriticError(f"{folder}: to read text, give the file of its words, one a line, as the vocabulary")
        else:
            tested[label] = counted_over(vocabulary_of(words, ()), test.noting(groups[label]).tokens)
        _require_words(tested[label], test.name, str(folder))
    facts = (
        ("Critic", f"correlated topic model of {critic.num_topics} topics that ctm-c fitted, read from {folder}"),
        *_meanings(options),
    )
    return _scored(
        (critic,),
        tested,
        options,
        groups=groups,
        words=words,
        bound=(),
        seconds=0.0,
        converged=True,
        starts=(),
        train=None,
        facts=facts,
    )


def _scored(
    critics: Sequence[CTM],
    tested: Mapping[str, Counted],
    options: TopicFit,
    groups: Mapping[str, Sequence[str | None]],
    words: Sequence[str] | None,
    searching: bool = False,
    **of_fit: Any,
) -> TopicsResult:
    """The test sets under a critic and the models of its other starts.

    Args:
        critics: the one that is kept, then the others.
        tested: the sets by label.
        options: how intervals are computed.
        groups: by label, the group of each document.
        words: the word of each column, if known.
        searching: whether the other sets are tested against the first.
        of_fit: attributes of the result that are about the fit.
    """
    nll, read = {}, {}
    for label, one in tested.items():
        nll[label] = [latent_nll(critic, *project(critic, one.filled, options.threads)) for critic in critics]
        best = zip(MEANS.values(), nll[label][0], strict=True)
        data = {measure.value: with_ones(values) for measure, values in best}
        kept = groups_with(one, groups[label])
        read[label] = Scored(data, len(nll[label][0][0]), empty_documents(one), groups=kept)
    rows = rows_in_memory(read, tuple(MEANS.values()), resampling(options))
    kinds = [scores_in_memory(rows, [measure]) for measure in MEANS.values()]
    by_kind = [dict(zip(MEANS, both, strict=True)) for both in zip(*kinds, strict=True)]
    of_fit["facts"] = (*of_fit["facts"], *facts_of_groups({label: one.groups for label, one in read.items()}))
    return TopicsResult(
        title="Topics of documents under a correlated topic model",
        scores=scores_in_memory(rows, [NLL]),
        by_label={
            label: TopicsOfSet(
                latent_nll={kind: one.number for kind, one in found.items()},
                reasons={kind: reason_of(one) for kind, one in found.items()},
                n=read[label].documents or 0,
                empty=tested[label].empty,
                tokens=int(tested[label].counts.sum()),
                tokens_unknown=tested[label].unknown,
                over_starts=_over_starts(nll[label]),
                over_fits=_over_fits(nll[label], read[label].groups, options),
            )
            for label, found in zip(tested, by_kind, strict=True)
        },
        against_first=_against_first(read, options) if searching and len(read) > 1 else (),
        num_topics=critics[0].num_topics,
        top_words=None if words is None else top_words(critics[0], words, TOP_WORDS),
        **of_fit,
    )


def _against_first(read: Mapping[str, Scored], options: TopicFit) -> tuple[Score, ...]:
    """The Latent NLL of each set; in the tests the first set takes the place of real text."""
    first, *others = read
    sets = {REAL: read[first], **{label: read[label] for label in others}}
    return scores_of_sets(sets, [NLL], resampling(options), first)


def _over_starts(nll: Sequence[tuple[Array, Array]]) -> dict[str, tuple[float, float]]:
    """`over_starts` of `TopicsOfSet`; `nll` has both kinds, [documents] each, under each fit."""
    means = [[float(values.mean()) for values in both] for both in nll]
    over = {kind: (min(values), max(values)) for kind, values in zip(MEANS, zip(*means, strict=True), strict=True)}
    return over if len(nll) > 1 else {}


def _over_fits(nll: Sequence[tuple[Array, Array]], groups: Groups, options: TopicFit) -> dict[str, Interval]:
    """`over_fits` of `TopicsOfSet`; `nll` as in `_over_starts`."""
    averaged = {}
    for kind, values in zip(MEANS, zip(*nll, strict=True), strict=True):
        units = unit_sums(with_ones(np.mean(values, axis=0)), groups)
        whole = bootstrap_interval(units, ratio_of_sums, options.resamples, seed=options.seed)
        low, high = with_fits(whole.estimate, (whole.low, whole.high), np.mean(values, axis=1))
        averaged[kind] = replace(whole, low=low, high=high)
    return averaged


def groups_with(counted: Counted, groups: Groups) -> list[str | None]:
    """The groups of the documents with words; of a file in the format LDA-C, whose documents have none, all null."""
    rows = np.flatnonzero(counted.has_words).tolist()
    return [groups[row] for row in rows] if groups else [None] * len(rows)


def empty_documents(counted: Counted) -> dict[str, int]:
    """How many documents could not be scored, by reason."""
    return {EMPTY: counted.empty} if counted.empty else {}


def entry_of(options: TopicFit, topics: int) -> Ctm:
    """How a model of so many topics is fitted."""
    given = {name: getattr(options, name) for name in ("starts", "iterations", "tolerance", "seed")}
    return Ctm.read({"kind": "ctm", "topics": topics, **given}, "topics")


def _vocabulary(options: TopicFit) -> VocabularyOptions:
    given = options.asked()
    return VocabularyOptions.read({k: given[k] for k in ("stop_words", "minimum_count") if k in given}, "vocabulary")


def _fit(counted: TrainAndTests, options: TopicFit, number: int, name: str) -> Fits:
    with named(name):
        return fit_starts(counted.train.counts, entry_of(options, number), workers=options.threads)


def _require_words(tested: Counted, name: str, train: str) -> None:
    if tested.empty == tested.counts.shape[0]:
        raise TextcriticError(f"{name}: no document has a word that {train} has; nothing is left to score")


def _warnings(fits: Fits) -> tuple[str, ...]:
    """What the intervals leave out: fits that did not converge, and other starts if there was only one."""
    sentences, left = [], sum(not fit.converged for fit in fits.fits)
    if left:
        sentences.append(
            f"{left} of {len(fits.fits)} fits stopped before they converged: after more iterations the numbers would "
            "be others; raise `iterations`."
        )
    if len(fits.fits) == 1:
        sentences.append("There was one start of the fit: no interval holds what another one would have given.")
    return tuple(sentences)


def _facts(counted: TrainAndTests, fits: Fits, options: TopicFit) -> tuple[tuple[str, str], ...]:
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


def _meanings(options: TopicFit) -> tuple[tuple[str, str], ...]:
    return (
        (
            "Latent NLL",
            "of the topics of a text, in expectation under their posterior, nats; under the fit of the highest bound. "
            "Differences and distances are means over the fits from all starts",
        ),
        (
            "Interval",
            f"95%, studentised bootstrap over documents, {options.resamples:,} resamples; of differences and "
            "distances it holds the luck of the starts too",
        ),
        ("p-value", "two-sided permutation test against held-out real text"),
    )
