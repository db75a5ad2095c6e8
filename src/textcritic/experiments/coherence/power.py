"""Power of the test: how often it notices that sections of real text are out of order."""

import pandas as pd

from textcritic.critics import TransitionCritic
from textcritic.critics.chain_power import chain_power
from textcritic.experiments.coherence.files import CoherenceFiles
from textcritic.inference import PowerOptions
from textcritic.measures.material import Material
from textcritic.measures.scored import read_scores
from textcritic.report.power import PowerStudy, power_rows

STUDY = PowerStudy(
    name="power",
    caption="Share of tests that notice sections out of order",
    head="Articles with the fault",
    faults={"swapped": "Swapped (two neighbouring sections)", "shuffled": "Shuffled (all sections)"},
    noun="sections",
    of="articles",
    unit="articles",
    module=__file__,
)


def order_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """The tables of `critics.chain_power`, one corpus after the other; no rows if power is left out.

    Raises:
        TextcriticError: a file is missing or damaged, or every document was rejected.
    """
    files = material.files
    options = PowerOptions(**files.power) if files.power else PowerOptions(shares=(), articles=())
    tables = {
        data.corpus: chain_power(TransitionCritic.load(data.critic), read_scores(data.inferred), options)
        for data in files.data
    }
    return power_rows(tables, STUDY)
