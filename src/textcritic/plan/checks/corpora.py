"""Options of the corpora in the registry: which files make a corpus, derived corpora, Wikipedia dumps."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.checks.datasets import check_hub_dataset, dataset_folder
from textcritic.plan.checks.parallel import check_parallel
from textcritic.plan.entries.base import json_schema
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.extraction import CorpusOptions, SplitFiles

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

NONE = "none"  # characters stay as they are
NORMALISED = ("docstrings", "bible", "jsonl", "scientific", "stories")
SPLITS = ("train", "validation", "test")
"""The parts of every corpus, in the order in which files and tables list them."""

DERIVED, WIKIPEDIA, PROCESS = "derived", "wikipedia", "process"
"""Names of three extractors: a part of another corpus, a dump, and a synthetic process; all but the last give text."""

WIKIPEDIA_LINES = "wikipedia-lines"
"""Name of the extractor that makes a document of each line of a dump."""

LANGUAGES = "languages"
"""Name of the extractor that draws artificial languages."""

PARALLEL = ("parallel", "catalogues", LANGUAGES)
"""Names of the extractors of parallel corpora: files, message catalogues, and artificial languages."""

TREES, MENTIONS, LINKS = "trees", "mentions", "links"
STRUCTURED = (TREES, MENTIONS, LINKS)
"""Names of the extractors of texts with structure, for latent language models: tokens, and what is behind them."""
LEAST_WITH_MARKERS = 4  # tokens of a piece

# Options of texts with structure and of dumps: their defaults, and the extractors that they have an effect on.
_OF_SOME: Mapping[str, tuple[object, tuple[str, ...]]] = {
    "made": (None, STRUCTURED),
    "shortest": (1, STRUCTURED),
    "longest": (None, (MENTIONS, LINKS)),
    "longest_mention": (None, (MENTIONS,)),
    "lower": (False, (MENTIONS,)),
    "markers": (False, (MENTIONS,)),
    "parser": ("own", (WIKIPEDIA, WIKIPEDIA_LINES)),
    "variant": ("", (WIKIPEDIA, WIKIPEDIA_LINES)),
    "formulas": ("cut", (WIKIPEDIA, WIKIPEDIA_LINES)),
    "templates": ("shown", (WIKIPEDIA, WIKIPEDIA_LINES)),
}


def is_text(corpus: Corpus) -> bool:
    """Whether an entry of the corpora registry is articles of text.

    Those are no sequences of a process, no translations, and no tokens with a structure behind them.
    """
    return corpus.extractor != PROCESS and not is_parallel(corpus) and not is_structured(corpus)


def is_structured(corpus: Corpus) -> bool:
    """Whether an entry of the corpora registry is tokens with a structure behind them, for latent language models."""
    return corpus.extractor in STRUCTURED


def is_parallel(corpus: Corpus) -> bool:
    """Whether an entry of the corpora registry is sentences with their translations."""
    return corpus.extractor in PARALLEL


def check_corpus(name: str, registries: "Registries") -> None:
    """Check an entry of the corpora registry, beyond its schema and what it names.

    Raises:
        TextcriticError: options that do not go together or have no effect; see the checks below.
    """
    entry = registries.entry("corpora", name)
    check_parallel(entry)
    check_structured(entry)
    check_derived(name, registries)
    dataset = entry.options.dataset
    check_hub_dataset(entry, registries.entry("datasets", dataset).files if dataset else None)
    if entry.extractor in (WIKIPEDIA, WIKIPEDIA_LINES):
        check_dump(entry.options)
    check_splits(entry)
    if entry.normalise != NONE and entry.extractor not in NORMALISED:
        raise TextcriticError(
            f"normalise: {entry.normalise}: is for the extractors {', '.join(NORMALISED)}; texts of others have"
            " offsets or tokens that it would move, or are normalised by their extractor"
        )


def given_paths(options: CorpusOptions) -> list[tuple[str | None, Path]]:
    """The files that make a corpus, each with its split: train, validation, test, or None for a plain list.

    They are those of `options.paths`; or the built splits of the corpus that `options.corpus` names; or the folder of
    the data set that `options.dataset` names.
    """
    if options.dataset is not None:
        return [(None, dataset_folder(options.dataset))]
    if options.corpus is not None:
        return [(split, Path("results/corpora") / options.corpus / f"{split}.parquet") for split in SPLITS]
    if isinstance(options.paths, SplitFiles):
        return [(split, Path(path)) for split, path in options.paths.plain().items()]
    return [(None, Path(path)) for path in options.paths or []]


def check_derived(name: str, registries: "Registries") -> None:
    """Check the options of derived corpora: a derived entry has them and they are right; no other entry has them.

    Args:
        name: the entry.
        registries: all entries.

    Raises:
        TextcriticError: there is no base; the base is unknown, synthetic, or derives from this very entry; the opening
            is not a regular expression; a key has no effect here.
    """
    entry = registries.entry("corpora", name)
    options = entry.options
    if entry.extractor != DERIVED:
        for key in ("corpus", "opening"):
            extractors = json_schema(CorpusOptions)["properties"][key]["extractors"]
            if getattr(options, key) is not None and entry.extractor not in extractors:
                own = " or ".join(extractors)
                raise TextcriticError(f"options.{key}: is for the extractor {own}; this entry's is {entry.extractor}")
        return
    if options.corpus is None:
        raise TextcriticError("options.corpus is missing; name the corpus that this one derives from")
    _check_chain(name, registries)
    _check_opening(options.opening)
    _check_other_keys(entry)


def check_dump(options: CorpusOptions) -> None:
    """Check the options of a registry entry with the extractor `wikipedia` or `wikipedia-lines`.

    Raises:
        TextcriticError: `paths` is not a list of files; a title to skip is not a regular expression.
    """
    if not isinstance(options.paths, list):
        raise TextcriticError("options.paths: should be a list, the files of the dump in order")
    titles_to_skip(options.skip_titles)


def check_structured(entry: Corpus) -> None:
    """Check the options of trees, mentions and links: texts are either read from files or drawn.

    Raises:
        TextcriticError: neither or both of the two; a key that has no effect on this extractor; pieces that are too
            short for markers.
    """
    options, kind = entry.options, entry.extractor
    for key, (default, extractors) in _OF_SOME.items():
        if getattr(options, key) != default and kind not in extractors:
            raise TextcriticError(f"options.{key}: is for the extractors {', '.join(extractors)}; this one is {kind}")
    if not is_structured(entry):
        return
    if bool(options.paths) == (options.made is not None):
        raise TextcriticError("options: give paths or made, one of the two: texts are read from files, or drawn")
    stray = next((key for key in ("longest", "longest_mention") if getattr(options, key) is not None), None)
    if stray and options.made is not None:
        raise TextcriticError(f"options.{stray}: is for texts that are read from files; these are drawn")
    if options.markers and options.longest is not None and options.longest < LEAST_WITH_MARKERS:
        raise TextcriticError(
            f"options.longest: {options.longest} is too few with markers; at least {LEAST_WITH_MARKERS}"
        )


def check_splits(entry: Corpus) -> None:
    """Check `splits` of an entry of the corpora registry: shares of articles, or whole numbers of lines.

    Raises:
        TextcriticError: a number where a share is wanted, a number of lines that is not whole, a limit of train without
            effect, or shares that leave nothing to train.
    """
    lines = entry.extractor == WIKIPEDIA_LINES
    sizes = {"validation": entry.splits.validation, "test": entry.splits.test}
    for key, size in sizes.items():
        if size >= 1 and not lines:
            raise TextcriticError(
                f"splits.{key}: {size} should be less than 1, a share of the articles; numbers are for the"
                f" extractor {WIKIPEDIA_LINES}"
            )
        if size >= 1 and size != int(size):
            raise TextcriticError(f"splits.{key}: {size} should be a whole number of lines, or less than 1")
    if entry.splits.train is not None and not lines:
        raise TextcriticError(
            f"splits.train: is for the extractor {WIKIPEDIA_LINES}; train has all that validation and test leave"
        )
    if lines and sum(size for size in sizes.values() if size < 1) >= 1:
        raise TextcriticError("splits: validation and test together should be less than 1, so that train gets a share")


def titles_to_skip(expressions: Sequence[str]) -> list[re.Pattern[str]]:
    """Compile the regular expressions of `options.skip_titles`.

    Raises:
        TextcriticError: one of them is not a regular expression.
    """
    compiled = []
    for expression in expressions:
        try:
            compiled.append(re.compile(expression))
        except re.error as error:
            raise TextcriticError(
                f"options.skip_titles: {expression!r} is not a regular expression ({error})"
            ) from error
    return compiled


def _check_chain(name: str, registries: "Registries") -> None:
    """Follow the bases of a derived corpus to the first that is not derived."""
    chain, corpora = [name], registries.entries["corpora"]
    while (last := registries.entry("corpora", chain[-1])).extractor == DERIVED and last.options.corpus is not None:
        base = last.options.corpus
        if base not in corpora:
            return  # the check of references reports it, with names that are close
        if base in chain:
            raise TextcriticError(
                f"options.corpus: {' derives from '.join([*chain, base])}; name a corpus that does not derive from it"
            )
        if registries.entry("corpora", base).extractor == PROCESS:
            raise TextcriticError(f"options.corpus: {base} is a process and has no sections; name a corpus of text")
        chain.append(base)


def _check_opening(opening: str | None) -> None:
    try:
        re.compile(opening or "")
    except re.error as error:
        raise TextcriticError(f"options.opening: {opening!r} is not a regular expression ({error})") from error


def _check_other_keys(entry: Corpus) -> None:
    """Make sure that the keys that mean nothing to a derived corpus have their defaults."""
    default = Corpus(extractor="derived").plain()
    given = entry.plain()
    changed = {
        **{f"options.{key}": value != default["options"].get(key) for key, value in given["options"].items()},
        **{key: given[key] != default[key] for key in ("splits", "titles")},
    }
    for key, differs in changed.items():
        if differs and key not in ("options.corpus", "options.opening"):
            raise TextcriticError(
                f"{key}: has no effect on a derived corpus, whose articles come from {entry.options.corpus}; "
                "leave it out"
            )
