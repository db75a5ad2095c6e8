"""The tables of people, and those of the paper by their numbers, for reading (Shen et al. 2021)."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from textcritic.experiments.intruders.names import MAJORITY, PEOPLE, IntruderNames, probe_name
from textcritic.experiments.intruders.people import COHERENT
from textcritic.experiments.intruders.rows import DETECTORS, WHOLE, detector_rows, table_of
from textcritic.experiments.intruders.sheets import OF_SENTENCES, number_cell
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import NONE, count, decimals, difference, missing
from textcritic.report.cells import matching, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

RULES = {
    "same": "the answer of three or more, where there is one (Table 3)",
    "gold": "the same, only where it is right (what the paper says)",
    "all": "the answer of all five, where there is one (Tables 5 and 6)",
    "each": "every answer by itself (Table 7)",
}
METRICS = {
    "documents": "documents",
    "incoherent": "with an intruder, %",
    "hard": "intruders that the filter’s detector missed, %",
    "sentences": "sentences of a document, mean",
    "sentences_sd": "sentences, standard deviation",
    "tokens": "tokens of a document, mean",
    "tokens_sd": "tokens, standard deviation",
    "documents_test": "documents of the test split",
}
KINDS = {
    "information_structure": "Information structure inconsistency",
    "logical": "Logical inconsistency",
    "factual": "Factual inconsistency",
}


def votes_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """What people reach, by the rule that makes one answer of five."""
    heads = ("Rule", "Documents", "Answers", "Coherent, %", "Accuracy", "F1", "Precision", "Recall")
    body = []
    for row in rows.to_dict("records"):
        name = RULES[row["rule"]]
        cells = [number_cell(pd.DataFrame([row]), name) for name in ("accuracy", "f1", "precision", "recall")]
        counts = [Cell(count(row["documents"])), Cell(count(row["answers"])), Cell(_percent(row["coherent"]))]
        label = f"{corpus_name(row['corpus'])}: {name}" if rows["corpus"].nunique() > 1 else name
        body.append([Cell(label, heading=True), *counts, *cells])
    remarks = ["Coherent: what calling all of these documents coherent would get right."]
    return Sheet("votes", "What people reach, by the rule", [[*map(Cell, heads)]], body, remarks=remarks)


def right_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """How many people were right."""
    heads = ("People who were right", "Documents", "Share", "With an intruder", "Share of those with an intruder")
    body = []
    for row in rows.to_dict("records"):
        label = f"{corpus_name(row['corpus'])}: {row['right']}" if rows["corpus"].nunique() > 1 else str(row["right"])
        shares = [
            _beside(row["share"], row["published_share"]),
            _beside(row["incoherent_share"], row["published_incoherent"]),
        ]
        counts = [Cell(count(row[name])) for name in ("documents", "incoherent")]
        body.append([Cell(label, heading=True), counts[0], shares[0], counts[1], shares[1]])
    remarks = [*remarks_of(__file__, "right")]
    return Sheet("right-people", "How many people were right", [[*map(Cell, heads)]], body, remarks=remarks)


def unanimous_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Where all five people gave one answer."""
    body = []
    for row in rows.to_dict("records"):
        gold = "no intruder" if row["gold"] == COHERENT else "an intruder"
        printed = () if missing(row["published"]) else (f"published {count(row['published'])}",)
        start = f"{corpus_name(row['corpus'])}: {gold}" if rows["corpus"].nunique() > 1 else gold
        body.append(
            [Cell(start, heading=True), Cell(row["answer"], words=True), Cell(count(row["documents"]), printed)]
        )
    header = [[Cell("Documents with"), Cell("All people"), Cell("Documents")]]
    return Sheet("unanimous", "Where all people agree", header, body, 2)


def agreed_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Detectors and people where all people agree: Table 6."""
    return detection_sheet(rows, names)


def by_people_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Detectors by the number of people who were right."""
    rights = range(6)
    body = []
    for _, table in rows.groupby(["corpus", "trained", "detector"], sort=False):
        cells = []
        for right in rights:
            row = table[table["right"] == right].iloc[0]
            notes = (f"F1 {_percent(row['f1'])}", f"n = {count(row['documents'])}")
            cells.append(Cell(_percent(row["accuracy"]), notes))
        body.append([Cell(table["label"].iloc[0], heading=True), *cells])
    header = [[Cell("Accuracy"), *(Cell(f"{right} of 5") for right in rights)]]
    remarks = ["By how many of five people were right about a document. Under each accuracy: F1, and documents."]
    return Sheet("by-people", "Detectors where few or many people are right", header, body, remarks=remarks)


