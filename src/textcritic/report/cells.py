"""Tables of sources, and the cells and remarks that tables of several kinds have in common."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import pandas as pd

from textcritic.inference import ALPHA, over_runs
from textcritic.measures.measure import Measure
from textcritic.measures.names import SourceNames
from textcritic.measures.numbers import NONE, count, difference, missing, number, p_value, percent, plural
from textcritic.measures.phrases import commonest_reasons
from textcritic.measures.scored import reasons_over_seeds, runs_of
from textcritic.plan.sources import GROUP
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

Value = TypeVar("Value", bound=Hashable)
Column = Measure | Callable[[pd.DataFrame], Cell | str]

PERPLEXITY = Measure(
    name="Perplexity",
    value="ppl_all",
    low="ppl_all_low",
    high="ppl_all_high",
    p="",
    metric="ppl",
    published="ppl_published",
    difference="ppl_difference",
    because="ppl_infinite_because",
    by_ratio=True,
)
"""The perplexity of a generator over all tokens, as `scored.perplexity_of` reads it."""


def measure_sheet(
    heading: tuple[str, str],
    rows: pd.DataFrame,
    names: SourceNames,
    columns: Mapping[str, Column],
    remarks: Sequence[str] = (),
    first: str = "Source",
) -> Sheet:
    """The main table of most kinds: a row for each source, its seeds together.

    Args:
        heading: name and caption of the table.
        rows: as `rows.source_rows` makes them.
        names: of the sources.
        columns: by their heads, each a measure, or a function from the rows of a source to a cell.
        remarks: under the table.
        first: the head of the names of the sources.
    """
    body: list[Line] = [
        [name, *(measure_cell(group, of) if isinstance(of, Measure) else of(group) for of in columns.values())]
        for name, group in by_source(rows, names)
    ]
    return plain_sheet(*heading, [first, *columns], body, remarks)


def by_source(rows: pd.DataFrame, names: SourceNames, **named: bool) -> Iterator[tuple[str, pd.DataFrame]]:
    """The name of each source, see `Names.source` for `named`, and its rows, seeds together."""
    if rows.empty:
        return
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        yield names.source(group.iloc[0].to_dict(), seed=False, **named), group


def measure_cell(group: pd.DataFrame, measure: Measure, span: int = 1) -> Cell:
    """A measure of one source: the value with its interval, published value and p-value.

    Args:
        group: the rows of its seeds. For several trainings with a value: their mean with Student's interval, and how
            many of them differ from real text. A missing interval or p-value is replaced by the reason.
        measure: what is shown.
        span: columns that the cell spans.
    """
    with_value = group[group[measure.value].notna()] if len(group) else group
    if with_value.empty:
        return Cell(NONE, span=span)
    value = over_runs(runs_of(with_value, measure), measure.by_ratio).mean
    notes = (
        note for part in (interval_note, published_note, p_note, missing_note) for note in part(with_value, measure)
    )
    return Cell(written(value, measure), tuple(notes), span)


def interval_cell(row: Row, columns: Sequence[str], write: Callable[[float], str] = percent) -> Cell:
    """A value with its interval, if it has one, under it; `columns` are those of the value and of both ends."""
    value, low, high = (row[column] for column in columns)
    notes = () if missing(low) else (f"{write(low)}–{write(high)}",)
    return Cell(NONE if missing(value) else write(value), notes)


def written(value: float | None, measure: Measure) -> str:
    """A value of a measure as people read it: a number, or a percentage."""
    if measure.whole is None or value is None or missing(value):
        return number(value)
    return percent(value / measure.whole)


def left_out_cell(group: pd.DataFrame) -> Cell:
    """The share of a source's documents that could not be scored, over all seeds, and the commonest reasons."""
    rejected = int(group["rejected"].sum())
    drawn = rejected + int(group["documents"].sum())
    if not rejected:
        return Cell("0", (f"of {count(drawn)}",))
    reasons = list(reasons_over_seeds(group).items())[:3]
    return Cell(percent(rejected / drawn), tuple(f"{reason}: {count(n)}" for reason, n in reasons))


def ppl_cell(group: pd.DataFrame, span: int = 1, measure: Measure = PERPLEXITY) -> Cell:
    """A perplexity with its unit if that is words, its interval and published value."""
    cell = measure_cell(group, measure, span)
    per_word = len(group) > 0 and cell.text != NONE and group["ppl_unit"].iloc[0] == "words"
    return replace(cell, notes=("per word", *cell.notes)) if per_word else cell


