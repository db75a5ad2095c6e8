"""What the numbers of tendencies say, in words, and what the terms mean."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from textcritic.critics.tendencies.verdicts import DIFFERS, KEPT, TENDENCIES, UNCLEAR, Verdict
from textcritic.inference import ALPHA
from textcritic.measures.names import Names
from textcritic.measures.numbers import listed, missing, number, p_value
from textcritic.measures.scored import first_runs
from textcritic.plan.sources import GROUP, RUN, data_keys
from textcritic.report.section import Finding


def by_chance_alone(tests: int) -> str:
    """How many of several tests mark a difference where there is none, in a sentence."""
    return (
        f"Where nothing differs, chance marks {ALPHA * tests:.2g} of {tests} tests in the mean. Adjusted p-values "
        f"(Holm 1979) allow for that: where nothing differs, any of them is below {ALPHA:g} in at most 5% of samples."
    )


def tendency_findings(rows: pd.DataFrame, names: Names) -> list[Finding]:
    """Findings on each sample: one for each tendency that it differs in, what it keeps, and what is unclear.

    Args:
        rows: as `rows.tendency_rows` makes them; of several seeds the first speaks.
        names: of the sources.
    """
    findings = []
    for _, group in rows.groupby(GROUP, sort=False):
        first = first_runs(group)
        said = {row["tendency"]: row for row in first.to_dict("records")}
        fails = [sentence(said[t.name]) for t in TENDENCIES if said[t.name]["verdict"] == DIFFERS]
        source = names.source(first.iloc[0].to_dict(), seed=False)
        findings += [Finding(source, fail) for fail in fails]
        clauses = {KEPT: "Keeps, within the margins", UNCLEAR: "Unclear, as there are so few documents"}
        for verdict, clause in clauses.items():
            which = [t.title.lower() for t in TENDENCIES if said[t.name]["verdict"] == verdict]
            findings += [Finding(source, f"{clause}: {listed(which)}.")] if which else []
    return findings


def sentence(row: Mapping[str, Any] | Verdict) -> str:
    """A failure in one sentence, with how far it is.

    Args:
        row: a verdict, or a mapping with its attributes, where a number that is not there may be NaN.
    """
    said = asdict(row) if isinstance(row, Verdict) else row
    tendency = next(tendency for tendency in TENDENCIES if tendency.name == said["tendency"])
    clause = tendency.says.format(way=said["way"])
    if tendency.ways[0] and not said["way"]:  # e.g. of shares whose means are equal
        clause = f"{tendency.title.lower()}: it differs from real text, but neither way in the mean"
    parts = [] if missing(said["times"]) else [f"{number(float(said['times']), 2)} times what chance gives"]
    parts += [p_value(float(said["p_value"])), p_value(float(said["p_adjusted"])).replace("p", "adjusted p", 1)]
    if not missing(said["high"]) and said["high"] < said["margin"]:
        parts.append(f"less than the margin of {said['margin']:.2g}")
    return f"{clause[0].upper()}{clause[1:]} ({', '.join(parts)})."


def fails(rows: pd.DataFrame, names: Names) -> str:
    """In what the best sample is the farthest from real text, in a sentence; "" where it differs in nothing."""
    best = rows if rows.empty else _best(rows)
    differs = best[best["verdict"] == DIFFERS]
    if differs.empty:
        return ""
    worst = differs.loc[differs["times"].fillna(0).idxmax()].to_dict()
    words = sentence(worst)
    return f"{names.source(worst, seed=False)} differs most in this: {words[0].lower()}{words[1:]}"


def _best(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the sample that keeps to the most tendencies, then differs in the fewest."""
    groups = [group for _, group in rows.groupby([*GROUP, *RUN], sort=False, dropna=False)]
    return max(groups, key=lambda group: ((group["verdict"] == KEPT).sum(), -(group["verdict"] == DIFFERS).sum()))


def totals(rows: pd.DataFrame) -> pd.DataFrame:
    """For the scorecard: how many tendencies each sample does not keep to, and one p-value for all of them.

    Columns: those that identify a source, `not_kept`, `p_value` (`p_all` of `rows.tendency_rows`), `documents`,
    `rejected`.
    """
    samples = rows.drop_duplicates([*GROUP, *RUN]).assign(p_value=lambda row: row["p_all"])
    made = [*map(data_keys, rows["corpus"].unique()), *samples.to_dict("records")]
    return pd.DataFrame(made, columns=["source", *GROUP, *RUN, "not_kept", "p_value", "documents", "rejected"])
