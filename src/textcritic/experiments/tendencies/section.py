"""The section of the report on statistical tendencies."""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from textcritic.critics.tendencies.verdicts import TENDENCIES
from textcritic.experiments.tendencies.files import Documents, TendenciesFiles
from textcritic.experiments.tendencies.rows import statistics_of
from textcritic.experiments.tendencies.sheets import rejected_sheet
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.experiments.tendencies.tables import PAPER_TABLES
from textcritic.experiments.tendencies.words import (
    by_chance_alone,
    comparisons_of,
    not_measured,
    tendency_findings,
    totals,
)
from textcritic.measures.labels import corpus_name
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, plural
from textcritic.report.section import Place, Section

NOT_KEPT = Measure(
    name="Tendencies that differ",
    means="the number of habits of real text, such as how often words occur, that a sample does not have; not a test",
    value="not_kept",
    section="kept",
    p="",
    compared=False,
    out_of="measured",
)
TOKENS = {
    "whitespace": "what white space separates",
    "words": "words, and each punctuation mark or symbol by itself",
}


def section(files: TendenciesFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its scores, findings and definitions, as `plan.experiment` says."""
    names, rows = Names.of(files.samples, REAL), tables["tendencies"]
    findings = tendency_findings(rows, names)
    papers = place.numbered(*PAPER_TABLES)
    variables = {
        "facts": _facts(files, names),
        "faults": _faults(files, names),
        "draws": min(statistics_of(real.scores)["draws"]["number"] for real in files.data),
        "rejected": place.sheet(rejected_sheet(rows, names)) if rows[["rejected", "unfinished"]].any(axis=None) else "",
        "papers": papers,
    }
    return Section(
        title="Statistical tendencies",
        html=place.render("section.html.j2", variables),
        question="Which habits of real text, such as how often words occur, does a sample have?",
        card=place.card(totals(rows), [NOT_KEPT], names.source),
        findings=tuple(findings),
        definitions=place.definitions(chance=by_chance_alone(len(TENDENCIES))),
        tests=comparisons_of(rows, tables["tendencies-values"], partial(place.card, name=names.source)),
        not_measured=not_measured(rows, names),
    )


def _facts(files: TendenciesFiles, names: Names) -> list[tuple[str, str]]:
    options, facts = files.options, []
    case = ", in lower case" if options["lower_case"] else ""
    facts.append(("Tokens", f"{TOKENS[options['tokenizer']]}{case}."))
    for real in files.data:
        measured = statistics_of(real.scores)
        where = f" ({corpus_name(real.corpus)})" if names.several_corpora else ""
        number, each = measured["draws"]["number"], measured["draws"]["documents"]
        drawn = f"{plural(number, 'second draw')} of {plural(each, 'document')} of the training set"
        documents, tokens = (count(measured[key]) for key in ("documents", "tokens"))
        text = f"{documents} documents{' of the test set' * bool(number)}, {tokens} tokens"
        few = "too few other documents for second draws"
        facts.append((f"Real text{where}", f"{text}; {drawn if number else few}."))
    return facts


def _faults(files: TendenciesFiles, names: Names) -> list[str]:
    """What is wrong with a source: other tokens than real text, or something that could not be measured."""
    faults = []
    sources: tuple[Documents, ...] = (*files.data, *files.samples)
    for documents in sources:
        measured, source = statistics_of(documents.scores), names.source(documents.keys)
        faults += [f"{source}: {measured['fault']}"] if measured.get("fault") else []
        faults += [f"{source}: {why}" for why in dict.fromkeys(measured["missing"].values())]
    return faults
