"""What the numbers of coreference say, in words."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from textcritic.critics.mentions import BOS
from textcritic.experiments.coreference.passages import Symbol
from textcritic.experiments.coreference.sheets import STEP
from textcritic.experiments.coreference.why import is_label, written
from textcritic.inference import ALPHA
from textcritic.plan.sources import DATA, GROUP, SAMPLE
from textcritic.report.names import Names
from textcritic.report.numbers import MINUS, interval, p_value, percent
from textcritic.report.scorecard import Number, strength
from textcritic.report.section import Finding

DEFINITIONS = (
    (
        "Latent PPL of mentions",
        f"{STEP} The higher it is, the less their order looks like that of real text.",
    ),
    (
        "Chain of mentions",
        "The mentions of people in the order of a text, each a pronoun as it is written or the gender label of the "
        "person, with a mark, a full stop, at each start of a sentence.",
    ),
    (
        "Person, entity",
        "All mentions that the resolver takes for the same person or group; numbered from 0 in an article in the order "
        "of first mentions. The critic numbers anew in each of its windows, so that it sees only who is the same.",
    ),
    (
        "Gender label",
        "What stands in a chain for a name or noun: male, female or plural by the majority of the pronouns for the "
        "same person, none without such pronouns. It is a label of grammar, not of people: as the paper’s section 10 "
        "says, a choice of two leaves out many people.",
    ),
)


def findings(shares: pd.DataFrame, ngrams: pd.DataFrame, names: Names) -> tuple[Finding, ...]:
    """The findings, the strongest first.

    Args:
        shares: as `shares.share_rows` makes them.
        ngrams: as `ngrams.contribution_rows` makes them.
        names: of the sources.
    """
    found = [_of_window(row, names) for row in ngrams[ngrams["rank"] == 1].to_dict("records")]
    found = [finding for finding in found if finding.says]
    for _, group in shares[shares["source"] == SAMPLE].groupby(GROUP, sort=False):
        real = shares[(shares["source"] == DATA) & (shares["corpus"] == group["corpus"].iloc[0])].iloc[0]
        known = group[group["share"].notna() & group["p_value"].notna()]
        if len(known) and pd.notna(real["share"]):
            found.append(_of_sample(known, real.to_dict(), names))
    return tuple(sorted(found, key=lambda finding: -finding.strength))


def window_in_words(window: Sequence[str]) -> str:
    """What the last token of a window is, in plain words: `“he” for the person of the mention before`."""
    *context, last = (_symbol(token) for token in window)
    if last.person is None:
        return "the start of a sentence"
    what = "a name or noun" if is_label(last) else f"“{last.name}”"
    before = [symbol.person for symbol in context if symbol.person is not None]
    if last.person not in before:
        return f"{what} for a person who is not in sight"
    return f"{what} for {'the person of the mention before' if before[-1] == last.person else 'a person in sight'}"


def _symbol(token: str) -> Symbol:
    """A token of a window as `critics.mentions` writes it: `MALE:0`, `.`, `<bos>`."""
    name, _, label = token.rpartition(":")
    return Symbol(name, int(label)) if name else Symbol(token)


def _of_window(row: dict[str, Any], names: Names) -> Finding:
    """The window that contributes most to the difference of a sample; says nothing if chance may explain it."""
    if not row["contribution_low"] > 0:
        return Finding("", "")
    window = row["window"].split(" ")
    tokens = " ".join(written(_symbol(token)) for token in window if token != BOS)
    return Finding(
        "",
        f"What adds most to the difference of {names.source(row)} from real text is {window_in_words(window)}, in the "
        f"window “{tokens}”{' at the start of a text' * (BOS in window)}: "
        f"{_percent(row['percent'])} of the sample’s windows, {_percent(row['real_percent'])} of those of real text.",
    )


def _percent(value: float) -> str:
    return percent(value / 100)


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
