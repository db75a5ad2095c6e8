"""Unlikely steps of every source with their intervals (model criticism paper, Table 12)."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from textcritic.critics import Chains, Steps, TransitionCritic, transition_errors
from textcritic.report.details import TABLE_THRESHOLD
from textcritic.report.inputs import Study
from textcritic.report.published import Published
from textcritic.report.repetitions import percent_of, scored
from textcritic.report.rows import scored_sources
from textcritic.report.sources import DATA_INFERRED, KEYS

SHOWN = 5  # kinds of steps of each source that have an interval and are shown, with those that are published
# What stands in place of a kind of step: all unlikely steps, and those of them that repeat a title.
ALL, REPEATED = "(all)", "(repeated)"
METRICS = {"total_errors_percent": (ALL, ""), "repetition_share_percent": (REPEATED, "")}
STEP_METRIC = "error_percent: "
COLUMNS = ("from", "to", "count", "steps", "percent", "ci_low", "ci_high", "probability", "data_percent")


def error_rows(study: Study, published: Published) -> pd.DataFrame:
    """Every kind of transition below probability 0.01 under the critic (paper, Table 12), and those published.

    Columns: the keys; `documents`; `from`, `to`; `count` of the `steps` of the source, and `percent` of them with its
    95% document-bootstrap interval `ci_low`, `ci_high` (of the `SHOWN` commonest kinds of a source and the published
    ones); `probability` under the critic, None where it lacks one of the titles; `data_percent`, the same in real text
    with inferred titles; `published`, `difference`. The first two rows of each source have `from` "(all)": all its
    errors together; and "(repeated)": those that repeat a title, whose `steps` are the errors.

    Raises:
        TextcriticError: a file is missing or damaged, no document is left.
    """
    rows: list[dict[str, Any]] = []
    real: dict[str, dict[tuple[str, str], float | None]] = {}
    for keys, scores, critic in scored_sources(study, gold=False):
        place = (keys["corpus"], keys["setting"], keys["generator"])
        theirs = published.of_source(*place, keys["decoding"])
        asked = {step: value for metric, value in theirs.items() if (step := _step(metric)) is not None}
        found = _of_source(scores, critic, asked, study.resamples)
        if keys["source"] == DATA_INFERRED:
            real[keys["corpus"]] = {(row["from"], row["to"]): row["percent"] for row in found}
        for row in found:
            step = (row["from"], row["to"])
            row["data_percent"] = real[keys["corpus"]].get(step, 0.0)
            row["published"] = asked.get(step)
            rows.append(keys | row)
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, "documents", *COLUMNS, "published"])
    table["difference"] = pd.to_numeric(table["percent"]) - pd.to_numeric(table["published"])
    return table.astype({"seed": "Int64"})


def _of_source(
    scores: pa.Table, critic: TransitionCritic, asked: Iterable[tuple[str, str]], resamples: int
) -> list[dict[str, Any]]:
    found = transition_errors(scores, critic, TABLE_THRESHOLD)
    kept = scored(scores)
    documents, each = kept.num_rows, kept["steps"].to_numpy()
    owner, source, target = _steps(kept, critic)

    def of_documents(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.bincount(owner[chosen], minlength=documents)

    wrong = critic.log_probs[source, target] < math.log(TABLE_THRESHOLD)
    errors, repeated = of_documents(wrong), of_documents(wrong & (source == target + 1))
    any_error = errors > 0  # documents without an error say nothing of the share of errors that repeat
    rows: list[dict[str, Any]] = [
        {"from": ALL, "to": "", **_counted(errors, each, resamples)},
        {"from": REPEATED, "to": "", **_counted(repeated[any_error], errors[any_error], resamples)},
    ]
    kinds = {(step["from"], step["to"]): step["probability"] for step in found.transitions}
    shown = {*list(kinds)[:SHOWN], *asked}
    counts = {(step["from"], step["to"]): step["count"] for step in found.transitions}
    for step in dict.fromkeys((*kinds, *(s for s in asked if s[0] not in (ALL, REPEATED)))):
        row: dict[str, Any] = {"from": step[0], "to": step[1], "probability": _probability(critic, step)}
        if step in shown:
            row |= _counted(of_documents(_is(step, source, target, critic)), each, resamples)
        else:
            row |= {"count": counts[step], "steps": found.steps, "percent": 100 * counts[step] / found.steps}
        rows.append(row)
    return [{"documents": documents, **row} for row in rows]


def _steps(
    kept: pa.Table, critic: TransitionCritic
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Document, row and column of `critic.log_probs` of every known step, begin and end included."""
    chains, titles = Chains.of(kept["chain"]), critic.titles
    steps = Steps.of(chains.codes(titles), chains.lengths, len(titles))
    known = steps.cells >= 0
    source, target = np.divmod(steps.cells[known].astype(np.int64), len(titles) + 1)
    return steps.document[known], source, target


def _counted(part: npt.NDArray[Any], whole: npt.NDArray[Any], resamples: int) -> dict[str, Any]:
    values = zip(("percent", "ci_low", "ci_high"), percent_of(part, whole, resamples), strict=True)
    return {"count": int(part.sum()), "steps": int(whole.sum()), **dict(values)}


def _is(
    step: tuple[str, str], source: npt.NDArray[np.int64], target: npt.NDArray[np.int64], critic: TransitionCritic
) -> npt.NDArray[np.bool_]:
    if step[0] not in critic.sources or step[1] not in critic.targets:
        return np.zeros(len(source), np.bool_)
    return (source == critic.sources.index(step[0])) & (target == critic.targets.index(step[1]))


def _probability(critic: TransitionCritic, step: tuple[str, str]) -> float | None:
    if step[0] not in critic.sources or step[1] not in critic.targets:
        return None
    return float(np.exp(critic.log_probs[critic.sources.index(step[0]), critic.targets.index(step[1])]))


def _step(metric: str) -> tuple[str, str] | None:
    """What a published value is a share of; None if of nothing in this table."""
    if not metric.startswith(STEP_METRIC):
        return METRICS.get(metric)
    before, _, after = metric.removeprefix(STEP_METRIC).partition(" > ")
    return before, after
