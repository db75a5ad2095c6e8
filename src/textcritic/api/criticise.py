"""`textcritic.criticise`: samples against real documents, by the critic that goes with what the documents are."""

import os
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from textcritic.api.declare import Options, takes
from textcritic.api.documents import Documents, Given, Kind, documents_of, texts_of
from textcritic.api.options import (
    ArticleOptions,
    ChainOptions,
    CriticiseOptions,
    MentionOptions,
    TopicFit,
)
from textcritic.api.results import Result
from textcritic.api.sets import held_out_of, labelled
from textcritic.errors import TextcriticError
from textcritic.files import write_text
from textcritic.inference import are_grouped
from textcritic.measures.memory import REAL

MOST_NAMES = 100
NotedGroups: TypeAlias = dict[str, list[str | None]]
"""The groups of the documents of each set, by label."""

# What the documents are decides which options there are, beside `output`, and `test` and `held_out` but for articles.
OF_KIND: Mapping[Kind, type[Options]] = {
    "chains": ChainOptions,
    "mentions": MentionOptions,
    "texts": TopicFit,
    "articles": ArticleOptions,
}


@takes(CriticiseOptions)
def criticise(reference: Given, samples: Given = (), *, options: CriticiseOptions) -> Result:
    """Compare samples with real documents, by a critic that has learnt from real ones alone.

    What the documents are decides how, and what the first one of the reference is decides what they are:

    - chains (lists of titles): a transition critic, in this process; the Latent PPL of each source.
    - chains of mentions (dicts with `mentions`): an n-gram critic, in this process; the Latent PPL of each source.
    - articles (dicts with `sections`): the coherence workflow, as the command `textcritic criticise` runs it.
    - texts (strings): a correlated topic model, in this process; the Latent NLL of each source, and how far the
      covariances of its topics are from real text's.

    Every value has a 95% interval by document bootstrap, and every sample the p-value of a permutation test against
    real documents that the critic was not fitted on.

    Args:
        reference: real documents: a list, a data frame, a `datasets.Dataset`, or the path of a file.
        samples: what a model wrote, in any of these forms; a dict of them by label; or a list of `Path`s. May be
            left out with the option `model`.
        options: see below; those of chains, chains of mentions, texts and articles are refused for other documents. Of
            articles, `output` is the folder of the study, and without it a temporary one, which lives as long as the
            result; of anything else, a folder for report.html and table.csv, and without it neither is written.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    real = documents_of(reference, "reference")
    _check_kind(options, real)
    left_out = isinstance(samples, Sized) and not len(samples)
    if left_out and not options.models:
        otherwise = ", or a `model` to draw articles from" if real.kind == "articles" else ""
        raise TextcriticError(f"samples: none given; give what a model wrote, to compare with {real.name}{otherwise}")
    compared = {} if left_out else dict(_samples(samples, real.kind))
    if real.kind == "articles":
        from textcritic.api.articles.result import criticise_articles

        return criticise_articles(real, compared, options.output, options.part(ArticleOptions))
    result = {"chains": _chains, "mentions": _mentions, "texts": _texts}[real.kind](real, compared, options)
    return result if options.output is None else _written(result, Path(options.output).expanduser().absolute())


@takes(CriticiseOptions)
def jobs_of(reference: Given, samples: Given = (), *, options: CriticiseOptions) -> str:
    """What `criticise` would do with these files, in words; the jobs are listed on stderr. See `criticise`."""
    real = documents_of(reference, "reference")
    _check_kind(options, real)
    if real.kind != "articles":
        return f"nothing was run: {real.kind} are compared in this process, without jobs; that takes seconds"
    from textcritic.api.articles.run import jobs_of as jobs_of_articles

    paths = [sample for _, _, sample in labelled(samples)] if samples else []
    return jobs_of_articles(reference, paths, options.output or "own-text", options.part(ArticleOptions))


def options_of(kind: Kind) -> set[str]:
    """Names of the options that there are for documents of a kind."""
    split = {"test", "held_out"} if kind != "articles" else set()
    own = {"metrics"} if kind == "texts" else set()
    return {"output", *split, *own, *(one.name for one in fields(OF_KIND[kind]))}


def _check_kind(options: CriticiseOptions, real: Documents) -> None:
    for name in options.asked():
        if name not in options_of(real.kind):
            kinds = " and ".join(kind for kind in OF_KIND if name in options_of(kind))
            raise TextcriticError(f"{name}: is for {kinds}; {real.name} holds {real.kind}")


def _samples(samples: Given, kind: Kind) -> Iterator[tuple[str, Documents]]:
    """Each sample with its label."""
    for label, name, sample in labelled(samples):
        is_file = isinstance(sample, str | os.PathLike)  # lines of a file say themselves what is wrong with them
        documents = documents_of(sample, name, kind if is_file else None)
        if documents.kind != kind:
            raise TextcriticError(
                f"{name}: holds {documents.kind}, while the reference holds {kind}{_as_files(sample)}"
            )
        yield label, documents


def _as_files(sample: Given) -> str:
    """What is wrong with a list of names of files, which are taken for texts."""
    names = sample if isinstance(sample, Sequence) and not isinstance(sample, str) else ()
    # `Path.is_file` does not take a text that is longer than a name may be.
    are_files = bool(names) and all(isinstance(name, str) and os.path.isfile(name) for name in names[:MOST_NAMES])  # noqa: PTH113
    return "; strings in a list are texts: for files give `pathlib.Path`s, or a dict of them by label" * are_files


def _chains(real: Documents, samples: Mapping[str, Documents], options: CriticiseOptions) -> Result:
    from textcritic.api.chains import criticise_chains

    groups: NotedGroups = {}
    chains = _noted(real, REAL, groups).chains()
    kept, words = _parted(groups, options, real.name)
    train, tested = ([chain for n, chain in enumerate(chains) if (n in kept) is inside] for inside in (False, True))
    if options.test is not None:
        tested = _noted(documents_of(options.test, "test", "chains"), REAL, groups).chains()
    drawn = {label: _noted(documents, label, groups).chains() for label, documents in samples.items()}
    return criticise_chains(train, tested, drawn, options, words, groups)


def _mentions(real: Documents, samples: Mapping[str, Documents], options: CriticiseOptions) -> Result:
    from textcritic.api.coreference import criticise_mentions, mentions_of

    groups: NotedGroups = {}
    chains = mentions_of(_noted(real, REAL, groups), options)
    kept, words = _parted(groups, options, real.name)
    held = np.isin(np.arange(len(chains.lengths)), [*kept])
    train, tested = chains.some(~held), chains.some(held)
    if options.test is not None:
        tested = mentions_of(_noted(documents_of(options.test, "test", "mentions"), REAL, groups), options)
    drawn = {label: mentions_of(_noted(documents, label, groups), options) for label, documents in samples.items()}
    return criticise_mentions(train, tested, drawn, options, words, groups)


def _texts(real: Documents, samples: Mapping[str, Documents], options: CriticiseOptions) -> Result:
    from textcritic.api.own import fact_of, metrics_of, own_scores
    from textcritic.api.scored import resampling
    from textcritic.api.topics import RealTexts, criticise_topics

    groups: NotedGroups = {}
    for _ in _noted(real, REAL, groups).tokens():
        pass
    kept, words = _parted(groups, options, real.name)

    def part(inside: bool) -> Iterator[list[str]]:
        return (text for number, text in enumerate(real.tokens()) if (number in kept) is inside)

    given = None if options.test is None else _noted(texts_of(options.test, "test"), REAL, groups)
    tested = partial(part, True) if given is None else given.tokens
    drawn = {label: _noted(documents, label, groups).tokens for label, documents in samples.items()}
    texts = RealTexts(real.name, partial(part, False), tested, words)
    if not options.metrics:
        return criticise_topics(texts, drawn, options, groups)
    metrics, others = metrics_of(options.metrics), texts_of(options.test, "test") if given else None
    held = others.as_articles() if others else (one for n, one in enumerate(real.as_articles()) if n in kept)
    sets = {REAL: list(held), **{label: list(sample.as_articles()) for label, sample in samples.items()}}
    own = own_scores(metrics, sets, resampling(options))  # first, as a fault is seen at once
    result = criticise_topics(texts, drawn, options, groups)
    return replace(result, scores=(*result.scores, *own), facts=(*result.facts, *map(fact_of, metrics)))


def _noted(documents: Documents, label: str, groups: NotedGroups) -> Documents:
    """The documents, whose groups are noted under a label when they are read."""
    return documents.noting(groups.setdefault(label, []))


def _parted(groups: NotedGroups, options: CriticiseOptions, name: str) -> tuple[set[int], tuple[str, str]]:
    """The documents of the reference that are held out, none with `test`; and ("Real text", words that say so).

    Args:
        groups: those of the reference are under `REAL`, where those of the documents held out are afterwards.
        options: see `CriticiseOptions`.
        name: of the reference, for errors.
    """
    of_all, documents = groups[REAL], len(groups[REAL])
    if options.test is None:
        kept = held_out_of(of_all, options, name)
        groups[REAL] = [of_all[n] for n in sorted(kept)]
        together = ", whole groups of documents" if are_grouped(of_all) else ""
        parts = f"the critic is fitted on {documents - len(kept):,}, and {len(kept):,} are the yardstick"
        return kept, ("Real text", f"parted at random{together} (seed {options.seed}): {parts}")
    if options.held_out is not None:
        raise TextcriticError("held_out: with `test`, nothing of the reference is held out; give one of the two")
    return set(), ("Real text", "the critic is fitted on all of the reference; `test` is the yardstick")


def _written(result: Result, folder: Path) -> Result:
    write_text(folder / "table.csv", result.table.to_csv(index=False, lineterminator="\n"))
    return replace(result, page=result.report(folder / "report.html"))
