"""The tables of what people say, for reading."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from textcritic.experiments.people.rows import COHERENT, LATENT_PPL, MAUVE
from textcritic.measures.labels import corpus_name
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.measures.numbers import (
    NONE,
    count,
    decimals,
    interval,
    missing,
    number,
    p_value,
    percent,
    plural,
    significant,
)
from textcritic.plan.sources import GROUP
from textcritic.report.cells import left_out_cell, measure_cell, ppl_cell, unit_remarks
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

THESE = "of these annotators"
LEAST_PROBABILITY = 1e-6


def metrics_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Table 4: perplexity, MAUVE, Latent PPL, and the share of articles that people call coherent."""
    heads = ("Source", "Perplexity", MAUVE.name, LATENT_PPL.name, COHERENT.name, "Left out")
    body = []
    for _, group in rows.groupby(["corpus", "source", *GROUP[1:]], sort=False):
        people = _cell(group, COHERENT)
        notes = list(people.notes)
        if not missing(answers := group["answers"].sum()) and answers:
            notes.append(f"{plural(int(answers), 'answer')}, {plural(int(group['annotators'].max()), 'annotator')}")
        if group["of_these"].fillna(False).any():
            notes.append(THESE)
        cells = [ppl_cell(group), _cell(group, MAUVE), measure_cell(group, LATENT_PPL)]
        cells += [Cell(people.text, tuple(notes)), left_out_cell(group)]
        body.append([Cell(names.source(group.iloc[0].to_dict(), seed=False), heading=True), *cells])
    return Sheet(
        "people-metrics",
        "What metrics say, and what people say",
        [[Cell(head) for head in heads]],
        body,
        remarks=[*metric_remarks(rows), *unit_remarks(rows)],
    )


def _cell(group: pd.DataFrame, measure: Measure) -> Cell:
    """A measure of one source; where it has no value of ours why, and the published one all the same."""
    cell = measure_cell(group, measure)
    if group[measure.value].notna().any():
        return cell
    why = [] if measure.why not in group else list(dict.fromkeys(group[measure.why]))
    printed = group[measure.published].iloc[0]
    beside = [] if missing(printed) else [f"published {printed:,.2f}"]
    return replace(cell, notes=(*filter(None, why), *beside))


def metric_remarks(rows: pd.DataFrame) -> list[str]:
    """What MAUVE and the shares are made of."""
    remarks = []
    if rows["mauve_documents"].notna().any():
        documents, buckets = (count(rows[column].max()) for column in ("mauve_documents", "mauve_buckets"))
        remarks.append(
            f"MAUVE: of {documents} documents on each side in {buckets} clusters, the mean over seeds of k-means; at"
            " another number it has another value. That of real text is of two samples of real text: what can be"
            " reached. Interval: from halves drawn without replacement."
        )
    if rows["of_these"].fillna(False).any():
        remarks.append(
            f"“{THESE}”: they are too few for an interval that holds for other annotators; it is about other articles."
        )
    return remarks


def correlations_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """How far each metric agrees with people over systems."""
    heads = ("Metric", "Systems", "Pearson", "Spearman", "Kendall", "Ordered as people do")
    body: list[list[Cell]] = []
    for (corpus, whose), part in rows.groupby(["corpus", "whose"], sort=False):
        title = "published values" if whose == "published" else "our values"
        body.append([Cell(f"{corpus_name(corpus)}: {title}", span=len(heads), heading=True)])
        for (metric, with_real), group in part.groupby(["metric", "with_real"], sort=False):
            first = group.iloc[0]
            systems = f"{first['systems']}{', real text one of them' if with_real else ''}"
            cells = [_correlation(row) for row in group.to_dict("records")]
            pairs = Cell(f"{first['as_people']} of {first['pairs']}", ("pairs",))
            body.append([Cell(metric, heading=True), Cell(systems, words=True), *cells, pairs])
    return Sheet(
        "people-correlations",
        "How far metrics agree with people about systems",
        [[Cell(head) for head in heads]],
        body,
        stubs=2,
        remarks=correlation_remarks(rows),
    )


