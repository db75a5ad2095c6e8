"""Parallel corpora by their extractors."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textcritic.corpora.parallel.catalogues import read_catalogues
from textcritic.corpora.parallel.corpus import Sentences, write_parallel_corpus
from textcritic.corpora.parallel.files import read_parallel
from textcritic.corpora.synthetic.languages import LanguageRecipe, draw_sentences, mixed
from textcritic.errors import TextcriticError


def build_parallel(entry: Mapping[str, Any], out_dir: str | os.PathLike[str]) -> dict[str, Any]:
    """Build a parallel corpus from its registry entry.

    Args:
        entry: with the keys `extractor`, `options` and `splits`, all defaults filled in.
        out_dir: folder of the corpus; its name is the corpus' name.

    Returns:
        The content of statistics.json, see `write_parallel_corpus`.

    Raises:
        TextcriticError: an extractor that is not one of parallel corpora, or a fault that it reports.
    """
    kind = entry["extractor"]
    if kind not in READERS:
        raise TextcriticError(f"extractor '{kind}': is not one of {', '.join(sorted(READERS))}")
    sentences = READERS[kind](entry["options"], Path(out_dir).name)
    return write_parallel_corpus(sentences, entry["splits"], out_dir)


def _parallel(options: Mapping[str, Any], name: str) -> Sentences:
    return read_parallel(options["parallel"], name)


def _catalogues(options: Mapping[str, Any], name: str) -> Sentences:
    return read_catalogues(options["catalogues"])


def _languages(options: Mapping[str, Any], name: str) -> Sentences:
    given = dict(options["languages"])
    mixing = given.pop("mixing")
    recipe = LanguageRecipe(**{**given, "targets": tuple(given["targets"])})
    return Sentences(mixed(draw_sentences(recipe), mixing, recipe.seed), Counter())


READERS: dict[str, Callable[[Mapping[str, Any], str], Sentences]] = {
    "parallel": _parallel,
    "catalogues": _catalogues,
    "languages": _languages,
}
