"""The table of unlikely steps, for reading (model criticism paper, Table 12)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from textcritic.report.details import TABLE_THRESHOLD
from textcritic.report.numbers import NONE, count, missing, number, percent, plural
from textcritic.report.repetition_sheets import PUBLISHED_SHARES, chance, published_cell
from textcritic.report.sheet import Cell, Sheet
from textcritic.report.sources import GROUP, Names
from textcritic.report.transition_errors import ALL, REPEATED, SHOWN

HEADS = ("Source", "From", "To", "Share of steps", "In real text")
TOTALS = {ALL: "all unlikely steps", REPEATED: "of these, repeat a section"}


def errors_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """All unlikely steps of each source, how many of them repeat a title, the commonest kinds, and those published."""
    published = bool(rows["published"].notna().any())
    body = []
    for _, group in rows.groupby(["corpus", "source", *GROUP[1:]], sort=False, dropna=False):
        steps = [(ALL, ""), (REPEATED, ""), *_shown(group)]
        for index, step in enumerate(steps):
            one = _over_seeds(group, step)
            stub = _source_cell(group, names) if index == 0 else Cell("")
            words = [Cell(TOTALS[step[0]]), Cell("")] if step[0] in TOTALS else [Cell(s.strip("<>")) for s in step]
            real = Cell(NONE if group["generator"].iloc[0] == "data" else _percent(one["data_percent"]))
            body.append([stub, *words, _share_cell(one, step), real, *[published_cell(one)] * published])
    return Sheet(
        "transition-errors",
        "Section transition errors",
        [[Cell(head) for head in (*HEADS, *["Published"] * published)]],
        body,
        stubs=3,
        remarks=_remarks(published, several=bool(rows["seed"].nunique() > 1)),
    )


def _shown(group: pd.DataFrame) -> list[tuple[str, str]]:
    """The commonest kinds of steps under all seeds together, then the published ones that are not among them."""
    kinds = group[~group["from"].isin(TOTALS)]
    shares = kinds.groupby(["from", "to"], sort=False)["percent"].sum().sort_values(ascending=False, kind="stable")
    unlikely = kinds[kinds["probability"] < TABLE_THRESHOLD]
    among = set(zip(unlikely["from"], unlikely["to"], strict=True))
    commonest = [step for step in shares.index if step in among][:SHOWN]
    asked = kinds[kinds["published"].notna()]
    return list(dict.fromkeys([*commonest, *zip(asked["from"], asked["to"], strict=True)]))


def _over_seeds(group: pd.DataFrame, step: tuple[str, str]) -> dict[str, Any]:
    """One kind of step under all seeds: means, and sums of the counts; `seeds` and `sd` where there are several."""
    found = group[(group["from"] == step[0]) & (group["to"] == step[1])]
    totals = group[group["from"] == ALL]
    # The samples that never take this step; real text has no seed, and its steps are all there.
    absent = totals[totals["seed"].notna() & ~totals["seed"].isin(found["seed"])]
    values = pd.concat([found["percent"], absent["percent"] * 0])
    first = found.iloc[0].to_dict()
    first |= {"count": found["count"].sum(), "steps": found["steps"].sum() + absent["steps"].sum()}
    first |= {"percent": values.mean(), "seeds": len(values), "sd": values.std(ddof=1) if len(values) > 1 else None}
    return first | {"difference": first["percent"] - first["published"] if not missing(first["published"]) else None}


def _source_cell(group: pd.DataFrame, names: Names) -> Cell:
    documents = int(group.loc[group["from"] == ALL, "documents"].sum())
    name = names.source(group.iloc[0].to_dict(), seed=False)
    return Cell(name, (plural(documents, "article"),), heading=True)


def _share_cell(row: Mapping[str, Any], step: tuple[str, str]) -> Cell:
    if missing(row["percent"]):
        return Cell(NONE)
    spread = f"{_percent(row['ci_low'])} to {_percent(row['ci_high'])}"
    if row["seeds"] > 1:
        spread = f"± {number(row['sd'])} over {row['seeds']} seeds"
    # Of what never happens, resampling says nothing.
    notes = [*[spread] * bool(row["count"]), f"{count(row['count'])} of {count(row['steps'])}"]
    if step[0] not in TOTALS:
        if missing(row["probability"]):
            notes.append("no such section type here")
        elif row["probability"] >= TABLE_THRESHOLD:
            notes.append(f"not unlikely here: {chance(row['probability'])}")
    return Cell(_percent(row["percent"]), tuple(notes))


def _remarks(published: bool, several: bool) -> list[str]:
    kinds = f"The {SHOWN} commonest of each source are shown{', and those published' if published else ''}."
    spread = "its 95% interval, and how many of how many steps"
    if several:
        spread = "its 95% interval (with several seeds: their standard deviation, under their mean), and how many of"
        spread += " how many steps under all seeds"
    words = [
        f"An unlikely step has P < {TABLE_THRESHOLD} under the critic. {kinds}",
        f"Under each share: {spread}.",
    ]
    return [*words, *[PUBLISHED_SHARES] * published]


def _percent(value: float | None) -> str:
    return percent(None if missing(value) else float(str(value)) / 100)
