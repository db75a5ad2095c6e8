"""The tables of coherence, for reading: in the paper's shape (Tables 2, 3 and 5), and the numbers behind them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from textcritic.experiments.coherence.files import DATA_GOLD, DATA_INFERRED
from textcritic.experiments.coherence.repetitions import percent_beside
from textcritic.experiments.coherence.rows import PPL
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, missing, number, p_value, percent, setting_name
from textcritic.measures.phrases import SPREAD
from textcritic.measures.rows import in_groups
from textcritic.plan.sources import SAMPLE
from textcritic.report.cells import (
    PERPLEXITY,
    by_source,
    infinite_remarks,
    matching,
    measure_cell,
    ppl_cell,
    unique,
    unit_remarks,
)
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet, unrepeated

SETTINGS = ("w-title", "wo-title")
SETTING_HEADS = {"w-title": "Trained with titles", "wo-title": "Without titles"}
BODY = replace(PERPLEXITY, value="ppl_body", low="ppl_body_low", high="ppl_body_high", published="", difference="")
MOST_ACROSS = 2  # corpora side by side; with more there is no room for the intervals


def coherence_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Latent PPL and perplexity by generator, setting and corpus; the corpora side by side if there are few."""
    across = rows["corpus"].nunique() <= MOST_ACROSS
    caption = "Perplexity and Latent PPL of each generator"
    if len(_settings(rows)) > 1:
        caption += ", trained with and without section titles in its text"
    if rows["ppl_unit"].isna().all():  # samples from files: nothing is known about how they were made
        caption = "Latent PPL of real text and of each sample"
    header, body = _across(rows, names, _latent) if across else _down(rows, names)
    return Sheet("coherence", caption, header, body, stubs=2, remarks=_remarks(rows, names))


def paper_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The same in the paper's shape for any number of corpora, with numbers of articles and of runs."""
    header, body = _across(rows, names, _counted)
    seeds = sorted(set(rows["seed"].dropna()))
    ours = [f"Ours: {'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}."] if seeds else []
    paper = ["The paper: one run of each, without intervals."] * bool(rows["published"].notna().any())
    remarks = [*_remarks(rows, names), "Articles: those scored, under all seeds together.", *ours, *paper]
    return Sheet("coherence", "", header, body, stubs=2, remarks=remarks)


def perplexity_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Perplexity over all tokens and over body tokens, with the Latent PPL."""
    samples = rows[rows["source"] == SAMPLE]
    heads = ("Corpus", "Generator", "Setting", "PPL, all tokens", "PPL, body", "Latent PPL")
    body: list[Line] = []
    for name, group in by_source(samples, names, corpus=False, setting=False):
        first = group.iloc[0].to_dict()
        latent = measure_cell(group, replace(PPL, p=""))
        stubs = [corpus_name(first["corpus"]), name, setting_name(first["setting"])]
        body.append([*stubs, ppl_cell(group), ppl_cell(group, measure=BODY), latent])
    remarks = [*unit_remarks(rows), *remarks_of(__file__, "perplexity"), *infinite_remarks(rows, names)]
    sheet = plain_sheet(
        "perplexity", "Perplexity of each generator on the test articles", heads, unrepeated(body), remarks, stubs=3
    )
    return _without_corpus(sheet, rows)


def decomposition_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Cross-entropy as entropy plus divergence."""
    heads = ("Corpus", "Source", "Cross-entropy", "Entropy", "Divergence", "Latent PPL from both")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        parts = [Cell(number(row[key]), (f"corrected {number(row[f'{key}_corrected'])}",)) for key in ("entropy", "kl")]
        stubs = [corpus_name(row["corpus"]), names.source(row, corpus=False)]
        body.append([*stubs, number(row["cross_entropy"]), *parts, number(float(np.exp(row["cross_entropy"])))])
    caption, remarks = "Cross-entropy per step and its two parts", remarks_of(__file__, "decomposition")
    return _without_corpus(plain_sheet("decomposition", caption, heads, unrepeated(body), remarks, stubs=2), rows)


def titles_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """What titles in the training text change, a row for each pair of generators."""
    body: list[Line] = []
    for row in rows.to_dict("records"):
        values = [number(row[column]) for column in ("with_titles", "without_titles", "ratio")]
        p = p_value(row["p_value"]).removeprefix("p = ").removeprefix("p ")
        body.append([names.source(row | {"setting": SETTINGS[0]}, setting=False), *values, p])
    heads = ("Generator", "Latent PPL with titles", "Without", "Ratio", "p-value")
    remarks = [] if body else remarks_of(__file__, "no titles")
    return plain_sheet("titles", "What titles in the training text change", heads, body, remarks)


def classifier_sheet(rows: pd.DataFrame) -> Sheet:
    """How often the section classifier is right."""
    body: list[Line] = []
    for row in rows.to_dict("records"):
        value, low, high = (percent(row[column] / 100) for column in ("value", "ci_low", "ci_high"))
        published = () if missing(row["published"]) else percent_beside(row)
        spread = [] if missing(row["ci_low"]) else [f"{low} to {high}"]
        body.append(
            [corpus_name(row["corpus"]), row["split"], Cell(value, (*spread, *published)), count(row["sections"])]
        )
    heads = ("Corpus", "Split", "Right", "Sections")
    remarks = [] if body else remarks_of(__file__, "no classifier")
    return plain_sheet("classifier", "The section classifier", heads, body, remarks, stubs=2)