def alone_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """What only people, or only a detector, get right."""
    heads = ("Detector", "Documents with", "Both", "Only people", "Only the detector", "Neither")
    body = []
    for row in rows.to_dict("records"):
        gold = "no intruder" if row["gold"] == COHERENT else "an intruder"
        counts = [Cell(count(row[name])) for name in ("both", "people_alone", "detector_alone")]
        notes: tuple[str, ...] = ()
        if row["gold"] != COHERENT and row["neither"]:
            notes = (
                f"people: {count(row['people_coherent'])} called coherent",
                f"detector: {count(row['detector_coherent'])}",
            )
        body.append(
            [Cell(row["label"], heading=True), Cell(gold, words=True), *counts, Cell(count(row["neither"]), notes)]
        )
    remarks = ["Documents where all five people gave one answer, judged right to the sentence (paper, section 6.4)."]
    return Sheet("alone", "What only people or only a detector see", [[*map(Cell, heads)]], body, 2, remarks)


def held_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """What the corpora hold: Table 1."""
    corpora = unique(rows["corpus"])
    body = []
    for metric in unique(rows["metric"]):
        found = rows[rows["metric"] == metric].set_index("corpus").to_dict("index")
        body.append([Cell(METRICS[metric], heading=True), *(_held(found.get(corpus), metric) for corpus in corpora)])
    remarks = ["Of all splits together. A token is what stands between white space; the paper names none."]
    return Sheet(
        "corpora-held",
        "What the corpora hold",
        [[Cell(""), *map(Cell, map(corpus_name, corpora))]],
        body,
        remarks=remarks,
    )


def detection_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Accuracy and F1 in domain and across domains, a row a detector: Tables 3 and 6."""
    corpora = unique(rows["corpus"])
    columns = [(corpus, trained) for corpus in corpora for trained in _trained_for(rows, corpus)]
    body = []
    for detector in _ordered(rows):
        table = rows[rows["detector"] == detector]
        cells = []
        for corpus, trained in columns:
            own = table[(table["corpus"] == corpus) & table["trained"].isin([trained, ""])]
            cells += [number_cell(own, name) if len(own) else Cell(NONE) for name in ("accuracy", "f1")]
        body.append([Cell(names.detector({"detector": detector, "trained": ""}), heading=True), *cells])
    top = [
        Cell(""),
        *(
            Cell(f"{corpus_name(trained)} → {corpus_name(corpus)}" if trained else corpus_name(corpus), span=2)
            for corpus, trained in columns
        ),
    ]
    heads = [Cell("Detector"), *(Cell(head) for _ in columns for head in ("Accuracy", "F1"))]
    remarks = ["Trained on → documents of. " + OF_SENTENCES]
    return Sheet("detection", "Accuracy and F1", [top, heads], body, remarks=remarks)


def detection_rows(material: Any) -> pd.DataFrame:
    """The rows of `detector_rows`, and those of detectors that the paper has and the experiment has not.

    Of a numbered table alone, as only these have published values that stand in it.
    """
    rows = material.get(detector_rows)
    corpora, known = set(rows["corpus"]), set(rows["detector"])
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for cell, value in material.published.values.items():
        corpus, trained, detector, probe, metric = cell
        if not _in_table(material, cell) or corpus not in corpora or probe or metric not in ("accuracy", "f1"):
            continue
        if detector and detector not in known:
            keys = {"corpus": corpus, "trained": trained, "detector": detector}
            row = found.setdefault((corpus, trained, detector), keys | {"label": material.names.detector(keys)})
            row[f"published_{metric}"] = value
    return table_of([*rows.to_dict("records"), *found.values()], DETECTORS, WHOLE)


def paper_probes_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """F1 before the edit and its change, a column an edit: Table 7."""
    rows = rows[rows["where"] == "intruder"]
    probes, several = unique(rows["probe"]), rows["corpus"].nunique() > 1
    body: list[list[Cell]] = []
    shown = ""
    for keys, table in rows.groupby(["corpus", "trained", "detector"], sort=False):
        said = dict(zip(("corpus", "trained", "detector"), keys, strict=True))
        if several and said["corpus"] != shown:
            shown = said["corpus"]
            body.append([Cell(f"Documents of {shown}", span=1 + 2 * len(probes), heading=True)])
        found = table.set_index("probe").to_dict("index")
        cells = []
        for probe in probes:
            row: Mapping[str, Any] = found.get(probe, {"base_f1": None, "difference": None, "published_base": None})
            cells += [_beside(row["base_f1"], row["published_base"]), _change(row)]
        body.append([Cell(names.detector(said), heading=True), *cells])
    top = [Cell(""), *(Cell(probe_name(probe), span=2) for probe in probes)]
    heads = [Cell("Detector"), *(Cell(head) for _ in probes for head in ("F1", "ΔF1"))]
    return Sheet("probes", "F1 before the edit, and its change", [top, heads], body)


def published_rows(metrics: Mapping[str, str] | None) -> Callable[[Any], pd.DataFrame]:
    """Rows of a table that nobody can make anew: the published values alone.

    Args:
        metrics: those that are shown; None for all that stand in a table.
    """

    def rows(material: Any) -> pd.DataFrame:
        keys = material.published.keys
        found = []
        for cell, value in material.published.values.items():
            *place, metric = cell
            if _in_table(material, cell) and (metrics is None or metric in metrics):
                found.append(dict(zip(keys, place, strict=True)) | {"metric": metric, "published": value})
        return pd.DataFrame(found, columns=["corpus", "trained", "detector", "probe", "metric", "published"])

    return rows


def incoherence_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Kinds of incoherence: Table 2."""
    values = dict(zip(rows["metric"], rows["published"], strict=True))
    body = [[Cell(name, heading=True), Cell(_percent(values.get(kind)))] for kind, name in KINDS.items()]
    header = [[Cell("Kind"), Cell("Published, %")]]
    remarks = ["Judged by the authors on 100 documents; a document may be of several kinds. It cannot be computed."]
    return Sheet("incoherence", "Kinds of incoherence", header, body, remarks=remarks)


