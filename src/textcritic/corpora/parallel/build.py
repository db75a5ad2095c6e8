"""Parallel corpora by their extractors."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from textcritic.corpora.parallel.catalogues import read_catalogues
from textcritic.corpora.parallel.corpus import Sentences, write_parallel_corpus
from textcritic.corpora.parallel.files import read_parallel
from textcritic.corpora.synthetic.languages import draw_sentences, mixed
from textcritic.errors import TextcriticError
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.values import JsonObject


def build_parallel(entry: Corpus, out_dir: str | os.PathLike[str]) -> JsonObject:
    """Build a parallel corpus from its registry entry.

    Args:
        entry: whose `extractor`, `options` and `splits` are read.
        out_dir: folder of the corpus; its name is the corpus' name.

    Returns:
        The content of statistics.json, see `write_parallel_corpus`.

    Raises:
        TextcriticError: an extractor that is not one of parallel corpora, or a fault that it reports.
    """
    kind = entry.extractor
    if kind not in READERS:
        raise TextcriticError(f"extractor '{kind}': is not one of {', '.join(sorted(READERS))}")
    sentences = READERS[kind](entry.options, Path(out_dir).name)
    return write_parallel_corpus(sentences, entry.splits, out_dir)


def _parallel(options: CorpusOptions, name: str) -> Sentences:
    if options.parallel is None:
        raise TextcriticError("options.parallel is missing")
    return read_parallel(options.parallel, name)


def _languages(options: CorpusOptions, name: str) -> Sentences:
    languages = options.languages
    return Sentences(mixed(draw_sentences(languages), languages.mixing, languages.seed), Counter())


READERS: dict[str, Callable[[CorpusOptions, str], Sentences]] = {
    "parallel": _parallel,
    "catalogues": lambda options, name: read_catalogues(options.catalogues),
    "languages": _languages,
}
