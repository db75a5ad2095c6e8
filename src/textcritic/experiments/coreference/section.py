"""The section of the report on coreference."""

from collections.abc import Mapping

import pandas as pd

from textcritic.experiments.coreference.figures import CHART
from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.report.names import Names
from textcritic.report.scorecard import Measure, scores_of
from textcritic.report.section import Place, Section

DEFINITIONS = (
    (
        "Chain of mentions",
        "The mentions of people in the order of a text, each a pronoun as it is written or the gender of the person "
        "(MALE, FEMALE, PLURAL, None: by the pronouns that stand for the same person), with a mark at each start of a "
        "sentence.",
    ),
)


def section(files: CoreferenceFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its scores and definitions.

    Args:
        files: the files.
        tables: the rows of the standing tables.
        place: where it stands.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    names, rows = Names.of(files.samples), tables["coreference"]
    variables = {"chart": CHART, "papers": place.numbered("ppl")}
    measure = Measure(name="Latent PPL of mentions", section=place.id("table-coreference"), value="latent_ppl")
    return Section(
        title="Coreference",
        html=place.render("section.html.j2", variables),
        card=scores_of(rows, measure, names.source),
        definitions=DEFINITIONS,
    )
