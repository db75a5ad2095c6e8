"""Options of parallel corpora in the registry: which files they are made of, and what does not go together."""

from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.parallel import ParallelOptions

FILES = "parallel"
"""Name of the extractor that reads parallel corpora from files."""

SOURCE = "source"
"""What the English side is called where files and columns are named by language."""

WHERE = "options.parallel"

DOCUMENT = "document"
"""What the column of documents is called."""


def check_parallel(entry: Corpus) -> None:
    """Check the options of a corpus with regard to parallel corpora.

    Raises:
        TextcriticError: `options.parallel` is missing, or is for another extractor; keys of it that do not go together.
    """
    options = entry.options.parallel
    if entry.extractor != FILES:
        if options is not None:
            raise TextcriticError(
                f"options.parallel: is for the extractor {FILES}; this corpus has {entry.extractor}: leave it out"
            )
        return
    if options is None:
        raise TextcriticError(f"options.parallel is missing; the extractor {FILES} needs its files")
    if options.pairs is not None:
        _check_pairs(options)
    elif options.source is None:
        raise TextcriticError(f"{WHERE}.source is missing; give source and targets, or pairs")
    elif options.format == "tsv":
        _check_table(options)
    else:
        _check_lines(options)


def parallel_paths(options: ParallelOptions | None) -> list[Path]:
    """The files that a parallel corpus is made of, each once; none without `options.parallel`."""
    if options is None:
        return []
    documents = options.documents
    paths = [
        *([options.source] if options.source else []),
        *(options.targets or {}).values(),
        *(path for pair in (options.pairs or {}).values() for path in (pair.source, pair.target)),
        *(documents.values() if isinstance(documents, dict) else [documents] if documents else []),
    ]
    return [Path(path) for path in dict.fromkeys(paths)]


def _check_pairs(options: ParallelOptions) -> None:
    others = {"source": None, "targets": None, "documents": None, "columns": None, "format": "lines"}
    if given := [key for key, default in others.items() if getattr(options, key) != default]:
        raise TextcriticError(f"{WHERE}.{given[0]}: has no effect beside pairs; leave one of the two out")


def _check_table(options: ParallelOptions) -> None:
    if given := [key for key in ("targets", "documents") if getattr(options, key) is not None]:
        raise TextcriticError(f"{WHERE}.{given[0]}: has no effect with format: tsv; its columns say it")
    columns = options.columns
    if columns is not None and (SOURCE not in columns or not set(columns) - {SOURCE, DOCUMENT}):
        raise TextcriticError(f"{WHERE}.columns: should name {SOURCE}, the English side, and a language")


def _check_lines(options: ParallelOptions) -> None:
    targets, documents = options.targets, options.documents
    if targets is None:
        raise TextcriticError(f"{WHERE}.targets is missing; give a file for each language")
    if options.columns is not None:
        raise TextcriticError(f"{WHERE}.columns: is for format: tsv")
    if reserved := next((key for key in (SOURCE, DOCUMENT) if key in targets), None):
        raise TextcriticError(f"{WHERE}.targets: a language cannot be called {reserved}; give its code, e.g. de")
    if isinstance(documents, dict):
        sides = {SOURCE, *targets}
        if wrong := sorted(sides ^ set(documents)):
            raise TextcriticError(f"{WHERE}.documents: should name exactly {', '.join(sorted(sides))}; see {wrong[0]}")
