"""What the numbers say, in words: written from the tables, with every doubt that the intervals and p-values leave."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from textcritic.experiments.coherence.names import DATA_INFERRED
from textcritic.report.card import Cell
from textcritic.report.cells import matching
from textcritic.report.names import GROUP, SAMPLE, Names
from textcritic.report.numbers import (
    count,
    interval,
    listed,
    missing,
    number,
    p_value,
    percent,
    plural,
)
from textcritic.report.scorecard import (
    ALPHA,
    DIFFERENT,
    HIGHER,
    LOWER,
    NOT_TESTED,
    Measure,
    Number,
    scores_of,
    strength,
)
from textcritic.report.section import Finding

MOST_POINTS = 6
UNMOVED = 0.005  # a change of perplexity that the tables do not show
UNCLEAR, UNKNOWN = "unclear", "unknown"


@dataclass(frozen=True, slots=True)
class Findings:
    """A headline, and what else was found, in reading order."""

    headline: str
    points: tuple[Finding, ...]


def findings(rows: pd.DataFrame, titles: pd.DataFrame, names: Names) -> Findings:
    """Write the findings.

    Args:
        rows: as `rows.coherence_rows` makes them.
        titles: as `rows.titles_rows` makes them.
        names: of the sources.
    """
    samples = [group for _, group in rows[rows["source"] == SAMPLE].groupby(GROUP, sort=False)]
    real = {row["corpus"]: row for row in rows[rows["source"] == DATA_INFERRED].to_dict("records")}
    verdicts = [_verdict(rows, group, names) for group in samples]
    points = [Finding("", _of_real(row, len(real) > 1)) for row in real.values()]
    points += [Finding(about, words) for about, words in _of_samples(samples, verdicts, real, names)]
    points += [Finding("", words, strength) for words, strength in _of_titles(rows, titles, names)]
    points += [Finding("", words) for words in _of_rejected(rows, names)]
    return Findings(_headline(verdicts), tuple(points))


def measure(section: str = "") -> Measure:
    """How the report's front page reads the Latent PPL; `section` is the element id of the part that is about it."""
    return Measure(name="Latent PPL", section=section, value="latent_ppl", by_ratio=True)


def _verdict(rows: pd.DataFrame, group: pd.DataFrame, names: Names) -> str:
    """Whether a sample's Latent PPL is measurably higher or lower than the real text's, under each of its seeds."""
    beside = rows[(rows["corpus"] == group["corpus"].iloc[0]) & (rows["source"] == DATA_INFERRED)]
    scores = scores_of(pd.concat([beside, group]), measure(), names.source, [DATA_INFERRED])
    cell = Cell(tuple(score for score in scores if not score.is_real))
    if cell.verdict == DIFFERENT:
        return cell.way
    return UNKNOWN if cell.verdict == NOT_TESTED else UNCLEAR


def _headline(verdicts: list[str]) -> str:
    total = len(verdicts)
    higher, lower, unclear, unknown = (verdicts.count(kind) for kind in (HIGHER, LOWER, UNCLEAR, UNKNOWN))
    if total == 1:
        return {
            HIGHER: "The model orders its sections less like real text than real text itself does.",
            LOWER: "The model keeps to the usual order of sections more strictly than real text does.",
            UNCLEAR: "The model's section order cannot be told from that of real text.",
            UNKNOWN: "The model's section order could not be compared with that of real text.",
        }[verdicts[0]]
    if higher == total:
        return f"All {total} samples order their sections measurably worse than real text."
    if unclear == total:
        return f"None of the {total} samples can be told from real text by the order of its sections."
    if unknown == total:
        return f"None of the {total} samples could be compared with real text."
    parts = []
    if higher:
        parts.append(f"{higher} of {total} samples order their sections measurably worse than real text")
    if lower:
        does = "keeps" if lower == 1 else "keep"
        parts.append(
            f"{lower if higher else f'{lower} of {total} samples'} {does} to the usual order more strictly than it"
        )
    if unclear:
        parts.append(f"{unclear} cannot be told from it")
    if unknown:
        parts.append(f"{unknown} could not be compared with it")
    return f"{listed(parts)}."