def coarse_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Accuracy on the data of Chen et al. (2019): Table 4."""
    pairs = list(dict.fromkeys(zip(rows["trained"], rows["corpus"], strict=True)))
    body = []
    for detector in unique(rows["detector"]):
        cells = []
        for trained, corpus in pairs:
            own = matching(rows, {"detector": detector, "trained": trained, "corpus": corpus})
            cells.append(Cell(_percent(own["published"].iloc[0]) if len(own) else NONE))
        body.append([Cell(names.detector({"detector": detector, "trained": ""}), heading=True), *cells])
    header = [
        [
            Cell("Published accuracy"),
            *(Cell(f"{corpus_name(trained)} → {corpus_name(corpus)}") for trained, corpus in pairs),
        ]
    ]
    remarks = ["Trained on → documents of, as published. People: 50 documents of each, one reader."]
    return Sheet("coarse", "Accuracy on the data of Chen et al. (2019)", header, body, remarks=remarks)


def _in_table(material: Any, cell: tuple[str, ...]) -> bool:
    """Whether a published value stands in a table of the paper, and not in its text alone."""
    return any(table.isdigit() for table in material.published.tables.get(cell, ()))


def _trained_for(rows: pd.DataFrame, corpus: str) -> list[str]:
    """What detectors of a corpus were trained on, itself first; one empty where there are no detectors."""
    found = unique(one for one in rows.loc[rows["corpus"] == corpus, "trained"] if one)
    return sorted(found, key=lambda one: one != corpus) or [""]


def _ordered(rows: pd.DataFrame) -> list[str]:
    """Detectors in their order, the majority class first and people last."""
    found = unique(rows["detector"])
    return sorted(found, key=lambda one: (one == PEOPLE, one != MAJORITY))


def _beside(value: Any, printed: Any) -> Cell:
    if missing(value):
        return Cell(NONE) if missing(printed) else Cell(NONE, (f"published {_percent(printed)}",))
    if missing(printed):
        return Cell(_percent(value))
    return Cell(_percent(value), (f"published {_percent(printed)}", f"ours {difference(value - float(printed))}"))


def _change(row: Mapping[str, Any]) -> Cell:
    notes = (
        () if missing(row.get("published_difference")) else (f"published {difference(row['published_difference'])}",)
    )
    return Cell(NONE if missing(row["difference"]) else difference(row["difference"]), notes)


def _held(row: Mapping[str, Any] | None, metric: str) -> Cell:
    if row is None:
        return Cell(NONE)
    write = count if metric.startswith("documents") else _percent
    printed = () if missing(row["published"]) else (f"published {write(row['published'])}",)
    return Cell(write(row["value"]), printed)


def _percent(value: Any) -> str:
    return NONE if missing(value) else decimals(float(value), 1)
