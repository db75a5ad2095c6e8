"""The tables of repeated sections, for reading: how often, and whole articles (model criticism paper, Table 13)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from textcritic.report.numbers import NONE, count, difference, interval, missing, number, percent
from textcritic.report.repetition_examples import Example
from textcritic.report.sheet import Cell, Sheet
from textcritic.report.sources import Names

PUBLISHED_SHARES = "The published shares are of one run each; under them ours minus them, in percentage points."
SHOWN_CHARACTERS = 420  # of a section's text in the table


def rates_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """How often a section repeats the one before, of all steps and of the unlikely ones."""
    published = bool(rows["published"].notna().any())
    heads = ("Source", "Articles", "Steps that repeat a section", "Unlikely steps that do", *["Published"] * published)
    body = []
    for row in rows.to_dict("records"):
        theirs = published_cell(row)
        cells = [
            Cell(names.source(row), heading=True),
            Cell(count(row["documents"])),
            _rate_cell(row, "repeated_percent", "repeated", "steps"),
            _rate_cell(row, "share_percent", "errors_repeated", "errors"),
        ]
        body.append([*cells, *[theirs] * published])
    remarks = [
        "An unlikely step has P < 0.01 under the critic. Under each share: its 95% interval, and how many of how many.",
        *[PUBLISHED_SHARES, "They are of the unlikely steps."] * published,
    ]
    return Sheet(
        "repetition-rates",
        "Sections of the same type twice in a row",
        [[Cell(h) for h in heads]],
        body,
        remarks=remarks,
    )


def examples_sheet(examples: Sequence[Example], names: Names) -> Sheet:
    """Whole articles that repeat a section: each section's inferred title, how sure it is, and its start."""
    body = []
    for example in examples:
        body.append([Cell(f"{names.source(example.keys)}. {said(example)}", span=3, heading=True)])
        for place, section in enumerate(example.sections):
            notes = ("repeated",) if place in (example.place - 1, example.place) else ()
            text = Cell(shortened(" ".join(section.text.split()), SHOWN_CHARACTERS), words=True)
            body.append([Cell(section.title, notes), Cell(percent(section.posterior)), text])
    given = all(section.posterior is None for example in examples for section in example.sections)
    title = "Title" if examples and given else "Inferred title"
    header = [[Cell(title), Cell("Sure"), Cell("Section text", words=True)]]
    remarks = [] if examples else ["No sample has two sections of the same type in a row."]
    remarks += ["Sure: the classifier's posterior probability of the title."] * bool(examples and not given)
    return Sheet("repetitions", "Articles that repeat a section", header, body, remarks=remarks, prose=True)


def with_rates(sheet: Sheet, rows: pd.DataFrame, names: Names) -> Sheet:
    """The examples with the shares of all sources among the remarks, for a table that stands alone."""
    return replace(sheet, remarks=[*sheet.remarks, *(_rate_in_words(row, names) for row in rows.to_dict("records"))])


def said(example: Example) -> str:
    """What is wrong with the step, in words."""
    often = f"{count(example.followed) if example.followed else 'none'} of {count(example.total)} such sections"
    verb = "are" if example.followed > 1 else "is"
    rare = f"in the real training articles {often} {verb} followed by another of the same type"
    least = (
        "" if example.unlikely else " No repetition of this source is below 1%; this is among the least likely ones."
    )
    return f"“{example.title}” twice in a row, {chance(example.probability)} under the critic: {rare}.{least}"


def published_cell(row: Mapping[str, Any]) -> Cell:
    """A published share, and ours minus it, in percentage points."""
    if missing(row["published"]):
        return Cell(NONE)
    theirs, ours = percent_beside(row)
    return Cell(theirs.removeprefix("published "), (ours,))


def percent_beside(row: Mapping[str, Any]) -> tuple[str, str]:
    """The published share, as it was printed, and ours minus it."""
    gap = None if missing(row["difference"]) else float(row["difference"])
    return f"published {float(row['published']):g}%", f"ours {difference(gap)}"


def chance(probability: float) -> str:
    """A probability as the report writes it: `P = 0.31%`, `P < 0.01%`."""
    words = percent(probability)
    return f"P {words}" if words.startswith("<") else f"P = {words}"


def shortened(text: str, characters: int) -> str:
    """The start of a text, up to a word's end, with an ellipsis where something is left out."""
    if len(text) <= characters:
        return text
    start = text[:characters]
    # A text without a space in its second half is cut where it is.
    return start[: cut if (cut := start.rfind(" ")) > characters // 2 else characters].rstrip() + " …"


def _rate_cell(row: dict[str, Any], name: str, part: str, whole: str) -> Cell:
    if missing(row[name]):
        return Cell(NONE)
    low, high = (percent(row[f"{name}_{end}"] / 100) for end in ("low", "high"))
    return Cell(percent(row[name] / 100), (f"{low} to {high}", f"{count(row[part])} of {count(row[whole])}"))


def _rate_in_words(row: dict[str, Any], names: Names) -> str:
    if missing(row["share_percent"]):
        return f"{names.source(row)}: no unlikely step."
    share, span = number(row["share_percent"]), interval(row["share_percent_low"], row["share_percent_high"])
    theirs = "" if missing(row["published"]) else f"; {', '.join(percent_beside(row))}"
    errors = count(row["errors"])
    return f"{names.source(row)}: {share}% ({span}%) of {errors} unlikely steps repeat a section{theirs}."
