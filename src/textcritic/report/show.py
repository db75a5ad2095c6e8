"""What a study found, as plain text for the terminal: the lines of its experiments, and the path of the report."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.report.numbers import NONE, count, interval, missing, number, p_value

ROW = "{:<{width}} {:>10}  {:<15} {:>8} {:>9} {:>9}  {:<12}"
TESTED = ("95% interval", "p")


def show_study(folder: str | os.PathLike[str]) -> str:
    """The lines of each experiment, in the order of the study, and the path of the report.

    Args:
        folder: `results/studies/{study}`.

    Raises:
        TextcriticError: the study has not been built.
    """
    sections = {path.parent.name: path for path in sorted(Path(folder).glob("*/section.json"))}
    if not sections:
        raise TextcriticError(f"{folder}: no section of an experiment here; build the study first: snakemake --cores 2")
    manifest = Path(folder) / "manifest.json"
    order = read_json(manifest)["experiments"] if manifest.is_file() else []
    names = [name for name in order if name in sections] or list(sections)
    facts = {name: read_json(sections[name]) for name in names}
    titles = [said["title"] for said in facts.values()]
    lines = []
    for name, said in facts.items():
        lines += ["", f"{said['title']} ({name})"] if titles.count(said["title"]) > 1 else []
        lines += said["lines"]
    report = Path(folder) / "report.html"
    return "\n".join([*lines, *(["", f"report: {report}"] if report.is_file() else [])])


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table of seven columns for the terminal: label, value, interval, p, two counts, and one more.

    Args:
        header: heads of the columns.
        rows: cells; the first of each row is its label.
    """
    width = max(len(cells[0]) for cells in (header, *rows)) + 2
    return [ROW.format(*cells, width=width).rstrip() for cells in (header, *rows)]


def tested(row: Mapping[str, Any]) -> tuple[str, str]:
    """The interval and the p-value of a row, each empty where there is none: the cells of the heads `TESTED`."""
    return (
        "" if missing(row["ci_low"]) else interval(row["ci_low"], row["ci_high"]),
        "" if missing(row["p_value"]) else p_value(row["p_value"]).removeprefix("p ").removeprefix("= "),
    )


def latent_ppl_lines(rows: pd.DataFrame, words: str, perplexity: str = "ppl_all") -> list[str]:
    """Lines on the Latent PPL of every source, one block for each corpus.

    Args:
        rows: with the columns that every table of Latent PPLs has, and `ppl_unit`.
        words: what the number says.
        perplexity: the column of the perplexity that stands beside it.
    """
    lines: list[str] = []
    for corpus, group in rows.groupby("corpus", sort=False):
        header = ("source", "Latent PPL", *TESTED, "documents", "rejected", "PPL")
        cells = [
            (
                row["label"],
                _latent_ppl(row),
                *tested(row),
                "" if missing(row["documents"]) else count(row["documents"]),
                "" if missing(row["rejected"]) else count(row["rejected"]),
                "" if missing(row[perplexity]) else f"{number(row[perplexity])} /{row['ppl_unit'].removesuffix('s')}",
            )
            for row in group.to_dict("records")
        ]
        lines += ["", f"Latent PPL on {corpus} ({words})", "", *columns(header, cells)]
    return lines


def _latent_ppl(row: Mapping[str, Any]) -> str:
    """Infinite where documents were scored and there is no finite value; a dash where nothing could be scored."""
    if not missing(row["latent_ppl"]):
        return number(row["latent_ppl"])
    return NONE if not missing(row["documents"]) and row["documents"] == 0 else "∞"
