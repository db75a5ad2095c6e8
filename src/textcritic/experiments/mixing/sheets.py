"""The tables of mixed languages, for reading."""

from dataclasses import replace
from typing import Any

import pandas as pd

from textcritic.experiments.mixing.known import TESTS
from textcritic.experiments.mixing.rows import CORNERS, DISTANCE, DIVIDED, ENTROPY, MIXED, NLL, PARAMETERS
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, difference, missing, number, p_value, percent
from textcritic.measures.rows import in_groups
from textcritic.plan.sources import GROUP, SAMPLE
from textcritic.report.cells import PERPLEXITY, left_out_cell, measure_cell, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet


def mixing_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each source: how much it mixes, how far its posteriors are from real ones, what was left out."""
    heads = (
        "Source", "Words of another language", DIVIDED.name, CORNERS.name, ENTROPY.name, DISTANCE.name, NLL.name,
        PARAMETERS.name, PERPLEXITY.name, "Sentences", "Left out",
    )  # fmt: skip
    body = []
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        cells = [
            Cell(names.source(group.iloc[0].to_dict(), seed=False), heading=True),
            *(measure_cell(group, measure) for measure in (MIXED, DIVIDED, CORNERS, ENTROPY, DISTANCE, NLL)),
            measure_cell(group.iloc[[0]], PARAMETERS),
            measure_cell(group, replace(PERPLEXITY, published="", difference="")),
            Cell(f"{count(group['documents'].sum())}{in_groups(group)}", _words(group)),
            left_out_cell(group),
        ]
        body.append(cells)
    remarks = [
        *remarks_of(__file__, "mixing"),
        *_unconverged(rows),
    ]
    return Sheet("mixing", "Languages mixed in a sentence", [[Cell(head) for head in heads]], body, remarks=remarks)


def pairs_sheet(rows: pd.DataFrame) -> Sheet:
    """Every two samples of a corpus, the one that mixes more first."""
    corpora = unique(rows["corpus"])
    heads = ("Mixes more", "than", "Words of another language, difference")
    body = []
    for row in rows.to_dict("records"):
        start = f"{corpus_name(row['corpus'])}: " if len(corpora) > 1 else ""
        notes = (f"{difference(row['low'])} to {difference(row['high'])}", p_value(row["p_value"]))
        body.append(
            [Cell(start + row["more"], heading=True), Cell(row["less"]), Cell(_points(row["difference"]), notes)]
        )
    remarks = [*remarks_of(__file__, "pairs")]
    return Sheet(
        "mixing-pairs", "Which sample mixes more", [[Cell(head) for head in heads]], body, stubs=2, remarks=remarks
    )


def languages_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """How many sentences of each source are mostly in each topic, and whether the topics are the languages."""
    heads = ("Source", "Topic", "Language", "Sentences", "Words", "Right topic: words", "Right topic: sentences")
    body, before = [], ""
    for row in rows.to_dict("records"):
        right = [_right(row, "right_words"), _right(row, "right_sentences")]
        name = names.source(row)
        cells = [
            Cell("" if name == before else name, heading=True),
            Cell(str(row["topic"])),
            Cell(row["language"] or NONE),
        ]
        body.append([*cells, Cell(percent(row["share_of_sentences"])), Cell(percent(row["share_of_words"])), *right])
        before = name
    remarks = [*remarks_of(__file__, "languages")]
    caption = "Topics and languages"
    return Sheet("mixing-languages", caption, [[Cell(head) for head in heads]], body, stubs=3, remarks=remarks)


def words_sheet(rows: pd.DataFrame, names: Names, name: str = "mixing-words") -> Sheet:
    """The likeliest words of each topic (paper, Table 10)."""
    heads = ("Topic", "Language", "Share of words", "Alpha", "Likeliest words")
    body = []
    for row in rows.to_dict("records"):
        start = f"{corpus_name(row['corpus'])}: " if names.several_corpora else ""
        cells = [Cell(f"{start}{row['topic']}", heading=True), Cell(row["language"] or NONE)]
        cells += [Cell(percent(row["share"])), Cell(number(row["alpha"])), Cell(row["words"], words=True)]
        body.append(cells)
    remarks = [*remarks_of(__file__, "words")]
    header = [[Cell(head, words=head == heads[-1]) for head in heads]]
    return Sheet(name, "The topics", header, body, stubs=2, remarks=remarks)


def power_sheet(rows: pd.DataFrame) -> Sheet:
    """A row for each rate of mixing: what is recovered of it, and how often each test notices it."""
    sizes = sorted(int(size) for size in rows["sentences"].unique())
    tests = [(test, how, size) for test, how in TESTS.items() for size in sizes]
    heads = ["Words exchanged", "Can be seen", "Recovered", *(f"Noticed {how}, n = {count(n)}" for _, how, n in tests)]
    body = []
    for (corpus, rate), group in rows.groupby(["corpus", "rate"], sort=False):
        name = f"{corpus_name(corpus)}: {percent(rate)}" if rows["corpus"].nunique() > 1 else percent(rate)
        last = group.sort_values("sentences").iloc[-1]
        cells = [Cell(name, heading=True), Cell(percent(last["expected"]))]
        cells.append(Cell(percent(last["recovered"]), (_range(last, "recovered"),)))
        for test, _, size in tests:
            found = group[group["sentences"] == size]
            share = f"{test}detected"
            cell = Cell(NONE)
            if len(found):
                cell = Cell(percent(found.iloc[0][share]), (_range(found.iloc[0], share),))
            cells.append(cell)
        body.append(cells)
    remarks = ["No corpus of artificial languages is configured (`known`)."]
    if len(rows):
        repetitions = count(int(rows["repetitions"].max()))
        remarks = [*remarks_of(__file__, "power", repetitions=repetitions)]
    header = [[Cell(head) for head in heads]]
    return Sheet("mixing-power", "Mixing that the test notices", header, body, remarks=remarks)


def _unconverged(rows: pd.DataFrame) -> list[str]:
    corpora = unique(rows["corpus"][rows["converged"] == 0])
    return [f"The fit has not converged ({', '.join(corpora)}): after more sweeps the shares would be others."] * bool(
        corpora
    )


def _range(row: Any, column: str) -> str:
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    return NONE if missing(low) else f"{percent(low)}–{percent(high)}"


def _right(row: dict[str, Any], column: str) -> Cell:
    if missing(row[column]):
        return Cell("" if row["source"] == SAMPLE else NONE)
    return Cell(percent(row[column]), (_range(row, column),))


def _points(value: float) -> str:
    return f"{difference(value)} points"


def _words(group: pd.DataFrame) -> tuple[str, ...]:
    words = (group["documents"] * group["words_per_sentence"]).sum() / max(group["documents"].sum(), 1)
    return (f"{number(float(words))} words each",) if words else ()
