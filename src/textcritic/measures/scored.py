"""What tables of scored samples share: reading and counting scores, reasons in words, perplexity, p-values.

Similar names: `critics.scores` writes the files that are read here; `measures.score` has the numbers of the scorecard,
made from rows of tables; `api.scored` does without files what Python users call.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.errors import TextcriticError
from textcritic.files import lacking, read_json, read_table
from textcritic.inference import Number, over_runs, runs_p
from textcritic.inference.trainings import Run
from textcritic.measures.measure import Measure
from textcritic.measures.numbers import missing
from textcritic.plan.sources import DATA, GROUP, RUN, SAMPLE, Drawn

CHAIN_SCORES = ("id", "nll", "steps", "nll_soft", "rejected", "why", "group", "chain", "step_nll")
"""The columns of scores of chains, see `critics.scores`."""


class WithScores(Protocol):
    """Real text or a sample whose documents a critic has scored."""

    @property
    def scores(self) -> Path:
        """Parquet file of the scores."""


def source_scores(source: WithScores, columns: Sequence[str] = CHAIN_SCORES) -> pa.Table:
    """The scores of real text or of a sample, of as many documents as were drawn; raises as `read_scores`."""
    scores = read_scores(source.scores, columns)
    if isinstance(source, Drawn):
        check_counts(scores, source)
    return scores


def read_scores(path: Path, columns: Sequence[str] = CHAIN_SCORES) -> pa.Table:
    """The scores of one source.

    Args:
        path: of the file.
        columns: that a critic of this kind writes.

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    scores = read_table(path)
    if lacking := set(columns) - set(scores.column_names):
        raise TextcriticError(f"{path}: no column {sorted(lacking)[0]!r}; it is not a file of such scores")
    return scores


def check_counts(scores: pa.Table, sample: Drawn) -> None:
    """Refuse scores of more or fewer documents than were drawn."""
    drawn = read_json(sample.counts).get("drawn")
    if drawn is not None and drawn != scores.num_rows:
        raise TextcriticError(
            f"{sample.scores}: {scores.num_rows} documents, but {sample.counts} says {drawn} were drawn; "
            "they belong to different samples: delete the scores and rerun the rule that makes them"
        )


def rejected_of(sample: Drawn, kept: int) -> dict[str, object]:
    """How many drawn documents are not in a sample, for samples whose scores are not of single documents.

    Columns: `rejected`, `rejected_share`, `rejected_by_reason`; `unfinished`, the texts that were kept although they
    had not ended.

    Args:
        sample: the sample.
        kept: the documents that were measured.

    Raises:
        TextcriticError: other counts than those of a sample, or of one with more or fewer documents.
    """
    counts = read_json(sample.counts)
    if lacking := {"drawn", "kept", "rejected"} - set(counts):
        raise TextcriticError(f"{sample.counts}: no {sorted(lacking)[0]!r} in it; draw the sample again")
    if counts["kept"] != kept:
        raise TextcriticError(
            f"{sample.scores}: {kept} documents, but {sample.counts} says {counts['kept']} were kept; "
            "they belong to different samples: delete the scores and rerun the rule that makes them"
        )
    rejected = sum(counts["rejected"].values())
    columns = {"rejected": rejected, "rejected_share": rejected / max(counts["drawn"], 1)}
    return columns | {
        "rejected_by_reason": reasons_in_words(counts["rejected"]),
        "unfinished": counts.get("unfinished", 0),
    }


def perplexity_of(path: Path | None) -> dict[str, object]:
    """The perplexity columns of a sample's generator.

    Args:
        path: perplexity.json; None for samples that came from a file, whose columns are empty.
    """
    if path is None:
        return {}
    report = read_json(path)
    unit = report.get("unit", "tokens")
    columns: dict[str, object] = {"ppl_unit": unit}
    with lacking(path, "perplexity"):
        for part in ("all", "body"):
            ppl, (low, high) = report[part]["ppl"], report[part]["ci95"] or (None, None)
            columns |= {f"ppl_{part}": np.inf if ppl is None else ppl, f"ppl_{part}_low": low, f"ppl_{part}_high": high}
            if ppl is None:
                impossible = report["zero_probability_tokens"]
                columns["ppl_infinite_because"] = f"{impossible:,} {unit} of the test text have probability 0"
    return columns


