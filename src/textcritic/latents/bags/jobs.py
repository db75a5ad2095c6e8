"""The job of the rule count_words."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pyarrow.parquet as pq

from textcritic.corpora import Article, iter_articles
from textcritic.files import write_json
from textcritic.latents.bags.counts import count_articles, write_counts
from textcritic.latents.bags.vocabulary import build_vocabulary, tokens_of
from textcritic.options.vocabulary import VocabularyOptions
from textcritic.runlog import Progress


def count_corpus(
    train: str | os.PathLike[str],
    options: Mapping[str, Any],
    vocabulary_path: str | os.PathLike[str],
    summary_path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
) -> None:
    """Choose the vocabulary on the train split, then count that split.

    The file is read twice, so that no more is in memory than the distinct words and a batch of tokens.

    Args:
        train: Parquet file of articles.
        options: those of `VocabularyOptions`; the others have their defaults.
        vocabulary_path: Parquet file to write, see `Vocabulary.save`.
        summary_path: JSON to write: `words` and `tokens` kept, `documents` of train, `removed` by reason, `options`.
        folder: counts to write, see `write_counts`.

    Raises:
        TextcriticError: a bad option or input, or no word is left.
    """
    checked = VocabularyOptions(**options)
    vocabulary, removed = build_vocabulary(map(tokens_of, _watched(train, "choosing words")), checked)
    write_counts(folder, count_articles(_watched(train, "counting words"), vocabulary), len(vocabulary))
    summary = {
        "words": len(vocabulary),
        "tokens": int(vocabulary.counts.sum()),
        "documents": pq.read_metadata(train).num_rows,
        "removed": removed,
        "options": {**asdict(checked), "placeholders": list(checked.placeholders)},
    }
    vocabulary.save(vocabulary_path)
    write_json(summary_path, summary)


def _watched(path: str | os.PathLike[str], what: str) -> Iterator[Article]:
    """The articles of a file, with progress."""
    progress = None
    for article in iter_articles(path):
        progress = progress or Progress(what, pq.read_metadata(path).num_rows, "articles")
        yield article
        progress.advance()
