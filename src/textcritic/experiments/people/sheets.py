"""The tables of what people say, for reading."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from textcritic.experiments.people.rows import COHERENT, MAUVE, PPL
from textcritic.measures.labels import corpus_name
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.measures.numbers import (
    NONE,
    count,
    decimals,
    missing,
    number,
    p_value,
    percent,
    plural,
    significant,
)
from textcritic.report.cells import (
    Column,
    interval_cell,
    left_out_cell,
    measure_cell,
    measure_sheet,
    ppl_cell,
    unit_remarks,
)
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

THESE = "of these annotators"
LEAST_PROBABILITY = 1e-6


def metrics_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Table 4: perplexity, MAUVE, Latent PPL, and the share of articles that people call coherent."""
    columns: dict[str, Column] = {
        "Perplexity": ppl_cell,
        MAUVE.name: lambda group: _cell(group, MAUVE),
        PPL.name: PPL,
        COHERENT.name: _people,
        "Left out": left_out_cell,
    }
    heading = ("people-metrics", "What metrics say, and what people say")
    return measure_sheet(heading, rows, names, columns, [*metric_remarks(rows), *unit_remarks(rows)])


def _people(group: pd.DataFrame) -> Cell:
    """The share of answers that call an article coherent, and how many there are."""
    people = _cell(group, COHERENT)
    notes = list(people.notes)
    if not missing(answers := group["answers"].sum()) and answers:
        notes.append(f"{plural(int(answers), 'answer')}, {plural(int(group['annotators'].max()), 'annotator')}")
    return Cell(people.text, (*notes, *[THESE] * bool(group["of_these"].fillna(False).any())))


def _cell(group: pd.DataFrame, measure: Measure) -> Cell:
    """A measure of one source; if we have no value, why, and the published value if there is one."""
    cell = measure_cell(group, measure)
    if group[measure.value].notna().any():
        return cell
    why = [] if measure.why not in group else list(dict.fromkeys(group[measure.why]))
    printed = group[measure.published].iloc[0]
    published = [] if missing(printed) else [f"published {printed:,.2f}"]
    return replace(cell, notes=(*filter(None, why), *published))


def metric_remarks(rows: pd.DataFrame) -> list[str]:
    """Remarks on MAUVE and on shares of too few annotators."""
    documents, buckets = (count(rows[column].max()) for column in ("mauve_documents", "mauve_buckets"))
    asked = [*["mauve"] * bool(rows["mauve_documents"].notna().any())]
    asked += ["these"] * bool(rows["of_these"].fillna(False).any())
    return remarks_of(__file__, *asked, documents=documents, buckets=buckets, these=THESE)


def correlations_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """How far each metric agrees with people over systems."""
    heads = ("Metric", "Systems", "Pearson", "Spearman", "Kendall", "Ordered as people do")
    body: list[Line] = []
    for (corpus, whose), part in rows.groupby(["corpus", "whose"], sort=False):
        title = "published values" if whose == "published" else "our values"
        body.append([Cell(f"{corpus_name(corpus)}: {title}", span=len(heads), heading=True)])
        for (metric, with_real), group in part.groupby(["metric", "with_real"], sort=False):
            first = group.iloc[0]
            systems = f"{first['systems']}{', with real text' if with_real else ''}"
            pairs = Cell(f"{first['as_people']} of {first['pairs']}", ("pairs",))
            body.append([metric, Cell(systems, words=True), *map(_correlation, group.to_dict("records")), pairs])
    caption = "How far metrics agree with people about systems"
    return plain_sheet("people-correlations", caption, heads, body, correlation_remarks(rows), stubs=2)


def correlation_remarks(rows: pd.DataFrame) -> list[str]:
    """Remarks on correlations, and on how little so few systems can show."""
    remarks = remarks_of(__file__, *["correlations"] * bool(len(rows)))
    for systems, group in rows.groupby("systems"):
        if (smallest := group["smallest_p"].iloc[0]) > 0.05:
            remarks += remarks_of(__file__, "few systems", systems=systems, smallest=decimals(smallest, 3))
    return remarks


def orders_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Table 18: orders that people call incoherent."""
    heads = ("Rank", "Order of section types", "Critic’s probability", "Called incoherent")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        called = Cell(NONE if missing(row["answers"]) else "nobody gave it")
        if not missing(row["answers"]) and row["answers"]:
            percents = () if missing(row["incoherent_percent"]) else (percent(row["incoherent_percent"] / 100),)
            called = Cell(f"{count(row['incoherent'])} of {count(row['answers'])}", percents)
        chance = Cell(NONE, (f"unknown: {row['unknown']}",)) if row["unknown"] else _probability(row["probability"])
        rank = "ours" if missing(row["published_rank"]) else count(row["published_rank"])
        body.append([rank, Cell(row["order"], words=True), chance, called])
    remarks = remarks_of(__file__, "orders")
    return plain_sheet("people-orders", "Orders that people call incoherent", heads, body, remarks, stubs=2)


def differences_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Differences between sources in the share called coherent."""
    heads = ("First", "Second", "Difference, points", "95% interval", "p", "Answers")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        values = p_value(row["p_value"]), count(row["answers"])
        difference: Line = [_signed(row["difference"]), _interval(row, _signed)]
        body.append([row["first"], Cell(row["second"], words=True), *difference, *values])
    caption, remarks = "Differences in the share called coherent", remarks_of(__file__, "differences")
    return plain_sheet("people-differences", caption, heads, body, remarks, stubs=2)


