"""What the numbers of tendencies say, in words, and what the terms mean."""

import pandas as pd

from textcritic.critics.tendencies.verdicts import DIFFERS, KEPT, TENDENCIES, sentence
from textcritic.plan.sources import GROUP, data_keys
from textcritic.report.names import Names
from textcritic.report.numbers import listed
from textcritic.report.section import Finding

DEFINITIONS = (
    (
        "Second draw",
        "As many documents as a sample has, drawn at random from the training set, compared with the real text in "
        "place of the sample. How far two sets of real documents are apart is what a perfect sample could not go "
        "below.",
    ),
    (
        "Kolmogorov-Smirnov distance",
        "The largest difference of two cumulative distributions: 0 where they are equal, 1 where they have nothing "
        "in common.",
    ),
    (
        "Zipf’s law",
        "The word of rank k has a frequency proportional to k to the power of −s. s is the maximum likelihood "
        "estimate.",
    ),
    (
        "Heaps’ law",
        "The number of different words of a document of l tokens grows as K times l to the power of β. Here it is "
        "Poisson distributed about that, and K and β are the maximum likelihood estimates (Meister and Cotterell "
        "2021, Eq. 5).",
    ),
    (
        "Taylor’s law",
        "The standard deviation of a word’s count in pieces of equal length grows as its mean to the power of α: 0.5 "
        "where words are spread evenly, more where they come in bursts (Kobayashi and Tanaka-Ishii 2018).",
    ),
    (
        "Recurrence",
        "How much likelier than by chance two tokens of a document, some way apart, are the same word (Altmann, "
        "Cristadoro and Degli Esposti 2012).",
    ),
)


def tendency_findings(rows: pd.DataFrame, names: Names) -> list[Finding]:
    """One finding for each sample: what it does not keep to, a clause for each; and what it keeps.

    Args:
        rows: as `rows.tendency_rows` makes them; of several seeds the first speaks.
        names: of the sources.
    """
    findings = []
    for _, group in rows.groupby(GROUP, sort=False):
        first = group[group["seed"] == group["seed"].min()] if group["seed"].notna().any() else group
        said = {row["tendency"]: row for row in first.to_dict("records")}
        fails = [sentence(said[t.name]) for t in TENDENCIES if said[t.name]["verdict"] == DIFFERS]
        keeps = [t.title.lower() for t in TENDENCIES if said[t.name]["verdict"] == KEPT]
        source = names.source(first.iloc[0].to_dict(), seed=False)
        kept = f"Within what a second draw of real text has: {listed(keeps)}." if keeps else ""
        findings += [Finding(source, fail) for fail in fails]
        if kept:
            findings.append(Finding(source, kept))
    return findings


def headline(rows: pd.DataFrame, names: Names) -> str:
    """The sample that keeps to the most tendencies, in a sentence; "" without samples."""
    if rows.empty:
        return ""
    kept = (rows["verdict"] == KEPT).groupby([rows[key] for key in (*GROUP, "seed")], dropna=False).transform("sum")
    source = names.source(rows.loc[kept.idxmax()].to_dict(), corpus=False, seed=False)
    return (
        f"Of {len(TENDENCIES)} statistical tendencies of real text, the best sample, by {source}, keeps {kept.max()}."
    )


def totals(rows: pd.DataFrame) -> pd.DataFrame:
    """For the scorecard: how many tendencies each sample does not keep to, and one p-value for all of them.

    Columns: those that identify a source, `not_kept`, `p_value` (`p_all` of `rows.tendency_rows`), `documents`,
    `rejected`.
    """
    samples = rows.drop_duplicates([*GROUP, "seed"]).assign(p_value=lambda row: row["p_all"])
    made = [*map(data_keys, rows["corpus"].unique()), *samples.to_dict("records")]
    return pd.DataFrame(made, columns=["source", *GROUP, "seed", "not_kept", "p_value", "documents", "rejected"])
