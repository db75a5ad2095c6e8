"""What the numbers of a known process say, in words."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from textcritic.report.numbers import count, missing, number, p_value, percent
from textcritic.report.sources import GROUP, SAMPLE
from textcritic.report.synthetic.names import EXACT, ProcessNames

ALPHA = 0.05
SAME = 0.005  # a share of a perplexity that the tables do not show
DEFINITIONS = (
    (
        "Known process",
        "A chain of hidden states, each of which writes one of a few sub-sequences of letters that no other state "
        "writes, and a delimiter. The states of a sequence can be read off without error, and the probability of each "
        "step is known, so no classifier and no fitted critic stand between a sample and its Latent PPL.",
    ),
    (
        "Step of a known process",
        "From one state to the next; the first is from the beginning. A sequence of M sub-sequences has M steps, and "
        "none to an end.",
    ),
    (
        "Word-level perplexity",
        "Perplexity per letter or delimiter of the test sequences. No model can expect less than the process's own.",
    ),
    (
        "Not read",
        "Sampled texts that the process could never have written: an unknown sub-sequence, another number of "
        "sub-sequences, or no end. They are in no Latent PPL, so their share stands beside it.",
    ),
)


def process_findings(rows: pd.DataFrame, names: ProcessNames) -> list[tuple[str, str]]:
    """What Table 1 says: of each process the model furthest from it in Latent PPL, and the nearest.

    Args:
        rows: as `rows.table1_rows` makes them.
        names: of the study's processes.

    Returns:
        Points as in `findings.Findings`.
    """
    points = []
    for corpus, table in rows.groupby("corpus", sort=False):
        exact = table[table["source"] == EXACT].iloc[0].to_dict()
        groups = [group for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False)]
        ranked = sorted(groups, key=lambda group: (group["latent_ppl"].isna().all(), group["latent_ppl"].mean()))
        told = [ranked[-1], *ranked[:1]] if len(ranked) > 1 else ranked
        lead = f"Where the truth is known ({corpus})" if names.several else "Where the truth is known"
        points.append((lead, " ".join(_against(group, exact, names) for group in told)))
    return points


def _against(group: pd.DataFrame, exact: Mapping[str, Any], names: ProcessNames) -> str:
    """One model against its process."""
    name = names.source(group.iloc[0].to_dict(), corpus=False, seed=False)
    drawn = int((group["documents"] + group["rejected"]).sum())
    lost = int(group["rejected"].sum())
    words = f"word-level perplexity {_gap(group, exact, 'word_ppl')}"
    if group["latent_ppl"].isna().all():
        return (
            f"{name}: {words}; no Latent PPL, as not one of its {count(drawn)} sequences is one that the process could "
            "have written."
        )
    told = f"{name}: {words}; Latent PPL {_gap(group, exact, 'latent_ppl')}{_doubt(group)}"
    return f"{told}; {percent(lost / drawn)} of its sequences could not be read." if lost else f"{told}."


def _gap(group: pd.DataFrame, exact: Mapping[str, Any], column: str) -> str:
    """`2.28, 15% above the process's own 1.99`."""
    value, own = float(group[column].mean()), float(exact[column])
    if missing(value):
        return "not known"
    if math.isinf(value):
        return "infinite"
    ratio = value / own - 1
    if abs(ratio) < SAME:
        return f"{number(value)}, that of the process itself"
    if ratio >= 1:
        return f"{number(value)}, {number(value / own, 2)} times the process's own {number(own)}"
    return f"{number(value)}, {percent(abs(ratio))} {'above' if ratio > 0 else 'below'} the process's own {number(own)}"


def _doubt(group: pd.DataFrame) -> str:
    worst = group["p_value"].max()
    if missing(worst):
        return ""
    return f" ({p_value(worst)})" if worst < ALPHA else f", which is within what chance explains ({p_value(worst)})"
