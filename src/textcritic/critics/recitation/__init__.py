"""Recitation: how much of a document the training text has word for word (McCoy et al. 2023, RAVEN)."""

from textcritic.critics.recitation.index import IndexFiles, TrainIndex, index_articles
from textcritic.critics.recitation.job import index_train, score_recitation, score_texts
from textcritic.critics.recitation.overlap import measure_overlap
from textcritic.critics.recitation.scoring import LENGTHS, MAIN_LENGTH, RECITATION_SCHEMA

__all__ = [
    "LENGTHS",
    "MAIN_LENGTH",
    "RECITATION_SCHEMA",
    "IndexFiles",
    "TrainIndex",
    "index_articles",
    "index_train",
    "measure_overlap",
    "score_recitation",
    "score_texts",
]
