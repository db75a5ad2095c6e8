"""A study's coherence table, and those of its known processes and its topics, as plain text for the terminal."""

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.report.numbers import NONE, count, interval, number, p_value
from textcritic.report.sources import DATA_GOLD

HEADER = ("source", "Latent PPL", "95% interval", "p", "documents", "rejected", "PPL")
TOPICS_HEADER = ("source", "Latent NLL", "95% interval", "p", "documents", "left out", "covariances apart")
ROW = "{:<{width}} {:>10}  {:<15} {:>8} {:>9} {:>9}  {:<12}"


def show_study(folder: str | os.PathLike[str]) -> str:
    """The table, one block for each corpus, known process and topic model, and the path of the report.

    Args:
        folder: `results/studies/{study}`.

    Raises:
        TextcriticError: the study has not been built.
    """
    tables = Path(folder) / "tables"
    text, process, topics = (_rows(tables / f"{name}.csv") for name in ("coherence", "table1", "topics"))
    if not text and not process and not topics:
        raise TextcriticError(f"{folder}: no tables/coherence.csv here; build the study first: snakemake --cores 2")
    process = [row | {"ppl_all": row["ppl_body"]} for row in process]
    width = max([len(HEADER[0]), *(len(row["label"]) for row in (*text, *process, *topics))]) + 2
    lines = _blocks(text, "lower: sections in a likelier order; real text is the yardstick", width)
    if text:
        both = any(row["source"] == DATA_GOLD for row in text)
        how = " with inferred titles" if both else ""
        lines += ["", f"p: permutation test against real text{how}. PPL: on the test split."]
    lines += _blocks(process, "a known process: the exact values are the yardstick", width)
    if process:
        lines += ["", "p: permutation test against the test sequences. PPL: on these, without their ends."]
    lines += _topics(topics, width)
    made = Path(folder) / "report.html" if text else tables / ("table1.csv" if process else "topics.csv")
    return "\n".join([*lines, "", f"{'report' if text else 'table'}: {made}"])


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none if it has not been made."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def _blocks(rows: Sequence[Mapping[str, str]], words: str, width: int) -> list[str]:
    lines = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        lines += ["", f"Latent PPL on {corpus} ({words})", "", ROW.format(*HEADER, width=width).rstrip()]
        lines += [ROW.format(*_cells(row), width=width).rstrip() for row in rows if row["corpus"] == corpus]
    return lines


def _topics(rows: Sequence[Mapping[str, str]], width: int) -> list[str]:
    lines = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        lines += ["", f"Latent NLL of topics on {corpus} (in expectation; real text is the yardstick)", ""]
        lines.append(ROW.format(*TOPICS_HEADER, width=width).rstrip())
        lines += [ROW.format(*_topic_cells(row), width=width).rstrip() for row in rows if row["corpus"] == corpus]
    if rows:
        lines += [
            "",
            "p: permutation test against real text. Covariances apart: as a share of the size of real text's, less",
            "what finite samples add.",
        ]
    return lines


def _topic_cells(row: Mapping[str, str]) -> tuple[str, ...]:
    return (
        row["label"],
        _number(row["latent_nll"]) or NONE,
        *_tested(row),
        count(float(row["documents"])),
        count(float(row["rejected"])),
        _number(row["distance_corrected"]),
    )


def _cells(row: Mapping[str, str]) -> tuple[str, ...]:
    return (
        row["label"],
        _latent_ppl(row),
        *_tested(row),
        count(float(row["documents"])) if row["documents"] else "",
        count(float(row["rejected"])) if row["rejected"] else "",
        _perplexity(row),
    )


def _tested(row: Mapping[str, str]) -> tuple[str, str]:
    """The interval and the p-value, each empty where there is none."""
    return (
        interval(float(row["ci_low"]), float(row["ci_high"])) if row["ci_low"] else "",
        p_value(float(row["p_value"])).removeprefix("p ").removeprefix("= ") if row["p_value"] else "",
    )


def _latent_ppl(row: Mapping[str, str]) -> str:
    """Infinite where documents were scored and there is no finite value; none where nothing could be scored."""
    if row["latent_ppl"]:
        return _number(row["latent_ppl"])
    return NONE if row["documents"] == "0" else "∞"


def _perplexity(row: Mapping[str, str]) -> str:
    """With its unit: perplexities per word and per token are no two numbers on one scale."""
    unit = row["ppl_unit"].removesuffix("s")
    return f"{_number(row['ppl_all'])} /{unit}" if row["ppl_all"] else ""


def _number(text: str) -> str:
    return number(float(text)) if text else ""
