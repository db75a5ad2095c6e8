"""The tables of statistical tendencies, for reading."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

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
from textcritic.experiments.tendencies.words import RANKED, by_chance_alone
from textcritic.inference import Number, over_runs
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, missing, number, p_value, percent, plural, significant
from textcritic.measures.scored import reasons_from_words, reasons_over_seeds
from textcritic.plan.sources import DATA, GROUP, RUN
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

CellOf = Callable[[pd.DataFrame, Statistic], Cell]
"""What people read where neither a difference nor none was found."""


def tendencies_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each sample, a column for each tendency: whether it keeps to it, and by how much it does not."""
    body = []
    for name, group in _sources(rows, names):
        cells = [_verdict(group[group["tendency"] == tendency.name]) for tendency in TENDENCIES]
        body.append([Cell(name, heading=True), *cells])
    margins = "; ".join(f"{one.title.lower()}: {one.margin:g} ({one.unit})" for one in TENDENCIES)
    remarks = [
        *remarks_of(__file__, "tendencies", margins=margins),
        by_chance_alone(len(TENDENCIES)),
        *remarks_of(__file__, "tendencies, more"),
    ]
    remarks += _lost(rows.drop_duplicates([*GROUP, *RUN]))
    heads = ("Source", *(tendency.title for tendency in TENDENCIES))
    return _sheet("tendencies", "What samples keep of the tendencies of real text", heads, body, remarks)


def values_sheet(rows: pd.DataFrame, names: Names, name: str = "tendencies-values", only: Sequence[str] = ()) -> Sheet:
    """A row for each source, a column for each estimate (paper, Tables 4 and 5).

    Args:
        rows: as `rows.value_rows` makes them.
        names: of the sources.
        name: of the table.
        only: the estimates that it has; none means all.
    """
    chosen = [statistic for statistic in ESTIMATES if not only or statistic.name in only]
    body = _body(rows, names, chosen, _value)
    for row, (_, group) in zip(body, _sources(rows, names), strict=True):
        row.append(_documents(group))
    draws = int(rows["draws"].max()) if rows["draws"].notna().any() else 0
    remarks = [
        *remarks_of(__file__, "values"),
    ]
    if any(statistic.name == "s" for statistic in chosen):
        remarks.append(RANKED)
    if rows["at_size"].notna().any():
        remarks.append(
            "s, different words, Taylor’s α and recurrence depend on how much text they are made of. Under those of a "
            "sample: what it and real text have at one size, that of the smaller of both; the larger one is cut into "
            "random parts, ten or more, and the mean over these is shown; and the difference with its 95% interval."
        )
    if draws > 1:
        remarks.append(
            f"Under those of real text: the standard deviation (sd) over {draws} random draws of as many documents "
            "from the training set."
        )
    remarks += _lost(rows.drop_duplicates(["source", *GROUP, *RUN]))
    heads = ("Source", *(statistic.title for statistic in chosen), "Documents")
    return _sheet(name, "What is estimated on each source", heads, body, remarks)


def rejected_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The texts of each sample that were drawn and are no documents, by reason, and those that had not ended."""
    heads = ("Source", "Drawn", "Rejected", "Share", "Kept, not ended", "Reasons")
    body = []
    for row in rows.drop_duplicates([*GROUP, *RUN]).to_dict("records"):
        reasons = [f"{reason}: {count(n)}" for reason, n in reasons_from_words(row["rejected_by_reason"]).items()]
        values = [count(row["documents"] + row["rejected"]), count(row["rejected"]), percent(row["rejected_share"])]
        values.append(count(row["unfinished"]))
        cells = [*map(Cell, values), Cell("; ".join(reasons) or "none", words=True)]
        body.append([Cell(names.source(row), heading=True), *cells])
    header = [[*(Cell(head) for head in heads[:-1]), Cell(heads[-1], words=True)]]
    return Sheet("tendencies-rejected", "Texts that were drawn and not measured, by reason", header, body)


def distances_sheet(
    rows: pd.DataFrame, names: Names, name: str = "tendencies-distances", only: Sequence[str] = ()
) -> Sheet:
    """A row for each source, a column for each distance (paper, Tables 2 and 3); arguments as `values_sheet`."""
    chosen = [statistic for statistic in DISTANCES if not only or statistic.name in only]
    body = _body(rows, names, chosen, _distance)
    remarks = [
        *remarks_of(__file__, "distances"),
    ]
    if any(statistic.name.startswith("zipf") for statistic in chosen):
        remarks.append(
            "The p-value of a distance from Zipf’s law is of tokens drawn from it. It is near 1, or with the source’s "
            "own s near a half, whatever the text, where the distance is no more than the share of the law beyond the "
            "last rank: draws from the law have that as well. The audit has two distances without it."
        )
    heads = ("Source", *(statistic.title for statistic in chosen))
    return _sheet(name, "How far each source is from laws and from real text", heads, body, remarks)


def means_sheet(rows: pd.DataFrame, names: Names, name: str = "tendencies-means") -> Sheet:
    """A row for each sample, a column for each difference of means (paper, Table 6)."""
    body = _body(rows, names, DIFFERENCES, _difference)
    remarks = [*remarks_of(__file__, "means")]
    heads = ("Source", *(statistic.title for statistic in DIFFERENCES))
    return _sheet(name, "Differences of means between samples and real text", heads, body, remarks)


def models_sheet(rows: pd.DataFrame, name: str) -> Sheet:
    """The generators: parameters and perplexity (paper, Table 1)."""
    body = []
    for _, group in rows.groupby(GROUP, sort=False):
        cells = []
        for statistic, places in (("parameters", 0), ("perplexity", 2)):
            found = group[group["statistic"] == statistic]
            written = Statistic(statistic, "", places).written
            cells.append(Cell(written(_mean(found, "value")), tuple(_published(found, written))))
        body.append([Cell(str(group["label"].iloc[0]), heading=True), *cells])
    remarks = [*remarks_of(__file__, "models")]
    return _sheet(name, "The generators", ("Generator", "Parameters", "Perplexity"), body, remarks)


def samples_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The first documents of each source, as they are, and the paper's (Table 7)."""
    body = []
    for source, group in _sources(rows, names):
        for place, row in enumerate(group.to_dict("records")):
            printed = row["published_note"] if not missing(row["published"]) else ""
            notes = (f"published: {printed}",) if printed else ()
            body.append([Cell(source if place == 0 else "", heading=True), Cell(row["text"], notes, words=True)])
    remarks = ["The first two documents of each source; none was chosen."]
    return Sheet("samples", "Generated text", [[Cell("Source"), Cell("Text")]], body, remarks=remarks, prose=True)