def _across(rows: pd.DataFrame, names: Names, latent: Callable[..., Cell]) -> tuple[list[list[Cell]], list[list[Cell]]]:
    """Rows metric by generator, columns corpus by setting: the header's rows, and the body's."""
    corpora, settings = unique(rows["corpus"]), _settings(rows)
    header = [
        [Cell("", span=2), *(Cell(corpus_name(corpus), span=len(settings)) for corpus in corpora)],
        [Cell("Metric"), Cell("Generator"), *(Cell(SETTING_HEADS[s]) for _ in corpora for s in settings)],
    ]
    if len(settings) == 1:
        header = [[Cell("Metric"), Cell("Generator"), *(Cell(corpus_name(corpus)) for corpus in corpora)]]
    body: list[list[Cell]] = []
    for metric, cell in (("PPL", ppl_cell), ("Latent PPL", latent)):
        first = len(body)
        if metric == "Latent PPL":
            for source in _real(rows):
                groups_of_real = [rows[(rows["corpus"] == c) & (rows["source"] == source)] for c in corpora]
                name = names.source(groups_of_real[0].iloc[0], corpus=False)
                body.append([Cell(""), Cell(name), *(cell(part, span=len(settings)) for part in groups_of_real)])
        for generator, decoding, name in _generators(rows, names):
            if metric == "PPL" and rows.loc[rows["generator"] == generator, "ppl_all"].isna().all():
                continue
            groups = [_group(rows, c, s, generator, decoding) for c in corpora for s in settings]
            body.append([Cell(""), Cell(name), *(cell(part) for part in groups)])
        if len(body) > first:
            body[first][0] = Cell(metric, heading=True)
    return header, body


def _down(rows: pd.DataFrame, names: Names) -> tuple[list[list[Cell]], list[list[Cell]]]:
    """Rows corpus by source, columns metric by setting: the header's rows, and the body's."""
    settings = _settings(rows)
    across = len(settings)
    heads = [Cell(SETTING_HEADS[setting]) for _ in range(2) for setting in settings]
    header = [
        [Cell("", span=2), Cell("PPL", span=across), Cell("Latent PPL", span=across)],
        [Cell("Corpus"), Cell("Source"), *heads],
    ]
    if across == 1:
        header = [[Cell("Corpus"), Cell("Source"), Cell("PPL"), Cell("Latent PPL")]]
    body: list[list[Cell]] = []
    for corpus in unique(rows["corpus"]):
        ours, first = rows[rows["corpus"] == corpus], len(body)
        for source in _real(rows):
            group = ours[ours["source"] == source]
            name = names.source(group.iloc[0], corpus=False)
            body.append([Cell(""), Cell(name), ppl_cell(group, across), _latent(group, across)])
        for generator, decoding, name in _generators(ours, names):
            groups = [_group(ours, corpus, setting, generator, decoding) for setting in settings]
            body.append([Cell(""), Cell(name), *(ppl_cell(g) for g in groups), *(_latent(g) for g in groups)])
        body[first][0] = Cell(corpus_name(corpus), heading=True)
    return header, body


def _settings(rows: pd.DataFrame) -> list[str]:
    """The settings of the samples; a column for each."""
    return [setting for setting in SETTINGS if (rows["setting"] == setting).any()]


def _real(rows: pd.DataFrame) -> list[str]:
    """The sources of real text; if titles are given there is one."""
    return [source for source in (DATA_INFERRED, DATA_GOLD) if (rows["source"] == source).any()]


def _remarks(rows: pd.DataFrame, names: Names) -> list[str]:
    published = "the published value and ours minus it, " if rows["published"].notna().any() else ""
    return [
        f"Under each value: {SPREAD}, {published}and the p-value against the real text.",
        *unit_remarks(rows),
        *infinite_remarks(rows, names),
    ]


def _latent(group: pd.DataFrame, span: int = 1) -> Cell:
    return measure_cell(group, PPL, span)


def _counted(group: pd.DataFrame, span: int = 1) -> Cell:
    cell = _latent(group, span)
    articles = f"{count(group['documents'].sum())} articles{in_groups(group)}"
    return cell if group.empty else replace(cell, notes=(*cell.notes, articles))


def _generators(rows: pd.DataFrame, names: Names) -> list[tuple[str, str, str]]:
    """(generator, decoding, the name of both) of the samples."""
    samples = rows[rows["source"] == SAMPLE].drop_duplicates(["generator", "decoding"]).to_dict("records")
    return [
        (row["generator"], row["decoding"], names.source(row, corpus=False, setting=False, seed=False))
        for row in samples
    ]


def _group(rows: pd.DataFrame, corpus: str, setting: str, generator: str, decoding: str) -> pd.DataFrame:
    key = {"corpus": corpus, "setting": setting, "generator": generator, "decoding": decoding}
    return matching(rows[rows["source"] == SAMPLE], key)


def _without_corpus(sheet: Sheet, rows: pd.DataFrame) -> Sheet:
    """The table without its first column, which names the corpus, if there is one corpus."""
    if rows["corpus"].nunique() > 1:
        return sheet
    body = [[replace(first, heading=True), *row] for _, first, *row in sheet.body]
    return replace(sheet, header=[sheet.header[0][1:]], body=body, stubs=sheet.stubs - 1)
