"""The section of the report on known processes: what its part of the template needs."""

from typing import Any

import pandas as pd
from markupsafe import Markup

from textcritic.corpora.process import Process
from textcritic.files import read_json
from textcritic.report.inputs import ProcessFiles, Study
from textcritic.report.numbers import count, number, plural
from textcritic.report.sheet import to_html
from textcritic.report.synthetic.make import CHART, CURVES, process_curves
from textcritic.report.synthetic.names import ProcessNames
from textcritic.report.synthetic.sequences import examples
from textcritic.report.synthetic.sheets import every_number_sheet, unread_sheet
from textcritic.report.synthetic.words import DEFINITIONS, process_findings

TITLE = "A process whose truth is known"
USES = {"train": "training", "validation": "validation", "test": "testing"}


def process_section(study: Study, rows: pd.DataFrame | None) -> dict[str, Any] | None:
    """The variables of templates/process.html.j2; None where the study has no known process.

    Args:
        study: as it was read.
        rows: of table1.csv.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    if study.synthetic is None or rows is None:
        return None
    names = ProcessNames.of(study.synthetic)
    shown = examples(study.synthetic)
    return {
        "title": TITLE,
        "findings": process_findings(rows, names),
        "definitions": DEFINITIONS,
        "facts": [fact for files in study.synthetic.processes for fact in _facts(files, names)],
        "numbers": Markup(to_html(every_number_sheet(rows, names))),
        "unread": Markup(to_html(unread_sheet(rows, names))),
        "chart": CHART,
        "curves": CURVES if process_curves(study.synthetic) else None,
        "examples": shown,
        "pickers": [{"key": source.key, "label": source.label} for source in shown],
    }


def _facts(files: ProcessFiles, names: ProcessNames) -> list[tuple[str, str]]:
    process, statistics = Process.load(files.process), read_json(files.statistics)
    lengths = process.lengths
    words = (
        f"{plural(len(process.transition), 'state')}, {plural(process.steps, 'sub-sequence')} in a sequence. There are "
        f"{plural(len(process.subsequences), 'sub-sequence')} of {lengths.min()} to {lengths.max()} tokens; a token is "
        f"one of {plural(len(process.letters), 'letter')}, or the delimiter."
    )
    articles = statistics["articles"]
    splits = ", ".join(f"{count(articles[split])} for {use}" for split, use in USES.items())
    exact = (
        f"{number(statistics['word_ppl']['exact'])} per letter or delimiter, {number(process.latent_ppl())} per state."
    )
    where = f" ({files.corpus})" if names.several else ""
    return [
        (f"Process{where}", words),
        (f"Sequences{where}", f"{splits}."),
        (f"Perplexity of the process{where}", exact),
    ]
