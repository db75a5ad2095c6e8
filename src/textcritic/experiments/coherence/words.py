"""What the numbers of coherence say, in words, with every doubt that is left; and what each of them means."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from textcritic.critics.smoothing import rests_on_smoothing
from textcritic.experiments.coherence.doubts import of_real
from textcritic.experiments.coherence.files import DATA_INFERRED
from textcritic.inference import ALPHA, DIFFERENT, SAME, Number, by_training, distance, over_trainings, recipes_p
from textcritic.measures.card import Cell, Row, scorecard
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import (
    count,
    interval,
    listed,
    missing,
    number,
    p_value,
    percent,
    plural,
)
from textcritic.measures.score import HIGHER, LOWER, NOT_TESTED, Score, strength
from textcritic.plan.sources import GROUP, RUN, SAMPLE
from textcritic.report.cells import matching
from textcritic.report.section import Finding, said_of

MOST_POINTS = 6
UNMOVED = 0.005  # a change of perplexity that the tables do not show
UNCLEAR, UNKNOWN = "unclear", "unknown"


def findings(
    rows: pd.DataFrame, titles: pd.DataFrame, names: Names, card: Sequence[Score], types: Mapping[str, int]
) -> list[Finding]:
    """What was found, in reading order.

    Args:
        rows: as `rows.coherence_rows` makes them.
        titles: as `rows.titles_rows` makes them.
        names: of the sources.
        card: the scores of the rows.
        types: how many section types the critic of each corpus knows.
    """
    real = rows[rows["source"] == DATA_INFERRED].to_dict("records")
    several = len(real) > 1
    points = []
    for row in real:
        corpus = row["corpus"]
        points.append(Finding("", _of_real(row, types[corpus], of_real(rows, corpus)[1], several)))
    points += [*said_of(card), *(Finding("", words) for words in _doubts(rows, names, card))]
    points += [Finding("", words, strength) for words, strength in _of_titles(rows, titles, names)]
    return [*points, *(Finding("", words) for words in _of_rejected(rows, names))]


def headline(card: Sequence[Score]) -> str:
    """Which sample orders its sections most like real text, and how many order them unlike it."""
    return " ".join(filter(None, (_nearest(card), _tally(card))))


def nearest_samples(card: Sequence[Score]) -> list[tuple[str, Cell]]:
    """The sample that is nearest to real text and all that may be as near, the nearest first.

    None where samples are of several corpora, or cannot be compared.
    """
    blocks = scorecard({"": card}, {"": ""})
    near = blocks[0].nearest(blocks[0].columns[0]) if len(blocks) == 1 else frozenset()
    if not near:
        return []
    (column,) = blocks[0].columns
    samples = [(row.label, cell) for row, cell in blocks[0].ranked(column) if row.label in near]
    real = blocks[0].real(column)
    yardstick = real.cells[column].number if real else Number(None)
    return sorted(samples, key=lambda sample: distance(sample[1].number, yardstick, by_ratio=True))


def _nearest(card: Sequence[Score]) -> str:
    """Which sample is nearest to real text; "" where it cannot be said."""
    samples = nearest_samples(card)
    if not samples:
        return ""
    (label, cell), *others = samples
    start = f"Of {len(_samples(card))} samples, {label} comes nearest to real text in the order of sections"
    as_near = f" {listed([other for other, _ in others])} may be as near." if others else ""
    ratio = _ratio(cell)
    if cell.verdict == SAME:
        return f"{start}: it is the same within the margin.{as_near}"
    if cell.verdict != DIFFERENT or ratio is None:
        return f"{start}.{as_near}"
    if ratio < 1:
        return f"{start}, but keeps to the usual order more strictly.{as_near}"
    return f"{start}, and its next section is still {number(ratio, 2)} times as hard to guess.{as_near}"


def _tally(card: Sequence[Score]) -> str:
    """How many samples order their sections unlike real text, in a sentence."""
    cells = [cell for _, cell in _samples(card)]
    verdicts = [_verdict(cell) for cell in cells]
    total = len(verdicts)
    kinds = (HIGHER, LOWER, SAME, UNCLEAR, UNKNOWN)
    higher, lower, same, unclear, unknown = (verdicts.count(kind) for kind in kinds)
    if total == 1:
        return {
            HIGHER: f"The model orders its sections measurably worse than real text{_harder(cells[0])}.",
            LOWER: "The model keeps to the usual order of sections more strictly than real text does.",
            SAME: "The model orders its sections as real text does, within the margin.",
            UNCLEAR: "It is unclear whether the model orders its sections as real text does.",
            UNKNOWN: "The model's section order could not be compared with that of real text.",
        }[verdicts[0]]
    whole = "Both" if total == 2 else f"All {total}"
    if higher == total:
        return f"{whole} samples order their sections measurably worse than real text."
    if same == total:
        return f"{whole} samples order their sections as real text does, within the margin."
    if unclear == total:
        who = "both" if total == 2 else f"all {total}"
        return f"For {who} samples it is unclear whether they order their sections as real text does."
    if unknown == total:
        return f"None of the {total} samples could be compared with real text."
    words = (
        (higher, "orders its sections measurably worse than", "order their sections measurably worse than"),
        (lower, "keeps to the usual order more strictly than", "keep to the usual order more strictly than"),
        (same, "is the same within the margin as", "are the same within the margin as"),
        (unclear, "may or may not differ from", "may or may not differ from"),
        (unknown, "could not be compared with", "could not be compared with"),
    )
    parts: list[str] = []
    for number_of, singular, plural_form in words:
        if number_of:
            who, real = (str(number_of), "it") if parts else (f"{number_of} of {total} samples", "real text")
            parts.append(f"{who} {singular if number_of == 1 else plural_form} {real}")
    return f"{listed(parts)}."


def _harder(cell: Cell) -> str:
    """How much harder to guess the next section is than in real text; "" where that is not known."""
    ratio = _ratio(cell)
    if ratio is None or not np.isfinite(ratio):
        return ""
    return f": its next section is {number(ratio, 2)} times as hard to guess"


def _ratio(cell: Cell) -> float | None:
    """The Latent PPL of a sample over that of real text; None where one of them is not known."""
    value, real = cell.number.value, cell.score.real.value if cell.score and cell.score.real else None
    return value / real if value is not None and real else None


def _of_real(row: dict[str, object], types: int, gold: float | None, several: bool) -> str:
    """The Latent PPL of real text; what it says is said of its own titles, and up to the number of section types."""
    where = f"On {corpus_name(str(row['corpus']))}, real text" if several else "Real text"
    value = float(str(row["latent_ppl"]))
    if np.isinf(value):
        return (
            f"{where} has an infinite Latent PPL: {row['infinite_because']}. Nothing can be compared with it; a critic "
            "with smoothing gives it a number."
        )
    spread = f"95% interval {interval(_f(row['ci_low']), _f(row['ci_high']))}, {count(_f(row['documents']))} articles"
    by_inferred = f"{where} has a Latent PPL of {number(value)} ({spread})"
    by_gold = "" if gold is None else f" with inferred titles, and of {number(gold)} with its own"
    guess = value if gold is None else gold
    if guess > types:
        return f"{by_inferred}{by_gold}."
    return (
        f"{by_inferred}{by_gold}: given one section, the next is about as hard to guess as a draw from {number(guess)} "
        "equally likely ones."
    )


def _samples(card: Sequence[Score]) -> list[tuple[Row, Cell]]:
    """The samples of all corpora, each with its Latent PPL."""
    blocks = scorecard({"": card}, {"": ""})
    return [sample for block in blocks for column in block.columns for sample in block.samples(column)]


def _verdict(cell: Cell) -> str:
    """Whether a sample's Latent PPL is measurably higher or lower than the real text's, or the same."""
    if cell.verdict == DIFFERENT:
        return cell.way
    return SAME if cell.verdict == SAME else UNKNOWN if cell.verdict == NOT_TESTED else UNCLEAR


def _doubts(rows: pd.DataFrame, names: Names, card: Sequence[Score]) -> list[str]:
    """What has to be known of some scores: lower is not better, and why a value is infinite."""
    lower = [row.label for row, cell in _samples(card) if _verdict(cell) == LOWER]
    doubts = []
    if lower:
        does = "has a lower Latent PPL than real text. That is not better: it repeats" if len(lower) == 1 else ""
        do = "have a lower Latent PPL than real text. That is not better: they repeat"
        doubts.append(f"{listed(lower)} {does or do} the commonest orders more than real text does.")
    infinite = rows[(rows["source"] == SAMPLE) & rows["infinite_because"].notna()]
    for row in infinite.drop_duplicates(GROUP).to_dict("records"):
        doubts.append(f"The Latent PPL of {names.source(row, seed=False)} is infinite: {row['infinite_because']}.")
    return [*doubts, *_of_smoothing(rows, names)]


def _of_smoothing(rows: pd.DataFrame, names: Names) -> list[str]:
    """Which values rest on the smoothing of the critic, of the first seed that does."""
    said: dict[str, str] = {}
    for row in rows.to_dict("records"):
        ways = [(row[f"smoothing_{way}"], row[f"latent_ppl_{way}"]) for way in ("less", "more")]
        others = [(delta, value) for delta, value in ways if not missing(delta)]
        name = names.source(row, seed=False)
        if words := rests_on_smoothing(name, row["latent_ppl"], row["smoothing"], others):
            said.setdefault(name, words)
    return list(said.values())


def _of_titles(rows: pd.DataFrame, titles: pd.DataFrame, names: Names) -> list[tuple[str, float]]:
    """What leaving titles out does, and how strong that is."""
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
    """How far apart a generator with titles and without them is, under the seed that sets them least apart."""
    if not _moved(group):
        return 0.0
    return min(strength(*_with_and_without(rows, pair), by_ratio=True) for pair in group.to_dict("records"))


def _with_and_without(rows: pd.DataFrame, pair: Mapping[str, Any]) -> tuple[Number, Number]:
    same = matching(rows, {key: pair[key] for key in ("corpus", "generator", "decoding", *RUN)})
    both = same.set_index("setting")[["latent_ppl", "ci_low", "ci_high"]].astype(float)
    return Number(*both.loc["w-title"]), Number(*both.loc["wo-title"])


def _moved(group: pd.DataFrame) -> bool:
    """Whether titles make a measurable difference to a generator: to this model, or to the recipe."""
    p = _p_of(group)
    return p is not None and p < ALPHA and bool(np.isfinite(_means(group)).all())


def _means(group: pd.DataFrame) -> tuple[float, float]:
    """The Latent PPL with titles and without: geometric means over trainings."""
    before, after = (over_trainings(group[name].tolist(), by_ratio=True) for name in ("with_titles", "without_titles"))
    return before.mean, after.mean


def _p_of(group: pd.DataFrame) -> float | None:
    """Of Student's test between the two recipes; with one training, of all its draws the largest."""
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
