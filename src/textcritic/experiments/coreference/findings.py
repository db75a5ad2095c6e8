"""What the numbers of coreference say, in words."""

from typing import Any

import pandas as pd

from textcritic.report.names import DATA, GROUP, SAMPLE, Names
from textcritic.report.numbers import MINUS, interval, p_value, percent
from textcritic.report.scorecard import ALPHA, Number, strength
from textcritic.report.section import Finding


def findings(shares: pd.DataFrame, names: Names) -> tuple[Finding, ...]:
    """The findings, the strongest first.

    Args:
        shares: as `shares.share_rows` makes them.
        names: of the sources.
    """
    found = []
    for _, group in shares[shares["source"] == SAMPLE].groupby(GROUP, sort=False):
        real = shares[(shares["source"] == DATA) & (shares["corpus"] == group["corpus"].iloc[0])].iloc[0]
        known = group[group["share"].notna() & group["p_value"].notna()]
        if len(known) and pd.notna(real["share"]):
            found.append(_of_sample(known, real.to_dict(), names))
    return tuple(sorted(found, key=lambda finding: -finding.strength))


def _of_sample(group: pd.DataFrame, real: dict[str, Any], names: Names) -> Finding:
    mean, p = float(group["share"].mean()), float(group["p_value"].max())
    what = f"of the mentions of people in samples of {names.source(group.iloc[0].to_dict(), seed=False)}"
    beside = f"in real text {percent(real['share'])} ({interval(100 * real['ci_low'], 100 * real['ci_high'])}%)"
    low, high = group["ci_low"].iloc[0], group["ci_high"].iloc[0]
    own = f" ({interval(100 * low, 100 * high)}%)" if len(group) == 1 else f" over {len(group)} seeds"
    if p >= ALPHA:
        says = f"{percent(mean)}{own} {what} are unlikely under the critic, {beside}: no more than chance explains"
        return Finding("", f"{says} ({p_value(p)}).")
    words = f"{percent(mean)}{own} {what} are unlikely under the critic (log P < {MINUS}7), {beside} ({p_value(p)})."
    apart = [
        strength(Number(*row), Number(real["share"], real["ci_low"], real["ci_high"]))
        for row in group[["share", "ci_low", "ci_high"]].itertuples(index=False)
    ]
    return Finding("", words, min(apart))
