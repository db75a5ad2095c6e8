"""The section of the report on measures of one's own."""

from collections.abc import Iterable, Mapping

import pandas as pd

from textcritic.experiments.metrics.figures import chart_name
from textcritic.experiments.metrics.files import MetricsFiles
from textcritic.experiments.metrics.rows import measures_of
from textcritic.experiments.metrics.words import cause, definitions
from textcritic.measures.causes import comparisons
from textcritic.measures.names import Names
from textcritic.measures.numbers import number
from textcritic.report.reader import Document, Reading, shelves_of
from textcritic.report.section import Place, Section, said_of
from textcritic.values import Row

HEADS = ("Document", "Value", "Measure", "Place")


def section(files: MetricsFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and definitions, as `plan.experiment` says."""
    names, rows = Names.of(files.samples), tables["metrics"]
    measures = measures_of(rows)
    card = tuple(
        score
        for metric, measure in measures.items()
        for score in place.card(rows[rows["metric"] == metric], [measure], names.source)
    )
    meanings, documents = definitions(rows), tables["metrics-documents"]
    variables = {
        "charts": [(chart_name(metric), measure.name) for metric, measure in measures.items()],
        "definitions": meanings,
        "reading": Reading.of(HEADS, shelves_of(documents, names, _document), card),
        "papers": place.numbered("values"),
    }
    title, question = _asked(measures)
    return Section(
        title=title,
        html=place.render("section.html.j2", variables),
        question=question,
        card=card,
        tests=comparisons(card, cause if any(map(ships, measures)) else None),
        findings=tuple(said_of(card)),
        definitions=(*meanings, *place.definitions()),
    )


def ships(metric: str) -> bool:
    """Whether a measure is one of textcritic's, by its name."""
    return metric.startswith("textcritic.")


def _asked(metrics: Iterable[str]) -> tuple[str, str]:
    """Title and question: measures that ship are about the form of texts, the others are the user's own."""
    ship = set(map(ships, metrics))
    form = "Do words follow one another, is anything repeated, and do texts come to an end?"
    own = "What do the samples score by your own measures?"
    if ship == {True}:
        return "Form", form
    return ("Form, and own measures", f"{form} {own}") if True in ship else ("Own measures", own)


def _document(row: Row) -> Document:
    """A document with one of the highest or the lowest values."""
    entries = ((number(row["value"]), row["value"]), row["title"], f"{row['which']}, {row['rank']}")
    return Document(str(row["article"]), entries, row["beginning"])