def correlation_remarks(rows: pd.DataFrame) -> list[str]:
    """What so few systems can say."""
    if rows.empty:
        return []
    remarks = [*remarks_of(__file__, "correlation_remarks")]
    for systems, group in rows.groupby("systems"):
        if (smallest := group["smallest_p"].iloc[0]) > 0.05:
            remarks.append(
                f"With {systems} systems no order can have p below {decimals(smallest, 3)} by ranks (Spearman,"
                " Kendall): they cannot show at the level of 5% that a metric agrees with people."
            )
    return remarks


def orders_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Table 18: orders that people call incoherent."""
    heads = ("Rank", "Order of section types", "Critic’s probability", "Called incoherent")
    body = []
    for row in rows.to_dict("records"):
        called = Cell(NONE if missing(row["answers"]) else "nobody gave it")
        if not missing(row["answers"]) and row["answers"]:
            share = f"{count(row['incoherent'])} of {count(row['answers'])}"
            called = Cell(
                share, () if missing(row["incoherent_percent"]) else (percent(row["incoherent_percent"] / 100),)
            )
        chance = (
            Cell(NONE, (f"unknown: {row['unknown']}",)) if row["unknown"] else Cell(_probability(row["probability"]))
        )
        rank = "ours" if missing(row["published_rank"]) else count(row["published_rank"])
        body.append([Cell(rank, heading=True), Cell(row["order"], words=True), chance, called])
    remarks = [*remarks_of(__file__, "orders")]
    return Sheet(
        "people-orders", "Orders that people call incoherent", [[*map(Cell, heads)]], body, stubs=2, remarks=remarks
    )


def differences_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Differences between sources in the share called coherent."""
    heads = ("First", "Second", "Difference, points", "95% interval", "p", "Answers")
    body = []
    for row in rows.to_dict("records"):
        about = _about(row, THESE)
        ends = Cell(row["why"] or _ends(row), about)
        cells = [Cell(row["second"], words=True), Cell(_signed(row["difference"])), ends]
        cells += [Cell(p_value(row["p_value"])), Cell(count(row["answers"]))]
        body.append([Cell(row["first"], heading=True), *cells])
    remarks = [
        "Annotators and articles are two crossed clusters. The p-values are not corrected for the number of pairs."
    ]
    return _plain("people-differences", "Differences in the share called coherent", heads, body, remarks, 2)


def agreement_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Alpha and AC1."""
    heads = ("About", "Measure", "Value", "95% interval", "Items with two answers")
    body = [
        [
            Cell(row["about"], heading=True),
            Cell(row["measure"], words=True),
            Cell("undefined" if missing(row["value"]) else decimals(row["value"], 2), _reason(row)),
            Cell(_decimal_ends(row)),
            Cell(count(row["items"])),
        ]
        for row in rows.to_dict("records")
    ]
    remarks = [*remarks_of(__file__, "agreement")]
    return _plain("people-agreement", "How far annotators agree", heads, body, remarks, 2)


def labels_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """People's section types against the classifier's and against titles."""
    heads = ("Source", "Sections", "As the classifier, %", "Sections with a title", "As the title, %")
    body = []
    for row in rows.to_dict("records"):
        cells = [Cell(count(row["sections"])), _percent_cell(row, "as_classifier", "ci_low", "ci_high")]
        cells += [Cell(count(row["sections_with_title"])), _percent_cell(row, "as_title", "title_low", "title_high")]
        body.append([Cell(row["label"], heading=True), *cells])
    return _plain("people-labels", "Section types by people and by the classifier", heads, body, [], 1)


def annotators_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Pace, verdicts and doubts by annotator."""
    heads = ("Annotator", "Answers", "Coherent, %", "Minutes", "Attention", "As the classifier, %", "Doubts")
    body = []
    for row in rows.to_dict("records"):
        coherent: tuple[str, ...] = (
            f"{number(row['coherent_first_half'])} then {number(row['coherent_second_half'])}",
        )
        if not missing(row["drift_low"]):
            coherent += (f"change: {_signed(row['drift_low'])} to {_signed(row['drift_high'])} points",)
        minutes = (f"{number(row['minutes_first_half'])} then {number(row['minutes_second_half'])}",)
        attention = NONE if missing(row["attention"]) or not row["attention"] else (
            f"{count(row['attention_passed'])} of {count(row['attention'])}"
        )  # fmt: skip
        chance = () if missing(row["by_chance"]) else (f"by chance {number(row['by_chance'])}",)
        cells = [Cell(count(row["answers"])), Cell(number(row["coherent_percent"]), coherent)]
        cells += [Cell(number(row["minutes"]), minutes), Cell(attention), Cell(number(row["as_classifier"]), chance)]
        body.append([Cell(row["annotator"], heading=True), *cells, Cell(row["flagged"] or "none", words=True)])
    remarks = [*remarks_of(__file__, "annotators")]
    return _plain("people-annotators", "The annotators", heads, body, remarks, 1)