RECIPE = ("seeds", "seeds_mean", "seeds_low", "seeds_high", "seeds_sd", "seeds_p")
"""The columns about the recipe: over the trainings of a group of samples."""


def add_seeds(table: pd.DataFrame, measure: Measure, real: str = DATA) -> None:
    """Combine the trainings of each group of samples, and write the result into their rows.

    Args:
        table: with the key columns. It gets the columns `RECIPE`: `seeds`, how many trainings; of those with a value
            their mean with its 95% interval, on the log scale if `measure.by_ratio` (see `inference.over_runs`: draws
            of one training are averaged first), their standard deviation, and the p-value of `inference.runs_p` against
            real text, if the measure is tested and real text has an interval or is exact. An infinite value makes the
            mean infinite.
        measure: which value.
        real: the `source` of the row of real text that samples are compared with.
    """
    samples = table["source"] == SAMPLE
    for (corpus, *_), group in table[samples].groupby(GROUP, sort=False):
        runs = runs_of(group, measure)
        table.loc[group.index, "seeds"] = group[RUN[0]].nunique(dropna=False)
        if not runs:
            continue
        recipe = over_runs(runs, measure.by_ratio)
        reference = _exact_or_with_interval(table[(table["corpus"] == corpus) & (table["source"] == real)], measure)
        p = None
        if measure.p and reference and len(runs) > 1:
            p = runs_p(runs, reference, measure.by_ratio)
        table.loc[group.index, RECIPE[1:]] = recipe.mean, recipe.low, recipe.high, recipe.sd, p


def runs_of(group: pd.DataFrame, measure: Measure) -> list[Run]:
    """(Training, its number with interval) of each row that has a value."""
    rows = group[group[measure.value].notna()]
    return [
        (seed, _number(row, measure)) for seed, (_, row) in zip(rows[RUN[0]].fillna(0), rows.iterrows(), strict=True)
    ]


def first_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of real text, and of each sample those of the first draw of its first training."""
    for column in RUN:
        least = rows.groupby(["source", *GROUP], dropna=False)[column].transform("min")
        rows = rows[rows[column].isna() | (rows[column] == least)]
    return rows


def _exact_or_with_interval(rows: pd.DataFrame, measure: Measure) -> Number | None:
    """The value and interval of real text; None if there is no row, or its documents are too few for an interval."""
    if rows.empty:
        return None
    row = rows.iloc[0]
    if measure.of_real is not None:
        return Number(measure.of_real)
    number = _number(row, measure)
    return None if number.low is None and not missing(row.get("documents")) else number


def _number(row: pd.Series, measure: Measure) -> Number:
    """The value and interval of one row."""
    value, low, high = (
        None if not column or missing(row[column]) else float(row[column])
        for column in (measure.value, measure.low, measure.high)
    )
    return Number(value, low, high)


def reasons_in_words(reasons: Mapping[str, int]) -> str:
    """`reason: n; ...`, as the tables hold them."""
    return "; ".join(f"{reason}: {n}" for reason, n in reasons.items())


def reasons_from_words(words: str) -> dict[str, int]:
    """The numbers that `reasons_in_words` wrote; a reason may have a semicolon, as it may name a title."""
    return {reason: int(n) for reason, n in re.findall(r"(.+?): (\d+)(?:; |$)", words, re.DOTALL)}


def reasons_over_seeds(group: pd.DataFrame) -> dict[str, int]:
    """How many documents of all seeds of a sample were left out for each reason, the commonest first."""
    reasons: Counter[str] = Counter()
    for words in group["rejected_by_reason"]:
        reasons.update(reasons_from_words(words))
    return dict(reasons.most_common())
