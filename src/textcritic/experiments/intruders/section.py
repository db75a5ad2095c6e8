"""The section of the report on intruder sentences."""

from collections.abc import Mapping

import pandas as pd

from textcritic.experiments.intruders.examples import documents_shown, pairs_shown
from textcritic.experiments.intruders.figures import BY_PEOPLE, DETECTORS, DIFFICULTY, EDITS, VOTES
from textcritic.experiments.intruders.files import IntruderFiles
from textcritic.experiments.intruders.generated import PERPLEXITY, measures_of
from textcritic.experiments.intruders.names import IntruderNames
from textcritic.experiments.intruders.words import findings, lines, probe_findings
from textcritic.measures.material import Material
from textcritic.report.section import Place, Section, said_of

TITLE = "Intruder sentences"
OF = ("statistics", "incoherence", "detection", "coarse", "agreement", "agreed", "probes")


def section(files: IntruderFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and lines, as `plan.experiment` says."""
    names, rows = IntruderNames.of(files), tables["detectors"]
    material = Material(files, None, names)
    generated, probed = tables["generated"], tables["probe-effects"]
    measures = measures_of(files)
    points = findings(rows, names)
    ranks = tables["difficulty"]
    variables = {
        "detectors": DETECTORS,
        "difficulty": DIFFICULTY if ranks.loc[ranks["by"] == "rank", "level"].nunique() > 1 else None,
        "levels": bool(len(ranks)),
        "pairs": bool(len(tables["pairs"])),
        "votes": VOTES if len(tables["right-people"]) else None,
        "asked": len(tables["people-annotators"]),
        "by_people": BY_PEOPLE if len(tables["by-people"]) else None,
        "alone": bool(len(tables["alone"])),
        "edits": EDITS if (probed["where"] == "intruder").any() else None,
        "edited": probe_findings(probed, names),
        "judges": [
            {"figure": f"generated-{number}", "label": judge.label} for number, judge in enumerate(files.judges)
        ],
        "papers": place.numbered(*OF),
        "corpora": documents_shown(material),
        "probes": pairs_shown(material),
    }
    card = place.card(generated, [PERPLEXITY, *measures], names.source) if measures else ()
    return Section(
        title=TITLE,
        html=place.render("section.html.j2", variables),
        question="Can a model say which sentence does not belong to a document?",
        card=card,
        findings=(*said_of(card), *points),
        definitions=place.definitions(),
        lines=tuple(lines(rows, names)),
        style=place.text("section.css"),
    )
