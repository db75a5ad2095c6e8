"""How many mentions a critic finds unlikely, in real text and in samples."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from textcritic.critics.mentions import NO_ENTITY, THRESHOLD, MentionCritic
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.read import chained, critic_of, source_keys
from textcritic.experiments.coreference.why import share
from textcritic.inference import bootstrap_interval, permutation_test, ratio_of_sums
from textcritic.report.names import GROUP, KEYS, Names
from textcritic.report.numbers import MINUS, NONE, count, interval, number, p_value, percent
from textcritic.report.sheet import Cell, Sheet

COLUMNS = ("mentions", "documents", "unlikely", "share", "ci_low", "ci_high", "p_value")
WHOLE = ("seed", "mentions", "documents", "unlikely")


def share_rows(files: CoreferenceFiles) -> pd.DataFrame:
    """The share of unlikely mentions in real text and in every sample, one row a source.

    A mention is unlikely if its log P under the critic is below `THRESHOLD` (paper, Table 15); marks of sentences are
    not counted.

    Columns: the keys; `mentions` and the `documents` that have any; `unlikely`, how many of the mentions are; `share`,
    the latter by the former, with its 95% document-bootstrap interval `ci_low`, `ci_high`; `p_value` of a permutation
    test of documents against real text. A source without a mention has the counts alone.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    rows = []
    for data in files.data:
        critic = critic_of(data)
        real = _unlikely(data, files, critic)
        for source in files.of(data):
            columns = real if source is data else _unlikely(source, files, critic)
            row: dict[str, Any] = source_keys(source) | {"documents": len(columns)}
            row |= {"unlikely": int(columns[:, 0].sum()), "mentions": int(columns[:, 1].sum())}
            if len(columns):
                found = bootstrap_interval(columns, ratio_of_sums, resamples=files.resamples)
                row |= {"share": found.estimate, "ci_low": found.low, "ci_high": found.high}
            if len(columns) and len(real) and source is not data:
                row["p_value"] = permutation_test(columns, real, ratio_of_sums, resamples=files.resamples).p
            rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, *COLUMNS])
    return table.astype(dict.fromkeys(COLUMNS, float)).astype(dict.fromkeys(WHOLE, "Int64"))


def share_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The share of unlikely mentions of each source; of several seeds their mean and the largest p-value."""
    heads = ("Source", "Unlikely", "Mentions", "Documents")
    body = []
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        name = Cell(names.source(group.iloc[0].to_dict(), seed=False), heading=True)
        sums = [Cell(count(group[column].sum())) for column in ("mentions", "documents")]
        body.append([name, _share_cell(group[group["share"].notna()]), *sums])
    remarks = [
        f"Unlikely: mentions whose probability under the critic is below {share(THRESHOLD)} (log P < {MINUS}7, as in "
        "the paper’s Table 15). Under each share its 95% interval (with several seeds: their standard deviation), and "
        "the p-value of a test against real text. Documents: those with mentions."
    ]
    return Sheet("coreference-shares", "Unlikely mentions", [[Cell(head) for head in heads]], body, remarks=remarks)


def _share_cell(known: pd.DataFrame) -> Cell:
    if known.empty:
        return Cell(NONE)
    notes = [f"{interval(100 * known['ci_low'].iloc[0], 100 * known['ci_high'].iloc[0])}%"]
    if len(known) > 1:
        notes = [f"sd {number(100 * float(known['share'].std()))}%, {len(known)} seeds"]
    if known["p_value"].notna().any():
        notes.append(p_value(float(known["p_value"].max())))
    return Cell(percent(float(known["share"].mean())), tuple(notes))


def _unlikely(source: Documents, files: CoreferenceFiles, critic: MentionCritic) -> npt.NDArray[np.int64]:
    """Unlikely mentions and all mentions of each document that has any: [documents, 2]."""
    chains = chained(source, files).chains
    document = np.repeat(np.arange(len(chains.lengths)), chains.lengths)
    mention = chains.entities != NO_ENTITY
    below = mention & (critic.log_prob(chains) < THRESHOLD)
    columns = [np.bincount(document[which], minlength=len(chains.lengths)) for which in (below, mention)]
    found = np.stack(columns, axis=1)
    return found[found[:, 1] > 0]
