"""Findings, warnings and doubts about the numbers of coherence, in words."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from textcritic.critics.smoothing import rests_on_smoothing
from textcritic.experiments.coherence.audit import CORRECTION
from textcritic.experiments.coherence.files import DATA_GOLD, DATA_INFERRED, CoherenceFiles
from textcritic.files import read_json
from textcritic.inference import ALPHA, DIFFERENT, Number, by_training, over_trainings, recipes_p, strength
from textcritic.measures.card import Cell, scorecard
from textcritic.measures.causes import clause
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import (
    listed,
    missing,
    number,
    p_value,
    percent,
)
from textcritic.measures.score import LOWER, Score
from textcritic.plan.sources import GROUP, RUN
from textcritic.report.cells import infinite_remarks, matching
from textcritic.report.section import Finding, said_of
from textcritic.values import Row

FACTOR = 1.25
"""The largest change of real text's Latent PPL by inferred titles without a warning."""
MOST_POINTS = 6
UNMOVED = 0.005  # a change of perplexity that the tables do not show


def findings(rows: pd.DataFrame, titles: pd.DataFrame, names: Names, card: Sequence[Score]) -> list[Finding]:
    """The findings, in reading order.

    Args:
        rows: as `rows.coherence_rows` makes them.
        titles: as `rows.titles_rows` makes them.
        names: of the sources.
        card: the scores of the rows.
    """
    doubts = [*_lower(card), *infinite_remarks(rows, names), *_of_smoothing(rows, names)]
    of_titles = [Finding("", words, strength) for words, strength in _of_titles(rows, titles, names)]
    return [*said_of(card), *(Finding("", words) for words in doubts), *of_titles]


def _lower(card: Sequence[Score]) -> list[str]:
    """A reminder that lower is not better, if a sample is lower."""
    blocks = scorecard({"": card}, {"": ""})
    samples = [sample for block in blocks for column in block.columns for sample in block.samples(column)]
    lower = [row.label for row, cell in samples if cell.verdict == DIFFERENT and cell.way == LOWER]
    does, they = ("has", "it repeats") if len(lower) == 1 else ("have", "they repeat")
    return [
        f"{listed(lower)} {does} a lower Latent PPL than real text. That is not better: {they} the commonest orders "
        "more than real text does."
    ] * bool(lower)


def cause(cell: Cell, steps: Mapping[tuple[str, ...], str]) -> str:
    """What is wrong with a sample, a clause.

    Args:
        cell: its Latent PPL.
        steps: as `errors.worst_steps` makes them.
    """
    first = cell.scores[0]
    if cell.way == LOWER:
        return f"{clause(cell)}; it repeats the commonest orders of sections more than real text does"
    return "; ".join(filter(None, (clause(cell), steps.get(tuple(getattr(first, key) for key in GROUP)))))


def _of_smoothing(rows: pd.DataFrame, names: Names) -> list[str]:
    """Which values depend on the smoothing of the critic; of several seeds the first that does."""
    sentences: dict[str, str] = {}
    for row in rows.to_dict("records"):
        ways = [(row[f"smoothing_{way}"], row[f"latent_ppl_{way}"]) for way in ("less", "more")]
        others = [(delta, value) for delta, value in ways if not missing(delta)]
        name = names.source(row, seed=False)
        if words := rests_on_smoothing(name, row["latent_ppl"], row["smoothing"], others):
            sentences.setdefault(name, words)
    return list(sentences.values())


def _of_titles(rows: pd.DataFrame, titles: pd.DataFrame, names: Names) -> list[tuple[str, float]]:
    """The effect of leaving titles out, and its strength."""
    groups = [group for _, group in titles.groupby(["corpus", "generator", "decoding"], sort=False)]
    if len(groups) > MOST_POINTS:
        return [(_of_many_titles(groups), max(_strength(rows, group) for group in groups))]
    points = []
    for group in groups:
        first = group.iloc[0]
        name = names.source(first, corpus=False, setting=False, seed=False)
        where = f" on {corpus_name(first['corpus'])}" if titles["corpus"].nunique() > 1 else ""
        before, after = _means(group)
        values = f"from {number(before)} to {number(after)}"
        p = _p_of(group)
        start = f"Leaving the section titles out of the training text of {name}{where}"
        if _moved(group):
            verb = "raises" if after > before else "lowers"
            words = f"{start} {verb} its Latent PPL {values} ({p_value(p)}){_by_perplexity(rows, group)}."
            points.append((words, _strength(rows, group)))
        elif p is not None:
            chance = "other trainings" if len(group) > 1 else "chance"
            points.append((f"{start} takes its Latent PPL {values}, which {chance} may explain ({p_value(p)}).", 0.0))
    return points


def _of_many_titles(groups: list[pd.DataFrame]) -> str:
    """One sentence on many pairs; the single ones are in the tables."""
    means = [_means(group) for group in groups if _moved(group)]
    moved = [after / before - 1 for before, after in means]
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
    """The difference of a generator with and without titles, for the seed with the smallest difference."""
    if not _moved(group):
        return 0.0
    return min(strength(*_with_and_without(rows, pair), by_ratio=True) for pair in group.to_dict("records"))


