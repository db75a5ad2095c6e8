"""The section of the report on known processes."""

from collections.abc import Mapping

import pandas as pd

from textcritic.corpora.synthetic.process import Process
from textcritic.experiments.process.figures import CHART, CURVES, process_curves
from textcritic.experiments.process.files import EXACT, TEST, KnownData, ProcessFiles
from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.rows import PPL
from textcritic.experiments.process.sequences import examples
from textcritic.experiments.process.sheets import every_number_sheet
from textcritic.files import read_json
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import count, number, plural
from textcritic.measures.phrases import perplexity_lines
from textcritic.plan.sources import SAMPLE
from textcritic.report.cells import unscored_sheet
from textcritic.report.section import Place, Section, said_of

TITLE = "A process whose truth is known"
UNREAD = ("unread", "Sequences that the process could not have made, by reason")
USES = {"train": "training", "validation": "validation", "test": "testing"}


def section(experiment: ProcessFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and its lines, as `plan.experiment` says."""
    names, rows, shown = ProcessNames.of(experiment), tables["process"], examples(experiment)
    variables = {
        "facts": [fact for data in experiment.data for fact in _facts(data, names)],
        "numbers": place.sheet(every_number_sheet(rows, names)),
        "unread": place.sheet(unscored_sheet(rows[rows["source"] == SAMPLE], names, *UNREAD)),
        "chart": CHART,
        "curves": CURVES if process_curves(experiment) else None,
        "examples": shown,
        "pickers": [{"key": source.key, "label": source.label} for source in shown],
    }
    card = place.card(rows, [PPL], names.source, [EXACT, TEST])
    return Section(
        title=TITLE,
        html=place.render("section.html.j2", variables),
        question="How near do models come to a process that is known exactly?",
        card=card,
        findings=tuple(said_of(card)),
        definitions=place.definitions(),
        lines=tuple(perplexity_lines(rows, "ppl_body", "sequences without their ends")),
        style=place.text("section.css"),
    )


def _facts(data: KnownData, names: ProcessNames) -> list[tuple[str, str]]:
    process, statistics = Process.load(data.process), read_json(data.statistics)
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
    where = f" ({corpus_name(data.corpus)})" if names.several else ""
    return [
        (f"Process{where}", words),
        (f"Sequences{where}", f"{splits}."),
        (f"Perplexity of the process{where}", exact),
    ]