def articles_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """The area under the ROC curve of each score."""
    heads = ("Score of an article", "Area", "95% interval", "p", "Answers", "Systems")
    body = []
    for row in rows.to_dict("records"):
        ends = Cell(row["why"] or _decimal_ends(row), _about(row, THESE))
        cells = [Cell(NONE if missing(row["area"]) else decimals(row["area"], 2)), ends, Cell(p_value(row["p_value"]))]
        name = {"nll": "Latent NLL", "nll_per_step": "Latent NLL a step"}.get(row["score"], row["score"])
        body.append([Cell(name, heading=True), *cells, Cell(count(row["answers"])), Cell(count(row["systems"]))])
    remarks = [*remarks_of(__file__, "articles")]
    return _plain("people-articles", "Whether scores tell what people say of an article", heads, body, remarks, 1)


def planning_sheet(rows: pd.DataFrame, _: Names) -> Sheet:
    """Articles and hours by aim."""
    heads = ("Aim", "Annotators", "Answers an article", "Articles of each system", "Hours of all annotators")
    body = []
    for row in rows.to_dict("records"):
        enough = not missing(row["articles"])
        cells = [Cell(count(row["annotators"])), Cell(count(row["answers_each"]))]
        cells += [Cell(count(row["articles"]) if enough else "no number is enough"), Cell(count(row["hours"]))]
        body.append([Cell(row["aim"], heading=True), *cells])
    remarks = [*remarks_of(__file__, "planning")]
    return _plain("people-planning", "How many articles, and how many hours", heads, body, remarks, 1)


def _plain(
    name: str, caption: str, heads: Sequence[str], body: list[list[Cell]], remarks: Sequence[str], stubs: int
) -> Sheet:
    return Sheet(name, caption, [[Cell(head) for head in heads]], body, stubs=stubs, remarks=remarks)


def _correlation(row: Mapping[str, Any]) -> Cell:
    if missing(row["value"]):
        return Cell(NONE, ("all alike",))
    ends = () if missing(row["ci_low"]) else (f"{decimals(row['ci_low'], 2)} to {decimals(row['ci_high'], 2)}",)
    return Cell(decimals(row["value"], 2), (*ends, p_value(row["p_value"])))


def _probability(value: float | None) -> str:
    if value is None or missing(value):
        return NONE
    return significant(value) if value >= LEAST_PROBABILITY else f"< {LEAST_PROBABILITY:.6f}"


def _about(row: Mapping[str, Any], these: str) -> tuple[str, ...]:
    return (these,) if row["of_these"] is True or str(row["of_these"]) == "True" else ()


def _reason(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["why"],) if row["why"] else ()


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + decimals(value, 1)


def _ends(row: Mapping[str, Any]) -> str:
    return NONE if missing(row["ci_low"]) else f"{_signed(row['ci_low'])} to {_signed(row['ci_high'])}"


def _decimal_ends(row: Mapping[str, Any]) -> str:
    return NONE if missing(row["ci_low"]) else f"{decimals(row['ci_low'], 2)} to {decimals(row['ci_high'], 2)}"


def _percent_cell(row: Mapping[str, Any], value: str, low: str, high: str) -> Cell:
    notes = () if missing(row[low]) else (interval(row[low], row[high]),)
    return Cell(number(row[value]), notes)


def with_remarks(sheet: Sheet, remarks: Sequence[str]) -> Sheet:
    """A sheet with more remarks."""
    return replace(sheet, remarks=[*sheet.remarks, *remarks])
