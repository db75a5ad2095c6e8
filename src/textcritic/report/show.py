"""A study's coherence table as plain text, for the terminal."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.report.numbers import count, interval, number, p_value, setting_name

HEADER = ("source", "Latent PPL", "95% interval", "p", "documents", "rejected", "PPL")
ROW = "{:<44} {:>10}  {:<15} {:>8} {:>9} {:>9} {:>8}"


def show_study(folder: str | os.PathLike[str]) -> str:
    """The table, one block for each corpus, and the path of the report.

    Args:
        folder: `results/studies/{study}`.

    Raises:
        TextcriticError: the study has not been built.
    """
    path = Path(folder) / "tables" / "coherence.csv"
    if not path.is_file():
        raise TextcriticError(f"{folder}: no tables/coherence.csv here; build the study first: snakemake --cores 2")
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    lines = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        lines += ["", f"Latent PPL on {corpus} (lower: sections in a likelier order; real text is the yardstick)", ""]
        lines.append(ROW.format(*HEADER))
        lines += [ROW.format(*_cells(row)) for row in rows if row["corpus"] == corpus]
    lines += ["", "p: permutation test against real text with inferred titles. PPL: per token of the test split.", ""]
    return "\n".join([*lines, f"report: {Path(folder) / 'report.html'}"])


def _cells(row: Mapping[str, str]) -> tuple[str, ...]:
    return (
        _source(row),
        _number(row["latent_ppl"]) or "∞",
        interval(float(row["ci_low"]), float(row["ci_high"])) if row["ci_low"] else "",
        p_value(float(row["p_value"])).removeprefix("p ").removeprefix("= ") if row["p_value"] else "",
        count(float(row["documents"])),
        count(float(row["rejected"])),
        _number(row["ppl_all"]),
    )


def _source(row: Mapping[str, str]) -> str:
    if row["source"].startswith("data"):
        return f"real text, {row['source'].removeprefix('data-')} titles"
    seed = f", seed {row['seed']}" if float(row["seeds"] or 1) > 1 else ""
    return f"{row['generator']}, {setting_name(row['setting'])}{seed}"


def _number(text: str) -> str:
    return number(float(text)) if text else ""
