"""How often a section repeats the one before it (model criticism paper, appendix E, repetition errors)."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics import Chains, TransitionCritic, groups_of, is_unlikely
from textcritic.experiments.coherence.files import CoherenceFiles
from textcritic.experiments.coherence.names import UNLIKELY
from textcritic.experiments.coherence.rows import scored_sources
from textcritic.inference import bootstrap_interval, ratio_of_sums, unit_sums
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, difference, interval, missing, number, percent
from textcritic.plan.sources import KEYS, RUN
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Every step of a set of documents that repeats a title, as arrays of one length.

    Attributes:
        document: the number of the document among those not rejected.
        place: of the second of the two sections, from 0.
        title: the title's number among the critic's.
        log_prob: of the step under the critic, nats.
    """

    document: Ints
    place: Ints
    title: Ints
    log_prob: npt.NDArray[np.float64]

    @property
    def unlikely(self) -> npt.NDArray[np.bool_]:
        """Which repetitions the critic finds unlikely, by the criterion of Table 12."""
        return is_unlikely(np.exp(self.log_prob), UNLIKELY)


def repetition_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """How often sections repeat the one before, in real text with inferred titles and in every sample.

    Columns: the keys; `documents`, `steps` scored; `repeated`, the steps that repeat a title, and `repeated_percent` of
    all steps; `errors`, the steps with P < 0.01 under the critic; `errors_repeated`, those of them that repeat a title,
    and `share_percent` of the errors, None without errors; both percentages with their 95% document-bootstrap
    intervals `_low`, `_high` (of the share: over the documents that have an error); `published` (share of the errors)
    and `difference`, ours minus it.

    Raises:
        TextcriticError: a file is missing or damaged, no document is left.
    """
    experiment, published = material.files, material.published
    rows = []
    for keys, scores, critic in scored_sources(experiment, gold=False):
        kept = scored(scores)
        again, documents = repeats(kept, critic), kept.num_rows
        errors = _errors(kept)
        repeated = np.bincount(again.document, minlength=documents)
        wrong = np.bincount(again.document[again.unlikely], minlength=documents)
        columns = np.column_stack([repeated, wrong, errors, kept["steps"].to_numpy()])
        repeated, wrong, errors, steps = unit_sums(columns, groups_of(scores)).astype(np.int64).T
        row = {**keys, "documents": documents, "steps": int(steps.sum()), "repeated": int(repeated.sum())}
        row |= _percent("repeated_percent", repeated, steps, experiment.resamples)
        row |= {"errors": int(errors.sum()), "errors_repeated": int(wrong.sum())}
        # Documents without an error do not affect the share; a resample of only such documents would have none.
        row |= _percent("share_percent", wrong[errors > 0], errors[errors > 0], experiment.resamples)
        row["published"] = published.value("repetition_share_percent", keys)
        rows.append(row)
    percents = [f"{name}{end}" for name in ("repeated_percent", "share_percent") for end in ("", "_low", "_high")]
    counts = ["documents", "steps", "repeated", *percents[:3], "errors", "errors_repeated", *percents[3:]]
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, *counts, "published"])
    table["difference"] = pd.to_numeric(table["share_percent"]) - pd.to_numeric(table["published"])
    return table.astype(dict.fromkeys(RUN, "Int64"))


def repeats(kept: pa.Table, critic: TransitionCritic) -> Repeats:
    """The steps that repeat a title, in reading order.

    Args:
        kept: scores of the documents not rejected.
        critic: the critic that gave the scores.
    """
    chains = Chains.of(kept["chain"])
    titles, lengths = chains.codes(critic.titles).astype(np.int64), chains.lengths
    owner = np.repeat(np.arange(len(lengths)), lengths)
    first = np.flatnonzero((titles[1:] == titles[:-1]) & (owner[1:] == owner[:-1]) & (titles[1:] >= 0))
    document, title = owner[first], titles[first]
    place = first + 1 - (np.cumsum(lengths) - lengths)[document]
    return Repeats(document, place, title, critic.log_probs[1 + title, title])