def _of_real(row: dict[str, object], several: bool) -> str:
    where = f"On {row['corpus']}, real text" if several else "Real text"
    value = float(str(row["latent_ppl"]))
    if np.isinf(value):
        return (
            f"{where} has an infinite Latent PPL: {row['infinite_because']}. Nothing can be compared with it; a critic "
            "with smoothing gives it a number."
        )
    return (
        f"{where} has a Latent PPL of {number(value)} (95% interval {interval(_f(row['ci_low']), _f(row['ci_high']))}, "
        f"{count(_f(row['documents']))} articles): given one section, the next is about as hard to guess as a draw "
        f"from {number(value)} equally likely ones."
    )


def _of_samples(
    samples: list[pd.DataFrame], verdicts: list[str], real: dict[str, dict[str, object]], names: Names
) -> list[tuple[str, str]]:
    points = []
    order = sorted(range(len(samples)), key=lambda i: float(samples[i]["latent_ppl"].mean()))
    for index in order if len(order) <= MOST_POINTS else _telling(order, samples, verdicts):
        group, first = samples[index], samples[index].iloc[0].to_dict()
        data = real[first["corpus"]]
        name = names.source(first, corpus=False, seed=False)
        where = f" on {first['corpus']}" if len(real) > 1 else ""
        points.append((f"{name}{where}", _against(group, data, verdicts[index])))
    return points


def _telling(order: list[int], samples: list[pd.DataFrame], verdicts: list[str]) -> list[int]:
    """Of many samples: those not plainly worse than real text, and each corpus' best and worst of the rest."""
    kept = {index for index in order if verdicts[index] != HIGHER}
    by_corpus: dict[str, list[int]] = {}
    for index in order:
        if verdicts[index] == HIGHER:
            by_corpus.setdefault(samples[index]["corpus"].iloc[0], []).append(index)
    kept |= {index for of_corpus in by_corpus.values() for index in (of_corpus[0], of_corpus[-1])}
    return [index for index in order if index in kept]


def _against(group: pd.DataFrame, data: dict[str, object], kind: str) -> str:
    mean, real = float(group["latent_ppl"].mean()), float(str(data["latent_ppl"]))
    if np.isinf(mean):
        return f"the Latent PPL is infinite, because {group['infinite_because'].dropna().iloc[0]}."
    seeds = f" over {len(group)} seeds" if len(group) > 1 else f" ({interval(*group[['ci_low', 'ci_high']].iloc[0])})"
    if np.isinf(real):
        return f"Latent PPL {number(mean)}{seeds}; that of real text is infinite, so there is no telling them apart."
    ratio = mean / real - 1
    gap = f"{percent(abs(ratio))} {'above' if ratio > 0 else 'below'} real text"
    if ratio >= 1:
        gap = f"{number(mean / real, 2)} times that of real text"
    worst = group["p_value"].max()
    words = f"Latent PPL {number(mean)}{seeds}, {gap}"
    if kind == UNKNOWN:
        return f"{words}; there is no p-value, so it stays open whether chance explains this."
    if kind == UNCLEAR:
        clear = int((group["p_value"] < ALPHA).sum())
        if clear:
            return f"{words}; the test tells {clear} of its {len(group)} seeds apart (largest {p_value(worst)})."
        return f"{words}, which is within what chance explains ({p_value(worst)})."
    overlap = bool((group["ci_low"] <= _f(data["ci_high"])).all() and (group["ci_high"] >= _f(data["ci_low"])).all())
    tail = "; the two intervals overlap, the test still tells them apart" if overlap else ""
    strict = " Lower is not better: it repeats the commonest orders more than real text does." if kind == LOWER else ""
    return f"{words} ({p_value(worst)}){tail}.{strict}"


