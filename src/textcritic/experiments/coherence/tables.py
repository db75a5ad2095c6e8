"""Tables of coherence: the paper's Tables 2, 3, 5, 12 and 13, and the numbers behind them."""

from dataclasses import replace

from textcritic.experiments.coherence.audit import HOW, audit_rows, audit_sheet, undrawn
from textcritic.experiments.coherence.errors import error_rows, errors_sheet
from textcritic.experiments.coherence.examples import example_rows, examples_sheet, repetition_examples
from textcritic.experiments.coherence.files import CoherenceFiles
from textcritic.experiments.coherence.names import names_of
from textcritic.experiments.coherence.power import STUDY, order_rows
from textcritic.experiments.coherence.repetitions import rates_sheet, repetition_rows, with_rates
from textcritic.experiments.coherence.rows import PPL, classifier_rows, coherence_rows, decomposition_rows, titles_rows
from textcritic.experiments.coherence.sheets import (
    classifier_sheet,
    coherence_sheet,
    decomposition_sheet,
    paper_sheet,
    perplexity_sheet,
    titles_sheet,
)
from textcritic.measures.material import Material
from textcritic.plan.sources import GROUP, RUN, SAMPLE
from textcritic.report.decodings import stride_remarks
from textcritic.report.power import power_sheet
from textcritic.report.tables import Table, recipe
from textcritic.report.variance import variance_rows, variance_sheet

TEXT = ("from", "to", "article", "title", "text", "component")


def perplexity(material: Material[CoherenceFiles]) -> Table:
    """Perplexity over all tokens and body tokens."""
    rows = material.get(coherence_rows)
    columns = [*GROUP, *RUN, *(column for column in rows if column.startswith("ppl_"))]
    return Table(perplexity_sheet(rows, material.names), rows.loc[rows["source"] == SAMPLE, columns])


def variance(material: Material[CoherenceFiles]) -> Table:
    """The parts of the variance of the Latent PPL: documents, drawing, training."""
    rows = variance_rows(material.get(coherence_rows), PPL, material.files.single)
    return Table(variance_sheet(rows, material.names, PPL), rows)


def audit(material: Material[CoherenceFiles]) -> Table:
    """The effect of each disputed detail; a grey row for the samples of each decoding that are not drawn."""
    sheet = audit_sheet(material.get(audit_rows), material.names)
    left_out = [(row, f"{corpora}: {HOW}") for row, corpora in undrawn(material.files, material.names)]
    return Table(replace(sheet, left_out=left_out), material.get(audit_rows))


def repetitions(material: Material[CoherenceFiles]) -> Table:
    """Articles that repeat a section."""
    examples = repetition_examples(material.files)
    return Table(examples_sheet(examples, material.names), example_rows(examples))


def paper_coherence(material: Material[CoherenceFiles]) -> Table:
    """Tables 2, 3 and 5 in the paper's shape."""
    rows = material.get(coherence_rows)
    sheet = paper_sheet(rows, material.names)
    return Table(replace(sheet, remarks=[*sheet.remarks, *stride_remarks(rows, material.files.decodings)]), rows)


def paper_repetitions(material: Material[CoherenceFiles]) -> Table:
    """Table 13, with the shares of all sources among its remarks."""
    table = repetitions(material)
    return Table(with_rates(table.sheet, material.get(repetition_rows), material.names), table.rows)


NAMES = names_of
ERRORS = recipe(error_rows, errors_sheet)
TABLES = {
    "coherence": recipe(coherence_rows, coherence_sheet),
    "perplexity": perplexity,
    "titles": recipe(titles_rows, titles_sheet),
    "variance": variance,
    "decomposition": recipe(decomposition_rows, decomposition_sheet),
    "transition-errors": ERRORS,
    "repetition-rates": recipe(repetition_rows, rates_sheet),
    "repetitions": repetitions,
    "classifier": recipe(classifier_rows, lambda rows, _: classifier_sheet(rows)),
    STUDY.name: recipe(order_rows, lambda rows, _: power_sheet(rows, STUDY)),
    "audit": audit,
}
PAPER_TABLES = {"coherence": paper_coherence, "errors": ERRORS, "repetitions": paper_repetitions}
