"""Measures of one's own on documents in memory, by the rows and scores that files of a study have."""

from textcritic.critics.own import fitted, measure_documents, measured_of
from textcritic.errors import named
from textcritic.measures.memory import scores_of_sets
from textcritic.measures.own_rows import measure_of, scored_of


def own_scores(metrics, sets, resampling, train=()):
    """The scores of sets of documents by label, real text first, by each measure."""
    scores = []
    for metric in metrics:
        measure = measure_of(metric.declared, key=metric.key)
        ready = fitted(metric, list(train))
        tables = {label: measure_documents(ready, documents, len(documents)) for label, documents in sets.items()}
        read = {label: scored_of(measure, measured_of(table)) for label, table in tables.items()}
        with named(metric.name):
            scores += scores_of_sets(read, [measure], resampling)
    return tuple(scores)
