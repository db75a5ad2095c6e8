"""Bags of words: the vocabulary of a corpus, sparse counts in memory and on disk, LDA-C files."""

from textcritic.latents.bags.counts import Counts, count_articles, count_corpus, count_words, open_counts, write_counts
from textcritic.latents.bags.ldac import over_words, read_ldac
from textcritic.latents.bags.vocabulary import (
    Removed,
    Vocabulary,
    build_vocabulary,
    read_words,
    require_words,
    tokens_of,
    vocabulary_of,
)
from textcritic.plan.entries.critics import VocabularyOptions

__all__ = [
    "Counts",
    "Removed",
    "Vocabulary",
    "VocabularyOptions",
    "build_vocabulary",
    "count_articles",
    "count_corpus",
    "count_words",
    "open_counts",
    "over_words",
    "read_ldac",
    "read_words",
    "require_words",
    "tokens_of",
    "vocabulary_of",
    "write_counts",
]
