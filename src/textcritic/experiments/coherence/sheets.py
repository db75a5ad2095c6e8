"""The study's tables in the paper's shapes, made from the long-format rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from textcritic.report.details import STATISTICS
from textcritic.report.numbers import (
    MINUS,
    NONE,
    count,
    difference,
    interval,
    missing,
    number,
    p_value,
    setting_name,
)
from textcritic.report.sheet import Cell, Sheet
from textcritic.report.sources import DATA_INFERRED, GROUP, SAMPLE, Names
from textcritic.report.words import switch_names

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


def unit_remarks(rows: pd.DataFrame) -> list[str]:
    """What perplexities are per; nothing where there are none."""
    words = {
        frozenset({"tokens"}): "Perplexity is per token of the generator's own encoding.",
        frozenset({"words"}): "Perplexity is per word.",
        frozenset({"tokens", "words"}): "Perplexity is per token of the generator's own encoding, or per word where it "
        "says so; the two cannot be compared.",
    }
    return [words[units]] if (units := frozenset(rows["ppl_unit"].dropna())) else []


def infinite_remarks(rows: pd.DataFrame, names: Names) -> list[str]:
    """Why each infinite value is infinite."""
    remarks = []
    for metric, column in (("Perplexity", "ppl_infinite_because"), ("Latent PPL", "infinite_because")):
        for row in rows[rows[column].notna()].to_dict("records"):
            remarks.append(f"{metric} of {names.source(row)} is infinite: {row[column]}.")
    return list(dict.fromkeys(remarks))


def latent_cell(group: pd.DataFrame, span: int = 1) -> Cell:
    """A Latent PPL with its interval, p-value and published value; the mean over seeds where there are several."""
    if group.empty:
        return Cell(NONE, span=span)
    notes = spread(group, "latent_ppl", "ci")
    notes += beside(group, "published", "difference")
    values = [value for value in group["p_value"] if not missing(value)]
    if values:
        notes.append(p_value(max(values)) if len(values) == 1 else f"largest {p_value(max(values))}")
    return Cell(number(group["latent_ppl"].mean()), tuple(notes), span)


def ppl_cell(group: pd.DataFrame, span: int = 1) -> Cell:
    """A perplexity (all tokens) with its unit if that is words, its interval and published value."""
    if group.empty or group["ppl_all"].isna().all():
        return Cell(NONE, span=span)
    notes = ["per word"] if group["ppl_unit"].iloc[0] == "words" else []
    notes += spread(group, "ppl_all", "ppl_all") + beside(group, "ppl_published", "ppl_difference")
    return Cell(number(group["ppl_all"].mean()), tuple(notes), span)


def perplexity_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Perplexity over all tokens and over body tokens, beside the Latent PPL."""
    samples = rows[rows["source"] == SAMPLE]
    heads = ("Corpus", "Generator", "Setting", "PPL, all tokens", "PPL, body", "Latent PPL")
    start = _first_column(rows)
    body: list[list[Cell]] = []
    for _, group in samples.groupby(GROUP, sort=False):
        first = group.iloc[0].to_dict()
        inside = group.assign(ppl_all=group["ppl_body"], ppl_all_low=group["ppl_body_low"], ppl_published=np.nan)
        inside = inside.assign(ppl_all_high=group["ppl_body_high"], ppl_difference=np.nan)
        name = Cell(names.source(first, corpus=False, setting=False, seed=False), heading=start == 1)
        cells = [_stub(first["corpus"], body), name, Cell(setting_name(first["setting"]))][start:]
        latent = latent_cell(group.assign(p_value=np.nan))
        body.append([*cells, ppl_cell(group), ppl_cell(inside), latent])
    remarks = [*unit_remarks(rows), "Body leaves out section titles and separators.", *infinite_remarks(rows, names)]
    header = [[Cell(name) for name in heads[start:]]]
    caption = "Perplexity of each generator on the test articles"
    return Sheet("perplexity", caption, header, body, stubs=3 - start, remarks=remarks)


