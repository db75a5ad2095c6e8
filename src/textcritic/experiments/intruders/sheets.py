"""The standing tables of detectors, for reading."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from textcritic.experiments.intruders.generated import PERPLEXITY
from textcritic.experiments.intruders.names import MAJORITY, NUMBERS, PEOPLE, IntruderNames, probe_name
from textcritic.inference import ALPHA
from textcritic.measures.labels import corpus_name
from textcritic.measures.measure import Measure
from textcritic.measures.numbers import NONE, count, decimals, difference, missing, number, p_value
from textcritic.plan.sources import GROUP
from textcritic.report.cells import left_out_cell, measure_cell, ppl_cell, unique, unit_remarks
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

RANKS = {"rank": "place of the source", "filter": "candidate filter", "sentences": "sentences"}
OF_SENTENCES = (
    "F1, precision and recall are of sentences, the opening ones left out: intruders that are found, sentences that "
    "are flagged though they are none, intruders that are missed. To flag the wrong sentence of a document "
    "is right for accuracy and two faults for F1."
)
UNDER = "Under each value: its 95% interval over documents; documents that share a source are taken together."
DETECTOR_KEYS = ["corpus", "trained", "detector"]


def detectors_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """How well each detector finds intruders, by corpus."""
    heads = ("Detector", *NUMBERS.values(), "Documents", "Against “all coherent”", "Against people")
    body, several = [], rows["corpus"].nunique() > 1
    for corpus, table in rows.groupby("corpus", sort=False):
        if several:
            body.append([Cell(f"Documents of {corpus_name(corpus)}", span=len(heads), heading=True)])
        for _, group in table.groupby(DETECTOR_KEYS, sort=False):
            row = group.iloc[0]
            cells = [number_cell(group, name) for name in NUMBERS]
            body.append([Cell(row["label"], heading=True), *cells, _documents(row), _against(group), _people(group)])
    remarks = [
        *remarks_of(__file__, "detectors"),
    ]
    return Sheet("detectors", "How well detectors find intruders", [[*map(Cell, heads)]], body, remarks=remarks)


def pairs_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Each two detectors on the same documents."""
    heads = ("First", "Second", "First alone right", "Second alone right", "Accuracy", "F1, first minus second", "F1")
    body, several = [], rows["corpus"].nunique() > 1
    for corpus, table in rows.groupby("corpus", sort=False):
        if several:
            body.append([Cell(f"Documents of {corpus_name(corpus)}", span=len(heads), heading=True)])
        for row in table.to_dict("records"):
            first, second = (
                names.detector({"detector": row[f"{one}_detector"], "trained": row[f"{one}_trained"], "corpus": corpus})
                for one in ("first", "second")
            )
            ps = [
                Cell(p_value(row[f"p_{name}"]), (f"Holm: {p_value(row[f'holm_{name}'])}",))
                for name in ("accuracy", "f1")
            ]
            gap = Cell(NONE if missing(row["f1_difference"]) else difference(row["f1_difference"]))
            alone = [Cell(count(row[f"{one}_alone"])) for one in ("first", "second")]
            body.append([Cell(first, heading=True), Cell(second, words=True), *alone, ps[0], gap, ps[1]])
    remarks = [*remarks_of(__file__, "pairs")]
    return Sheet("pairs", "Each two detectors on the same documents", [[*map(Cell, heads)]], body, 2, remarks)


def difficulty_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """How many intruders are found, by where they come from: a column a detector."""
    detectors = rows.drop_duplicates(["trained", "detector"])[["trained", "detector"]].to_dict("records")
    body, several = [], rows["corpus"].nunique() > 1
    for (corpus, by, level), group in rows.groupby(["corpus", "by", "level"], sort=False):
        name = f"{RANKS[by]}: {level}"
        cells = [_found(group, one) for one in detectors]
        documents = Cell(count(group["documents"].max()))
        body.append([Cell(f"{corpus_name(corpus)}, {name}" if several else name, heading=True), documents, *cells])
    heads = [Cell("Intruders"), Cell("Documents"), *(Cell(names.detector(one)) for one in detectors)]
    remarks = [*remarks_of(__file__, "difficulty")]
    return Sheet("difficulty", "Which intruders are found", [heads], body, remarks=remarks)


