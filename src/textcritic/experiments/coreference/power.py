"""Power of the test: how often it notices exchanged pronouns in real text."""

import pandas as pd

from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.measures.labels import corpus_name
from textcritic.measures.material import Material
from textcritic.report.power import PowerStudy, power_findings, power_rows, read_power
from textcritic.report.section import Finding

STUDY = PowerStudy(
    name="coreference-power",
    caption="Share of tests that notice wrong pronouns",
    head="Pronouns exchanged",
    faults={"regendered": "Regendered (he for she)", "relinked": "Relinked (he is another person)"},
    noun="pronouns",
    of="pronouns",
    unit="articles",
    module=__file__,
    means={"exchanged": "In an article"},
)


def exchange_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """The tables of `critics.mentions.power.power_of`, one corpus after the other; none if it was not measured.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files = material.files
    return power_rows({data.corpus: read_power(data.power, STUDY) for data in files.data if data.power}, STUDY)


def exchange_findings(rows: pd.DataFrame) -> list[Finding]:
    """The share of the pronouns from which on the test notices; or that the articles have no such pronouns."""
    some = rows.groupby("corpus")["exchanged"].transform("max") > 0
    nothing = [
        Finding("Power", f"The articles of {corpus_name(corpus)} have no pronouns that could be exchanged.")
        for corpus in rows.loc[~some, "corpus"].unique()
    ]
    return [*power_findings(rows[some], STUDY), *nothing]
