"""Cells and remarks that tables of several kinds share."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from textcritic.report.names import Names
from textcritic.report.numbers import NONE, count, difference, interval, missing, number, p_value, percent
from textcritic.report.scored import reasons_over_seeds
from textcritic.report.sheet import Cell


def latent_cell(group: pd.DataFrame, span: int = 1) -> Cell:
    """A Latent PPL with its interval, p-value and published value; the mean over seeds where there are several."""
    if group.empty:
        return Cell(NONE, span=span)
    notes = spread(group, "latent_ppl", "ci")
    notes += beside(group, "published", "difference")
    values = [value for value in group["p_value"] if not missing(value)]
    if values:
        notes.append(p_value(max(values)) if len(values) == 1 else f"largest {p_value(max(values))}")
    return Cell(number(group["latent_ppl"].mean()), tuple(notes), span)


def left_out_cell(group: pd.DataFrame) -> Cell:
    """The share of a source's documents that could not be scored, over all seeds, and the commonest reasons."""
    rejected = int(group["rejected"].sum())
    drawn = rejected + int(group["documents"].sum())
    if not rejected:
        return Cell("0", (f"of {count(drawn)}",))
    reasons = list(reasons_over_seeds(group).items())[:3]
    return Cell(percent(rejected / drawn), tuple(f"{reason}: {count(n)}" for reason, n in reasons))


def ppl_cell(group: pd.DataFrame, span: int = 1) -> Cell:
    """A perplexity (all tokens) with its unit if that is words, its interval and published value."""
    if group.empty or group["ppl_all"].isna().all():
        return Cell(NONE, span=span)
    notes = ["per word"] if group["ppl_unit"].iloc[0] == "words" else []
    notes += spread(group, "ppl_all", "ppl_all") + beside(group, "ppl_published", "ppl_difference")
    return Cell(number(group["ppl_all"].mean()), tuple(notes), span)


def unit_remarks(rows: pd.DataFrame) -> list[str]:
    """What perplexities are per; nothing where there are none."""
    words = {
        frozenset({"tokens"}): "Perplexity is per token of the generator's own encoding.",
        frozenset({"words"}): "Perplexity is per word.",
        frozenset({"tokens", "words"}): "Perplexity is per token of the generator's own encoding, or per word where it "
        "says so; the two cannot be compared.",
    }
    return [words[units]] if (units := frozenset(rows["ppl_unit"].dropna())) else []


def infinite_remarks(rows: pd.DataFrame, names: Names) -> list[str]:
    """Why each infinite value is infinite."""
    remarks = []
    for metric, column in (("Perplexity", "ppl_infinite_because"), ("Latent PPL", "infinite_because")):
        for row in rows[rows[column].notna()].to_dict("records"):
            remarks.append(f"{metric} of {names.source(row)} is infinite: {row[column]}.")
    return list(dict.fromkeys(remarks))


def spread(group: pd.DataFrame, column: str, prefix: str) -> list[str]:
    """The interval of a single value, or the standard deviation over the seeds of several."""
    if len(group) > 1:
        sd = group[column].std(ddof=1) if np.isfinite(group[column]).all() else None
        return [f"± {number(sd)} over {len(group)} seeds"] if sd is not None else []
    low, high = group[f"{prefix}_low"].iloc[0], group[f"{prefix}_high"].iloc[0]
    return [] if missing(low) else [interval(low, high)]


def beside(group: pd.DataFrame, published: str, gap: str) -> list[str]:
    """The published value, as it was printed, and ours minus it, if there is one."""
    printed = group[published].iloc[0]
    ours = group[gap].mean()
    return [] if missing(printed) else [f"published {float(printed):,.2f}", f"ours {difference(float(ours))}"]


def matching(rows: pd.DataFrame, wanted: dict[str, Any]) -> pd.DataFrame:
    """The rows whose columns have these values; a missing one matches a missing one."""
    for key, value in wanted.items():
        rows = rows[rows[key].isna()] if missing(value) else rows[rows[key] == value]
    return rows


def unique(values: Iterable[Any]) -> list[Any]:
    """Each value once, in order of appearance."""
    return list(dict.fromkeys(values))