def audit_sheet(rows: pd.DataFrame, names: Names, published: bool) -> Sheet:
    """A row for each source, a column for each way to settle a disputed detail."""
    options = [(switch, name, option) for switch, found in AUDIT.items() for name, option in found.items()]
    body = []
    for source, group in _sources(rows, names):
        cells = [_audited(group[group["statistic"] == name], switch) for switch, name, _ in options]
        body.append([Cell(source, heading=True), *cells])
    titles = {"s": "Zipf’s s", "zipf_own": "Distance from Zipf’s law", "unigram": "Difference of words"}
    header = [
        [Cell(""), *(Cell(titles[switch], span=len(found)) for switch, found in AUDIT.items())],
        [Cell("Source"), *(Cell(option) for _, _, option in options)],
    ]
    remarks = [*remarks_of(__file__, "audit")]
    if published:
        remarks.append(
            "The paper’s Table 5 says in its caption that s of the test set is 1.120; its Table 4 says 1.1997. With "
            "1.120, 31% of the law would lie beyond rank 10,000, which the distances do not allow: the value of "
            "Table 4 is shown."
        )
    return Sheet("tendencies-audit", "What each disputed detail does to the number", header, body, remarks=remarks)


def sizes_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each source and number of documents: how estimates change with the size of a corpus."""
    known = set(rows["statistic"])
    statistics = [statistic for statistic in SIZED if statistic.name in known]
    body = []
    for source, group in _sources(rows, names):
        for place, size in enumerate(sorted(group["documents"].unique())):
            cells = [_sized(group, statistic, size) for statistic in statistics]
            body.append([Cell(source if place == 0 else "", heading=True), Cell(count(size)), *cells])
    heads = ["Source", "Documents", *(statistic.title for statistic in statistics)]
    remarks = [*remarks_of(__file__, "sizes")]
    return _sheet("tendencies-sizes", "Estimates by number of documents", heads, body, remarks, stubs=2)


def _sheet(
    name: str, caption: str, heads: Sequence[str], body: list[list[Cell]], remarks: Sequence[str], stubs: int = 1
) -> Sheet:
    return Sheet(name, caption, [[Cell(head) for head in heads]], body, stubs=stubs, remarks=remarks)


def _body(rows: pd.DataFrame, names: Names, statistics: Sequence[Statistic], cell: CellOf) -> list[list[Cell]]:
    """A row for each source: its name, and a cell for each statistic, of the seeds that have a value."""
    body = []
    for source, group in _sources(rows, names):
        known = group[group["value"].notna()]
        cells = [cell(known[known["statistic"] == one.name], one) for one in statistics]
        body.append([Cell(source, heading=True), *cells])
    return body


def _sources(rows: pd.DataFrame, names: Names) -> Iterator[tuple[str, pd.DataFrame]]:
    """The name of each source and its rows, seeds together."""
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        yield names.source(group.iloc[0].to_dict(), seed=False), group


def _verdict(group: pd.DataFrame) -> Cell:
    """Of several seeds, that of the one that is farthest."""
    if group.empty or group["value"].isna().all():
        return Cell(MISSING if len(group) else NONE)
    row: dict[str, Any] = group.loc[group["value"].idxmax()].to_dict()
    times = "" if missing(row["times"]) or row["verdict"] != DIFFERS else f" ({number(row['times'], 2)}×)"
    notes = [_range(row, "value", "low", "high")]
    if not missing(row["p_value"]):
        notes.append(f"{p_value(row['p_value'])}, adjusted {p_value(row['p_adjusted'])}")
    if row["verdict"] == UNCLEAR and not missing(row["noticed"]):
        notes.append(f"noticed in 80% from {significant(row['noticed'])}")
    return Cell(f"{row['verdict']}{times}", tuple(notes))


def _range(row: dict[str, Any], value: str, low: str, high: str) -> str:
    if missing(row[low]):
        return significant(row[value])
    return f"{significant(row[value])} ({significant(row[low])}–{significant(row[high])})"


def _value(group: pd.DataFrame, statistic: Statistic) -> Cell:
    if group.empty:
        return Cell(NONE)
    row, written = group.iloc[0], statistic.written
    notes = _spread(group, written)
    if row["source"] == DATA and not missing(row["sd"]):
        notes.append(f"sd {significant(row['sd'])}")
    notes += _at_one_size(group, written)
    notes += _published(group, written)
    if not missing(row["published_sd"]):
        notes.append(f"published sd {significant(row['published_sd'])}")
    return Cell(written(_mean(group, "value")), tuple(notes))


def _distance(group: pd.DataFrame, statistic: Statistic) -> Cell:
    if group.empty:
        return Cell(NONE)
    row, notes = group.iloc[0], _spread(group, statistic.written)
    if not missing(row["floor"]):
        notes.append(f"second draw {significant(group['floor'].mean())}")
    tested = [value for value in group["p_value"] if not missing(value)]
    notes += [p_value(max(tested))] if tested else []
    return Cell(statistic.written(_mean(group, "value")), (*notes, *_published(group, statistic.written)))


def _difference(group: pd.DataFrame, statistic: Statistic) -> Cell:
    if group.empty:
        return Cell(NONE)
    row, notes = group.iloc[0], _spread(group, statistic.written, signed=True)
    if len(group) == 1:
        notes += [p_value(row["p_value"]), f"as printed {p_value(row['p_as_printed'])}"]
    return Cell(statistic.written(_mean(group, "value")), (*notes, *_published(group, statistic.written)))


def _spread(group: pd.DataFrame, written: Callable[[float | None], str], signed: bool = False) -> list[str]:
    """The interval of a single value, or of the mean over trainings, which is not below 0 unless it is `signed`."""
    low, high = group["low"].iloc[0], group["high"].iloc[0]
    over = ""
    if len(group) > 1:
        known = group[group["value"].notna()]
        ends = (known[end].astype(object).where(known[end].notna(), None) for end in ("low", "high"))
        numbers = (Number(*values) for values in zip(known["value"], *ends, strict=True))
        recipe = over_runs(list(zip(known["seed"], numbers, strict=True)))
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
    said = f" ({note})" if note else ""
    return [f"published {written(group['published'].iloc[0])}{said}", *ours]


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
    """How many texts of all samples were rejected, and had not ended; one row for each sample and seed."""
    drawn = first[first["source"] != DATA]
    documents, rejected, unfinished = (int(drawn[name].sum()) for name in ("documents", "rejected", "unfinished"))
    remarks = []
    if rejected:
        remarks.append(
            f"Of {count(documents + rejected)} texts that were drawn {count(rejected)} were rejected, and are in none "
            "of these numbers."
        )
    if unfinished:
        remarks.append(f"{count(unfinished)} documents had not ended after the decoding’s most tokens.")
    return remarks


def _audited(group: pd.DataFrame, switch: str) -> Cell:
    value = _mean(group, "value")
    if value is None:
        return Cell(NONE)
    written = BY_NAME["s"].written if switch == "s" else significant
    return Cell(written(value), tuple(_at_one_size(group, written)))


def _at_one_size(group: pd.DataFrame, written: Callable[[float | None], str]) -> list[str]:
    """What a sample and real text have at one size, and how much they differ there."""
    own, real, tokens, apart = (_mean(group, name) for name in ("at_size", "real_at_size", "at_tokens", "apart"))
    if own is None or real is None:
        return []
    said = f"at {count(tokens)} tokens {written(own)}, real text {written(real)}"
    low, high = group["apart_low"].iloc[0], group["apart_high"].iloc[0]
    ends = "" if len(group) > 1 or missing(low) else f" ({_signed(low, written)} to {_signed(high, written)})"
    return [said, f"difference {_signed(apart, written)}{ends}"]


def _signed(value: float | None, written: Callable[[float | None], str]) -> str:
    if value is None or missing(value):
        return NONE
    return f"{'−' if value < 0 else '+'}{written(abs(value))}"


def _sized(group: pd.DataFrame, statistic: Statistic, size: float) -> Cell:
    found = group[(group["statistic"] == statistic.name) & (group["documents"] == size)]
    value = _mean(found, "value")
    if value is None:
        return Cell(NONE)
    corrected = _mean(found, "corrected")
    without = () if corrected is None else (f"without chance {statistic.written(corrected)}",)
    return Cell(statistic.written(value), without)
