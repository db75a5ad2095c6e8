"""The tables of corpora, for reading."""

from typing import Any

import pandas as pd

from textcritic.critics.recitation.scoring import MAIN_LENGTH
from textcritic.experiments.corpora.rows import ALL
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import MINUS, NONE, count, missing, percent
from textcritic.report.cells import unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

METRICS = {
    "articles_train": "articles, train",
    "articles_validation": "articles, validation",
    "articles_test": "articles, test",
    "section_types": "section types",
    "median_sections": "sections per article, median",
    "median_section_length": "section length, median",
    "max_section_length": "section length, longest",
}


def statistics_sheet(rows: pd.DataFrame) -> Sheet:
    """Statistics of the corpora (paper, Table 11), one column a corpus."""
    corpora = unique(rows["corpus"])
    body = []
    for metric in unique(rows["metric"]):
        by_corpus = rows[rows["metric"] == metric].set_index("corpus").to_dict("index")
        body.append([Cell(METRICS[metric], heading=True), *(_statistic(by_corpus.get(corpus)) for corpus in corpora)])
    header = [[Cell(""), *(Cell(corpus_name(corpus)) for corpus in corpora)]]
    return Sheet("statistics", "Corpus statistics", header, body)


def left_out_sheet(rows: pd.DataFrame) -> Sheet:
    """What was left out of each corpus, and why."""
    body = []
    for (corpus, stage), group in rows.groupby(["corpus", "stage"], sort=False):
        total = group["articles"].sum()
        for place, row in enumerate(group.to_dict("records")):
            stubs = [Cell(corpus_name(corpus), heading=True), Cell(stage)] if place == 0 else [Cell(""), Cell("")]
            share = percent(row["articles"] / total)
            body.append([*stubs, Cell(row["reason"]), Cell(count(row["articles"])), Cell(share)])
    header = [[Cell(head) for head in ("Corpus", "When", "Reason", "Articles", "Share")]]
    remarks = ["Share: of all articles left out at that time."] if body else ["Nothing was left out."]
    return Sheet("left-out", "Articles left out, by reason", header, body, stubs=3, remarks=remarks)


def shared_sheet(rows: pd.DataFrame) -> Sheet:
    """What validation and test share with train, a column for each corpus and split."""
    columns = unique(zip(rows["corpus"], rows["split"], strict=True))
    several = rows["corpus"].nunique() > 1
    body = []
    for metric in unique(rows["metric"]):
        found = rows[rows["metric"] == metric].set_index(["corpus", "split"]).to_dict("index")
        body.append([Cell(_shared_name(metric), heading=True), *(_share(found.get(column)) for column in columns)])
    heads = [f"{corpus_name(corpus)}: {split}" if several else split for corpus, split in columns]
    remarks = [*remarks_of(__file__, "shared")]
    return Sheet(
        "shared-text", "Text that stands in the train split too", [[Cell(""), *map(Cell, heads)]], body, remarks=remarks
    )


def audit_sheet(rows: pd.DataFrame) -> Sheet:
    """What each switch of the extraction does to the first articles of a dump, by kind of markup."""
    body = []
    for (corpus, switch), group in rows.groupby(["corpus", "switch"], sort=False):
        for row in group.to_dict("records"):
            stubs = [Cell(""), Cell(""), Cell(row["reason"])]
            words = [Cell(NONE), Cell(NONE)]
            if row["reason"] == ALL:
                stubs = [
                    Cell(corpus_name(corpus), heading=True),
                    Cell(f"{switch}: {row['here']} or {row['other']}"),
                    Cell(ALL),
                ]
                words = [Cell(count(row[key]), (f"of {count(row['words'])}",)) for key in ("words_here", "words_other")]
            share = percent(row["differing"] / row["articles"]) if row["articles"] else NONE
            body.append([*stubs, Cell(f"{count(row['differing'])} of {count(row['articles'])}", (share,)), *words])
    heads = ("Corpus", "Switch", "Because of", "Articles that differ", "Words only with the first", "... the second")
    remarks = [*remarks_of(__file__, "audit")]
    caption = "What the switches of the extraction do"
    return Sheet("extraction-audit", caption, [[Cell(head) for head in heads]], body, stubs=3, remarks=remarks)


def _shared_name(metric: str) -> str:
    names = {
        "copies": "documents, exact copies",
        "more_than_half": f"documents that share more than half of their runs of {MAIN_LENGTH} words",
    }
    return names.get(metric) or f"runs of {metric.removeprefix('ngrams_')} words"


def _share(row: dict[str, Any] | None) -> Cell:
    if row is None or not row["all"]:
        return Cell(NONE)
    return Cell(percent(row["value"] / row["all"]), (f"{count(row['value'])} of {count(row['all'])}",))


def _statistic(row: dict[str, Any] | None) -> Cell:
    """Counts are exact, and medians may end in .5."""
    if row is None:
        return Cell(NONE)
    if missing(row["published"]):
        return Cell(f"{row['value']:,g}")
    gap = float(row["difference"])
    ours = f"{gap:+,g}".replace("-", MINUS) if gap else "±0"
    return Cell(f"{row['value']:,g}", (f"published {float(row['published']):,g}", f"ours {ours}"))
