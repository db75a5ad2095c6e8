"""The section of the report on the order of sentences."""

from collections.abc import Mapping

import pandas as pd

from textcritic.critics.order.critic import PERMUTATIONS
from textcritic.experiments.order.figures import CHART
from textcritic.experiments.order.files import OrderFiles
from textcritic.experiments.order.rows import ORDERED
from textcritic.experiments.order.words import LEAST_NAMED, causes
from textcritic.measures.causes import comparisons
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, number, percent
from textcritic.report.cells import unscored_sheet
from textcritic.report.reader import Document, Reading, shelves_of
from textcritic.report.section import Place, Section, said_of
from textcritic.values import Row

LEFT_OUT = ("order-left-out", "Documents without two sentences in a section, by reason")
HEADS = ("Document", "Weakest pair", "Whole document", "Random orders below it")


def section(files: OrderFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and definitions, as `plan.experiment` says."""
    names, rows, pairs = Names.of(files.samples), tables["order"], tables["order-pairs"]
    card = place.card(rows, [ORDERED], names.source)
    variables = {
        "chart": CHART,
        "permutations": PERMUTATIONS,
        "least": LEAST_NAMED,
        "papers": place.numbered("values"),
        "reading": Reading.of(HEADS, shelves_of(pairs, names, _pair), card),
        "left_out": place.sheet(unscored_sheet(rows, names, *LEFT_OUT)) if rows["rejected"].sum() else None,
    }
    return Section(
        title="Sentences",
        html=place.render("section.html.j2", variables),
        question="Do sentences follow one another as in real text?",
        card=card,
        findings=tuple(said_of(card)),
        tests=comparisons(card, causes(rows)),
        definitions=place.definitions(),
        style=place.text("section.css"),
    )


def _pair(row: Row) -> Document:
    """A weak pair as the template shows it."""
    numbers = [(number(row[key]), float(row[key])) for key in ("by", "evidence")]
    entries = (*numbers, (percent(row["accuracy"]), float(row["accuracy"])))
    shown = {**row, "by": number(row["by"]), "sentence": count(row["sentence"])}
    return Document(str(row["article"]), entries, shown)