def probes_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """How much better an intruder is found when it has been edited."""
    heads = (
        "Edit",
        "Sentence",
        "Documents",
        "F1 before",
        "F1 after",
        "Change of F1",
        "Flagged before",
        "Flagged after",
    )
    body = []
    for keys, table in rows.groupby(DETECTOR_KEYS, sort=False):
        said = dict(zip(DETECTOR_KEYS, keys, strict=True))
        of = f" on {corpus_name(said['corpus'])}" if rows["corpus"].nunique() > 1 else ""
        body.append([Cell(f"{names.detector(said)}{of}", span=len(heads), heading=True)])
        for row in table.to_dict("records"):
            sentence = "intruder" if row["where"] == "intruder" else "the document’s own"
            sides = [_plain(row, f"{side}_f1") for side in ("base", "edited")]
            change = Cell(NONE)
            if not missing(row["difference"]):
                change = Cell(difference(row["difference"]), (p_value(row["p_difference"]),))
            flags = [Cell(_percent(row[f"{side}_flagged"])) for side in ("base", "edited")]
            if not missing(row["p_flagged"]):
                flags[1] = Cell(flags[1].text, (p_value(row["p_flagged"]),))
            name = Cell(probe_name(row["probe"]), heading=True)
            body.append([name, Cell(sentence, words=True), Cell(count(row["documents"])), *sides, change, *flags])
    remarks = [*remarks_of(__file__, "probes")]
    return Sheet("probe-effects", "What eight edits change", [[*map(Cell, heads)]], body, 2, remarks)


def generated_sheet(rows: pd.DataFrame, names: IntruderNames, measures: Sequence[Measure]) -> Sheet:
    """How many documents of generated text are flagged."""
    heads = ("Source", "Perplexity", "Documents", "Sentences", *(measure.name for measure in measures), "Left out")
    body = []
    if measures:
        for _, group in rows.groupby(["source", *GROUP], sort=False):
            first = group.iloc[0].to_dict()
            cells = [measure_cell(group, measure) for measure in measures]
            counts = [
                ppl_cell(group, measure=PERPLEXITY),
                Cell(count(group["documents"].sum())),
                Cell(number(group["sentences"].mean())),
            ]
            body.append([Cell(names.source(first, seed=False), heading=True), *counts, *cells, left_out_cell(group)])
    remarks = [
        *remarks_of(__file__, "generated"),
        *(unit_remarks(rows) if measures else []),
    ]
    return Sheet("generated", "How many documents are flagged", [[*map(Cell, heads)]], body, remarks=remarks)


def number_cell(group: pd.DataFrame, name: str) -> Cell:
    """A number of a detector: of several trainings their mean and standard deviation, of one its interval."""
    values = group[name].dropna()
    printed = group[f"published_{name}"].iloc[0] if f"published_{name}" in group else None
    if values.empty:
        why = group[f"{name}_why"].iloc[0] if f"{name}_why" in group else ""
        beside = "" if missing(printed) else f"published {_printed(printed)}"
        return Cell(NONE, tuple(words for words in (why, beside) if words))
    write = _of_ranking if name in ("auc", "average_precision") else _percent
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


def _printed(value: Any) -> str:
    """A published percentage, with as many decimals as were printed."""
    number_of = float(str(value))
    return decimals(number_of, 1 if round(number_of, 1) == number_of else 2)


def _percent(value: Any) -> str:
    return NONE if missing(value) else decimals(float(value), 1)


def _of_ranking(value: Any) -> str:
    return NONE if missing(value) else decimals(float(value), 3)


def _plain(row: Mapping[str, Any], name: str) -> Cell:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return Cell(_percent(row[name]), () if missing(low) else (f"{_percent(low)}–{_percent(high)}",))


def _documents(row: Mapping[str, Any]) -> Cell:
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
    accuracy = (
        f"{_percent(row['own_accuracy'])} to {_percent(row['people_accuracy'])}, {p_value(row['p_people_accuracy'])}"
    )
    f1 = f"F1 {_percent(row['own_f1'])} to {_percent(row['people_f1'])}, {p_value(row['p_people_f1'])}"
    return Cell(accuracy, (f1,))


def _found(group: pd.DataFrame, one: Mapping[str, Any]) -> Cell:
    rows = group[(group["trained"] == one["trained"]) & (group["detector"] == one["detector"])]
    if rows.empty:
        return Cell(NONE)
    row = rows.iloc[0].to_dict()
    cell = _plain(row, "found")
    return Cell(cell.text, (*cell.notes, f"highest: {_percent(row['highest'])}, by chance {_percent(row['chance'])}"))


def levels(rows: pd.DataFrame, by: str) -> list[str]:
    """The levels of one kind, in order."""
    return unique(rows.loc[rows["by"] == by, "level"])
