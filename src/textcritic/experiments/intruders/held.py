"""What intruder corpora hold, in long format (paper, Table 1)."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.files import Corpus
from textcritic.experiments.intruders.rows import table_of
from textcritic.files import read_json
from textcritic.measures.material import Material

HELD = ("corpus", "metric", "value", "published", "difference")


def held_rows(material: Material) -> pd.DataFrame:
    """What the corpora hold: one row for each corpus and metric.

    Columns: `corpus`; `metric`, of all splits together: `documents`; `incoherent`, percent with an intruder; `hard`,
    percent of the intruders that the filter's detector missed, where there was a filter; `sentences` and `tokens` of a
    document, mean, and `_sd`, their standard deviation; and `documents_test`; `value`; `published`, `difference`. They
    are counts of the whole corpus, so they have no interval.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    rows = []
    for corpus in material.files.corpora:
        for metric, value in _held(corpus):
            row = {"corpus": corpus.corpus, "metric": metric, "value": value}
            printed = material.published.value(metric, row)
            gap = None if printed is None else value - printed
            rows.append(row | {"published": printed, "difference": gap})
    return table_of(rows, HELD, ())


def _held(corpus: Corpus) -> Iterator[tuple[str, float]]:
    statistics: Any = read_json(corpus.statistics)
    try:
        every = statistics["all"]
        yield "documents", float(every["articles"])
        yield "incoherent", 100 * float(every["incoherent"])
        if every["hard"] is not None:
            yield "hard", 100 * float(every["hard"])
        for of in ("sentences", "tokens"):
            yield of, float(every[of]["mean"])
            yield f"{of}_sd", float(every[of]["sd"])
        yield "documents_test", float(statistics["splits"]["test"]["articles"])
    except (KeyError, TypeError) as error:
        raise TextcriticError(f"{corpus.statistics}: no {error} in it; delete it and rerun its rule") from error
