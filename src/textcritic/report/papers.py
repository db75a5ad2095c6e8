"""Tables and figures of a paper by their numbers there, each made from the part of the study that it compares alone."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from textcritic.report.coherence_sheets import paper_sheet
from textcritic.report.decodings import stride_remarks
from textcritic.report.details import statistics_rows
from textcritic.report.figures import make_error_graphs
from textcritic.report.inputs import PaperTable, read_study
from textcritic.report.published import APPENDIX, Published, read_published
from textcritic.report.repetition_examples import example_rows, repetition_examples
from textcritic.report.repetition_sheets import examples_sheet, with_rates
from textcritic.report.repetitions import repetition_rows
from textcritic.report.rows import coherence_rows
from textcritic.report.sheet import Sheet
from textcritic.report.sheets import statistics_sheet
from textcritic.report.sources import Names
from textcritic.report.tables import write_sheet
from textcritic.report.topics import make_paper_covariances
from textcritic.report.topics.inputs import read_topics
from textcritic.report.topics.outliers import outlier_rows, published_examples
from textcritic.report.topics.rows import nll_rows
from textcritic.report.topics.sheets import outliers_sheet, paper_topics_sheet
from textcritic.report.transition_error_sheet import errors_sheet
from textcritic.report.transition_errors import error_rows


def make_paper_table(study: Mapping[str, Any], folder: str | Path, published: str | Path | None = None) -> list[Path]:
    """Write one table of a paper as .csv, .tex and .html, named as there.

    Args:
        study: as `inputs.read_study` takes it, cut down to what the table compares (`study_files.StudyFiles.part`):
            corpora, and generators in `sources`, in the table's order. `part` has the table's `name` (`table2`),
            `caption` and `kind`: coherence (paper, Tables 2, 3 and 5: perplexity and Latent PPL by generator, setting
            and corpus), statistics (Table 11; `corpora` need `corpus` and `statistics` only), errors (Table 12),
            repetitions (Table 13), topics (Table 9) or outliers (Table 14); the last two are made of the study's
            `topics` alone, as `topics.inputs.read_topics` takes them. `decodings` has the registry entry of each
            decoding, where published values of samples are shown.
        folder: where it goes, `results/studies/{study}/tables`.
        published: CSV of published values; those of the table's number stand beside ours, and in the kinds errors and
            repetitions those that the paper's appendix says of them.

    Returns:
        The files written.

    Raises:
        TextcriticError: as `tables.make_tables`.
    """
    table = PaperTable(*(study["part"][key] for key in ("name", "kind", "caption")))
    said = [APPENDIX] * (table.kind in ("errors", "repetitions"))
    theirs = read_published(published).in_tables(table.number, *said)
    if table.kind in ("topics", "outliers"):
        sheet, rows = _of_topics(study, table, theirs)
    else:
        sheet, rows = _statistics(study, theirs) if table.kind == "statistics" else _of_samples(study, table, theirs)
    return write_sheet(replace(sheet, name=table.name, caption=f"Table {table.number}. {table.caption}"), rows, folder)


def make_paper_figure(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write one figure of a paper as .svg and .pdf, and as .narrow.svg: of each source, or of each corpus.

    Args:
        study: as in `make_paper_table`, for what the figure compares. The `kind` of its `part` is transition-errors
            (paper, Figure 4) or covariances (Figures 6, 8 and 9, of the study's `topics`).
        folder: where it goes, `results/studies/{study}/{figure}`.

    Returns:
        The files written.

    Raises:
        TextcriticError: as `figures.make_figures`.
    """
    make = make_paper_covariances if study["part"]["kind"] == "covariances" else make_error_graphs
    return make(study, folder)


def _of_topics(study: Mapping[str, Any], table: PaperTable, theirs: Published) -> tuple[Sheet, pd.DataFrame]:
    topics = read_topics(study)
    names = Names.of(topics.samples)
    if table.kind == "topics":
        rows = nll_rows(topics, theirs)
        return paper_topics_sheet(rows, names), rows
    rows = outlier_rows(topics, "nll_at_mean")
    sheet = outliers_sheet(rows, names, at_mean=True)
    return replace(sheet, remarks=[*sheet.remarks, *published_examples(topics, theirs)]), rows


def _statistics(study: Mapping[str, Any], theirs: Published) -> tuple[Sheet, pd.DataFrame]:
    rows = statistics_rows([(data["corpus"], Path(data["statistics"]), None) for data in study["corpora"]], theirs)
    return statistics_sheet(rows), rows


def _of_samples(study: Mapping[str, Any], table: PaperTable, theirs: Published) -> tuple[Sheet, pd.DataFrame]:
    files = read_study(study)
    names = Names.of(files.samples)
    if table.kind == "errors":
        rows = error_rows(files, theirs)
        return errors_sheet(rows, names), rows
    if table.kind == "repetitions":
        examples = repetition_examples(files)
        rates = repetition_rows(files, theirs)
        return with_rates(examples_sheet(examples, names), rates, names), example_rows(examples)
    rows = coherence_rows(files, theirs)
    sheet = paper_sheet(rows, names)
    return replace(sheet, remarks=[*sheet.remarks, *stride_remarks(rows, files.decodings)]), rows
