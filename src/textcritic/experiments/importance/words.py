"""What estimates by importance sampling say, in words."""

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from textcritic.experiments.importance.names import ImportanceNames
from textcritic.experiments.importance.rows import EXACT
from textcritic.inference.importance.tails import GOOD
from textcritic.measures.numbers import count, interval, missing, number, percent
from textcritic.report.section import Finding
from textcritic.values import Row

MODEL = ["corpus", "generator", "seed"]
MUCH = 1.01  # the smallest ratio of estimates that gets a sentence
TOO_FEW = {
    "no sign": "There is no sign of too few draws",
    "too few": "More draws would still change it by more than 1%",
    "unclear": "It is unclear whether more draws would change it",
}
UNSEEN = "structures that the proposal never draws would leave no sign, and the estimate would be too high"


def best_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The estimate of each model with the lowest perplexity, the tightest of these upper bounds."""
    drawn = rows[rows["proposal"] != ""]
    if drawn.empty:
        return drawn
    return drawn.loc[drawn.groupby(MODEL, sort=False)["ppl"].idxmin()]


def findings(rows: pd.DataFrame, names: ImportanceNames) -> list[Finding]:
    """Findings for each model: its best estimate, how far it is from the exact value, and which model is better."""
    points = []
    for row in best_of(rows).to_dict("records"):
        says = [
            (_estimate(rows, row, names), 0.0),
            *_against(row),
            *_known(row),
            *_more(row),
            *_others(rows, row, names),
            *_gaps(rows, row, names),
        ]
        points += [Finding(names.model(row), words, strength) for words, strength in says]
    return points


def lines(rows: pd.DataFrame, names: ImportanceNames) -> Iterator[str]:
    """A line for each model, for the terminal."""
    for row in best_of(rows).to_dict("records"):
        exact = "" if missing(row["exact"]) else f", exact {number(row['exact'])}"
        drawn = f"{names.line(row)}, K = {count(row['draws'])}"
        yield f"{names.model(row)}: perplexity {number(row['ppl'])} ({drawn}; upper bound{exact})"
    for row in rows[(rows["verdict"] == EXACT) & ~rows["generator"].isin(_latent(rows))].to_dict("records"):
        yield f"{names.model(row)}: perplexity {number(row['ppl'])} (exact)"


def _estimate(rows: pd.DataFrame, row: Row, names: ImportanceNames) -> str:
    """The best estimate. Because it is the best of M, its bound for the truth is log M nats looser than for one."""
    at_most = row["truth_at_most"] * len(_own(rows, row)) ** (1 / row["tokens"])
    drawn = f"with {names.line(row)}" if row["peeks"] else "without peeking"
    return (
        f"The lowest of its estimates is a perplexity of {number(row['ppl'])}, {drawn} and with "
        f"K = {count(row['draws'])} draws of each text; with 95%, the model's own perplexity on these texts is at most "
        f"{number(at_most)}."
    )


def _known(row: Row) -> Iterator[tuple[str, float]]:
    """How far the estimate is from the exact value, if that is known; the strength is in intervals over draws."""
    if missing(row["exact"]):
        return
    high = row["too_high_percent"]
    says = f"The exact perplexity is {number(row['exact'])}: the estimate is {number(abs(high))}% too "
    half = _half(row["ppl"], row["draws_low"], row["draws_high"], row["exact"])
    strength = abs(math.log(row["ppl"] / row["exact"])) / half if half else 0.0
    yield f"{says}{'high' if high >= 0 else 'low'}.", strength if strength > 1 else 0.0


def _more(row: Row) -> Iterator[tuple[str, float]]:
    """Whether more draws would change the estimate, if no exact value answers this."""
    if missing(row["exact"]) and row["verdict"] in TOO_FEW:
        poor = "" if not row["k_hat_poor"] > 0 else f"; {percent(row['k_hat_poor'])} of the texts have a k-hat ≥ {GOOD}"
        unseen = f"; {UNSEEN}" if row["verdict"] == "no sign" else ""
        yield f"{TOO_FEW[row['verdict']]}{poor}{unseen}.", 0.0


def _others(rows: pd.DataFrame, row: Row, names: ImportanceNames) -> Iterator[tuple[str, float]]:
    own = _own(rows, row)
    highest = own.loc[own["ppl"].idxmax()].to_dict()
    if highest["ppl"] > MUCH * row["ppl"]:
        yield (
            f"The choice of the proposal alone moves the estimate from {number(row['ppl'])} to "
            f"{number(highest['ppl'])} ({names.short(highest)}).",
            0.0,
        )


def _gaps(rows: pd.DataFrame, row: Row, names: ImportanceNames) -> Iterator[tuple[str, float]]:
    """The proposals of the model that do not find the posterior on texts that the model drew."""
    for one in _own(rows, row).to_dict("records"):
        if one["gap_sign"] not in ("missed", "too few"):
            continue
        says = f"two bounds of log p are {number(one['gap'])} nats a text apart"
        if lost := int(one["gap_unreached"]):
            says = f"it never draws the states of {count(lost)} of {count(one['own_texts'])} texts"
        misses = "misses part of the posterior" if one["gap_sign"] == "missed" else "needs more draws"
        yield (
            f"On texts that the model drew itself, the proposal ({names.short(one)}) {misses}: {says}; on real text "
            "this is a hint, not a proof.",
            0.0,
        )


def _against(row: Row) -> Iterator[tuple[str, float]]:
    """Whether the model is better than one without latent states."""
    ratio, low, high = row["ratio"], row["ratio_low"], row["ratio_high"]
    if missing(ratio):
        return
    share = f"Its perplexity is {number(ratio)} times the exact perplexity of {row['beside']}"
    if missing(low):
        yield f"{share}; there are too few texts for an interval.", 0.0
        return
    if high < 1:
        says = "the latent states help, and an estimate that is too high cannot be the reason"
    elif low > 1:
        says = "no gain is seen, but the estimate may be too high, so a gain is not ruled out"
    else:
        says = "no difference is seen"
    half = _half(ratio, low, high, 1.0)
    strength = abs(math.log(ratio)) / half if half else 0.0
    yield f"{share} (95% interval {interval(low, high)}): {says}.", strength if strength > 1 else 0.0


def _half(value: float, low: float, high: float, other: float) -> float:
    """Width of an interval on the side of another value, on the scale of logarithms; 0 if there is no interval."""
    end = low if other < value else high
    return 0.0 if missing(end) else abs(math.log(value / end))


def _own(rows: pd.DataFrame, row: Row) -> pd.DataFrame:
    own = rows[rows["proposal"] != ""]
    for key in MODEL:
        own = own[own[key] == row[key]]
    return own


def _latent(rows: pd.DataFrame) -> Sequence[str]:
    return list(rows.loc[rows["proposal"] != "", "generator"])
