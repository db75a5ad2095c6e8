"""What the numbers of a known process say, in words."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from textcritic.experiments.process.names import EXACT, ProcessNames
from textcritic.experiments.process.sheets import ENOUGH, seeds_read
from textcritic.report.names import GROUP, SAMPLE
from textcritic.report.numbers import count, missing, number, p_value, percent, plural
from textcritic.report.scorecard import ALPHA
from textcritic.report.scored import reasons_over_seeds
from textcritic.report.section import Finding

MOST = 0.5  # the largest share of its sequences that a source may lose and still be ranked
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


def process_findings(rows: pd.DataFrame, names: ProcessNames) -> list[Finding]:
    """What Table 1 says: of each process the model furthest from it in Latent PPL, and the nearest.

    A model of whose sequences most could not be read is neither: what is left of them says little of it. Each such
    model has a sentence of its own.

    Args:
        rows: as `rows.perplexity_rows` makes them.
        names: of the processes.
    """
    points = []
    for corpus, table in rows.groupby("corpus", sort=False):
        exact = table[table["source"] == EXACT].iloc[0].to_dict()
        groups = [group for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False)]
        lost = [group for group in groups if _lost(group) > MOST]
        left = [group for group in groups if _lost(group) <= MOST]
        ranked = sorted(left, key=lambda group: abs(math.log(group["latent_ppl"].mean() / exact["latent_ppl"])))
        extremes = [ranked[-1], *ranked[:1]] if len(ranked) > 1 else ranked
        words = [_against(group, exact, names) for group in extremes] + [_unread(group, exact, names) for group in lost]
        lead = f"Where the truth is known ({corpus})" if names.several else "Where the truth is known"
        points.append(Finding(lead, " ".join(words)))
    return points


def _lost(group: pd.DataFrame) -> float:
    """The share of the sequences of all seeds that could not be read."""
    return float(group["rejected"].sum() / (group["documents"] + group["rejected"]).sum())


def _unread(group: pd.DataFrame, exact: Mapping[str, Any], names: ProcessNames) -> str:
    """One model of whose sequences most could not be read."""
    name = names.source(group.iloc[0].to_dict(), corpus=False, seed=False)
    commonest, *_ = reasons_over_seeds(group)
    rejected, kept = int(group["rejected"].sum()), int(group["documents"].sum())
    start = (
        f"{name}: word-level perplexity {_gap(group, exact, 'ppl_body')}; {count(rejected)} of its "
        f"{plural(rejected + kept, 'sequence')} could not be read, most often for the reason "
        f"“{commonest}”"
    )
    if not kept:
        return f"{start}, so it has no Latent PPL."
    if kept < ENOUGH:
        return f"{start}; the other {plural(kept, 'is', 'are')} too few sequences to tell."
    parts = [start, f"Latent PPL of the rest {_gap(group, exact, 'latent_ppl')}", *seeds_read(group)]
    return f"{'; '.join(parts)}."


def _against(group: pd.DataFrame, exact: Mapping[str, Any], names: ProcessNames) -> str:
    """One model against its process."""
    name = names.source(group.iloc[0].to_dict(), corpus=False, seed=False)
    parts = [
        f"{name}: word-level perplexity {_gap(group, exact, 'ppl_body')}",
        f"Latent PPL {_gap(group, exact, 'latent_ppl')}{_doubt(group)}",
        *seeds_read(group),
    ]
    if lost := _lost(group):
        parts.append(f"{percent(lost)} of its sequences could not be read")
    return f"{'; '.join(parts)}."


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
    if group["p_value"].isna().all():
        return ""
    worst = group.loc[group["p_value"].idxmax()]
    p = p_value(worst["p_value"])
    if worst["p_value"] < ALPHA:
        return f" ({p})"
    why = "of too few sequences to tell" if worst["documents"] < ENOUGH else "which is within what chance explains"
    return f", {why} ({p})"
