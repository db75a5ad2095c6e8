"""The tables of people, and the numbered tables of the paper, for reading (Shen et al. 2021)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from textcritic.experiments.intruders.files import IntruderFiles
from textcritic.experiments.intruders.names import MAJORITY, PEOPLE, IntruderNames, probe_name
from textcritic.experiments.intruders.people import COHERENT
from textcritic.experiments.intruders.rows import DETECTORS, WHOLE, detector_rows, table_of
from textcritic.experiments.intruders.sheets import DETECTOR_KEYS, by_corpus, number_cell, percentage, with_ends
from textcritic.measures.labels import corpus_name, of_corpus
from textcritic.measures.material import Material
from textcritic.measures.numbers import NONE, count, difference, missing, number
from textcritic.report.cells import left_out_cell, matching, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

RULES = {
    "same": "the answer of more than half, if there is one (Table 3)",
    "gold": "the same, only if it is right (as described in the paper)",
    "all": "the answer of all people, at least two, if they agree (Tables 5 and 6)",
    "each": "every answer separately (Table 7)",
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
    """The scores of people, by the rule that makes one answer of several."""
    heads = ("Rule", "Documents", "Answers", "Coherent, %", "Accuracy", "F1", "Precision", "Recall", "Left out")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        cells = [number_cell(pd.DataFrame([row]), name) for name in ("accuracy", "f1", "precision", "recall")]
        counts = [count(row["documents"]), count(row["answers"]), percentage(row["coherent"])]
        left_out = left_out_cell(pd.DataFrame([row]))
        body.append([of_corpus(rows, row["corpus"], RULES[row["rule"]]), *counts, *cells, left_out])
    return plain_sheet("votes", "Scores of people, by the rule", heads, body, remarks_of(__file__, "votes"))


def right_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """How many people were right."""
    heads = ("People who were right", "Documents", "Share", "With an intruder", "Share of those with an intruder")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        of_all: Line = [count(row["documents"]), _with_published(row["share"], row["published_share"])]
        of_incoherent: Line = [
            count(row["incoherent"]),
            _with_published(row["incoherent_share"], row["published_incoherent"]),
        ]
        body.append([of_corpus(rows, row["corpus"], str(row["right"])), *of_all, *of_incoherent])
    return plain_sheet("right-people", "How many people were right", heads, body, remarks_of(__file__, "right"))


def unanimous_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Where all people gave one answer."""
    body: list[Line] = []
    for row in rows.to_dict("records"):
        printed = () if missing(row["published"]) else (f"published {count(row['published'])}",)
        answer = Cell(row["answer"], words=True)
        body.append([of_corpus(rows, row["corpus"], _gold(row)), answer, Cell(count(row["documents"]), printed)])
    heads = ("Documents with", "All people", "Documents")
    return plain_sheet("unanimous", "Where all people agree", heads, body, stubs=2)


def agreed_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Detectors and people where all people agree: Table 6."""
    return detection_sheet(rows, names)


def by_people_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Detectors by the number of people who were right."""
    rights = range(int(rows["right"].max()) + 1) if len(rows) else range(0)
    body: list[Line] = []
    for _, table in rows.groupby(["corpus", "trained", "detector"], sort=False):
        cells: Line = [NONE] * len(rights)
        for row in table.to_dict("records"):
            notes = (f"F1 {percentage(row['f1'])}", f"n = {count(row['documents'])}")
            cells[row["right"]] = Cell(percentage(row["accuracy"]), notes)
        body.append([table["label"].iloc[0], *cells])
    heads = ("Accuracy", *(f"{right} right" for right in rights))
    caption, remarks = "Detectors where few or many people are right", remarks_of(__file__, "by_people")
    return plain_sheet("by-people", caption, heads, body, remarks)


def annotators_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """The annotators of our campaigns."""
    heads = ("Annotator", "Answers", "All belong, %", "Accuracy", "F1", "Found, %", "Minutes", "Attention", "Doubts")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        ends = [with_ends(row, name) for name in ("accuracy", "f1", "found")]
        attention = NONE
        if not missing(row["attention"]) and row["attention"]:
            attention = f"{count(row['attention_passed'])} of {count(row['attention'])}"
        left_out = (f"left out: {row['left_out_by_reason']}",) if row["left_out_by_reason"] else ()
        cells: Line = [Cell(count(row["answers"]), left_out), percentage(row["coherent_percent"]), *ends]
        doubts = Cell(row["flagged"] or "none", words=True)
        name = of_corpus(rows, row["corpus"], str(row["annotator"]))
        body.append([name, *cells, number(row["minutes"]), attention, doubts])
    return plain_sheet("people-annotators", "The annotators", heads, body, remarks_of(__file__, "annotators"))