def scored(scores: pa.Table) -> pa.Table:
    """The scores of the documents that were not rejected."""
    return scores.filter(pc.invert(scores["rejected"]))


def percent_of(part: Ints, whole: Ints, resamples: int) -> tuple[float | None, float | None, float | None]:
    """A part in percent of a whole, by document, and its 95% document-bootstrap interval; None if the whole is 0."""
    if not whole.sum():
        return None, None, None
    interval = bootstrap_interval(np.column_stack([part, whole]), ratio_of_sums, resamples=resamples)
    interval = interval.of_share().times(100)
    return interval.estimate, interval.low, interval.high


def rates_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """How often a section repeats the one before, of all steps and of the unlikely ones."""
    published = bool(rows["published"].notna().any())
    heads = ("Source", "Articles", "Steps that repeat a section", "Unlikely steps that do", *["Published"] * published)
    body: list[Line] = []
    for row in rows.to_dict("records"):
        shares = [
            _rate_cell(row, "repeated_percent", "repeated", "steps"),
            _rate_cell(row, "share_percent", "errors_repeated", "errors"),
        ]
        body.append([names.source(row), count(row["documents"]), *shares, *[published_cell(row)] * published])
    remarks = remarks_of(__file__, "rates", *["published shares", "of unlikely"] * published, unlikely=UNLIKELY)
    return plain_sheet("repetition-rates", "Sections of the same type twice in a row", heads, body, remarks)


def published_cell(row: Row) -> Cell:
    """A published share, and ours minus it, in percentage points."""
    if missing(row["published"]):
        return Cell(NONE)
    printed, ours = percent_beside(row)
    return Cell(printed.removeprefix("published "), (ours,))


def percent_beside(row: Row) -> tuple[str, str]:
    """The published share as printed, and ours minus it."""
    gap = None if missing(row["difference"]) else float(row["difference"])
    return f"published {float(row['published']):g}%", f"ours {difference(gap)}"


def chance(probability: float) -> str:
    """A probability as the report writes it: `P = 0.31%`, `P < 0.01%`."""
    words = percent(probability)
    return f"P {words}" if words.startswith("<") else f"P = {words}"


def with_rates(sheet: Sheet, rows: pd.DataFrame, names: Names) -> Sheet:
    """The examples with the shares of all sources among the remarks, for the paper's table."""
    return replace(sheet, remarks=[*sheet.remarks, *(_rate_in_words(row, names) for row in rows.to_dict("records"))])


def _errors(kept: pa.Table) -> Ints:
    """Unlikely steps of each document."""
    steps = kept["step_nll"].combine_chunks()
    lengths = pc.list_value_length(steps).to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    wrong = is_unlikely(np.exp(-steps.flatten().to_numpy(zero_copy_only=False)), UNLIKELY)
    return np.bincount(owner[wrong], minlength=len(lengths))


def _percent(name: str, part: Ints, whole: Ints, resamples: int) -> dict[str, float | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), percent_of(part, whole, resamples), strict=True))


def _rate_cell(row: Row, name: str, part: str, whole: str) -> Cell:
    if missing(row[name]):
        return Cell(NONE)
    counted = f"{count(row[part])} of {count(row[whole])}"
    if missing(row[f"{name}_low"]):
        return Cell(percent(row[name] / 100), (counted,))
    low, high = (percent(row[f"{name}_{end}"] / 100) for end in ("low", "high"))
    return Cell(percent(row[name] / 100), (f"{low} to {high}", counted))


def _rate_in_words(row: Row, names: Names) -> str:
    if missing(row["share_percent"]):
        return f"{names.source(row)}: no unlikely step."
    share, low, high = (row[f"share_percent{end}"] for end in ("", "_low", "_high"))
    span = "" if missing(low) else f" ({interval(low, high)}%)"
    printed = "" if missing(row["published"]) else f"; {', '.join(percent_beside(row))}"
    errors = count(row["errors"])
    return f"{names.source(row)}: {number(share)}%{span} of {errors} unlikely steps repeat a section{printed}."
