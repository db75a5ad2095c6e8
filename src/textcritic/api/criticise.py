"""`textcritic.criticise`: samples against real documents, by the critic that goes with what the documents are."""

import os
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from textcritic.api.crossed import is_crossed
from textcritic.api.declare import Options, takes
from textcritic.api.documents import Documents, Given, Kind, documents_of
from textcritic.api.options import (
    ArticleOptions,
    ChainOptions,
    CriticiseOptions,
    MentionOptions,
    ScorecardOptions,
)
from textcritic.api.results import Result
from textcritic.api.sets import held_out_of, labelled
from textcritic.corpora.readers.reading import Reading
from textcritic.errors import TextcriticError, listed
from textcritic.files import require_ours, results_folder, write_text
from textcritic.inference import are_grouped
from textcritic.measures.memory import REAL

if TYPE_CHECKING:
    from textcritic.api.articles.result import Sets

MOST_NAMES = 100
TABLE_MARK = rb"\Asource,measure,value,low,high,p,n,rejected,rejected_by_reason,verdict\r?\n"
PAGE_MARK = rb'<meta name="generator" content="textcritic">'
NotedGroups: TypeAlias = dict[str, list[str | None]]
"""The groups of the documents of each set, by label."""

STUDIES = ("texts", "articles")
"""Kinds of documents that are compared by all measures, in a study."""
HELD_OUT_WITH_TEST = "held_out: cannot be used together with `test`; give only one of the two"
# The kind of the documents decides which options there are, besides `output`, `test`, `held_out`, `parts`, `unpaired`.
OF_KIND: Mapping[Kind, type[Options]] = {
    "chains": ChainOptions,
    "mentions": MentionOptions,
    "texts": ScorecardOptions,
    "articles": ArticleOptions,
}


