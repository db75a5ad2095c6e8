"""The tables of detectors in every report, for reading."""

from collections.abc import Iterator, Sequence

import pandas as pd

from textcritic.experiments.intruders.generated import PERPLEXITY
from textcritic.experiments.intruders.names import MAJORITY, NUMBERS, PEOPLE, IntruderNames, probe_name
from textcritic.inference import ALPHA
from textcritic.measures.labels import corpus_name
from textcritic.measures.measure import Measure
from textcritic.measures.numbers import NONE, count, decimals, difference, missing, number, p_value
from textcritic.report.cells import (
    Column,
    interval_cell,
    left_out_cell,
    measure_sheet,
    ppl_cell,
    unique,
    unit_remarks,
)
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

RANKS = {"rank": "place of the source", "filter": "candidate filter", "sentences": "sentences"}
DETECTOR_KEYS = ["corpus", "trained", "detector"]


def detectors_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """How well each detector finds intruders, by corpus."""
    heads = ("Detector", *NUMBERS.values(), "Documents", "Against “all coherent”", "Against people")
    body: list[Line] = []
    for heading, table in by_corpus(rows, len(heads)):
        body += heading
        for _, group in table.groupby(DETECTOR_KEYS, sort=False):
            row = group.iloc[0]
            cells = [number_cell(group, name) for name in NUMBERS]
            body.append([row["label"], *cells, _documents(row), _against(group), _people(group)])
    remarks = remarks_of(__file__, "accuracy", "sentences", "detectors")
    return plain_sheet("detectors", "How well detectors find intruders", heads, body, remarks)


