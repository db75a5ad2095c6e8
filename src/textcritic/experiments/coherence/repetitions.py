"""How often a section repeats the one before it (model criticism paper, appendix E, repetition errors)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics import Chains, TransitionCritic
from textcritic.inference import bootstrap_interval, ratio_of_sums
from textcritic.report.details import TABLE_THRESHOLD
from textcritic.report.inputs import Study
from textcritic.report.published import Published
from textcritic.report.rows import scored_sources
from textcritic.report.sources import KEYS


@dataclass(frozen=True, slots=True)
class Repeats:
    """Every step of a set of documents that repeats a title, as arrays of one length.

    Attributes:
        document: which document, counted over those not rejected.
        place: of the second of the two sections, from 0.
        title: the title's number among the critic's.
        log_prob: of the step under the critic, nats.
    """

    document: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    title: npt.NDArray[np.int64]
    log_prob: npt.NDArray[np.float64]

    @property
    def unlikely(self) -> npt.NDArray[np.bool_]:
        """Those that the critic finds unlikely, by the criterion of Table 12."""
        return self.log_prob < math.log(TABLE_THRESHOLD)


def repetition_rows(study: Study, published: Published) -> pd.DataFrame:
    """How often sections repeat the one before, in real text with inferred titles and in every sample.

    Columns: the keys; `documents`, `steps` scored; `repeated`, the steps that repeat a title, and `repeated_percent` of
    all steps; `errors`, the steps with P < 0.01 under the critic; `errors_repeated`, those of them that repeat a title,
    and `share_percent` of the errors, None without errors; both percentages with their 95% document-bootstrap
    intervals `_low`, `_high` (of the share: over the documents that have an error); `published` (share of the errors)
    and `difference`, ours minus it.

    Raises:
        TextcriticError: a file is missing or damaged, no document is left.
    """
    rows = []
    for keys, scores, critic in scored_sources(study, gold=False):
        kept = scored(scores)
        found, documents = repeats(kept, critic), kept.num_rows
        errors = _errors(kept)
        repeated = np.bincount(found.document, minlength=documents)
        wrong = np.bincount(found.document[found.unlikely], minlength=documents)
        steps = kept["steps"].to_numpy()
        row = keys | {"documents": documents, "steps": int(steps.sum()), "repeated": int(repeated.sum())}
        row |= _percent("repeated_percent", repeated, steps, study.resamples)
        row |= {"errors": int(errors.sum()), "errors_repeated": int(wrong.sum())}
        # Documents without an error say nothing of the share, and a resample of them alone would have none.
        row |= _percent("share_percent", wrong[errors > 0], errors[errors > 0], study.resamples)
        metric = "repetition_share_percent"
        row["published"] = published.value(keys["corpus"], keys["setting"], keys["generator"], metric, keys["decoding"])
        rows.append(row)
    percents = [f"{name}{end}" for name in ("repeated_percent", "share_percent") for end in ("", "_low", "_high")]
    counts = ["documents", "steps", "repeated", *percents[:3], "errors", "errors_repeated", *percents[3:]]
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, *counts, "published"])
    table["difference"] = pd.to_numeric(table["share_percent"]) - pd.to_numeric(table["published"])
    return table.astype({"seed": "Int64"})


def repeats(kept: pa.Table, critic: TransitionCritic) -> Repeats:
    """The steps that repeat a title, in reading order.

    Args:
        kept: scores of the documents not rejected.
        critic: the one that gave them.
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


def percent_of(
    part: npt.NDArray[Any], whole: npt.NDArray[Any], resamples: int
) -> tuple[float | None, float | None, float | None]:
    """A part in percent of a whole, counted by document, and its 95% document-bootstrap interval; None of nothing."""
    if not whole.sum():
        return None, None, None
    found = bootstrap_interval(np.column_stack([part, whole]), ratio_of_sums, resamples=resamples)
    return 100 * found.estimate, 100 * found.low, 100 * found.high


def _errors(kept: pa.Table) -> npt.NDArray[np.int64]:
    """Unlikely steps of each document."""
    steps = kept["step_nll"].combine_chunks()
    lengths = pc.list_value_length(steps).to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    wrong = steps.flatten().to_numpy(zero_copy_only=False) > -math.log(TABLE_THRESHOLD)
    return np.bincount(owner[wrong], minlength=len(lengths))


def _percent(name: str, part: npt.NDArray[Any], whole: npt.NDArray[Any], resamples: int) -> dict[str, float | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), percent_of(part, whole, resamples), strict=True))
