"""Power of the test: how often it notices that a share of the pronouns of real text is exchanged."""

import pandas as pd

from textcritic.inference import ALPHA
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
    remark=f"How often the test of Latent PPL (p < {ALPHA:g}) sees "
    "a difference of n articles from n others in which pronouns are "
    "exchanged; both are real text, drawn {repetitions} times from {documents} articles of the test split. Regendered: "
    "he for she. Relinked: the same word, of another person of the article. Pronouns: he, she and their forms, each "
    "exchanged with the probability in the first column; a person's gender label follows its pronouns; the resolver "
    "does not run again.",
    means={"exchanged": "In an article"},
)


def exchange_rows(material: Material) -> pd.DataFrame:
    """The tables of `critics.mentions.power.power_of`, one corpus after the other; none where it was not measured.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files = material.files
    return power_rows({data.corpus: read_power(data.power, STUDY) for data in files.data if data.power}, STUDY)


def exchange_findings(rows: pd.DataFrame) -> list[Finding]:
    """From which share of the pronouns on the test notices; nothing of articles without such pronouns but that."""
    some = rows.groupby("corpus")["exchanged"].transform("max") > 0
    nothing = [
        Finding("Power", f"The articles of {corpus_name(corpus)} have no pronouns that could be exchanged.")
        for corpus in rows.loc[~some, "corpus"].unique()
    ]
    return [*power_findings(rows[some], STUDY), *nothing]