def pairs_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Pairs of detectors on the same documents."""
    heads = ("First", "Second", "First alone right", "Second alone right", "Accuracy", "F1, first minus second", "F1")
    body: list[Line] = []
    for heading, table in by_corpus(rows, len(heads)):
        body += heading
        for row in table.to_dict("records"):
            first, second = (
                names.detector(
                    {key: row[f"{one}_{key}"] for key in ("detector", "trained")} | {"corpus": row["corpus"]}
                )
                for one in ("first", "second")
            )
            accuracy, f1 = (
                Cell(p_value(row[f"p_{name}"]), (f"Holm: {p_value(row[f'holm_{name}'])}",))
                for name in ("accuracy", "f1")
            )
            gap = NONE if missing(row["f1_difference"]) else difference(row["f1_difference"])
            alone = [count(row[f"{one}_alone"]) for one in ("first", "second")]
            body.append([first, Cell(second, words=True), *alone, accuracy, gap, f1])
    caption, remarks = "Pairs of detectors on the same documents", remarks_of(__file__, "pairs")
    return plain_sheet("pairs", caption, heads, body, remarks, stubs=2)


def difficulty_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """The share of intruders that are found, by their origin: a column a detector."""
    detectors = rows.drop_duplicates(["trained", "detector"])[["trained", "detector"]].to_dict("records")
    start = "{corpus}, {name}" if rows["corpus"].nunique() > 1 else "{name}"
    body: list[Line] = []
    for (corpus, by, level), group in rows.groupby(["corpus", "by", "level"], sort=False):
        name = start.format(corpus=corpus_name(corpus), name=f"{RANKS[by]}: {level}")
        body.append([name, count(group["documents"].max()), *(_found(group, one) for one in detectors)])
    heads = ["Intruders", "Documents", *map(names.detector, detectors)]
    return plain_sheet("difficulty", "Which intruders are found", heads, body, remarks_of(__file__, "difficulty"))


def probes_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """How much better an intruder is found after an edit."""
    values = ("F1 before", "F1 after", "Change of F1", "Flagged before", "Flagged after")
    heads = ("Edit", "Sentence", "Documents", *values)
    body: list[Line] = []
    for keys, table in rows.groupby(DETECTOR_KEYS, sort=False):
        row_keys = dict(zip(DETECTOR_KEYS, keys, strict=True))
        of = f" on {corpus_name(row_keys['corpus'])}" if rows["corpus"].nunique() > 1 else ""
        body.append([Cell(f"{names.detector(row_keys)}{of}", span=len(heads), heading=True)])
        for row in table.to_dict("records"):
            sentence = "intruder" if row["where"] == "intruder" else "the document’s own"
            change = Cell(NONE)
            if not missing(row["difference"]):
                change = Cell(difference(row["difference"]), (p_value(row["p_difference"]),))
            after = () if missing(row["p_flagged"]) else (p_value(row["p_flagged"]),)
            f1 = [with_ends(row, f"{side}_f1") for side in ("base", "edited")]
            start: Line = [probe_name(row["probe"]), Cell(sentence, words=True), count(row["documents"])]
            body.append(
                [*start, *f1, change, percentage(row["base_flagged"]), Cell(percentage(row["edited_flagged"]), after)]
            )
    return plain_sheet("probe-effects", "Effects of eight edits", heads, body, remarks_of(__file__, "probes"), stubs=2)


def generated_sheet(rows: pd.DataFrame, names: IntruderNames, measures: Sequence[Measure]) -> Sheet:
    """The share of documents of generated text that are flagged."""
    columns: dict[str, Column] = {
        "Perplexity": lambda group: ppl_cell(group, measure=PERPLEXITY),
        "Documents": lambda group: count(group["documents"].sum()),
        "Sentences": lambda group: number(group["sentences"].mean()),
        **{measure.name: measure for measure in measures},
        "Left out": left_out_cell,
    }
    remarks = [*remarks_of(__file__, "generated"), *(unit_remarks(rows) if measures else [])]
    heading = ("generated", "How many documents are flagged")
    return measure_sheet(heading, rows if measures else rows.iloc[:0], names, columns, remarks)


def by_corpus(rows: pd.DataFrame, columns: int) -> Iterator[tuple[list[Line], pd.DataFrame]]:
    """The rows of each corpus, after a row that names it if there are several."""
    several = rows["corpus"].nunique() > 1
    for corpus, table in rows.groupby("corpus", sort=False):
        yield [[Cell(f"Documents of {corpus_name(corpus)}", span=columns, heading=True)]] * several, table


def number_cell(group: pd.DataFrame, name: str) -> Cell:
    """A number of a detector: for several trainings their mean and standard deviation, for one its interval."""
    values = group[name].dropna()
    printed = group[f"published_{name}"].iloc[0] if f"published_{name}" in group else None
    if values.empty:
        why = group[f"{name}_why"].iloc[0] if f"{name}_why" in group else ""
        published = "" if missing(printed) else f"published {_printed(printed)}"
        return Cell(NONE, tuple(words for words in (why, published) if words))
    write = _of_ranking if name in ("auc", "average_precision") else percentage
    notes = []
    if len(values) > 1:
        notes.append(f"sd {number(float(values.std(ddof=1)))} over {len(values)} trainings")
    elif not missing(low := group[f"{name}_low"].iloc[0]):
        notes.append(f"{write(low)}–{write(group[f'{name}_high'].iloc[0])}")
    if not missing(printed):
        notes += [
            f"published {_printed(printed)}",
            f"ours {difference(float(values.mean()) - float(str(printed)))}",
        ]
    return Cell(write(float(values.mean())), tuple(notes))


def _printed(value: float | None) -> str:
    """A published percentage, with as many decimals as were printed."""
    number_of = float(str(value))
    return decimals(number_of, 1 if round(number_of, 1) == number_of else 2)


def percentage(value: float | None) -> str:
    """A percentage with one decimal."""
    return NONE if value is None or missing(value) else decimals(value, 1)


def _of_ranking(value: float | None) -> str:
    return NONE if value is None or missing(value) else decimals(value, 3)


def with_ends(row: Row, name: str) -> Cell:
    """A percentage with its interval."""
    return interval_cell(row, (name, f"{name}_low", f"{name}_high"), percentage)


def _documents(row: Row) -> Cell:
    notes = [f"{count(row['incoherent'])} with an intruder"]
    if not missing(row["groups"]):
        notes.append(f"in {count(row['groups'])} groups")
    return Cell(count(row["documents"]), tuple(notes))


def _against(group: pd.DataFrame) -> Cell:
    values = group["p_majority"].dropna()
    if group["detector"].iloc[0] in (MAJORITY, PEOPLE) or values.empty:
        return Cell(NONE)
    if len(values) == 1:
        return Cell(p_value(values.iloc[0]))
    return Cell(f"p < {ALPHA:g} in {(values < ALPHA).sum()} of {len(values)}")


def _people(group: pd.DataFrame) -> Cell:
    row = group.iloc[0]
    if missing(row["people_documents"]):
        return Cell(NONE)
    accuracy, f1 = (
        f"{percentage(row[f'own_{name}'])} to {percentage(row[f'people_{name}'])}, {p_value(row[f'p_people_{name}'])}"
        for name in ("accuracy", "f1")
    )
    return Cell(accuracy, (f"F1 {f1}",))


def _found(group: pd.DataFrame, one: Row) -> Cell:
    rows = group[(group["trained"] == one["trained"]) & (group["detector"] == one["detector"])]
    if rows.empty:
        return Cell(NONE)
    row = rows.iloc[0].to_dict()
    cell = with_ends(row, "found")
    highest, chance = percentage(row["highest"]), percentage(row["chance"])
    return Cell(cell.text, (*cell.notes, f"highest: {highest}, by chance {chance}"))


def levels(rows: pd.DataFrame, by: str) -> list[str]:
    """The levels of one kind, in order."""
    return unique(rows.loc[rows["by"] == by, "level"])
