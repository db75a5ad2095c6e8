"""Power of the test: how often it notices that a share of the pronouns of real text is exchanged."""

import pandas as pd

from textcritic.critics.mentions.power import ALPHA, POWER_SCHEMA
from textcritic.errors import TextcriticError
from textcritic.files import read_table
from textcritic.latents.resolvers.exchange import KINDS
from textcritic.report.cells import unique
from textcritic.report.numbers import NONE, count, listed, number, percent
from textcritic.report.power import NOTICED, noticed_from
from textcritic.report.section import Finding
from textcritic.report.sheet import Cell, Sheet
from textcritic.report.tables import Material

COLUMNS = ("corpus", *POWER_SCHEMA.names)


def power_rows(material: Material) -> pd.DataFrame:
    """The tables of `critics.mentions.power.power_of`, one corpus after the other; no rows where it was not measured.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files = material.files
    tables = []
    for data in files.data:
        if data.power is not None:
            table = read_table(data.power)
            if table.schema.names != POWER_SCHEMA.names:
                raise TextcriticError(f"{data.power}: not a table of power; delete it and rerun the rule that makes it")
            tables.append(table.to_pandas().assign(corpus=data.corpus))
    rows = pd.concat([pd.DataFrame(columns=list(COLUMNS)), *(table for table in tables if len(table))])
    return rows[list(COLUMNS)].astype({"articles": "Int64", "repetitions": "Int64", "documents": "Int64"})


def power_sheet(rows: pd.DataFrame) -> Sheet:
    """A row for each share, a column for each kind of exchange and number of articles."""
    corpora = unique(rows["corpus"])
    columns = [(kind, sizes) for kind in KINDS if (sizes := _sizes(rows, kind))]
    first = ("Pronouns exchanged", "In an article")
    header = [[Cell(head) for head in first] + [Cell(f"{kind}, n = {n}") for kind, sizes in columns for n in sizes]]
    body = []
    for (corpus, share), group in rows.groupby(["corpus", "share"], sort=False):
        name = f"{corpus}: {percent(share)}" if len(corpora) > 1 else percent(share)
        cells = [Cell(name, heading=True), Cell(number(group["exchanged"].mean()))]
        cells += [_cell(group, kind, size) for kind, sizes in columns for size in sizes]
        body.append(cells)
    remarks = ["Too few articles in the test split, or nothing to try."]
    if len(rows):
        repetitions, documents = (listed([count(n) for n in unique(rows[key])]) for key in ("repetitions", "documents"))
        remarks = [
            f"How often the test of Latent PPL (p < {ALPHA:g}) tells n articles from n others in which pronouns are "
            f"exchanged; both are real text, drawn anew {repetitions} times from {documents} articles of the test "
            "split. Regendered: he for she. Relinked: the same word, of another person of the article. Pronouns: he, "
            "she and their forms, each exchanged with the probability in the first column; a person's gender label "
            "follows its pronouns; the resolver does not run again. Under each share: its 95% interval over "
            "repetitions. With nothing exchanged the test should notice 5%."
        ]
    return Sheet("coreference-power", "Share of tests that notice wrong pronouns", header, body, remarks=remarks)


def power_findings(rows: pd.DataFrame) -> list[Finding]:
    """From which share of the pronouns on the test notices, for the largest number of articles of each corpus."""
    findings = []
    for corpus, group in rows.groupby("corpus", sort=False):
        about = f"Power ({corpus})" if rows["corpus"].nunique() > 1 else "Power"
        if not group["exchanged"].any():
            findings.append(Finding(about, "The articles have no pronouns that could be exchanged."))
            continue
        size = int(group["articles"].max())
        says = []
        for kind in KINDS:
            share = noticed_from(group[(group["kind"] == kind) & (group["articles"] == size)], "share")
            says.append(
                f"{kind} pronouns from {percent(share)} of them on" if share else f"no share of {kind} pronouns"
            )
        many = group["repetitions"].iloc[0]
        findings.append(
            Finding(
                about,
                f"With {size} articles on each side, the test notices {listed(says)} (in {percent(NOTICED)} or more "
                f"of {many} repetitions).",
            )
        )
    return findings


def _sizes(rows: pd.DataFrame, kind: str) -> list[int]:
    return sorted(int(size) for size in rows.loc[rows["kind"] == kind, "articles"].unique())


def _cell(group: pd.DataFrame, kind: str, size: int) -> Cell:
    found = group[(group["kind"] == kind) & (group["articles"] == size)]
    if found.empty:
        return Cell(NONE)
    row = found.iloc[0]
    return Cell(percent(row["detected"]), (f"{percent(row['low'])}–{percent(row['high'])}",))
