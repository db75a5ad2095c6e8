"""Each table as CSV (tidy, full precision), LaTeX (booktabs, the paper's shape) and an HTML fragment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.files import whole_file, write_text
from textcritic.report.details import audit_rows, decomposition_rows, error_rows, statistics_rows
from textcritic.report.inputs import read_study
from textcritic.report.published import read_published
from textcritic.report.rows import coherence_rows, titles_rows
from textcritic.report.sheet import Sheet, to_html, to_latex
from textcritic.report.sheets import (
    audit_sheet,
    coherence_sheet,
    decomposition_sheet,
    errors_sheet,
    perplexity_sheet,
    statistics_sheet,
)

TABLES = ("coherence", "perplexity", "titles", "decomposition", "transition-errors", "statistics", "audit")


def make_coherence_table(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write coherence.{csv,tex,html}, perplexity.{csv,tex,html} and titles.csv: Latent PPL, PPL, what titles change.

    Args:
        study: as `inputs.read_study` takes it.
        folder: where the tables go, `results/studies/{study}/tables`.

    Returns:
        The files written.

    Raises:
        TextcriticError: see `rows.coherence_rows`.
    """
    files = read_study(study)
    rows = coherence_rows(files, read_published(files.published))
    perplexity = ["corpus", "setting", "generator", "decoding", "seed", *(c for c in rows if c.startswith("ppl_"))]
    samples = rows[rows["source"] == "sample"][perplexity]
    return [
        *_write(coherence_sheet(rows), rows, folder),
        *_write(perplexity_sheet(rows), samples, folder),
        _write_csv(titles_rows(files), Path(folder) / "titles.csv"),
    ]


def make_decomposition_table(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write decomposition.{csv,tex,html}: cross-entropy as entropy and divergence. Arguments as above."""
    rows = decomposition_rows(read_study(study))
    return _write(decomposition_sheet(rows), rows, folder)


def make_errors_table(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write transition-errors.{csv,tex,html}: the paper's Table 12. Arguments as above."""
    files = read_study(study)
    rows = error_rows(files, read_published(files.published))
    return _write(errors_sheet(rows), rows, folder)


def make_statistics_table(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write statistics.{csv,tex,html}: the paper's Table 11. Arguments as above."""
    files = read_study(study)
    rows = statistics_rows(files, read_published(files.published))
    return _write(statistics_sheet(rows), rows, folder)


def make_audit_table(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write audit.{csv,tex,html}: what each switch does to the Latent PPL. Arguments as above."""
    rows = audit_rows(read_study(study))
    return _write(audit_sheet(rows), rows, folder)


def make_tables(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write all tables. Arguments as above."""
    makers = (
        make_coherence_table,
        make_decomposition_table,
        make_errors_table,
        make_statistics_table,
        make_audit_table,
    )
    return [path for make in makers for path in make(study, folder)]


def read_rows(folder: str | Path, name: str) -> pd.DataFrame:
    """The long-format rows of a table that was written before.

    Raises:
        TextcriticError: the table has not been made.
    """
    path = Path(folder) / f"{name}.csv"
    if not path.is_file():
        raise TextcriticError(f"{path}: no such file; make the study's tables first")
    words = ("corpus", "source", "setting", "generator", "decoding", "from", "to", "rejected_by_reason")
    rows = pd.read_csv(path, keep_default_na=False, na_values={c: [""] for c in _columns(path) if c not in words})
    return rows.astype({"seed": "Int64"}) if "seed" in rows else rows


def _columns(path: Path) -> list[str]:
    return list(pd.read_csv(path, nrows=0).columns)


def _write(sheet: Sheet, rows: pd.DataFrame, folder: str | Path) -> list[Path]:
    base = Path(folder) / sheet.name
    write_text(base.with_suffix(".tex"), to_latex(sheet))
    write_text(base.with_suffix(".html"), to_html(sheet))
    return [_write_csv(rows, base.with_suffix(".csv")), base.with_suffix(".tex"), base.with_suffix(".html")]


def _write_csv(rows: pd.DataFrame, path: Path) -> Path:
    with whole_file(path) as temporary:
        rows.to_csv(temporary, index=False, lineterminator="\n")
    return path