def _with_and_without(rows: pd.DataFrame, pair: Row) -> tuple[Number, Number]:
    same = matching(rows, {key: pair[key] for key in ("corpus", "generator", "decoding", *RUN)})
    both = same.set_index("setting")[["latent_ppl", "ci_low", "ci_high"]].astype(float)
    return Number(*both.loc["w-title"]), Number(*both.loc["wo-title"])


def _moved(group: pd.DataFrame) -> bool:
    """Whether titles make a measurable difference: for this model, or for the recipe."""
    p = _p_of(group)
    return p is not None and p < ALPHA and bool(np.isfinite(_means(group)).all())


def _means(group: pd.DataFrame) -> tuple[float, float]:
    """The Latent PPL with titles and without: geometric means over trainings."""
    before, after = (over_trainings(group[name].tolist(), by_ratio=True) for name in ("with_titles", "without_titles"))
    return before.mean, after.mean


def _p_of(group: pd.DataFrame) -> float | None:
    """The p-value of Student's test between the two recipes; with one training, the largest over its draws."""
    if group["seed"].nunique() > 1:
        without, with_titles = (
            [one.value or 0.0 for one in by_training(zip(group["seed"], map(Number, group[column]), strict=True), True)]
            for column in ("without_titles", "with_titles")
        )
        return recipes_p(without, with_titles, by_ratio=True)
    p = group["p_value"].max()
    return None if missing(p) else float(p)


def _percents(shares: list[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return f"by {low}" if low == high else f"by {low} to {high}"


def _by_perplexity(rows: pd.DataFrame, group: pd.DataFrame) -> str:
    """How perplexity on body text compares for the same two generators, if it is finite and in one unit."""
    first = group.iloc[0]
    same = rows[(rows["corpus"] == first["corpus"]) & (rows["generator"] == first["generator"])]
    values = [same.loc[same["setting"] == s, "ppl_body"].mean() for s in ("w-title", "wo-title")]
    if not np.isfinite(values).all() or same["ppl_unit"].nunique() > 1:
        return ""
    change = values[1] / values[0] - 1
    if abs(change) < UNMOVED:
        return ", while its perplexity on body text does not change"
    moves = "rises" if change > 0 else "falls"
    return f", while its perplexity on body text {moves} by {percent(abs(change))}"


def warnings(rows: pd.DataFrame, accuracies: Mapping[str, float], audit: pd.DataFrame) -> tuple[str, ...]:
    """A sentence for each corpus whose real text has a different Latent PPL by inferred titles than by its own.

    Args:
        rows: as `rows.coherence_rows` makes them.
        accuracies: by corpus, the share of test sections on which the classifier is right.
        audit: as `audit.audit_rows` makes them.
    """
    sentences = []
    several = rows["corpus"].nunique() > 1
    for corpus in rows["corpus"].unique():
        inferred, gold = of_real(rows, corpus)
        if gold is None or not _far(inferred, gold):
            continue
        where = f" on {corpus_name(corpus)}" if several else ""
        right = accuracies.get(corpus)
        often = "" if right is None else f", which is right on {percent(right)} of the test sections"
        sentences.append(
            f"Inferred titles change the Latent PPL of real text{where} from {number(gold)} (its own titles) to "
            f"{number(inferred)}. They come from the section classifier{often}. Its errors also affect the values of "
            f"samples. {_advice(audit, corpus, gold)}"
        )
    return tuple(sentences)


def of_real(rows: pd.DataFrame, corpus: str) -> tuple[float, float | None]:
    """Latent PPL of a corpus' real text with inferred titles, and with its own (None if titles are given)."""
    values = rows[rows["corpus"] == corpus].set_index("source")["latent_ppl"]
    return float(values[DATA_INFERRED]), float(values[DATA_GOLD]) if DATA_GOLD in values.index else None


def accuracies(experiment: CoherenceFiles) -> dict[str, float]:
    """The share of test sections on which each corpus' classifier is right; empty if titles are given."""
    return {
        data.corpus: float(read_json(data.accuracy)["test"]["accuracy"])
        for data in experiment.data
        if data.accuracy is not None
    }


def _advice(audit: pd.DataFrame, corpus: str, gold: float) -> str:
    """Which values to use instead: the corrected ones, if they are right on real text."""
    row = audit[(audit["corpus"] == corpus) & (audit["source"] == DATA_GOLD) & (audit["switch"] == CORRECTION)]
    if len(row) and not _far(float(row["latent_ppl"].iloc[0]), gold):
        value = number(float(row["latent_ppl"].iloc[0]))
        return (
            f"Use the values that are corrected for them, in the audit under “{CORRECTION}”: they give {value} for "
            "real text."
        )
    advice = "Give the titles of the samples, or train a better classifier, before you rank samples by these values."
    return f"{advice} The audit’s correction is too uncertain here." if len(row) else advice


def _far(one: float, other: float) -> bool:
    if math.isinf(one) or math.isinf(other):
        return math.isinf(one) != math.isinf(other)
    return abs(math.log(one / other)) > math.log(FACTOR)
