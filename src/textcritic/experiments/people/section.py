"""The section of the report on what people say."""

from collections.abc import Mapping

import pandas as pd

from textcritic.experiments.people.files import PeopleFiles
from textcritic.experiments.people.rows import COHERENT, MAUVE, has_answers
from textcritic.experiments.people.words import campaign_of, findings, lines, warnings
from textcritic.measures.names import Names
from textcritic.report.section import Place, Section, said_of


def section(files: PeopleFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and definitions, as `plan.experiment` says; without answers how to collect them."""
    names, metrics = Names.of(files.samples), tables["people-metrics"]
    asked, measured = has_answers(metrics), [MAUVE] if metrics[MAUVE.value].notna().any() else []
    card = place.card(metrics, [*measured, *([COHERENT] if asked else [])], names.source)
    correlations = tables["people-correlations"]
    variables = {
        "asked": asked,
        "measured": bool(measured),
        "embedder": files.embedder,
        "correlated": len(correlations) > 0,
        "orders": len(tables["people-orders"]) > 0,
        "papers": place.numbered("metrics", "orders"),
        "campaign": campaign_of(files),
    }
    return Section(
        title="What people say",
        html=place.render("section.html.j2", variables),
        question="Do the numbers agree with what people say?",
        card=card,
        findings=(*said_of(card), *findings(correlations, tables["people-articles"])),
        definitions=place.definitions(),
        lines=tuple(lines(correlations)),
        warnings=warnings(metrics, tables["people-annotators"]) if asked else (),
    )