def decomposition_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Cross-entropy as entropy plus divergence."""
    heads = ("Corpus", "Source", "Cross-entropy", "Entropy", "Divergence", "Latent PPL from both")
    start = _first_column(rows)
    body: list[list[Cell]] = []
    for row in rows.to_dict("records"):
        values = [number(row[key]) for key in ("cross_entropy", "entropy", "kl")]
        corrected = ["", f"corrected {number(row['entropy_corrected'])}", f"corrected {number(row['kl_corrected'])}"]
        cells = [Cell(v, (n,) if n else ()) for v, n in zip(values, corrected, strict=True)]
        stubs = [_stub(row["corpus"], body), Cell(names.source(row, corpus=False), heading=start == 1)][start:]
        body.append([*stubs, *cells, Cell(number(float(np.exp(row["cross_entropy"]))))])
    remarks = ["Nats per step. Corrected: the bias of a finite number of documents is taken out (Miller and Madow)."]
    header = [[Cell(name) for name in heads[start:]]]
    caption = "Cross-entropy per step and its two parts"
    return Sheet("decomposition", caption, header, body, stubs=2 - start, remarks=remarks)


def statistics_sheet(rows: pd.DataFrame) -> Sheet:
    """Statistics of the corpora (paper, Table 11), one column a corpus."""
    corpora = unique(rows["corpus"])
    header = [[Cell(""), *(Cell(corpus) for corpus in corpora)]]
    body = []
    for metric in unique(rows["metric"]):
        cells = []
        for corpus in corpora:
            found = rows[(rows["corpus"] == corpus) & (rows["metric"] == metric)].to_dict("records")
            row = found[0] if found else {"value": None, "published": None, "difference": None}
            # Counts are exact; medians may end in .5 and accuracies have decimals.
            exact = metric.startswith("articles") or metric in STATISTICS
            text = f"{row['value']:,g}" if exact and found else number(row["value"])
            cells.append(Cell(text, _statistic_beside(row, exact)))
        body.append([Cell(METRICS.get(metric, metric), heading=True), *cells])
    return Sheet("statistics", "Corpus statistics", header, body)


def audit_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """What each switch does to the Latent PPL of each source."""
    switches = ["default", *switch_names(rows)]
    body = []
    for source in rows[["corpus", "source", *GROUP[1:], "seed"]].drop_duplicates().to_dict("records"):
        found = {row["switch"]: row for row in matching(rows, source).to_dict("records")}
        cells = [_audit_cell(found[switch], found["default"]) if switch in found else Cell(NONE) for switch in switches]
        # Which titles real text is scored by is a switch here, so its name says nothing of them.
        name = names.source(source | {"source": DATA_INFERRED} if source["generator"] == "data" else source)
        body.append([Cell(name, heading=True), *cells])
    caption = "Latent PPL under each disputed detail, one at a time"
    remarks = [
        "Under each value: its change against the default, or against the switch that it names; and how many articles "
        "were rejected, unread ones included, where that is another number than by default."
    ]
    header = [[Cell("Source"), *(Cell(switch) for switch in switches)]]
    return Sheet("audit", caption, header, body, remarks=remarks)


def matching(rows: pd.DataFrame, wanted: dict[str, Any]) -> pd.DataFrame:
    """The rows whose columns have these values; a missing one matches a missing one."""
    for key, value in wanted.items():
        rows = rows[rows[key].isna()] if missing(value) else rows[rows[key] == value]
    return rows


def unique(values: Iterable[Any]) -> list[Any]:
    """Each value once, in order of appearance."""
    return list(dict.fromkeys(values))


def _first_column(rows: pd.DataFrame) -> int:
    """0, or 1 where the column that names the corpus says nothing because there is one corpus only."""
    return int(rows["corpus"].nunique() == 1)


def _stub(corpus: str, body: list[list[Cell]]) -> Cell:
    """The corpus, where it is another than that of the rows above."""
    above = next((row[0].text for row in reversed(body) if row[0].text), None)
    return Cell("") if corpus == above else Cell(corpus, heading=True)


def spread(group: pd.DataFrame, column: str, prefix: str) -> list[str]:
    """The interval of a single value, or the standard deviation over the seeds of several."""
    if len(group) > 1:
        sd = group[column].std(ddof=1) if np.isfinite(group[column]).all() else None
        return [f"± {number(sd)} over {len(group)} seeds"] if sd is not None else []
    low, high = group[f"{prefix}_low"].iloc[0], group[f"{prefix}_high"].iloc[0]
    return [] if missing(low) else [interval(low, high)]


def beside(group: pd.DataFrame, published: str, gap: str) -> list[str]:
    """The published value, as it was printed, and ours minus it, if there is one."""
    theirs = group[published].iloc[0]
    ours = group[gap].mean()
    return [] if missing(theirs) else [f"published {float(theirs):,.2f}", f"ours {difference(float(ours))}"]


def _audit_cell(row: dict[str, Any], default: dict[str, Any]) -> Cell:
    notes = [f"{difference(row['change_percent'])}%"] if not missing(row["change_percent"]) else []
    if notes and row["compared_with"] != "default":
        notes = [f"{notes[0]} on {row['compared_with']}"]
    if row["switch"] == "default":
        notes = [f"{count(row['documents'])} articles"]
    if row["rejected"] != (0 if row is default else default["rejected"]):
        notes.append(f"{count(row['rejected'])} rejected")
    return Cell(number(row["latent_ppl"]), tuple(notes))


def _statistic_beside(row: dict[str, Any], exact: bool) -> tuple[str, ...]:
    if missing(row["published"]):
        return ()
    gap = float(row["difference"])
    ours = (f"{gap:+,g}".replace("-", MINUS) if gap else "±0") if exact else difference(gap)
    return f"published {float(row['published']):,g}", f"ours {ours}"