@takes(CriticiseOptions)
def criticise(reference: Given, samples: Given = (), *, options: CriticiseOptions) -> Result:
    """Compare samples with real documents, by critics that were fitted on real documents only.

    What the documents are decides how, and what the first one of the reference is decides what they are:

    - chains (lists of titles): a transition critic, in this process; the Latent PPL of each source.
    - chains of mentions (dicts with `mentions`): an n-gram critic, in this process; the Latent PPL of each source.
    - texts (strings) and articles (dicts with `sections`): all that can be measured, in this process: statistical
      tendencies, topics, mentions of people, text copied from the reference, repeated words and unfinished ends, and of
      articles with titles the order of sections; what the command `textcritic criticise` does. With models, or titles
      that have to be inferred, Snakemake runs the jobs.

    Every value has a 95% interval by document bootstrap, and every sample the p-value of a permutation test against
    real documents that the critic was not fitted on.

    Args:
        reference: real documents: a list, a data frame, a `datasets.Dataset`, or the path of a file.
        samples: what a model wrote, in any of these forms; a dict of them by label; or a list of `Path`s. May be
            left out with the option `model`.
        options: see below; those of chains, chains of mentions, texts and articles are refused for other documents. Of
            texts and articles, `output` is the folder of the study, and without it a temporary one, which lives as long
            as the result; of anything else, a folder for report.html and table.csv, and without it neither is written.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    real = documents_of(reference, "reference", reading=options.reading)
    _check_kind(options, real)
    left_out = isinstance(samples, Sized) and not len(samples)
    if left_out and not options.models:
        otherwise = ", or a `model` to draw articles from" if real.kind == "articles" else ""
        raise TextcriticError(f"samples: none given; give what a model wrote, to compare with {real.name}{otherwise}")
    folder = None if options.output is None else _folder(options.output, real.kind, options.force)
    if real.kind in STUDIES:
        from textcritic.api.articles.result import criticise_articles

        return criticise_articles(_sets(real, samples, options), folder, options)
    compared = dict(_samples(samples, real.kind, options.reading))
    result = {"chains": _chains, "mentions": _mentions}[real.kind](real, compared, options)
    return result if folder is None else _written(result, folder)


@takes(CriticiseOptions)
def jobs_of(reference: Given, samples: Given = (), *, options: CriticiseOptions) -> str:
    """What `criticise` would do with these files, in words; the jobs are listed on stderr. See `criticise`."""
    real = documents_of(reference, "reference", reading=options.reading)
    _check_kind(options, real)
    if real.kind not in STUDIES:
        return f"nothing was run: {real.kind} are compared in this process, without jobs; that takes seconds"
    from textcritic.api.articles.result import jobs_of_articles

    folder = _folder(options.output or "own-text", real.kind, options.force)
    return jobs_of_articles(_sets(real, samples, options), folder, options)


def _sets(real: Documents, samples: Given, options: CriticiseOptions) -> "Sets":
    """The texts or articles that are compared."""
    from textcritic.api.articles.result import Sets

    some = not isinstance(samples, Sized) or len(samples)
    compared = dict(_samples(samples, real.kind, options.reading)) if some else {}
    given = options.control
    controls = (
        dict(_samples(given, real.kind, options.reading, "control"))
        if not isinstance(given, Sized) or len(given)
        else {}
    )
    if twice := next((label for label in controls if label in compared), None):
        raise TextcriticError(f"control: {twice!r} is the label of a sample too; give the control another one")
    test = None if options.test is None else documents_of(options.test, "test", real.kind, options.reading)
    if test is not None and options.held_out is not None:
        raise TextcriticError(HELD_OUT_WITH_TEST)
    return Sets(reference=real, test=test, samples=compared, controls=controls)


def options_of(kind: Kind) -> set[str]:
    """The names of the options that may be used with documents of this kind."""
    return {"output", "force", "test", "held_out", "parts", "unpaired", *(one.name for one in fields(OF_KIND[kind]))}


def _check_kind(options: CriticiseOptions, real: Documents) -> None:
    for name in options.asked():
        if name not in options_of(real.kind):
            kinds = listed([kind for kind in OF_KIND if name in options_of(kind)])
            raise TextcriticError(f"{name}: is for {kinds}; {real.name} holds {real.kind}")


def _samples(
    samples: Given, kind: Kind, reading: Reading, argument: str = "samples"
) -> Iterator[tuple[str, Documents]]:
    """Each sample with its label."""
    for label, name, sample in labelled(samples, argument):
        is_file = isinstance(sample, str | os.PathLike)  # lines of a file say themselves what is wrong with them
        documents = documents_of(sample, name, kind if is_file else None, reading)
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
    from textcritic.api.chains import criticise_chains, criticise_crossed_chains

    groups: NotedGroups = {}
    spellings: dict[str, str] = {}
    chains = _noted(real, REAL, groups).chains(spellings)
    if is_crossed(groups[REAL], options, real.name):
        drawn = {label: _noted(documents, label, groups).chains(spellings) for label, documents in samples.items()}
        return criticise_crossed_chains(chains, drawn, options, groups)
    kept, words = _parted(groups, options, real.name)
    train, tested = ([chain for n, chain in enumerate(chains) if (n in kept) is inside] for inside in (False, True))
    if options.test is not None:
        tested = _noted(documents_of(options.test, "test", "chains", options.reading), REAL, groups).chains(spellings)
    drawn = {label: _noted(documents, label, groups).chains(spellings) for label, documents in samples.items()}
    return criticise_chains(train, tested, drawn, options, words, groups)


def _mentions(real: Documents, samples: Mapping[str, Documents], options: CriticiseOptions) -> Result:
    from textcritic.api.coreference import criticise_crossed_mentions, criticise_mentions, mentions_of

    groups: NotedGroups = {}
    chains = mentions_of(_noted(real, REAL, groups), options)
    if is_crossed(groups[REAL], options, real.name):
        drawn = {label: mentions_of(_noted(documents, label, groups), options) for label, documents in samples.items()}
        return criticise_crossed_mentions(chains, drawn, options, groups)
    kept, words = _parted(groups, options, real.name)
    held = np.isin(np.arange(len(chains.lengths)), [*kept])
    train, tested = chains.some(~held), chains.some(held)
    if options.test is not None:
        tested = mentions_of(
            _noted(documents_of(options.test, "test", "mentions", options.reading), REAL, groups), options
        )
    drawn = {label: mentions_of(_noted(documents, label, groups), options) for label, documents in samples.items()}
    return criticise_mentions(train, tested, drawn, options, words, groups)


def _noted(documents: Documents, label: str, groups: NotedGroups) -> Documents:
    """The documents, whose groups are noted under a label when they are read."""
    return documents.noting(groups.setdefault(label, []))


def _parted(groups: NotedGroups, options: CriticiseOptions, name: str) -> tuple[set[int], tuple[str, str]]:
    """The documents of the reference that are held out, none with `test`; and ("Real text", words that say so).

    Args:
        groups: under `REAL`, the groups of the reference; afterwards, the groups of the documents held out.
        options: see `CriticiseOptions`.
        name: the name of the reference in errors.
    """
    of_all, documents = groups[REAL], len(groups[REAL])
    if options.test is None:
        kept = held_out_of(of_all, options, name)
        groups[REAL] = [of_all[n] for n in sorted(kept)]
        together = ", whole groups of documents" if are_grouped(of_all) else ""
        parts = f"the critic is fitted on {documents - len(kept):,}; samples are compared with the other {len(kept):,}"
        return kept, ("Real text", f"parted at random{together} (seed {options.seed}): {parts}")
    if options.held_out is not None:
        raise TextcriticError(HELD_OUT_WITH_TEST)
    return set(), ("Real text", "the critic is fitted on all of the reference; samples are compared with `test`")


def _folder(output: str | os.PathLike[str], kind: Kind, force: bool) -> Path:
    """The folder for results, in which no file that textcritic did not write would be overwritten.

    Raises:
        TextcriticError: it cannot be used, or there is such a file.
    """
    folder = results_folder(output)
    marks = {"table.csv": TABLE_MARK} | ({} if kind in STUDIES else {"report.html": PAGE_MARK})
    for name, mark in marks.items():
        require_ours(folder / name, mark, force)
    return folder


def _written(result: Result, folder: Path) -> Result:
    write_text(folder / "table.csv", result.table.to_csv(index=False, lineterminator="\n"))
    return replace(result, page=result.report(folder / "report.html"))
