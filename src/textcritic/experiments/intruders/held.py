"""What intruder corpora hold, in long format (paper, Table 1)."""

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.critics.tendencies.tokens import tokenize
from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.files import Corpus
from textcritic.experiments.intruders.read import documents_of
from textcritic.experiments.intruders.rows import table_of
from textcritic.files import read_json
from textcritic.report.tables import Material

METRICS = (
    *("documents", "test_documents", "incoherent", "sentences", "sentences_sd", "tokens", "tokens_sd"),
    "retrieved",
)
HELD = ("corpus", "metric", "value", "published", "difference")


def held_rows(material: Material) -> pd.DataFrame:
    """What the corpora hold: one row for each corpus and metric.

    Columns: `corpus`; `metric`: `documents` of all splits, `test_documents`, and of the test split `incoherent`,
    percent with an intruder; `sentences` and `tokens` of a document, mean, and `_sd`, their standard deviation;
    `retrieved`, percent of intruders whose source was retrieved; `value`; `published`, `difference`. They are counts of
    the whole corpus, so they have no interval.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    rows = []
    for corpus in material.files.corpora:
        for metric, value in _held(corpus, material).items():
            row = {"corpus": corpus.corpus, "metric": metric, "value": value}
            printed = material.published.value(metric, row)
            gap = None if printed is None else value - printed
            rows.append(row | {"published": printed, "difference": gap})
    return table_of(rows, HELD, ())


def _held(corpus: Corpus, material: Material) -> dict[str, float]:
    documents = material.get(documents_of)[corpus.corpus]
    sentences = np.array([len(document.sentences) for document in documents])
    tokens = np.array([len(tokenize(pa.array([" ".join(d.sentences)]), "words").ids) for d in documents])
    attacked = [document for document in documents if document.intruder is not None]
    held: dict[str, float] = {
        "documents": _documents(corpus),
        "test_documents": len(documents),
        "incoherent": 100 * len(attacked) / len(documents),
        "sentences": float(sentences.mean()),
        "sentences_sd": float(sentences.std()),
        "tokens": float(tokens.mean()),
        "tokens_sd": float(tokens.std()),
    }
    if attacked:
        held["retrieved"] = 100 * sum(document.rank is not None for document in attacked) / len(attacked)
    return held


def _documents(corpus: Corpus) -> float:
    """Documents of all splits."""
    try:
        splits = read_json(corpus.statistics)["splits"]
        return float(sum(split["articles"] for split in splits.values()))
    except (KeyError, TypeError, AttributeError) as error:
        raise TextcriticError(f"{corpus.statistics}: no {error} in it; delete it and rerun its rule") from error
