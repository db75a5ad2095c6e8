"""Unlikely steps of every source with their intervals, and their table (model criticism paper, Table 12)."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from textcritic.critics import Chains, Steps, TransitionCritic, groups_of, is_unlikely, transition_errors
from textcritic.experiments.coherence.files import DATA_INFERRED, CoherenceFiles
from textcritic.experiments.coherence.names import UNLIKELY
from textcritic.experiments.coherence.repetitions import (
    Ints,
    chance,
    percent_of,
    published_cell,
    scored,
)
from textcritic.experiments.coherence.rows import scored_sources
from textcritic.inference import over_trainings, unit_of
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, missing, percent, plural
from textcritic.plan.sources import GROUP, KEYS, RUN, SAMPLE
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

SHOWN = 5  # kinds of steps of each source that have an interval and are shown, besides the published ones
# Values of `from` in rows of totals: all unlikely steps, and those of them that repeat a title.
ALL, REPEATED = "(all)", "(repeated)"
METRICS = {"total_errors_percent": (ALL, ""), "repetition_share_percent": (REPEATED, "")}
STEP_METRIC = "error_percent: "
COLUMNS = ("from", "to", "count", "steps", "percent", "ci_low", "ci_high", "probability", "data_percent")
HEADS = ("Source", "From", "To", "Share of steps", "In real text")
BEGIN, END = "<begin>", "<end>"
TOTALS = {ALL: "all unlikely steps", REPEATED: "of these, repeat a section"}


def error_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """Every kind of transition below probability 0.01 under the critic (paper, Table 12), and those published.

    Columns: the keys; `documents`; `from`, `to`; `count` of the `steps` of the source, and `percent` of them with its
    95% document-bootstrap interval `ci_low`, `ci_high` (for the `SHOWN` commonest kinds of a source and the published
    ones); `probability` under the critic, None if it lacks one of the titles; `data_percent`, the same in real text
    with inferred titles; `published`, `difference`. The first two rows of each source have `from` "(all)", all its
    errors together, and "(repeated)", the errors that repeat a title; there `steps` is the number of errors.

    Raises:
        TextcriticError: a file is missing or damaged, no document is left.
    """
    experiment, published = material.files, material.published
    rows: list[Row] = []
    real: dict[str, dict[tuple[str, str], float | None]] = {}
    for keys, scores, critic in scored_sources(experiment, gold=False):
        printed = published.of_source(keys)
        asked = {step: value for metric, value in printed.items() if (step := _step(metric)) is not None}
        rows_of_source = _of_source(scores, critic, asked, experiment.resamples)
        if keys["source"] == DATA_INFERRED:
            real[keys["corpus"]] = {(row["from"], row["to"]): row["percent"] for row in rows_of_source}
        for row in rows_of_source:
            step = (row["from"], row["to"])
            beside = {"data_percent": real[keys["corpus"]].get(step, 0.0), "published": asked.get(step)}
            rows.append({**keys, **row, **beside})
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, "documents", *COLUMNS, "published"])
    table["difference"] = pd.to_numeric(table["percent"]) - pd.to_numeric(table["published"])
    return table.astype(dict.fromkeys(RUN, "Int64"))


def errors_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """All unlikely steps of each source, how many repeat a title, the commonest kinds, and the published ones."""
    published = bool(rows["published"].notna().any())
    body: list[Line] = []
    for _, group in rows.groupby(["corpus", "source", *GROUP[1:]], sort=False, dropna=False):
        steps = [(ALL, ""), (REPEATED, ""), *_shown(group)]
        for index, step in enumerate(steps):
            one = _over_seeds(group, step)
            stub = _source_cell(group, names) if index == 0 else Cell("")
            words = [Cell(TOTALS[step[0]]), Cell("")] if step[0] in TOTALS else [Cell(s.strip("<>")) for s in step]
            real = Cell(NONE if group["generator"].iloc[0] == "data" else _percent(one["data_percent"]))
            body.append([stub, *words, _share_cell(one, step), real, *[published_cell(one)] * published])
    headings = ("errors and published" if published else "errors", "several" if rows["seed"].nunique() > 1 else "one")
    remarks = remarks_of(__file__, *headings, *["published shares"] * published, shown=SHOWN, unlikely=UNLIKELY)
    heads = [*HEADS, *["Published"] * published]
    return plain_sheet("transition-errors", "Section transition errors", heads, body, remarks, stubs=3)


def worst_steps(rows: pd.DataFrame) -> dict[tuple[str, ...], str]:
    """For each sample, of its commonest unlikely steps the one whose share is most above real text's, in a clause.

    Args:
        rows: as `error_rows` makes them.

    Returns:
        By corpus, setting, generator and decoding: `ends after “parameters” in 4.2% of steps, real text 0.30%`. A
        sample with none of them more often than real text is left out.
    """
    clauses = {}
    for source, group in rows[rows["source"] == SAMPLE].groupby(GROUP, sort=False):
        steps = [_over_seeds(group, step) for step in _shown(group)]
        worst = max(steps, key=lambda one: one["percent"] - one["data_percent"], default=None)
        if worst is not None and worst["percent"] > worst["data_percent"]:
            shares = f"in {_percent(worst['percent'])} of steps, real text {_percent(worst['data_percent'])}"
            clauses[source] = f"{_step_in_words(worst['from'], worst['to'])} {shares}"
    return clauses


def _step_in_words(before: str, after: str) -> str:
    """A step from one title to the next: `begins with “notes”`, `ends after “notes”`, `“notes” follows “examples”`."""
    if before == BEGIN:
        return f"begins with “{after}”"
    if after == END:
        return f"ends after “{before}”"
    return f"“{after}” comes twice in a row" if before == after else f"“{after}” follows “{before}”"


def _name(group: pd.DataFrame, names: Names) -> str:
    return names.source(group.iloc[0].to_dict(), seed=False)


def _of_source(
    scores: pa.Table, critic: TransitionCritic, asked: Iterable[tuple[str, str]], resamples: int
) -> list[Row]:
    errors_found = transition_errors(scores, critic, UNLIKELY)
    kept = scored(scores)
    documents, unit = kept.num_rows, unit_of(groups_of(scores), kept.num_rows)
    each = np.bincount(unit, kept["steps"].to_numpy())
    owner, source, target = _steps(kept, critic)

    def of_units(chosen: npt.NDArray[np.bool_]) -> Ints:
        return np.bincount(unit[owner[chosen]], minlength=len(each))

    wrong = is_unlikely(np.exp(critic.log_probs[source, target]), UNLIKELY)
    errors, repeated = of_units(wrong), of_units(wrong & (source == target + 1))
    any_error = errors > 0  # documents without an error do not affect the share of errors that repeat
    rows: list[Row] = [
        {"from": ALL, "to": "", **_counted(errors, each, resamples)},
        {"from": REPEATED, "to": "", **_counted(repeated[any_error], errors[any_error], resamples)},
    ]
    kinds = {(step["from"], step["to"]): step["probability"] for step in errors_found.transitions}
    shown = {*list(kinds)[:SHOWN], *asked}
    counts = {(step["from"], step["to"]): step["count"] for step in errors_found.transitions}
    for step in dict.fromkeys((*kinds, *(s for s in asked if s[0] not in (ALL, REPEATED)))):
        row: dict[str, object] = {"from": step[0], "to": step[1], "probability": _probability(critic, step)}
        if step in shown:
            row |= _counted(of_units(_is(step, source, target, critic)), each, resamples)
        else:
            row |= {
                "count": counts[step],
                "steps": errors_found.steps,
                "percent": 100 * counts[step] / errors_found.steps,
            }
        rows.append(row)
    return [{"documents": documents, **row} for row in rows]


def _steps(kept: pa.Table, critic: TransitionCritic) -> tuple[Ints, Ints, Ints]:
    """Document, row and column of `critic.log_probs` of every known step, begin and end included."""
    chains, titles = Chains.of(kept["chain"]), critic.titles
    steps = Steps.of(chains.codes(titles), chains.lengths, len(titles))
    scored = steps.cells >= 0
    source, target = np.divmod(steps.cells[scored].astype(np.int64), len(titles) + 1)
    return steps.document[scored], source, target


def _counted(part: Ints, whole: Ints, resamples: int) -> Row:
    values = zip(("percent", "ci_low", "ci_high"), percent_of(part, whole, resamples), strict=True)
    return {"count": int(part.sum()), "steps": int(whole.sum()), **dict(values)}


def _is(step: tuple[str, str], source: Ints, target: Ints, critic: TransitionCritic) -> npt.NDArray[np.bool_]:
    if step[0] not in critic.sources or step[1] not in critic.targets:
        return np.zeros(len(source), np.bool_)
    return (source == critic.sources.index(step[0])) & (target == critic.targets.index(step[1]))


def _probability(critic: TransitionCritic, step: tuple[str, str]) -> float | None:
    if step[0] not in critic.sources or step[1] not in critic.targets:
        return None
    return float(np.exp(critic.log_probs[critic.sources.index(step[0]), critic.targets.index(step[1])]))


def _step(metric: str) -> tuple[str, str] | None:
    """The kind of step of a published value; None if it is not in this table."""
    if not metric.startswith(STEP_METRIC):
        return METRICS.get(metric)
    before, _, after = metric.removeprefix(STEP_METRIC).partition(" > ")
    return before, after


def _shown(group: pd.DataFrame) -> list[tuple[str, str]]:
    """The commonest kinds of steps under all seeds together, then the published ones that are not among them."""
    kinds = group[~group["from"].isin(TOTALS)]
    shares = kinds.groupby(["from", "to"], sort=False)["percent"].sum().sort_values(ascending=False, kind="stable")
    unlikely = kinds[is_unlikely(kinds["probability"], UNLIKELY)]
    among = set(zip(unlikely["from"], unlikely["to"], strict=True))
    commonest = [step for step in shares.index if step in among][:SHOWN]
    asked = kinds[kinds["published"].notna()]
    return list(dict.fromkeys([*commonest, *zip(asked["from"], asked["to"], strict=True)]))


def _over_seeds(group: pd.DataFrame, step: tuple[str, str]) -> Row:
    """One kind of step under all seeds: the mean over trainings with Student's interval, and sums of the counts."""
    of_step = group[(group["from"] == step[0]) & (group["to"] == step[1])]
    totals = group[group["from"] == ALL].set_index(list(RUN))
    # The samples that never take this step; real text has a row for each step.
    absent = totals[~totals.index.isin(pd.MultiIndex.from_frame(of_step[list(RUN)]))]
    percents = pd.concat([of_step.set_index(list(RUN))["percent"], absent["percent"] * 0])
    values = percents.groupby(RUN[0], dropna=False).mean()
    first = of_step.iloc[0].to_dict()
    first |= {"count": of_step["count"].sum(), "steps": of_step["steps"].sum() + absent["steps"].sum()}
    recipe = over_trainings(list(values))
    first |= {"percent": recipe.mean, "seeds": recipe.trainings}
    if recipe.low is not None and recipe.high is not None:
        first |= {"ci_low": max(recipe.low, 0.0), "ci_high": min(recipe.high, 100.0)}
    return first | {"difference": first["percent"] - first["published"] if not missing(first["published"]) else None}


def _source_cell(group: pd.DataFrame, names: Names) -> Cell:
    documents = int(group.loc[group["from"] == ALL, "documents"].sum())
    return Cell(_name(group, names), (plural(documents, "article"),), heading=True)


def _share_cell(row: Row, step: tuple[str, str]) -> Cell:
    if missing(row["percent"]):
        return Cell(NONE)
    spread = f"{_percent(row['ci_low'])} to {_percent(row['ci_high'])}"
    if row["seeds"] > 1:
        spread += f" over {row['seeds']} trainings"
    # Resampling gives no interval for a step that never happens, nor for fewer than 20 articles.
    has_interval = bool(row["count"]) and (row["seeds"] > 1 or not missing(row["ci_low"]))
    notes = [*[spread] * has_interval, f"{count(row['count'])} of {count(row['steps'])}"]
    if step[0] not in TOTALS:
        if missing(row["probability"]):
            notes.append("no such section type here")
        elif not is_unlikely(row["probability"], UNLIKELY):
            notes.append(f"not unlikely here: {chance(row['probability'])}")
    return Cell(_percent(row["percent"]), tuple(notes))


def _percent(value: float | None) -> str:
    return percent(None if missing(value) else float(str(value)) / 100)
