"""The study's tables in the paper's shapes, made from the long-format rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from textcritic.report.details import ALL, STATISTICS, SWITCHES
from textcritic.report.numbers import (
    NONE,
    count,
    difference,
    interval,
    missing,
    number,
    p_value,
    percent,
    setting_name,
)
from textcritic.report.rows import DATA_GOLD, DATA_INFERRED, GROUP, SAMPLE
from textcritic.report.sheet import Cell, Sheet

SETTINGS = ("w-title", "wo-title")
SETTING_HEADS = {"w-title": "W/ Title", "wo-title": "W/O Title"}
SHOWN_ERRORS = 5
METRICS = {
    "articles_train": "articles, train",
    "articles_validation": "articles, validation",
    "articles_test": "articles, test",
    "section_types": "section types",
    "median_sections": "sections per article, median",
    "median_section_length": "section length, median",
    "max_section_length": "section length, longest",
    "classifier_accuracy_percent": "section classifier right on validation, %",
}


def coherence_sheet(rows: pd.DataFrame) -> Sheet:
    """Latent PPL and perplexity by generator, setting and corpus (paper, Table 2)."""
    corpora = _unique(rows["corpus"])
    header = [
        [Cell("", span=2), *(Cell(corpus, span=2) for corpus in corpora)],
        [Cell("Metric"), Cell("Generator"), *(Cell(SETTING_HEADS[s]) for _ in corpora for s in SETTINGS)],
    ]
    body: list[list[Cell]] = []
    for metric, cell in (("PPL", ppl_cell), ("Latent PPL", latent_cell)):
        first = len(body)
        names = _generators(rows)
        if metric == "Latent PPL":
            for source, name in ((DATA_INFERRED, "real text"), (DATA_GOLD, "real text, gold titles")):
                found = [rows[(rows["corpus"] == c) & (rows["source"] == source)] for c in corpora]
                body.append([Cell(""), Cell(name), *(cell(part, span=2) for part in found)])
        for generator, decoding, name in names:
            if metric == "PPL" and rows.loc[rows["generator"] == generator, "ppl_all"].isna().all():
                continue
            groups = [_group(rows, c, s, generator, decoding) for c in corpora for s in SETTINGS]
            body.append([Cell(""), Cell(name), *(cell(part) for part in groups)])
        if len(body) > first:
            body[first][0] = Cell(metric, heading=True)
    theirs = "the published value with ours minus it, " if rows["published"].notna().any() else ""
    remarks = [
        "Under each value: its 95% interval (with several seeds: their standard deviation, under their mean), "
        f"{theirs}and the p-value against the real text.",
        *infinite_remarks(rows),
    ]
    caption = "Perplexity and Latent PPL of each generator, trained with and without section titles in its text"
    return Sheet("coherence", caption, header, body, stubs=2, remarks=remarks)


def infinite_remarks(rows: pd.DataFrame) -> list[str]:
    """Why each infinite value is infinite."""
    remarks = []
    for metric, column in (("Perplexity", "ppl_infinite_because"), ("Latent PPL", "infinite_because")):
        for row in rows[rows[column].notna()].to_dict("records"):
            remarks.append(f"{metric} of {source_name(rows, row)} is infinite: {row[column]}.")
    return remarks


def latent_cell(group: pd.DataFrame, span: int = 1) -> Cell:
    """A Latent PPL with its interval, p-value and published value; the mean over seeds where there are several."""
    if group.empty:
        return Cell(NONE, span=span)
    notes = _spread(group, "latent_ppl", "ci")
    notes += _beside(group, "published", "difference")
    values = [value for value in group["p_value"] if not missing(value)]
    if values:
        notes.append(p_value(max(values)) if len(values) == 1 else f"largest {p_value(max(values))}")
    return Cell(number(group["latent_ppl"].mean()), tuple(notes), span)


def ppl_cell(group: pd.DataFrame, span: int = 1) -> Cell:
    """A perplexity (all tokens) with its interval and published value."""
    if group.empty or group["ppl_all"].isna().all():
        return Cell(NONE, span=span)
    notes = _spread(group, "ppl_all", "ppl_all") + _beside(group, "ppl_published", "ppl_difference")
    return Cell(number(group["ppl_all"].mean()), tuple(notes), span)


def perplexity_sheet(rows: pd.DataFrame) -> Sheet:
    """Perplexity over all tokens and over body tokens, beside the Latent PPL."""
    samples = rows[rows["source"] == SAMPLE]
    names = ("Corpus", "Generator", "Setting", "PPL, all tokens", "PPL, body", "Latent PPL")
    start = _first_column(rows)
    body: list[list[Cell]] = []
    for _, group in samples.groupby(GROUP, sort=False):
        first = group.iloc[0]
        inside = group.assign(ppl_all=group["ppl_body"], ppl_all_low=group["ppl_body_low"], ppl_published=np.nan)
        inside = inside.assign(ppl_all_high=group["ppl_body_high"], ppl_difference=np.nan)
        name = Cell(generator_name(rows, first["generator"], first["decoding"]), heading=start == 1)
        cells = [_stub(first["corpus"], body), name, Cell(setting_name(first["setting"]))][start:]
        latent = latent_cell(group.assign(p_value=np.nan))
        body.append([*cells, ppl_cell(group), ppl_cell(inside), latent])
    remark = "Perplexity is per token of the generator's encoding; body leaves out section titles and separators."
    remarks = [remark, *infinite_remarks(rows)]
    header = [[Cell(name) for name in names[start:]]]
    caption = "Perplexity of each generator on the test articles"
    return Sheet("perplexity", caption, header, body, stubs=3 - start, remarks=remarks)


def decomposition_sheet(rows: pd.DataFrame) -> Sheet:
    """Cross-entropy as entropy plus divergence."""
    names = ("Corpus", "Source", "Cross-entropy", "Entropy", "Divergence", "Latent PPL from both")
    start = _first_column(rows)
    body: list[list[Cell]] = []
    for row in rows.to_dict("records"):
        values = [number(row[key]) for key in ("cross_entropy", "entropy", "kl")]
        corrected = ["", f"corrected {number(row['entropy_corrected'])}", f"corrected {number(row['kl_corrected'])}"]
        cells = [Cell(v, (n,) if n else ()) for v, n in zip(values, corrected, strict=True)]
        stubs = [_stub(row["corpus"], body), Cell(source_name(rows, row), heading=start == 1)][start:]
        body.append([*stubs, *cells, Cell(number(float(np.exp(row["cross_entropy"]))))])
    remarks = ["Nats per step. Corrected: the bias of a finite number of documents is taken out (Miller and Madow)."]
    header = [[Cell(name) for name in names[start:]]]
    caption = "Cross-entropy per step and its two parts"
    return Sheet("decomposition", caption, header, body, stubs=2 - start, remarks=remarks)


def errors_sheet(rows: pd.DataFrame) -> Sheet:
    """The commonest unlikely steps of each source and all of them together (paper, Table 12)."""
    published = bool(rows["published"].notna().any())
    names = ["Source", "From", "To", "Share of steps", "In real text", *["Published"] * published]
    body = []
    several = rows["corpus"].nunique() > 1
    for _, group in rows.groupby(["corpus", "source", *GROUP[1:], "seed"], sort=False, dropna=False):
        first = group.iloc[0].to_dict()
        name = source_name(rows, first, seed=True)
        steps = group[group["from"] != ALL].head(SHOWN_ERRORS)
        for index, row in enumerate(pd.concat([group[group["from"] == ALL], steps]).to_dict("records")):
            total = row["from"] == ALL
            words = [Cell("all unlikely steps"), Cell(_repetitions(row), words=True)] if total else _step_cells(row)
            label = f"{first['corpus']}: {name}" if several else name
            stub = Cell(label if index == 0 else "", heading=index == 0)
            real = Cell(NONE if row["generator"] == "data" else percent(row["data_percent"] / 100))
            theirs = [Cell(NONE if missing(row["published"]) else f"{number(float(row['published']))}%")] * published
            body.append([stub, *words, Cell(percent(row["percent"] / 100)), real, *theirs])
    remark = f"An unlikely step has P < 0.01 under the critic. The {SHOWN_ERRORS} commonest of each source are shown."
    return Sheet(
        "transition-errors", "Section transition errors", [[Cell(n) for n in names]], body, stubs=3, remarks=[remark]
    )


def statistics_sheet(rows: pd.DataFrame) -> Sheet:
    """Statistics of the corpora (paper, Table 11), one column a corpus."""
    corpora = _unique(rows["corpus"])
    header = [[Cell(""), *(Cell(corpus) for corpus in corpora)]]
    body = []
    for metric in _unique(rows["metric"]):
        cells = []
        for corpus in corpora:
            found = rows[(rows["corpus"] == corpus) & (rows["metric"] == metric)].to_dict("records")
            row = found[0] if found else {"value": None, "published": None, "difference": None}
            # Counts are exact; medians may end in .5 and accuracies have decimals.
            exact = metric.startswith("articles") or metric in STATISTICS
            text = f"{row['value']:,g}" if exact and found else number(row["value"])
            notes = () if missing(row["published"]) else (f"published {_exact(row['published'])}",)
            cells.append(Cell(text, notes))
        body.append([Cell(METRICS.get(metric, metric), heading=True), *cells])
    return Sheet("statistics", "Corpus statistics", header, body)


def audit_sheet(rows: pd.DataFrame) -> Sheet:
    """What each switch does to the Latent PPL of each source."""
    switches = [switch for switch in SWITCHES if (rows["switch"] == switch).any()]
    several = rows["corpus"].nunique() > 1
    body = []
    for source in rows[["corpus", "source", *GROUP[1:], "seed"]].drop_duplicates().to_dict("records"):
        found = {row["switch"]: row for row in _matching(rows, source).to_dict("records")}
        name = "real text" if source["generator"] == "data" else source_name(rows, source)
        cells = [_audit_cell(found[switch]) if switch in found else Cell(NONE) for switch in switches]
        body.append([Cell(f"{source['corpus']}: {name}" if several else name, heading=True), *cells])
    caption = "Latent PPL under each disputed detail, one at a time"
    return Sheet("audit", caption, [[Cell("Source"), *(Cell(switch) for switch in switches)]], body)


def source_name(rows: pd.DataFrame, row: dict[str, Any], seed: bool = True) -> str:
    """A source in words: real text, or generator, setting, and what else tells it from the others."""
    if row["generator"] == "data":
        return "real text, gold titles" if row["source"] == DATA_GOLD else "real text"
    words = f"{generator_name(rows, row['generator'], row['decoding'])}, {setting_name(row['setting'])}"
    same = _matching(rows, {key: row[key] for key in GROUP})
    return f"{words}, seed {row['seed']}" if seed and same["seed"].nunique() > 1 else words


def generator_name(rows: pd.DataFrame, generator: str, decoding: str) -> str:
    """A generator, with its decoding where the study draws from it in several ways."""
    decodings = rows.loc[rows["generator"] == generator, "decoding"]
    return f"{generator}, {decoding}" if decodings.nunique() > 1 else generator


def _first_column(rows: pd.DataFrame) -> int:
    """0, or 1 where the column that names the corpus says nothing because there is one corpus only."""
    return int(rows["corpus"].nunique() == 1)


def _stub(corpus: str, body: list[list[Cell]]) -> Cell:
    """The corpus, where it is another than that of the rows above."""
    above = next((row[0].text for row in reversed(body) if row[0].text), None)
    return Cell("") if corpus == above else Cell(corpus, heading=True)


def _spread(group: pd.DataFrame, column: str, prefix: str) -> list[str]:
    if len(group) > 1:
        sd = group[column].std(ddof=1) if np.isfinite(group[column]).all() else None
        return [f"± {number(sd)} over {len(group)} seeds"] if sd is not None else []
    low, high = group[f"{prefix}_low"].iloc[0], group[f"{prefix}_high"].iloc[0]
    return [] if missing(low) else [interval(low, high)]


def _beside(group: pd.DataFrame, published: str, gap: str) -> list[str]:
    theirs = group[published].iloc[0]
    ours = group[gap].mean()
    return [] if missing(theirs) else [f"published {number(float(theirs))} ({difference(float(ours))})"]


def _audit_cell(row: dict[str, Any]) -> Cell:
    notes = [f"{difference(row['change_percent'])}%"] if not missing(row["change_percent"]) else []
    if row["switch"] == "default":
        notes = [f"{count(row['documents'])} articles"]
    if row["rejected"]:
        notes.append(f"{count(row['rejected'])} rejected")
    return Cell(number(row["latent_ppl"]), tuple(notes))


def _step_cells(row: dict[str, Any]) -> list[Cell]:
    return [Cell(row["from"].strip("<>")), Cell(row["to"].strip("<>"))]


def _repetitions(row: dict[str, Any]) -> str:
    share = row["repetition_percent"]
    if missing(share):
        return ""
    return f"{percent(share / 100)} of them repeat a section" if share else "none of them repeats a section"


def _exact(value: Any) -> str:
    return f"{float(value):,g}"


def _generators(rows: pd.DataFrame) -> list[tuple[str, str, str]]:
    pairs = rows.loc[rows["source"] == SAMPLE, ["generator", "decoding"]].drop_duplicates()
    return [(g, d, generator_name(rows, g, d)) for g, d in pairs.itertuples(index=False)]


def _group(rows: pd.DataFrame, corpus: str, setting: str, generator: str, decoding: str) -> pd.DataFrame:
    key = {"corpus": corpus, "setting": setting, "generator": generator, "decoding": decoding}
    return _matching(rows[rows["source"] == SAMPLE], key)


def _matching(rows: pd.DataFrame, wanted: dict[str, Any]) -> pd.DataFrame:
    for key, value in wanted.items():
        rows = rows[rows[key].isna()] if missing(value) else rows[rows[key] == value]
    return rows


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
