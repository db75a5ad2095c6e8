"""The quality of the resolver, and how much its errors change the Latent PPL."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from textcritic.critics.mentions.resolver_error import CELLS
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.files import lacking, read_json
from textcritic.latents.resolvers.measured import COLUMNS, About, Figure, figures_of, read_figures
from textcritic.measures.labels import entry_name
from textcritic.measures.material import Material
from textcritic.measures.numbers import NONE, count, missing, number, percent
from textcritic.report.cells import interval_cell, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

BASELINE = "nearest"
"""The baseline that every resolver is compared with: it links each pronoun to the nearest name before it."""
SCORES = {"muc_f1": "MUC", "b3_f1": "B³", "ceafe_f1": "CEAF-e", "conll": "Mean of the three"}
PARTS = {"people": "people only", "whole": "whole"}
PRONOUNS = ("pronouns", "third")
ERROR_COLUMNS = ("annotation", "fitted", "scored", "latent_ppl", "ci_low", "ci_high", "documents")
TEXT = ("resolver", "version", "annotation", "part", "metric", "date", "hardware", "fitted", "scored")


def resolver_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """The measurements of the resolver and of the baseline: rows of `latents.resolvers.measured.Figure`.

    Measured in this study if it has annotated text (then `date` is empty), else earlier; no rows if the resolver was
    never measured.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files = material.files
    kind = str(files.resolver.get("model", files.resolver["kind"]))
    if files.measured is None:
        figures = list(_measured_here(files, kind))
    else:
        # Earlier measurements are of the language that ships; they do not hold for a language that the user defines.
        shipped = files.resolver.get("language", "en") == "en"
        figures = read_figures(files.measured, kind) if shipped else []
        if figures and kind != BASELINE:
            figures += read_figures(files.measured, BASELINE)
    return pd.DataFrame(map(asdict, figures), columns=COLUMNS)


def resolver_sheet(rows: pd.DataFrame) -> Sheet:
    """A row for each annotated text, resolver and part of the entities."""
    heads = ("Annotated text, resolver", *SCORES.values(), "Pronouns linked right", "Measured")
    body: list[Line] = []
    for (text, resolver, part), group in rows.groupby(["annotation", "resolver", "part"], sort=False):
        if part in PARTS:
            of = rows[(rows["annotation"] == text) & (rows["resolver"] == resolver)]
            cells = [_figure(group, str(part), metric) for metric in SCORES]
            cells.append(_figure(of, *PRONOUNS) if part == "people" else Cell(NONE))
            name = f"{text}, {entry_name('resolvers', str(resolver))}, {PARTS[str(part)]}"
            body.append([name, *cells, _measured(group)])
    remarks = remarks_of(__file__, "resolver" if len(rows) else "no resolver")
    return plain_sheet("coreference-resolvers", "How good the resolver is", heads, body, remarks)


def resolver_sentences(rows: pd.DataFrame) -> list[str]:
    """One sentence for each annotated text: the share of pronouns linked to the right person, and the baseline's."""
    says = []
    for text, group in rows.groupby("annotation", sort=False):
        pronouns = group[(group["part"] == PRONOUNS[0]) & (group["metric"] == PRONOUNS[1])]
        by_resolver = {row["resolver"]: row for row in pronouns.to_dict("records")}
        ours = next((name for name in by_resolver if name != BASELINE), BASELINE)
        if ours not in by_resolver:
            continue
        row = by_resolver[ours]
        sentence = (
            f"The resolver ({entry_name('resolvers', ours)}) links {percent(row['value'])}{_ends(row)} of "
            f"the {count(row['n'])} pronouns of the third person of {text} to the right person"
        )
        if ours != BASELINE and BASELINE in by_resolver:
            sentence += f"; the nearest-name baseline {percent(by_resolver[BASELINE]['value'])}"
        says.append(f"{sentence}.")
    return says


def _ends(row: Row) -> str:
    """The 95% interval in brackets; empty if there is none."""
    return "" if missing(row["low"]) else f" ({percent(row['low'])}–{percent(row['high'])})"


def error_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """Latent PPL of gold and of resolved chains of annotated text, under critics fitted on either.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files = material.files
    rows = []
    for annotated in files.annotated:
        summary = read_json(annotated.error)
        for fitted, scored in CELLS:
            cell = _of(annotated.error, summary, "latent_ppl", f"{fitted}_{scored}")
            values = (cell["value"], cell["low"], cell["high"], summary["documents"])
            rows.append(dict(zip(ERROR_COLUMNS, (annotated.name, fitted, scored, *values), strict=True)))
    return pd.DataFrame(rows, columns=list(ERROR_COLUMNS)).astype({"documents": "Int64"})


def error_sheet(rows: pd.DataFrame) -> Sheet:
    """A row for each kind of chains that a critic was fitted on, a column for each kind that it scores."""
    body: list[Line] = []
    for (text, fitted), group in rows.groupby(["annotation", "fitted"], sort=False):
        cells = [interval_cell(row, ("latent_ppl", "ci_low", "ci_high"), number) for row in group.to_dict("records")]
        body.append([f"{text}: {fitted} chains", *cells])
    documents = rows.groupby("annotation", sort=False)["documents"].first()
    counted = "; ".join(f"{text}: {count(n)} documents" for text, n in documents.items())
    remarks = remarks_of(__file__, "error" if len(rows) else "no error", counted=counted)
    heads = ("Critic fitted on", "Gold chains", "Resolved chains")
    caption = "Latent PPL of annotated text: error of the resolver"
    return plain_sheet("coreference-resolver-error", caption, heads, body, remarks)


def _measured_here(files: CoreferenceFiles, kind: str) -> Iterator[Figure]:
    for annotated in files.annotated:
        for name, path in ((kind, annotated.quality), (BASELINE, annotated.baseline)):
            if path is not None:
                about = About(resolver=name, annotation=annotated.name, version="", date="", hardware="")
                with lacking(path, "scores of a resolver"):
                    yield from figures_of(read_json(path), about)


def _of(path: Path, summary: object, *keys: str) -> dict[str, float]:
    value = summary
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            raise TextcriticError(f"{path}: no {key} in it; delete it and rerun the rule that makes it")
        value = value[key]
    assert isinstance(value, dict)
    return value


def _figure(rows: pd.DataFrame, part: str, metric: str) -> Cell:
    for row in rows[(rows["part"] == part) & (rows["metric"] == metric)].to_dict("records"):
        notes = (f"{percent(row['low'])}–{percent(row['high'])}", f"n = {count(row['n'])}")
        return Cell(percent(row["value"]), notes)
    return Cell(NONE)


def _measured(rows: pd.DataFrame) -> Cell:
    date, documents = str(unique(rows["date"])[0]), int(rows["documents"].iloc[0])
    return Cell(f"earlier, {date}" if date and date != "nan" else "in this study", (f"{count(documents)} documents",))
