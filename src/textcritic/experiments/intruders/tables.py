"""Tables of intruder sentences: detectors, people, edits, generated text, and the paper's numbered tables."""

from collections.abc import Iterator

import pandas as pd

from textcritic.experiments.intruders.asked import annotator_rows
from textcritic.experiments.intruders.files import Corpus, IntruderFiles
from textcritic.experiments.intruders.generated import generated_rows, measures_of
from textcritic.experiments.intruders.names import IntruderNames
from textcritic.experiments.intruders.paper_sheets import KINDS as INCOHERENCE
from textcritic.experiments.intruders.paper_sheets import (
    agreed_sheet,
    alone_sheet,
    annotators_sheet,
    by_people_sheet,
    coarse_sheet,
    detection_rows,
    detection_sheet,
    held_sheet,
    incoherence_sheet,
    paper_probes_sheet,
    published_rows,
    right_sheet,
    unanimous_sheet,
    votes_sheet,
)
from textcritic.experiments.intruders.people import (
    agreed_rows,
    alone_rows,
    by_people_rows,
    people_agreement_rows,
    right_rows,
    unanimous_rows,
    vote_rows,
)
from textcritic.experiments.intruders.probe_rows import probe_rows
from textcritic.experiments.intruders.rows import KEYS, TEXT, detector_rows, difficulty_rows, pair_rows, table_of
from textcritic.experiments.intruders.sheets import (
    detectors_sheet,
    difficulty_sheet,
    generated_sheet,
    pairs_sheet,
    probes_sheet,
)
from textcritic.experiments.people.sheets import agreement_sheet
from textcritic.files import lacking, read_json
from textcritic.measures.material import Material
from textcritic.report.tables import Table, recipe

HELD = ("corpus", "metric", "value", "published", "difference")


def held_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """Statistics of the corpora: one row for each corpus and metric.

    Columns: `corpus`; `metric`, of all splits together: `documents`; `incoherent`, percent with an intruder; `hard`,
    percent of the intruders that the filter's detector missed, if there was a filter; `sentences` and `tokens` of a
    document, mean, and `_sd`, their standard deviation; and `documents_test`; `value`; `published`, `difference`. They
    are counts of the whole corpus, so they have no interval.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    rows = []
    for corpus in material.files.corpora:
        for metric, value in _held(corpus):
            row = {"corpus": corpus.corpus, "metric": metric, "value": value}
            rows.append(row | material.published.beside(metric, row, value))
    return table_of(rows, HELD, ())


def _held(corpus: Corpus) -> Iterator[tuple[str, float]]:
    statistics = read_json(corpus.statistics)
    with lacking(corpus.statistics):
        every = statistics["all"]
        yield "documents", float(every["articles"])
        yield "incoherent", 100 * float(every["incoherent"])
        if every["hard"] is not None:
            yield "hard", 100 * float(every["hard"])
        for of in ("sentences", "tokens"):
            yield of, float(every[of]["mean"])
            yield f"{of}_sd", float(every[of]["sd"])
        yield "documents_test", float(statistics["splits"]["test"]["articles"])


__all__ = ["KEYS", "NAMES", "PAPER_TABLES", "TABLES", "TEXT"]

NAMES = IntruderNames.of


def _generated(material: Material[IntruderFiles]) -> Table:
    rows = material.get(generated_rows)
    return Table(generated_sheet(rows, material.names, measures_of(material.files)), rows)


TABLES = {
    "detectors": recipe(detector_rows, detectors_sheet),
    "pairs": recipe(pair_rows, pairs_sheet),
    "difficulty": recipe(difficulty_rows, difficulty_sheet),
    "probe-effects": recipe(probe_rows, probes_sheet),
    "votes": recipe(vote_rows, votes_sheet),
    "right-people": recipe(right_rows, right_sheet),
    "unanimous": recipe(unanimous_rows, unanimous_sheet),
    "by-people": recipe(by_people_rows, by_people_sheet),
    "alone": recipe(alone_rows, alone_sheet),
    "people-agreement": recipe(people_agreement_rows, agreement_sheet),
    "people-annotators": recipe(annotator_rows, annotators_sheet),
    "generated": _generated,
    "corpora-held": recipe(held_rows, held_sheet),
}
PAPER_TABLES = {
    "statistics": recipe(held_rows, held_sheet),
    "incoherence": recipe(published_rows(INCOHERENCE), incoherence_sheet),
    "detection": recipe(detection_rows, detection_sheet),
    "coarse": recipe(published_rows(None), coarse_sheet),
    "agreement": recipe(unanimous_rows, unanimous_sheet),
    "agreed": recipe(agreed_rows, agreed_sheet),
    "probes": recipe(probe_rows, paper_probes_sheet),
}