def alone_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """What only people, or only a detector, get right."""
    heads = ("Detector", "Documents with", "Both", "Only people", "Only the detector", "Neither")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        counts = [count(row[name]) for name in ("both", "people_alone", "detector_alone")]
        notes: tuple[str, ...] = ()
        if row["gold"] != COHERENT and row["neither"]:
            people, detector = (count(row[f"{who}_coherent"]) for who in ("people", "detector"))
            notes = (f"people: {people} called coherent", f"detector: {detector}")
        body.append([row["label"], Cell(_gold(row), words=True), *counts, Cell(count(row["neither"]), notes)])
    caption, remarks = "What only people or only a detector see", remarks_of(__file__, "alone")
    return plain_sheet("alone", caption, heads, body, remarks, stubs=2)


def held_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Statistics of the corpora: Table 1."""
    corpora = unique(rows["corpus"])
    body: list[Line] = []
    for metric in unique(rows["metric"]):
        by_corpus = rows[rows["metric"] == metric].set_index("corpus").to_dict("index")
        body.append([METRICS[metric], *(_held(by_corpus.get(corpus), metric) for corpus in corpora)])
    heads = ["", *map(corpus_name, corpora)]
    return plain_sheet("corpora-held", "What the corpora hold", heads, body, remarks_of(__file__, "held"))


def detection_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Accuracy and F1 in domain and across domains, a row a detector: Tables 3 and 6."""
    columns = [(corpus, trained) for corpus in unique(rows["corpus"]) for trained in _trained_for(rows, corpus)]
    body: list[Line] = []
    for detector in _ordered(rows):
        table = rows[rows["detector"] == detector]
        cells: Line = []
        for corpus, trained in columns:
            own = table[(table["corpus"] == corpus) & table["trained"].isin([trained, ""])]
            cells += [number_cell(own, name) if len(own) else NONE for name in ("accuracy", "f1")]
        body.append([names.detector({"detector": detector, "trained": ""}), *cells])
    over = [_transfer(trained, corpus) for corpus, trained in columns]
    remarks = remarks_of(__file__, "detection", "sentences")
    return _in_pairs(("detection", "Accuracy and F1"), over, ("Accuracy", "F1"), body, remarks)


def detection_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """The rows of `detector_rows`, and rows for detectors that only the paper has.

    Only for numbered tables, whose published values are printed in the paper's table.
    """
    rows = material.get(detector_rows)
    corpora, detectors = set(rows["corpus"]), set(rows["detector"])
    missing_rows: dict[tuple[str, ...], dict[str, object]] = {}
    for cell, value in material.published.values.items():
        corpus, trained, detector, probe, metric = cell
        if not _in_table(material, cell) or corpus not in corpora or probe or metric not in ("accuracy", "f1"):
            continue
        if detector and detector not in detectors:
            keys = {"corpus": corpus, "trained": trained, "detector": detector}
            row = missing_rows.setdefault((corpus, trained, detector), keys | {"label": material.names.detector(keys)})
            row[f"published_{metric}"] = value
    return table_of([*rows.to_dict("records"), *missing_rows.values()], DETECTORS, WHOLE)


def paper_probes_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """F1 before the edit and its change, a column an edit: Table 7."""
    rows = rows[rows["where"] == "intruder"]
    probes = unique(rows["probe"])
    body: list[Line] = []
    for heading, part in by_corpus(rows, 1 + 2 * len(probes)):
        body += heading
        for keys, table in part.groupby(DETECTOR_KEYS, sort=False):
            by_probe = table.set_index("probe").to_dict("index")
            cells = []
            for probe in probes:
                row: Row = by_probe.get(probe, {"base_f1": None, "difference": None, "published_base": None})
                cells += [_with_published(row["base_f1"], row["published_base"]), _change(row)]
            body.append([names.detector(dict(zip(DETECTOR_KEYS, keys, strict=True))), *cells])
    heading_of = ("probes", "F1 before the edit, and its change")
    return _in_pairs(heading_of, list(map(probe_name, probes)), ("F1", "ΔF1"), body)


