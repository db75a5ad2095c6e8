"""Power of the test: how often it notices words of another topic in real text."""

import pandas as pd

from textcritic.critics.ctm.scoring import FOREIGN
from textcritic.experiments.topics.files import TopicsFiles
from textcritic.measures.material import Material
from textcritic.report.power import PowerStudy, power_rows, read_power

STUDY = PowerStudy(
    name="topic-power",
    caption="Share of tests that notice words of another topic",
    head="Documents with the fault",
    faults={FOREIGN: "Half of the words of another document"},
    noun="words",
    of="documents",
    unit="documents",
    module=__file__,
)


def foreign_rows(material: Material[TopicsFiles]) -> pd.DataFrame:
    """The tables of `critics.ctm.power`, one corpus after the other; no rows if it was not measured.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files = material.files
    return power_rows({fitted.corpus: read_power(fitted.power, STUDY) for fitted in files.data if fitted.power}, STUDY)