def unscored_sheet(rows: pd.DataFrame, names: SourceNames, name: str, caption: str) -> Sheet:
    """How many documents of each source and seed could not be scored, and why.

    Args:
        rows: with `documents`, `rejected`, `rejected_share` and `rejected_by_reason`.
        names: of the sources.
        name: of the table.
        caption: what the table says.
    """
    heads = ("Source", "Documents", "Left out", "Share", Cell("Reasons", words=True))
    body: list[Line] = []
    for row in rows.to_dict("records"):
        values = [count(row["documents"] + row["rejected"]), count(row["rejected"]), percent(row["rejected_share"])]
        reasons = Cell(commonest_reasons(row["rejected_by_reason"]) or "none", words=True)
        body.append([names.source(row), *values, reasons])
    return plain_sheet(name, caption, heads, body)


def unit_remarks(rows: pd.DataFrame) -> list[str]:
    """The unit of perplexities (per token or per word); empty if there are none."""
    words = {
        frozenset({"tokens"}): "Perplexity is per token of the generator's own encoding.",
        frozenset({"words"}): "Perplexity is per word.",
        frozenset({"tokens", "words"}): "Perplexity is per token of the generator's own encoding, or per word where it "
        "says so; the two cannot be compared.",
    }
    return [words[units]] if (units := frozenset(rows["ppl_unit"].dropna())) else []


def infinite_remarks(rows: pd.DataFrame, names: SourceNames, perplexity: str = "Perplexity") -> list[str]:
    """Why each infinite value is infinite; `perplexity` is the name of a generator's perplexity."""
    remarks = []
    for metric, column in ((perplexity, "ppl_infinite_because"), ("Latent PPL", "infinite_because")):
        for row in rows[rows[column].notna()].to_dict("records"):
            remarks.append(f"{metric} of {names.source(row)} is infinite: {row[column]}.")
    return list(dict.fromkeys(remarks))


def interval_note(group: pd.DataFrame, measure: Measure) -> list[str]:
    """The interval of a single value over documents, or of several over trainings."""
    if len(group) > 1:
        recipe = over_runs(runs_of(group, measure), measure.by_ratio)
        if recipe.low is None or recipe.high is None:
            return []
        low, high = recipe.low, recipe.high
        if measure.whole is not None:  # Student's interval has no bounds, but a share has
            low, high = max(low, 0.0), min(high, float(measure.whole))
        over = plural(recipe.trainings, "training") if recipe.trainings > 1 else plural(len(group), "draw")
        return [f"{written(low, measure)}–{written(high, measure)} over {over}"]
    if not measure.low or missing(low := group[measure.low].iloc[0]):
        return []
    return [f"{written(low, measure)}–{written(group[measure.high].iloc[0], measure)}"]


def published_note(group: pd.DataFrame, measure: Measure) -> list[str]:
    """The published value, as it was printed, and ours minus it, if there is one."""
    if not measure.published or missing(printed := group[measure.published].iloc[0]):
        return []
    value, gap = float(printed), float(group[measure.difference].mean())
    as_printed = f"{value:,.2f}" if abs(value) >= 0.1 else number(value)
    return [f"published {as_printed}", f"ours {difference(gap, of=value)}"]


def p_note(group: pd.DataFrame, measure: Measure) -> list[str]:
    """The p-value; for several trainings, how many of them differ from real text. Empty without a test."""
    values = [value for value in group[measure.p] if not missing(value)] if measure.p else []
    if len(values) < 2:
        return [p_value(value) for value in values]
    what = "trainings" if group["seed"].nunique() == len(group) else "draws"
    return [f"p < {ALPHA:g} in {sum(value < ALPHA for value in values)} of {len(values)} {what}"]


def missing_note(group: pd.DataFrame, measure: Measure) -> list[str]:
    """Why there is no interval or no p-value."""
    # Several trainings or draws together have an interval, whatever each of them lacks.
    if measure.why not in group or (len(group) > 1 and interval_note(group, measure)):
        return []
    return unique(why for why in group[measure.why] if why and not missing(why))


def matching(rows: pd.DataFrame, wanted: Row) -> pd.DataFrame:
    """The rows whose columns have these values; a missing value matches a missing value."""
    for key, value in wanted.items():
        rows = rows[rows[key].isna()] if missing(value) else rows[rows[key] == value]
    return rows


def unique(values: Iterable[Value]) -> list[Value]:
    """Each value once, in order of appearance."""
    return list(dict.fromkeys(values))
