"""What the numbers of coreference say, in words."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from textcritic.critics.mentions import BOS
from textcritic.experiments.coreference.passages import Symbol
from textcritic.experiments.coreference.why import is_label, written
from textcritic.inference import ALPHA, Number, over_trainings, trainings_p
from textcritic.measures.names import Names
from textcritic.measures.numbers import MINUS, missing, p_value, percent
from textcritic.measures.score import strength
from textcritic.plan.sources import DATA, GROUP, SAMPLE
from textcritic.report.section import Finding

WORTH_NAMING = 0.05
"""The share of a difference that a single window has to add, so that it explains some of it."""


def findings(shares: pd.DataFrame, ngrams: pd.DataFrame, names: Names) -> tuple[Finding, ...]:
    """The findings, the strongest first.

    Args:
        shares: as `shares.share_rows` makes them.
        ngrams: as `ngrams.contribution_rows` makes them.
        names: of the sources.
    """
    found = [_of_window(row, names) for row in ngrams[ngrams["rank"] == 1].to_dict("records")]
    found = [finding for finding in found if finding.says]
    found += [_of_sample(group, real, names) for group, real in _tested(shares)]
    return tuple(sorted(found, key=lambda finding: -finding.strength))


def fails(shares: pd.DataFrame, names: Names) -> str:
    """How many mentions of the sample with the fewest unlikely ones are unlikely, in a sentence.

    "" where these may be as few as in real text. Of several corpora the first is spoken of.
    """
    tested = [(group, real) for group, real in _tested(shares) if group["corpus"].iloc[0] == shares["corpus"].iloc[0]]
    if not tested:
        return ""
    group, real = min(tested, key=lambda pair: over_trainings(pair[0]["share"].tolist()).mean)
    finding = _of_sample(group, real, names)
    return finding.says if finding.strength > 0 and group["share"].mean() > real["share"] else ""


def _tested(shares: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, dict[str, Any]]]:
    """The rows of each sample that was tested, its trainings together, and the row of its real text."""
    for _, group in shares[shares["source"] == SAMPLE].groupby(GROUP, sort=False):
        real = shares[(shares["source"] == DATA) & (shares["corpus"] == group["corpus"].iloc[0])].iloc[0]
        known = group[group["share"].notna() & group["p_value"].notna()]
        if len(known) and pd.notna(real["share"]):
            yield known, real.to_dict()


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
    """The window that contributes most to the difference of a sample, and how much of it.

    Says nothing if chance may explain the window, or if the sample is no less likely than real text altogether.
    """
    share = row["of_difference"]
    if not row["contribution_low"] > 0 or not share > 0:
        return Finding("", "")
    window = row["window"].split(" ")
    tokens = " ".join(written(_symbol(token)) for token in window if token != BOS)
    what = (
        f"{window_in_words(window)}, in the window “{tokens}”{' at the start of a text' * (BOS in window)} "
        f"({_percent(row['percent'])} of the sample’s windows, {_percent(row['real_percent'])} of those of real text)"
    )
    source = names.source(row)
    if share < WORTH_NAMING:
        says = f"No single window explains the difference of {source} from real text. What adds most to it is {what}:"
        return Finding("", f"{says} {percent(share)} of the difference.")
    return Finding(
        "",
        f"What adds most to the difference of {source} from real text is {what}: {percent(share)} of the difference.",
    )


def _percent(value: float) -> str:
    return percent(value / 100)


def _of_sample(group: pd.DataFrame, real: dict[str, Any], names: Names) -> Finding:
    yardstick = Number(real["share"], *_ends(real["ci_low"], real["ci_high"]))
    first, recipe = group.iloc[0], over_trainings(group["share"].tolist())
    number, p, over = Number(first["share"], *_ends(first["ci_low"], first["ci_high"])), first["p_value"], ""
    if len(group) > 1:
        number, over = recipe.number, f" over {len(group)} trainings"
        p = None if yardstick.low is None else trainings_p(group["share"].tolist(), yardstick)
    what = f"of the mentions of people in samples of {names.source(first.to_dict(), seed=False)}"
    says = f"{_share(number, over)} {what} are unlikely under the critic"
    beside = f"in real text {_share(yardstick)}"
    if p is None or p >= ALPHA:
        tested = "not tested" if p is None else f"a difference that chance may explain ({p_value(p)})"
        return Finding("", f"{says}, {beside}: {tested}.")
    return Finding("", f"{says} (log P < {MINUS}7), {beside} ({p_value(p)}).", strength(number, yardstick))


def _share(number: Number, over: str = "") -> str:
    """A share and its interval, in percent."""
    if number.low is None or number.high is None:
        return f"{percent(number.value)}{over}"
    return f"{percent(number.value)}{over} ({percent(max(number.low, 0.0))}–{percent(min(number.high, 1.0))})"


def _ends(*ends: float | None) -> list[float | None]:
    return [None if missing(end) else end for end in ends]
