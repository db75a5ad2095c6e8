"""The tables of statistical tendencies, for reading."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from textcritic.critics.tendencies.verdicts import DIFFERS, MISSING, TENDENCIES, UNCLEAR
from textcritic.experiments.tendencies.rows import AUDIT
from textcritic.experiments.tendencies.statistics import (
    BY_NAME,
    DIFFERENCES,
    DISTANCES,
    ESTIMATES,
    SIZED,
    Statistic,
)
from textcritic.experiments.tendencies.words import by_chance_alone
from textcritic.inference import Number, over_runs
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, missing, number, p_value, percent, plural, significant
from textcritic.measures.phrases import with_n
from textcritic.measures.scored import reasons_from_words, reasons_over_seeds
from textcritic.plan.sources import DATA, GROUP, RUN
from textcritic.report.cells import Column, by_source, measure_sheet
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet, unrepeated
from textcritic.values import Row

NotesOf = Callable[[pd.DataFrame, Statistic], list[str]]


def tendencies_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each sample, a column for each tendency: whether it keeps to it, and by how much it differs."""
    columns: dict[str, Column] = {one.title: _of(_verdict, one.name, "tendency") for one in TENDENCIES}
    margins = "; ".join(f"{one.title.lower()}: {one.margin:g} ({one.unit})" for one in TENDENCIES)
    chance = by_chance_alone(len(TENDENCIES))
    remarks = [
        *remarks_of(__file__, "tendencies", margins=margins, chance=chance),
        *_lost(rows.drop_duplicates([*GROUP, *RUN])),
    ]
    heading = ("tendencies", "Which tendencies of real text samples keep")
    return measure_sheet(heading, rows, names, columns, remarks)


def values_sheet(rows: pd.DataFrame, names: Names, name: str = "tendencies-values", only: Sequence[str] = ()) -> Sheet:
    """A row for each source, a column for each estimate (paper, Tables 4 and 5).

    Args:
        rows: as `rows.value_rows` makes them.
        names: of the sources.
        name: of the table.
        only: the estimates to show; empty means all.
    """
    chosen = [one for one in ESTIMATES if not only or one.name in only]
    columns = {**_columns(_of_value, chosen), "Documents": _documents}
    draws = int(rows["draws"].max()) if rows["draws"].notna().any() else 0
    parts = {"s": BY_NAME["s"].title in columns, "sizes": rows["at_size"].notna().any(), "draws": draws > 1}
    headings = ["values", *(f"values: {part}" for part, is_there in parts.items() if is_there)]
    remarks = remarks_of(__file__, *headings, draws=draws)
    remarks += _lost(rows.drop_duplicates(["source", *GROUP, *RUN]))
    return measure_sheet((name, "Estimates on each source"), rows, names, columns, remarks)


def rejected_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The texts of each sample that were drawn but are not documents, by reason, and those that had not ended."""
    heads = ("Source", "Drawn", "Rejected", "Share", "Kept, not ended", Cell("Reasons", words=True))
    body: list[Line] = []
    for row in rows.drop_duplicates([*GROUP, *RUN]).to_dict("records"):
        reasons = [f"{reason}: {count(n)}" for reason, n in reasons_from_words(row["rejected_by_reason"]).items()]
        values = [count(row["documents"] + row["rejected"]), count(row["rejected"]), percent(row["rejected_share"])]
        values.append(count(row["unfinished"]))
        body.append([names.source(row), *values, Cell("; ".join(reasons) or "none", words=True)])
    return plain_sheet("tendencies-rejected", "Texts that were drawn and not measured, by reason", heads, body)


def distances_sheet(
    rows: pd.DataFrame, names: Names, name: str = "tendencies-distances", only: Sequence[str] = ()
) -> Sheet:
    """A row for each source, a column for each distance (paper, Tables 2 and 3); arguments as `values_sheet`."""
    chosen = [statistic for statistic in DISTANCES if not only or statistic.name in only]
    of_law = any(statistic.name.startswith("zipf") for statistic in chosen)
    remarks = remarks_of(__file__, "distances", *["distances: law"] * of_law)
    heading = (name, "How far each source is from laws and from real text")
    return measure_sheet(heading, rows, names, _columns(_of_distance, chosen), remarks)


def means_sheet(rows: pd.DataFrame, names: Names, name: str = "tendencies-means") -> Sheet:
    """A row for each sample, a column for each difference of means (paper, Table 6)."""
    heading = (name, "Differences of means between samples and real text")
    columns = _columns(_of_difference, DIFFERENCES)
    return measure_sheet(heading, rows, names, columns, remarks_of(__file__, "means"))


def models_sheet(rows: pd.DataFrame, name: str) -> Sheet:
    """The generators: parameters and perplexity (paper, Table 1)."""
    body: list[Line] = []
    for _, group in rows.groupby(GROUP, sort=False):
        cells = []
        for statistic, places in (("parameters", 0), ("perplexity", 2)):
            rows_of = group[group["statistic"] == statistic]
            written = Statistic(statistic, "", places).written
            cells.append(Cell(written(_mean(rows_of, "value")), tuple(_published(rows_of, written))))
        body.append([str(group["label"].iloc[0]), *cells])
    heads = ("Generator", "Parameters", "Perplexity")
    return plain_sheet(name, "The generators", heads, body, remarks_of(__file__, "models"))


def samples_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The first documents of each source, unchanged, and the paper's (Table 7)."""
    body: list[Line] = []
    for source, group in by_source(rows, names):
        for row in group.to_dict("records"):
            printed = row["published_note"] if not missing(row["published"]) else ""
            notes = (f"published: {printed}",) if printed else ()
            body.append([source, Cell(row["text"], notes, words=True)])
    remarks = remarks_of(__file__, "samples")
    sheet = plain_sheet("samples", "Generated text", ("Source", "Text"), unrepeated(body), remarks)
    return replace(sheet, prose=True)


