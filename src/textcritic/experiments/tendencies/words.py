"""Findings about tendencies in words, and what the terms mean."""

from collections.abc import Callable
from dataclasses import asdict, replace

import pandas as pd

from textcritic.critics.tendencies.verdicts import DIFFERS, KEPT, MISSING, TENDENCIES, UNCLEAR, Verdict
from textcritic.experiments.tendencies.rows import MEASURES
from textcritic.inference import ALPHA
from textcritic.measures.card import Cell
from textcritic.measures.causes import Comparison, comparisons
from textcritic.measures.names import Names
from textcritic.measures.numbers import listed, missing, number, p_value, percent, shortened
from textcritic.measures.phrases import with_n
from textcritic.measures.score import Score
from textcritic.measures.scored import first_runs
from textcritic.measures.sentences import FEW
from textcritic.plan.sources import GROUP, RUN, SAMPLE, data_keys
from textcritic.report.cells import matching
from textcritic.report.section import Finding
from textcritic.values import Row

NUMBERS = {
    "length": ("length_mean", "{} tokens"),
    "stopwords": ("stopwords_mean", "%{} of its tokens"),
    "symbols": ("symbols_mean", "%{} of its tokens"),
    "burstiness": ("taylor", "Taylor’s exponent {}"),
    "recurrence": ("recurrence", "recurrence {}"),
}
"""By tendency the estimate that describes it best, and how it is written; "%" before a share."""
LONGEST_SUBJECT = 20  # characters before the colon of a reason that name its subject
MANY = 1.5  # times real text's value from which on the ratio is mentioned


def by_chance_alone(tests: int) -> str:
    """How many of several tests find a difference by chance, in a sentence."""
    return (
        f"If nothing differs, {ALPHA * tests:.2g} of {tests} tests find a difference by chance, on average. Adjusted "
        f"p-values (Holm 1979) allow for that: if nothing differs, any of them is below {ALPHA:g} in at most 5% of "
        "samples."
    )


def tendency_findings(rows: pd.DataFrame, names: Names) -> list[Finding]:
    """Findings on each sample: one for each tendency that it differs in, what it keeps, and what is unclear.

    Args:
        rows: as `rows.tendency_rows` makes them; of several seeds the first is described.
        names: of the sources.
    """
    findings = []
    for _, group in rows.groupby(GROUP, sort=False):
        first = first_runs(group)
        verdicts = {row["tendency"]: row for row in first.to_dict("records")}
        n = first.iloc[0]["documents"]
        fails = [with_n(n, sentence(verdicts[t.name])) for t in TENDENCIES if verdicts[t.name]["verdict"] == DIFFERS]
        source = names.source(first.iloc[0].to_dict(), seed=False)
        findings += [Finding(source, fail) for fail in fails]
        clauses = {KEPT: "Keeps, within the margins", UNCLEAR: "Unclear, as there are so few documents"}
        for verdict, clause in clauses.items():
            which = [t.title.lower() for t in TENDENCIES if verdicts[t.name]["verdict"] == verdict]
            findings += [Finding(source, with_n(n, f"{clause}: {listed(which)}."))] if which else []
    return findings


def sentence(row: Row | Verdict) -> str:
    """A failure in one sentence, with how far it is.

    Args:
        row: a verdict, or a mapping with its attributes, in which a missing number may be NaN.
    """
    values = asdict(row) if isinstance(row, Verdict) else row
    clause = _clause(values)
    parts = [] if missing(values["times"]) else [f"{number(float(values['times']), 2)} times what chance gives"]
    parts += [p_value(float(values["p_value"])), p_value(float(values["p_adjusted"])).replace("p", "adjusted p", 1)]
    if not missing(values["high"]) and values["high"] < values["margin"]:
        parts.append(f"less than the margin of {values['margin']:.2g}")
    return f"{clause[0].upper()}{clause[1:]} ({', '.join(parts)})."


def _clause(row: Row) -> str:
    """What is wrong with a sample that differs in a tendency."""
    tendency = next(tendency for tendency in TENDENCIES if tendency.name == row["tendency"])
    if tendency.ways[0] and not row["way"]:  # e.g. of shares whose means are equal
        return f"{tendency.title.lower()}: it differs from real text, but not in the mean"
    return tendency.says.format(way=row["way"])