def agreement_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Alpha and AC1."""
    heads = ("About", "Measure", "Value", "95% interval", "Items with two answers")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        why = (row["why"],) if row["why"] else ()
        value = Cell("undefined" if missing(row["value"]) else _two(row["value"]), why)
        ends = _interval(row | {"why": "", "of_these": False}, _two)
        body.append([row["about"], Cell(row["measure"], words=True), value, ends, count(row["items"])])
    remarks = remarks_of(__file__, "agreement")
    return plain_sheet("people-agreement", "How far annotators agree", heads, body, remarks, stubs=2)


def labels_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """People's section types against the classifier's and against titles."""
    heads = ("Source", "Sections", "As the classifier, %", "Sections with a title", "As the title, %")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        classifier = interval_cell(row, ("as_classifier", "ci_low", "ci_high"), number)
        title = interval_cell(row, ("as_title", "title_low", "title_high"), number)
        body.append([row["label"], count(row["sections"]), classifier, count(row["sections_with_title"]), title])
    return plain_sheet("people-labels", "Section types by people and by the classifier", heads, body)


def annotators_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Pace, verdicts and doubts by annotator."""
    heads = ("Annotator", "Answers", "Coherent, %", "Minutes", "Attention", "As the classifier, %", "Doubts")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        coherent, minutes = (
            f"{number(row[f'{name}_first_half'])} then {number(row[f'{name}_second_half'])}"
            for name in ("coherent", "minutes")
        )
        drift = f"change: {_signed(row['drift_low'])} to {_signed(row['drift_high'])} points"
        attention = NONE
        if not missing(row["attention"]) and row["attention"]:
            attention = f"{count(row['attention_passed'])} of {count(row['attention'])}"
        chance = () if missing(row["by_chance"]) else (f"by chance {number(row['by_chance'])}",)
        cells: Line = [count(row["answers"])]
        cells.append(Cell(number(row["coherent_percent"]), (coherent, *[drift] * (not missing(row["drift_low"])))))
        cells += [Cell(number(row["minutes"]), (minutes,)), attention, Cell(number(row["as_classifier"]), chance)]
        body.append([row["annotator"], *cells, Cell(row["flagged"] or "none", words=True)])
    return plain_sheet("people-annotators", "The annotators", heads, body, remarks_of(__file__, "annotators"))


def articles_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """The area under the ROC curve of each score."""
    heads = ("Score of an article", "Area", "95% interval", "p", "Answers", "Systems")
    score_names = {"nll": "Latent NLL", "nll_per_step": "Latent NLL a step"}
    body: list[Line] = []
    for row in rows.to_dict("records"):
        area, counts = NONE if missing(row["area"]) else _two(row["area"]), map(count, (row["answers"], row["systems"]))
        name = score_names.get(row["score"], row["score"])
        body.append([name, area, _interval(row, _two), p_value(row["p_value"]), *counts])
    caption, remarks = "Whether scores predict what people say of an article", remarks_of(__file__, "articles")
    return plain_sheet("people-articles", caption, heads, body, remarks)


def planning_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Articles and hours by aim."""
    heads = ("Aim", "Annotators", "Answers an article", "Articles of each system", "Hours of all annotators")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        articles = "no number is enough" if missing(row["articles"]) else count(row["articles"])
        body.append([row["aim"], count(row["annotators"]), count(row["answers_each"]), articles, count(row["hours"])])
    caption, remarks = "How many articles, and how many hours", remarks_of(__file__, "planning")
    return plain_sheet("people-planning", caption, heads, body, remarks)


def _correlation(row: Row) -> Cell:
    if missing(row["value"]):
        return Cell(NONE, ("all alike",))
    ends = () if missing(row["ci_low"]) else (f"{_two(row['ci_low'])} to {_two(row['ci_high'])}",)
    return Cell(_two(row["value"]), (*ends, p_value(row["p_value"])))


def _probability(value: float | None) -> str:
    if value is None or missing(value):
        return NONE
    return significant(value) if value >= LEAST_PROBABILITY else f"< {LEAST_PROBABILITY:.6f}"


def _interval(row: Row, write: Callable[[float], str]) -> Cell:
    """An interval, or why there is none; and whether it holds only for these annotators."""
    ends = NONE if missing(row["ci_low"]) else f"{write(row['ci_low'])} to {write(row['ci_high'])}"
    return Cell(row["why"] or ends, (THESE,) if str(row["of_these"]) == "True" else ())


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + decimals(value, 1)


def _two(value: float) -> str:
    return decimals(value, 2)


def with_remarks(sheet: Sheet, remarks: Sequence[str]) -> Sheet:
    """A sheet with more remarks."""
    return replace(sheet, remarks=[*sheet.remarks, *remarks])
