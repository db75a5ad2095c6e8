"""The tables of mixed languages, for reading."""

from dataclasses import replace

import pandas as pd

from textcritic.experiments.mixing.known import TESTS
from textcritic.experiments.mixing.rows import CORNERS, DISTANCE, DIVIDED, ENTROPY, MIXED, NLL, PARAMETERS
from textcritic.measures.labels import corpus_name, of_corpus
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, difference, missing, number, p_value, percent
from textcritic.measures.rows import in_groups
from textcritic.plan.sources import SAMPLE
from textcritic.report.cells import (
    PERPLEXITY,
    Column,
    interval_cell,
    left_out_cell,
    measure_cell,
    measure_sheet,
    unique,
)
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet, unrepeated
from textcritic.values import Row


def mixing_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each source: how much it mixes, how far its posteriors are from real ones, what was left out."""
    columns: dict[str, Column] = {
        "Words of another language": MIXED,
        **{measure.name: measure for measure in (DIVIDED, CORNERS, ENTROPY, DISTANCE, NLL)},
        PARAMETERS.name: lambda group: measure_cell(group.iloc[[0]], PARAMETERS),
        PERPLEXITY.name: replace(PERPLEXITY, published="", difference=""),
        "Sentences": lambda group: Cell(f"{count(group['documents'].sum())}{in_groups(group)}", _words(group)),
        "Left out": left_out_cell,
    }
    remarks = [*remarks_of(__file__, "mixing"), *_unconverged(rows)]
    return measure_sheet(("mixing", "Languages mixed in a sentence"), rows, names, columns, remarks)


def pairs_sheet(rows: pd.DataFrame) -> Sheet:
    """Every two samples of a corpus, the one that mixes more first."""
    heads = ("Mixes more", "than", "Words of another language, difference")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        notes = (f"{difference(row['low'])} to {difference(row['high'])}", p_value(row["p_value"]))
        apart = Cell(f"{difference(row['difference'])} points", notes)
        body.append([of_corpus(rows, row["corpus"], row["more"]), row["less"], apart])
    return plain_sheet("mixing-pairs", "Which sample mixes more", heads, body, remarks_of(__file__, "pairs"), stubs=2)


def languages_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """How many sentences of each source are mostly in each topic, and whether the topics are the languages."""
    heads = ("Source", "Topic", "Language", "Sentences", "Words", "Right topic: words", "Right topic: sentences")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        shares = [percent(row["share_of_sentences"]), percent(row["share_of_words"])]
        right = [_right(row, "right_words"), _right(row, "right_sentences")]
        body.append([names.source(row), str(row["topic"]), row["language"] or NONE, *shares, *right])
    remarks = remarks_of(__file__, "languages")
    return plain_sheet("mixing-languages", "Topics and languages", heads, unrepeated(body), remarks, stubs=3)


def words_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The likeliest words of each topic (paper, Table 10)."""
    heads = ("Topic", "Language", "Share of words", "Alpha", Cell("Likeliest words", words=True))
    body: list[Line] = []
    for row in rows.to_dict("records"):
        start = f"{corpus_name(row['corpus'])}: " if names.several_corpora else ""
        cells = [row["language"] or NONE, percent(row["share"]), number(row["alpha"])]
        body.append([f"{start}{row['topic']}", *cells, Cell(row["words"], _printed(row), words=True)])
    return plain_sheet("mixing-words", "The topics", heads, body, remarks_of(__file__, "words"), stubs=2)


def _printed(row: Row) -> tuple[str, ...]:
    """The words that the paper prints for a topic's language, and how many of them are among ours."""
    words = row["published_words"]
    if not words:
        return ()
    return (f"paper ({int(row['as_published'])} of {len(words.split())} are among ours): {words}",)


def power_sheet(rows: pd.DataFrame) -> Sheet:
    """A row for each rate of mixing: how much of it is recovered, and how often each test notices it."""
    sizes = sorted(int(size) for size in rows["sentences"].unique())
    tests = [(f"{test}detected", how, size) for test, how in TESTS.items() for size in sizes]
    heads = ["Words exchanged", "Can be seen", "Recovered", *(f"Noticed {how}, n = {count(n)}" for _, how, n in tests)]
    body: list[Line] = []
    for (corpus, rate), group in rows.groupby(["corpus", "rate"], sort=False):
        name = of_corpus(rows, corpus, percent(rate))
        by_size = {row["sentences"]: row for row in group.to_dict("records")}
        last = by_size[max(by_size)]
        cells = [_share(by_size[size], share) if size in by_size else NONE for share, _, size in tests]
        body.append([name, percent(last["expected"]), _share(last, "recovered"), *cells])
    remarks = ["No corpus of artificial languages is configured (`known`)."]
    if len(rows):
        remarks = remarks_of(__file__, "power", repetitions=count(int(rows["repetitions"].max())))
    return plain_sheet("mixing-power", "Mixing that the test notices", heads, body, remarks)


def _unconverged(rows: pd.DataFrame) -> list[str]:
    corpora = unique(rows["corpus"][rows["converged"] == 0])
    return [f"The fit has not converged ({', '.join(corpora)}): after more sweeps the shares would change."] * bool(
        corpora
    )


def _share(row: Row, column: str) -> Cell:
    return interval_cell(row, (column, f"{column}_low", f"{column}_high"))


def _right(row: Row, column: str) -> Cell:
    return Cell("") if missing(row[column]) and row["source"] == SAMPLE else _share(row, column)


def _words(group: pd.DataFrame) -> tuple[str, ...]:
    words = (group["documents"] * group["words_per_sentence"]).sum() / max(group["documents"].sum(), 1)
    return (f"{number(float(words))} words each",) if words else ()
