"""Options of parallel corpora in the registry: which files they are made of, and what does not go together."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError

FILES = "parallel"
"""Name of the extractor that reads parallel corpora from files."""

SOURCE = "source"
"""What the English side is called where files and columns are named by language."""

WHERE = "options.parallel"

DOCUMENT = "document"
"""What the column of documents is called."""


def check_parallel(entry: Mapping[str, Any]) -> None:
    """Check the options of a corpus with regard to parallel corpora.

    Raises:
        TextcriticError: `options.parallel` is missing, or is for another extractor; keys of it that do not go together.
    """
    options = entry["options"].get("parallel")
    if entry["extractor"] != FILES:
        if options is not None:
            raise TextcriticError(f"options.parallel: is for the extractor {FILES}; this is {entry['extractor']}")
        return
    if options is None:
        raise TextcriticError(f"options.parallel is missing; the extractor {FILES} needs its files")
    if "pairs" in options:
        others = {"documents": None, "columns": None, "format": "lines"}
        given = [key for key in ("source", "targets") if key in options]
        given += [key for key, default in others.items() if options[key] != default]
        if given:
            raise TextcriticError(f"{WHERE}.{given[0]}: has no effect beside pairs; leave one of the two out")
    elif "source" not in options:
        raise TextcriticError(f"{WHERE}.source is missing; give source and targets, or pairs")
    elif options["format"] == "tsv":
        _check_table(options)
    else:
        _check_lines(options)


def parallel_paths(options: Mapping[str, Any]) -> list[Path]:
    """The files that a parallel corpus is made of, each once; none for an entry without `options.parallel`."""
    files = options.get("parallel") or {}
    documents = files.get("documents")
    paths = [
        *([files["source"]] if "source" in files else []),
        *files.get("targets", {}).values(),
        *(path for pair in files.get("pairs", {}).values() for path in (pair["source"], pair["target"])),
        *(documents.values() if isinstance(documents, Mapping) else [documents] if documents else []),
    ]
    return [Path(path) for path in dict.fromkeys(paths)]


def _check_table(options: Mapping[str, Any]) -> None:
    given = [key for key in ("targets", "documents") if options.get(key) is not None]
    if given:
        raise TextcriticError(f"{WHERE}.{given[0]}: has no effect with format: tsv; its columns say it")
    columns = options["columns"]
    if columns is not None and (SOURCE not in columns or not set(columns) - {SOURCE, DOCUMENT}):
        raise TextcriticError(f"{WHERE}.columns: should name {SOURCE}, the English side, and a language")


def _check_lines(options: Mapping[str, Any]) -> None:
    if "targets" not in options:
        raise TextcriticError(f"{WHERE}.targets is missing; give a file for each language")
    if options["columns"] is not None:
        raise TextcriticError(f"{WHERE}.columns: is for format: tsv")
    targets, documents = options["targets"], options["documents"]
    if reserved := next((key for key in (SOURCE, DOCUMENT) if key in targets), None):
        raise TextcriticError(f"{WHERE}.targets: a language cannot be called {reserved}; give its code, e.g. de")
    if isinstance(documents, Mapping):
        sides = {SOURCE, *targets}
        if wrong := sorted(sides ^ set(documents)):
            raise TextcriticError(f"{WHERE}.documents: should name exactly {', '.join(sorted(sides))}; see {wrong[0]}")