def audit_sheet(rows: pd.DataFrame, names: Names, published: bool) -> Sheet:
    """A row for each source, a column for each way to settle a disputed detail."""
    columns: dict[str, Column] = {
        option: _of(partial(_audited, switch=switch), name)
        for switch, options in AUDIT.items()
        for name, option in options.items()
    }
    titles = {"s": "Zipf’s s", "zipf_own": "Distance from Zipf’s law", "unigram": "Difference of words"}
    top = [Cell(""), *(Cell(titles[switch], span=len(options)) for switch, options in AUDIT.items())]
    remarks = remarks_of(__file__, "audit", *["audit: published"] * published)
    heading = ("tendencies-audit", "How each disputed detail changes the number")
    sheet = measure_sheet(heading, rows, names, columns, remarks)
    return replace(sheet, header=[top, *sheet.header])


def sizes_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each source and number of documents: how estimates change with the size of a corpus."""
    present = set(rows["statistic"])
    statistics = [statistic for statistic in SIZED if statistic.name in present]
    body: list[Line] = [
        [source, count(size), *(_sized(group, statistic, size) for statistic in statistics)]
        for source, group in by_source(rows, names)
        for size in sorted(group["documents"].unique())
    ]
    heads = ("Source", "Documents", *(statistic.title for statistic in statistics))
    caption, remarks = "Estimates by number of documents", remarks_of(__file__, "sizes")
    return plain_sheet("tendencies-sizes", caption, heads, unrepeated(body), remarks, stubs=2)


def _columns(notes: NotesOf, statistics: Sequence[Statistic]) -> dict[str, Column]:
    """A column for each statistic: the mean of the seeds that have a value, and notes under it."""

    def cell(rows: pd.DataFrame, one: Statistic) -> Cell:
        group = rows[rows["value"].notna()]
        return Cell(NONE) if group.empty else Cell(one.written(_mean(group, "value")), tuple(notes(group, one)))

    return {one.title: _of(partial(cell, one=one), one.name) for one in statistics}


def _of(cell: Callable[[pd.DataFrame], Cell], name: str, key: str = "statistic") -> Callable[[pd.DataFrame], Cell]:
    """A cell of the rows of a source that are of one statistic, or of one tendency."""
    return lambda group: cell(group[group[key] == name])


def _verdict(group: pd.DataFrame) -> Cell:
    """The verdict; of several seeds, that of the seed with the largest distance."""
    if group.empty or group["value"].isna().all():
        return Cell(MISSING if len(group) else NONE)
    row: Row = group.loc[group["value"].idxmax()].to_dict()
    times = "" if missing(row["times"]) or row["verdict"] != DIFFERS else f" ({number(row['times'], 2)}×)"
    notes = [_range(row, "value", "low", "high")]
    if not missing(row["p_value"]):
        notes.append(f"{p_value(row['p_value'])}, adjusted {p_value(row['p_adjusted'])}")
    if row["verdict"] == UNCLEAR and not missing(row["noticed"]):
        notes.append(f"noticed in 80% from {significant(row['noticed'])}")
    return Cell(with_n(row["documents"], f"{row['verdict']}{times}"), tuple(notes))


def _range(row: Row, value: str, low: str, high: str) -> str:
    if missing(row[low]):
        return significant(row[value])
    return f"{significant(row[value])} ({significant(row[low])}–{significant(row[high])})"


def _of_value(group: pd.DataFrame, statistic: Statistic) -> list[str]:
    row, written = group.iloc[0], statistic.written
    notes = _spread(group, written)
    if row["source"] == DATA and not missing(row["sd"]):
        notes.append(f"sd {significant(row['sd'])}")
    notes += [*_at_one_size(group, written), *_published(group, written)]
    if not missing(row["published_sd"]):
        notes.append(f"published sd {significant(row['published_sd'])}")
    return notes


def _of_distance(group: pd.DataFrame, statistic: Statistic) -> list[str]:
    row, notes = group.iloc[0], _spread(group, statistic.written)
    if not missing(row["floor"]):
        notes.append(f"second draw {significant(group['floor'].mean())}")
    tested = [value for value in group["p_value"] if not missing(value)]
    notes += [p_value(max(tested))] if tested else []
    return [*notes, *_published(group, statistic.written)]


def _of_difference(group: pd.DataFrame, statistic: Statistic) -> list[str]:
    row, notes = group.iloc[0], _spread(group, statistic.written, signed=True)
    if len(group) == 1:
        notes += [p_value(row["p_value"]), f"as printed {p_value(row['p_as_printed'])}"]
    return [*notes, *_published(group, statistic.written)]


def _spread(group: pd.DataFrame, written: Callable[[float | None], str], signed: bool = False) -> list[str]:
    """The interval of a single value, or of the mean over trainings, which is not below 0 unless it is `signed`."""
    low, high = group["low"].iloc[0], group["high"].iloc[0]
    over = ""
    if len(group) > 1:
        measured = group[group["value"].notna()]
        ends = (measured[end].astype(object).where(measured[end].notna(), None) for end in ("low", "high"))
        numbers = (Number(*values) for values in zip(measured["value"], *ends, strict=True))
        recipe = over_runs(list(zip(measured["seed"], numbers, strict=True)))
        low, high = recipe.low, recipe.high
        low = low if signed or low is None else max(low, 0.0)
        over = f" over {plural(recipe.trainings, 'training')}" if recipe.trainings > 1 else ""
    if missing(low):
        return []
    return [f"{written(low)}{' to ' if low < 0 else '–'}{written(high)}{over}"]


def _published(group: pd.DataFrame, written: Callable[[float | None], str]) -> list[str]:
    if group.empty or missing(group["published"].iloc[0]):
        return []
    gap = group["difference"].mean()
    ours = [] if missing(gap) else [f"ours {'+' if gap > 0 else ''}{written(gap)}"]
    note = group["published_note"].iloc[0] if "published_note" in group else ""
    remark = f" ({note})" if note else ""
    return [f"published {written(group['published'].iloc[0])}{remark}", *ours]


def _mean(group: pd.DataFrame, column: str) -> float | None:
    return None if group.empty or group[column].isna().all() else float(group[column].mean())


def _documents(group: pd.DataFrame) -> Cell:
    first = group.drop_duplicates(list(RUN))
    documents, empty, rejected, unfinished = (
        int(first[name].sum()) for name in ("documents", "empty", "rejected", "unfinished")
    )
    notes = [f"{count(first['tokens'].sum())} tokens", *([f"{count(empty)} empty"] if empty else [])]
    notes += [f"{count(unfinished)} had not ended"] if unfinished else []
    if rejected:
        notes.append(f"{count(rejected)} of {count(documents + rejected)} rejected")
        notes += [f"{reason}: {count(n)}" for reason, n in list(reasons_over_seeds(first).items())[:3]]
    return Cell(count(documents), tuple(notes))


def _lost(first: pd.DataFrame) -> list[str]:
    """Remarks on how many texts of all samples were rejected or unfinished; `first` has a row a sample and seed."""
    drawn = first[first["source"] != DATA]
    documents, rejected, unfinished = (int(drawn[name].sum()) for name in ("documents", "rejected", "unfinished"))
    remarks = []
    if rejected:
        remarks.append(
            f"Of {count(documents + rejected)} texts that were drawn {count(rejected)} were rejected; they do not "
            "count in these numbers."
        )
    if unfinished:
        remarks.append(f"{count(unfinished)} documents had not ended at the decoding’s largest number of tokens.")
    return remarks


def _audited(group: pd.DataFrame, switch: str) -> Cell:
    value = _mean(group, "value")
    if value is None:
        return Cell(NONE)
    written = BY_NAME["s"].written if switch == "s" else significant
    return Cell(written(value), tuple(_at_one_size(group, written)))


def _at_one_size(group: pd.DataFrame, written: Callable[[float | None], str]) -> list[str]:
    """The values of a sample and of real text at one size, and their difference."""
    own, real, tokens, apart = (_mean(group, name) for name in ("at_size", "real_at_size", "at_tokens", "apart"))
    if own is None or real is None:
        return []
    values = f"at {count(tokens)} tokens {written(own)}, real text {written(real)}"
    low, high = group["apart_low"].iloc[0], group["apart_high"].iloc[0]
    ends = "" if len(group) > 1 or missing(low) else f" ({_signed(low, written)} to {_signed(high, written)})"
    return [values, f"difference {_signed(apart, written)}{ends}"]


def _signed(value: float | None, written: Callable[[float | None], str]) -> str:
    if value is None or missing(value):
        return NONE
    return f"{'−' if value < 0 else '+'}{written(abs(value))}"


def _sized(group: pd.DataFrame, statistic: Statistic, size: float) -> Cell:
    of_size = group[(group["statistic"] == statistic.name) & (group["documents"] == size)]
    value = _mean(of_size, "value")
    if value is None:
        return Cell(NONE)
    corrected = _mean(of_size, "corrected")
    without = () if corrected is None else (f"without chance {statistic.written(corrected)}",)
    return Cell(statistic.written(value), without)
