"""Tables of intruder sentences: detectors, people, edits, generated text, and those of the paper by their numbers."""

from textcritic.experiments.intruders.generated import generated_rows, measures_of
from textcritic.experiments.intruders.held import held_rows
from textcritic.experiments.intruders.names import IntruderNames
from textcritic.experiments.intruders.paper_sheets import KINDS as INCOHERENCE
from textcritic.experiments.intruders.paper_sheets import (
    agreed_sheet,
    alone_sheet,
    by_people_sheet,
    coarse_sheet,
    detection_rows,
    detection_sheet,
    held_sheet,
    incoherence_sheet,
    paper_probes_sheet,
    published_rows,
    right_sheet,
    unanimous_sheet,
    votes_sheet,
)
from textcritic.experiments.intruders.people import (
    agreed_rows,
    alone_rows,
    by_people_rows,
    right_rows,
    unanimous_rows,
    vote_rows,
)
from textcritic.experiments.intruders.probe_rows import probe_rows
from textcritic.experiments.intruders.rows import KEYS, TEXT, detector_rows, difficulty_rows, pair_rows
from textcritic.experiments.intruders.sheets import (
    detectors_sheet,
    difficulty_sheet,
    generated_sheet,
    pairs_sheet,
    probes_sheet,
)
from textcritic.measures.material import Material
from textcritic.report.tables import Table, recipe

__all__ = ["KEYS", "NAMES", "PAPER_TABLES", "TABLES", "TEXT"]

NAMES = IntruderNames.of


def _generated(material: Material) -> Table:
    rows = material.get(generated_rows)
    return Table(generated_sheet(rows, material.names, measures_of(material.files)), rows)


TABLES = {
    "detectors": recipe(detector_rows, detectors_sheet),
    "pairs": recipe(pair_rows, pairs_sheet),
    "difficulty": recipe(difficulty_rows, difficulty_sheet),
    "probe-effects": recipe(probe_rows, probes_sheet),
    "votes": recipe(vote_rows, votes_sheet),
    "right-people": recipe(right_rows, right_sheet),
    "unanimous": recipe(unanimous_rows, unanimous_sheet),
    "by-people": recipe(by_people_rows, by_people_sheet),
    "alone": recipe(alone_rows, alone_sheet),
    "generated": _generated,
    "corpora-held": recipe(held_rows, held_sheet),
}
PAPER_TABLES = {
    "statistics": recipe(held_rows, held_sheet),
    "incoherence": recipe(published_rows(INCOHERENCE), incoherence_sheet),
    "detection": recipe(detection_rows, detection_sheet),
    "coarse": recipe(published_rows(None), coarse_sheet),
    "agreement": recipe(unanimous_rows, unanimous_sheet),
    "agreed": recipe(agreed_rows, agreed_sheet),
    "probes": recipe(probe_rows, paper_probes_sheet),
}
