"""A study's coherence table as plain text, for the terminal."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.report.numbers import count, interval, number, p_value

HEADER = ("source", "Latent PPL", "95% interval", "p", "documents", "rejected", "PPL")
ROW = "{:<{width}} {:>10}  {:<15} {:>8} {:>9} {:>9}  {:<12}"


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
    width = max([len(HEADER[0]), *(len(row["label"]) for row in rows)]) + 2
    lines = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        lines += ["", f"Latent PPL on {corpus} (lower: sections in a likelier order; real text is the yardstick)", ""]
        lines.append(ROW.format(*HEADER, width=width).rstrip())
        lines += [ROW.format(*_cells(row), width=width).rstrip() for row in rows if row["corpus"] == corpus]
    lines += ["", "p: permutation test against real text with inferred titles. PPL: on the test split.", ""]
    return "\n".join([*lines, f"report: {Path(folder) / 'report.html'}"])


def _cells(row: Mapping[str, str]) -> tuple[str, ...]:
    return (
        row["label"],
        _number(row["latent_ppl"]) or "∞",
        interval(float(row["ci_low"]), float(row["ci_high"])) if row["ci_low"] else "",
        p_value(float(row["p_value"])).removeprefix("p ").removeprefix("= ") if row["p_value"] else "",
        count(float(row["documents"])),
        count(float(row["rejected"])),
        _perplexity(row),
    )


def _perplexity(row: Mapping[str, str]) -> str:
    """With its unit: perplexities per word and per token are no two numbers on one scale."""
    unit = row["ppl_unit"].removesuffix("s")
    return f"{_number(row['ppl_all'])} /{unit}" if row["ppl_all"] else ""


def _number(text: str) -> str:
    return number(float(text)) if text else ""