def comparisons_of(
    rows: pd.DataFrame, values: pd.DataFrame, card: Callable[..., tuple[Score, ...]]
) -> tuple[Comparison, ...]:
    """The tests of each sample, one for each tendency.

    Of several trainings the recipe is tested; the part of distances that is there by chance is subtracted, because all
    trainings have it.

    Args:
        rows: as `rows.tendency_rows` makes them.
        values: as `rows.value_rows` makes them.
        card: makes scores of rows and measures, as `Place.card` with the names of the sources.
    """
    row_of = {(*(row[key] for key in GROUP), row["tendency"]): row for row in first_runs(rows).to_dict("records")}
    real = pd.DataFrame(map(data_keys, rows["corpus"].unique()))
    several = rows.groupby([*GROUP, "tendency"], dropna=False)["value"].transform("size") > 1
    corrected = rows.assign(value=rows["value"] - rows["by_chance"].fillna(0.0).where(several, 0.0))
    tests: list[Comparison] = []
    for tendency in TENDENCIES:

        def says(cell: Cell, name: str = tendency.name) -> str:
            score = cell.scores[0]
            return cause(row_of[(*(getattr(score, key) for key in GROUP), name)], values)

        own = pd.concat([real, corrected[corrected["tendency"] == tendency.name]], ignore_index=True)
        tests += comparisons(card(own, [replace(MEASURES[tendency.name], section="kept")]), says)
    return tuple(tests)


def cause(row: Row, values: pd.DataFrame) -> str:
    """What is wrong with a sample in one tendency, a clause: `it has fewer stop words: 31% of its tokens against 44%`.

    Args:
        row: of `rows.tendency_rows`.
        values: as `rows.value_rows` makes them.
    """
    statistic, written = NUMBERS.get(row["tendency"], ("", ""))
    pair = _own_and_real(row, values[values["statistic"] == statistic]) if statistic and row["way"] else None
    if pair is not None:
        own, real = (percent(one) if written.startswith("%") else number(one) for one in pair)
        many = pair[0] / pair[1] if pair[1] > 0 else 0.0
        times = f", {number(many, 2)} times" if many >= MANY else ""
        return f"{_clause(row)}: {written.removeprefix('%').format(own)} against {real}{times}"
    far = "" if missing(row["times"]) else f" ({number(float(row['times']), 2)} times what chance gives)"
    return f"{_clause(row)}{far}"


def _own_and_real(row: Row, values: pd.DataFrame) -> tuple[float, float] | None:
    """An estimate of a sample and of real text, at one size if it depends on the size; None unless both are known."""
    own = matching(values, {key: row[key] for key in (*GROUP, *RUN)})
    real = values[(values["corpus"] == row["corpus"]) & (values["source"] != SAMPLE)]
    if own.empty or real.empty:
        return None
    one = own.iloc[0]
    pair = (one["value"], real["value"].iloc[0]) if missing(one["at_size"]) else (one["at_size"], one["real_at_size"])
    return None if any(map(missing, pair)) else (float(pair[0]), float(pair[1]))


def not_measured(rows: pd.DataFrame, names: Names) -> tuple[tuple[str, str], ...]:
    """(What, why) of the tendencies that could not be measured or tested; the samples are named if others could."""
    samples = rows.drop_duplicates(GROUP)
    lost = rows[rows["p_value"].isna()].drop_duplicates([*GROUP, "tendency"])
    missing_tests = []
    for tendency in TENDENCIES:
        own = lost[lost["tendency"] == tendency.name]
        for why, group in own.groupby("why", sort=False):
            of = [shortened(names.source(row, seed=False)) for row in group.to_dict("records")]
            which = "" if len(of) == len(samples) else f" of {listed(of) if len(of) <= FEW else f'{len(of)} samples'}"
            what, _, plain = str(why).partition(": ")  # "groups: there are few": errors begin with their subject
            missing_tests.append(
                (f"{tendency.title}{which}", plain if plain and len(what) < LONGEST_SUBJECT else str(why))
            )
    return tuple(missing_tests)


def totals(rows: pd.DataFrame) -> pd.DataFrame:
    """For the scorecard: the number of tendencies in which each sample differs, and the number measured.

    Columns: those that identify a source, `not_kept`, `measured`, `documents`, `rejected`.
    """
    keys = [*GROUP, *RUN]
    measured = rows["verdict"].ne(MISSING).groupby([rows[key] for key in keys], dropna=False).transform("sum")
    samples = rows.assign(measured=measured).drop_duplicates(keys)
    return samples[["source", *keys, "not_kept", "measured", "documents", "rejected"]]
