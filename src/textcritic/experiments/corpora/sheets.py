"""The tables of corpora, for reading."""

from collections.abc import Mapping

import pandas as pd

from textcritic.corpora.readers.reading import changes
from textcritic.critics.recitation.scoring import MAIN_LENGTH
from textcritic.experiments.corpora.rows import ALL
from textcritic.measures.labels import corpus_name, of_corpus
from textcritic.measures.numbers import MINUS, NONE, count, missing, percent
from textcritic.report.cells import unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

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
    body: list[Line] = []
    for metric in unique(rows["metric"]):
        by_corpus = rows[rows["metric"] == metric].set_index("corpus").to_dict("index")
        body.append([METRICS[metric], *(_statistic(by_corpus.get(corpus)) for corpus in corpora)])
    return plain_sheet("statistics", "Corpus statistics", ["", *map(corpus_name, corpora)], body)


def left_out_sheet(
    rows: pd.DataFrame, totals: Mapping[tuple[str, str], int], changed: Mapping[str, Mapping[str, int] | None]
) -> Sheet:
    """What was left out of each corpus, and why.

    Args:
        rows: as `left_out_rows` makes them.
        totals: articles that came to each stage, by corpus and stage.
        changed: by corpus what was changed in its characters; None with `normalise: none`, which changes nothing.
    """
    body: list[Line] = []
    for (corpus, stage), group in rows.groupby(["corpus", "stage"], sort=False):
        stubs: Line = [corpus_name(corpus), stage]
        for row in group.to_dict("records"):
            total = totals[corpus, stage]
            left_out = f"{count(row['articles'])} of {count(total)} ({percent(row['articles'] / total)})"
            body.append([*stubs, row["reason"], left_out])
            stubs = [Cell(""), Cell("")]
    heads = ("Corpus", "When", "Reason", "Articles left out")
    remarks = ["Percent of the articles that came to this stage."] if body else ["Nothing was left out."]
    remarks += [_characters(corpus_name(corpus), counts) for corpus, counts in changed.items()]
    return plain_sheet("left-out", "Articles left out, by reason", heads, body, remarks, stubs=3)


def _characters(name: str, changed: Mapping[str, int] | None) -> str:
    """What was changed in the characters of a corpus."""
    if changed is None:
        return f"{name}: characters are as in the source (`normalise: none`)."
    return f"{name}: {changes(changed) or 'no character was changed'} (`normalise: unicode`)."


def shared_sheet(rows: pd.DataFrame) -> Sheet:
    """What validation and test share with train, a column for each corpus and split."""
    columns = unique(zip(rows["corpus"], rows["split"], strict=True))
    body: list[Line] = []
    for metric in unique(rows["metric"]):
        by_column = rows[rows["metric"] == metric].set_index(["corpus", "split"]).to_dict("index")
        body.append([_shared_name(metric), *(_share(by_column.get(column)) for column in columns)])
    heads = ["", *(of_corpus(rows, corpus, split) for corpus, split in columns)]
    remarks = remarks_of(__file__, "shared")
    return plain_sheet("shared-text", "Text that is also in the train split", heads, body, remarks)


def audit_sheet(rows: pd.DataFrame) -> Sheet:
    """What each switch of the extraction does to the first articles of a dump, by kind of markup."""
    body: list[Line] = []
    for row in rows.to_dict("records"):
        stubs: Line = [Cell(""), "", row["reason"]]
        words = [Cell(NONE), Cell(NONE)]
        if row["reason"] == ALL:
            stubs = [corpus_name(row["corpus"]), f"{row['switch']}: {row['here']} or {row['other']}", ALL]
            words = [Cell(count(row[key]), (f"of {count(row['words'])}",)) for key in ("words_here", "words_other")]
        share = percent(row["differing"] / row["articles"]) if row["articles"] else NONE
        body.append([*stubs, Cell(f"{count(row['differing'])} of {count(row['articles'])}", (share,)), *words])
    heads = ("Corpus", "Switch", "Because of", "Articles that differ", "Words only with the first", "... the second")
    caption, remarks = "What the switches of the extraction do", remarks_of(__file__, "audit")
    return plain_sheet("extraction-audit", caption, heads, body, remarks, stubs=3)


def _shared_name(metric: str) -> str:
    names = {
        "copies": "documents, exact copies",
        "more_than_half": f"documents that share more than half of their runs of {MAIN_LENGTH} words",
    }
    return names.get(metric) or f"runs of {metric.removeprefix('ngrams_')} words"


def _share(row: Row | None) -> Cell:
    if row is None or not row["all"]:
        return Cell(NONE)
    return Cell(percent(row["value"] / row["all"]), (f"{count(row['value'])} of {count(row['all'])}",))


def _statistic(row: Row | None) -> Cell:
    """Counts are exact, and medians may end in .5."""
    if row is None:
        return Cell(NONE)
    if missing(row["published"]):
        return Cell(f"{row['value']:,g}")
    gap = float(row["difference"])
    ours = f"{gap:+,g}".replace("-", MINUS) if gap else "±0"
    return Cell(f"{row['value']:,g}", (f"published {float(row['published']):,g}", f"ours {ours}"))