def _of_titles(rows: pd.DataFrame, titles: pd.DataFrame, names: Names) -> list[tuple[str, float]]:
    """What leaving titles out does, and how strong that is."""
    groups = [group for _, group in titles.groupby(["corpus", "generator", "decoding"], sort=False)]
    if len(groups) > MOST_POINTS:
        return [(_of_many_titles(groups), max(_strength(rows, group) for group in groups))]
    points = []
    for group in groups:
        first = group.iloc[0]
        name = names.source(first, corpus=False, setting=False, seed=False)
        where = f" on {first['corpus']}" if titles["corpus"].nunique() > 1 else ""
        before, after = group["with_titles"].mean(), group["without_titles"].mean()
        values = f"from {number(before)} to {number(after)}"
        known = [p for p in group["p_value"] if not missing(p)]
        start = f"Leaving the section titles out of the training text of {name}{where}"
        if _moved(group):
            verb = "raises" if after > before else "lowers"
            words = f"{start} {verb} its Latent PPL {values} ({p_value(max(known))}){_by_perplexity(rows, group)}."
            points.append((words, _strength(rows, group)))
        elif known:
            clear = sum(p < ALPHA for p in known)
            doubt = (
                f"a difference under {clear} of {len(known)} seeds only" if clear else "no more than chance explains"
            )
            points.append((f"{start} takes its Latent PPL {values}, {doubt} ({p_value(max(known))}).", 0.0))
    return points


def _of_many_titles(groups: list[pd.DataFrame]) -> str:
    """One sentence on many pairs; the single ones are in the tables."""
    moved = [float(g["without_titles"].mean() / g["with_titles"].mean() - 1) for g in groups if _moved(g)]
    raised, lowered = [m for m in moved if m > 0], [-m for m in moved if m < 0]
    parts = [
        f"{verb} the Latent PPL measurably in {len(changes)} ({_percents(changes)})"
        for verb, changes in (("raises", raised), ("lowers", lowered))
        if changes
    ]
    if rest := len(groups) - len(moved):
        parts.append(f"makes no clear difference in {rest}")
    return f"In {len(groups)} comparisons, leaving the section titles out of the training text {listed(parts)}."


def _strength(rows: pd.DataFrame, group: pd.DataFrame) -> float:
    """How far apart a generator with titles and without them is, under the seed that sets them least apart."""
    if not _moved(group):
        return 0.0
    return min(strength(*_with_and_without(rows, pair), by_ratio=True) for pair in group.to_dict("records"))


def _with_and_without(rows: pd.DataFrame, pair: Mapping[str, Any]) -> tuple[Number, Number]:
    same = matching(rows, {key: pair[key] for key in ("corpus", "generator", "decoding", "seed")})
    both = same.set_index("setting")[["latent_ppl", "ci_low", "ci_high"]].astype(float)
    return Number(*both.loc["w-title"]), Number(*both.loc["wo-title"])


def _moved(group: pd.DataFrame) -> bool:
    """Whether titles make a measurable difference to a generator under each of its seeds."""
    known = [p for p in group["p_value"] if not missing(p)]
    return bool(known and max(known) < ALPHA and np.isfinite(group[["with_titles", "without_titles"]].mean()).all())


def _percents(shares: list[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return f"by {low}" if low == high else f"by {low} to {high}"


def _by_perplexity(rows: pd.DataFrame, group: pd.DataFrame) -> str:
    """What perplexity on body text says of the same two generators, where it is finite and in one unit."""
    first = group.iloc[0]
    same = rows[(rows["corpus"] == first["corpus"]) & (rows["generator"] == first["generator"])]
    values = [same.loc[same["setting"] == s, "ppl_body"].mean() for s in ("w-title", "wo-title")]
    if not np.isfinite(values).all() or same["ppl_unit"].nunique() > 1:
        return ""
    change = values[1] / values[0] - 1
    if abs(change) < UNMOVED:
        return ", while its perplexity on body text stays as it is"
    moves = "rises" if change > 0 else "falls"
    return f", while its perplexity on body text {moves} by {percent(abs(change))}"


def _of_rejected(rows: pd.DataFrame, names: Names) -> list[str]:
    samples = rows[rows["source"] == SAMPLE]
    lost = samples["rejected"].sum()
    if not lost:
        return ["Every article that was drawn could be read as sections and is in these numbers."]
    worst = samples.loc[samples["rejected_share"].idxmax()].to_dict()
    return [
        f"{plural(int(lost), 'drawn article')} could not be read as sections or scored and "
        f"{'is' if lost == 1 else 'are'} in none of these numbers; at most {percent(worst['rejected_share'])} of a "
        f"sample ({names.source(worst)})."
    ]


def _f(value: object) -> float:
    return float(str(value))
