"""Each table as CSV (tidy, full precision), LaTeX (booktabs, the paper's shape) and an HTML fragment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.files import whole_file, write_text
from textcritic.report.coherence_sheets import coherence_sheet
from textcritic.report.details import audit_rows, decomposition_rows, statistics_rows
from textcritic.report.inputs import read_study
from textcritic.report.published import read_published
from textcritic.report.repetition_examples import example_rows, repetition_examples
from textcritic.report.repetition_sheets import examples_sheet, rates_sheet
from textcritic.report.repetitions import repetition_rows
from textcritic.report.rows import coherence_rows, titles_rows
from textcritic.report.sheet import Sheet, to_html, to_latex
from textcritic.report.sheets import (
    audit_sheet,
    decomposition_sheet,
    perplexity_sheet,
    statistics_sheet,
)
from textcritic.report.sources import GROUP, KEYS, SAMPLE, Names
from textcritic.report.transition_error_sheet import errors_sheet
from textcritic.report.transition_errors import error_rows

NOTES = ("rejected_by_reason", "published_note", "topics")


def make_tables(study: Mapping[str, Any], folder: str | Path, published: str | Path | None = None) -> list[Path]:
    """Write all tables as .csv, .tex and .html, and titles.csv.

    coherence: Latent PPL and perplexity (paper, Table 2); perplexity: over all tokens and body tokens; titles: what
    titles in the training text change; decomposition: cross-entropy as entropy and divergence; transition-errors
    (paper, Table 12); repetition-rates and repetitions: how often sections repeat the one before, and articles in which
    they do (paper, Table 13); statistics (paper, Table 11); audit: what each switch does to the Latent PPL.

    Args:
        study: as `inputs.read_study` takes it.
        folder: where the tables go, `results/studies/{study}/tables`.
        published: CSV of the values that stand beside ours, see `published.read_published`; None means none.

    Returns:
        The files written.

    Raises:
        TextcriticError: a file is missing or damaged, scores do not belong to their sample, nothing is left to score.
    """
    files, theirs = read_study(study), read_published(published)
    names = Names.of(files.samples)
    coherence, parts = coherence_rows(files, theirs), decomposition_rows(files)
    corpora = [(data.corpus, data.statistics, data.accuracy) for data in files.data]
    errors, statistics, audit = error_rows(files, theirs), statistics_rows(corpora, theirs), audit_rows(files)
    rates, examples = repetition_rows(files, theirs), repetition_examples(files)
    perplexity = [*GROUP, "seed", *(column for column in coherence if column.startswith("ppl_"))]
    return [
        *write_sheet(coherence_sheet(coherence, names), coherence, folder),
        *write_sheet(
            perplexity_sheet(coherence, names), coherence.loc[coherence["source"] == SAMPLE, perplexity], folder
        ),
        _write_csv(titles_rows(files), Path(folder) / "titles.csv"),
        *write_sheet(decomposition_sheet(parts, names), parts, folder),
        *write_sheet(errors_sheet(errors, names), errors, folder),
        *write_sheet(rates_sheet(rates, names), rates, folder),
        *write_sheet(examples_sheet(examples, names), example_rows(examples), folder),
        *write_sheet(statistics_sheet(statistics), statistics, folder),
        *write_sheet(audit_sheet(audit, names), audit, folder),
    ]


def read_rows(folder: str | Path, name: str) -> pd.DataFrame:
    """The long-format rows of a table that was written before.

    Raises:
        TextcriticError: the table has not been made.
    """
    path = Path(folder) / f"{name}.csv"
    if not path.is_file():
        raise TextcriticError(f"{path}: no such file; make the study's tables first")
    words = (*KEYS[:-1], "label", "from", "to", "article", "title", "text", *NOTES)
    rows = pd.read_csv(path, keep_default_na=False, na_values={c: [""] for c in _columns(path) if c not in words})
    return rows.astype({"seed": "Int64"}) if "seed" in rows else rows


def _columns(path: Path) -> list[str]:
    return list(pd.read_csv(path, nrows=0).columns)


def write_sheet(sheet: Sheet, rows: pd.DataFrame, folder: str | Path) -> list[Path]:
    """Write a table for reading as LaTeX and HTML, and the rows behind it as CSV; returns the paths."""
    base = Path(folder) / sheet.name
    write_text(base.with_suffix(".tex"), to_latex(sheet))
    write_text(base.with_suffix(".html"), to_html(sheet))
    return [_write_csv(rows, base.with_suffix(".csv")), base.with_suffix(".tex"), base.with_suffix(".html")]


def _write_csv(rows: pd.DataFrame, path: Path) -> Path:
    with whole_file(path) as temporary:
        rows.to_csv(temporary, index=False, lineterminator="\n")
    return path
