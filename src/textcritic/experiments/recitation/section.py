"""The section of the report on recitation."""

from collections.abc import Mapping

import pandas as pd

from textcritic.critics.recitation.scoring import MAIN_LENGTH
from textcritic.experiments.recitation.figures import CHART
from textcritic.experiments.recitation.files import RecitationFiles
from textcritic.experiments.recitation.rows import RECITED
from textcritic.experiments.recitation.words import cause, directions, longest_findings
from textcritic.measures.causes import comparisons
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, plural
from textcritic.report.cells import unscored_sheet
from textcritic.report.reader import Document, Reading, shelves_of
from textcritic.report.section import Place, Section, said_of
from textcritic.values import Row

LEFT_OUT = ("recitation-left-out", f"Documents without a run of {MAIN_LENGTH} words, by reason")
HEADS = ("Document", "Words in a row", "Training document")
TOKENS = {"words": "words and single marks", "whitespace": "what white space separates"}


def section(files: RecitationFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and definitions, as `plan.experiment` says."""
    names, rows, passages = Names.of(files.samples), tables["recitation"], tables["recitation-passages"]
    card = place.card(rows, [RECITED], names.source)
    variables = {
        "n": MAIN_LENGTH,
        "chart": CHART,
        "tokens": TOKENS[files.cutting["tokenizer"]],
        "lower_case": files.cutting["lower_case"],
        "papers": place.numbered("lengths"),
        "reading": Reading.of(HEADS, shelves_of(passages, names, _passage), card),
        "left_out": place.sheet(unscored_sheet(rows, names, *LEFT_OUT)) if rows["rejected"].sum() else None,
    }
    return Section(
        title="Recitation",
        html=place.render("section.html.j2", variables),
        question="How much of the text occurs word for word in the training text?",
        card=card,
        findings=(*said_of(card), *directions(card, tables["recitation-lengths"]), *longest_findings(passages, names)),
        tests=comparisons(card, cause),
        definitions=place.definitions(),
        style=place.text("section.css"),
    )


def _passage(row: Row) -> Document:
    """A passage as the template shows it."""
    entries = ((count(row["words"]), row["words"]), str(row["train_article"]))
    return Document(str(row["article"]), entries, {**row, "length": plural(int(row["words"]), "word")})
