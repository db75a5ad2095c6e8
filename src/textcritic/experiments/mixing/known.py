"""Artificial languages, whose mixing is known: how much of it the critic recovers, and how much the test notices."""

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.files import MixingFiles
from textcritic.files import read_table
from textcritic.measures.material import Material
from textcritic.measures.numbers import count, percent
from textcritic.report.power import noticed_from
from textcritic.report.section import Finding

TESTS = {"share_": "by words of another language", "": "by the energy distance"}
"""The prefix of a test's columns, and the statistic of the test in words."""
COLUMNS = (
    *("corpus", "rate", "sentences", "expected", "recovered", "recovered_low", "recovered_high"),
    *("detected", "detected_low", "detected_high", "share_detected", "share_detected_low", "share_detected_high"),
    "repetitions",
)


def known_rows(material: Material[MixingFiles]) -> pd.DataFrame:
    """The tables of `critics.lda.power`, one corpus after the other; no rows where none is configured.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files = material.files
    tables = []
    for known in files.known:
        table = read_table(known.power).to_pandas().assign(corpus=known.corpus)
        if missing := [name for name in COLUMNS if name not in table]:
            raise TextcriticError(
                f"{known.power}: no column {missing[0]!r}; delete it and rerun the rule that makes it"
            )
        tables.append(table)
    rows = pd.concat([pd.DataFrame(columns=list(COLUMNS)), *tables])[list(COLUMNS)]
    return rows.astype({"sentences": "Int64", "repetitions": "Int64"})


def known_findings(rows: pd.DataFrame) -> list[Finding]:
    """The rate from which on tests notice mixing, with the most sentences of each corpus, and what is recovered."""
    findings = []
    for corpus, group in rows.groupby("corpus", sort=False):
        about = f"Known mixing ({corpus})" if rows["corpus"].nunique() > 1 else "Known mixing"
        most = group[group["sentences"] == group["sentences"].max()]
        noticed = [f"{_from(noticed_from(most, 'rate', f'{test}detected'))} {how}" for test, how in TESTS.items()]
        largest = most.sort_values("rate").iloc[-1]
        says = (
            f"Of {percent(largest['rate'])} of words exchanged in artificial languages, {percent(largest['expected'])} "
            f"can be seen, and {percent(largest['recovered'])} are recovered; with "
            f"{count(int(largest['sentences']))} sentences on each side, tests notice {' and '.join(noticed)}."
        )
        findings.append(Finding(about, says))
    return findings


def _from(rate: float | None) -> str:
    return f"{percent(rate)} and more" if rate else "no rate that was tried"