def published_rows(metrics: Mapping[str, str] | None) -> Callable[[Material[IntruderFiles]], pd.DataFrame]:
    """Rows of a table that cannot be reproduced: only the published values.

    Args:
        metrics: the metrics to show; None for all that the paper prints in a table.
    """

    def rows(material: Material[IntruderFiles]) -> pd.DataFrame:
        keys = material.published.keys
        values = []
        for cell, value in material.published.values.items():
            *place, metric = cell
            if _in_table(material, cell) and (metrics is None or metric in metrics):
                values.append(dict(zip(keys, place, strict=True)) | {"metric": metric, "published": value})
        return pd.DataFrame(values, columns=["corpus", "trained", "detector", "probe", "metric", "published"])

    return rows


def incoherence_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Kinds of incoherence: Table 2."""
    values = dict(zip(rows["metric"], rows["published"], strict=True))
    body: list[Line] = [[name, percentage(values.get(kind))] for kind, name in KINDS.items()]
    heads, remarks = ("Kind", "Published, %"), remarks_of(__file__, "incoherence")
    return plain_sheet("incoherence", "Kinds of incoherence", heads, body, remarks)


def coarse_sheet(rows: pd.DataFrame, names: IntruderNames) -> Sheet:
    """Accuracy on the data of Chen et al. (2019): Table 4."""
    pairs = list(dict.fromkeys(zip(rows["trained"], rows["corpus"], strict=True)))
    body: list[Line] = []
    for detector in unique(rows["detector"]):
        keys = [{"detector": detector, "trained": trained, "corpus": corpus} for trained, corpus in pairs]
        values = [matching(rows, key)["published"] for key in keys]
        name = names.detector({"detector": detector, "trained": ""})
        body.append([name, *(percentage(next(iter(own), None)) for own in values)])
    heads = ["Published accuracy", *(_transfer(trained, corpus) for trained, corpus in pairs)]
    caption, remarks = "Accuracy on the data of Chen et al. (2019)", remarks_of(__file__, "coarse")
    return plain_sheet("coarse", caption, heads, body, remarks)


def _in_pairs(
    heading: tuple[str, str],
    over: Sequence[str],
    pair: tuple[str, str],
    body: Sequence[Line],
    remarks: Sequence[str] = (),
) -> Sheet:
    """A table of detectors whose columns are pairs, with a head over each pair."""
    sheet = plain_sheet(*heading, ["Detector", *pair * len(over)], body, remarks)
    return replace(sheet, header=[[Cell(""), *(Cell(head, span=2) for head in over)], *sheet.header])


def _transfer(trained: str, corpus: str) -> str:
    return f"{corpus_name(trained)} → {corpus_name(corpus)}" if trained else corpus_name(corpus)


def _gold(row: Row) -> str:
    return "no intruder" if row["gold"] == COHERENT else "an intruder"


def _in_table(material: Material[IntruderFiles], cell: tuple[str, ...]) -> bool:
    """Whether a published value is in a table of the paper, not only in its text."""
    return any(table.isdigit() for table in material.published.tables.get(cell, ()))


def _trained_for(rows: pd.DataFrame, corpus: str) -> list[str]:
    """The corpora on which a corpus' detectors were trained, itself first; one empty name if there are no detectors."""
    corpora = unique(one for one in rows.loc[rows["corpus"] == corpus, "trained"] if one)
    return sorted(corpora, key=lambda one: one != corpus) or [""]


def _ordered(rows: pd.DataFrame) -> list[str]:
    """Detectors in their order, the majority class first and people last."""
    detectors = unique(rows["detector"])
    return sorted(detectors, key=lambda one: (one == PEOPLE, one != MAJORITY))


def _with_published(value: float | None, printed: float | None) -> Cell:
    if value is None or missing(value):
        return Cell(NONE) if missing(printed) else Cell(NONE, (f"published {percentage(printed)}",))
    if printed is None or missing(printed):
        return Cell(percentage(value))
    return Cell(percentage(value), (f"published {percentage(printed)}", f"ours {difference(value - printed)}"))


def _change(row: Row) -> Cell:
    notes = (
        () if missing(row.get("published_difference")) else (f"published {difference(row['published_difference'])}",)
    )
    return Cell(NONE if missing(row["difference"]) else difference(row["difference"]), notes)


def _held(row: Row | None, metric: str) -> Cell:
    if row is None:
        return Cell(NONE)
    write = count if metric.startswith("documents") else percentage
    printed = () if missing(row["published"]) else (f"published {write(row['published'])}",)
    return Cell(write(row["value"]), printed)
