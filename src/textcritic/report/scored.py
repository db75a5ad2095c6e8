"""What every table of scored samples says: scores read and counted, reasons in words, perplexity, p-values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.inference import seed_summary
from textcritic.plan.sources import GROUP, SAMPLE, Drawn

CHAIN_SCORES = ("id", "nll", "steps", "nll_soft", "rejected", "why", "chain", "step_nll")
"""The columns of scores of chains, see `critics.scores`."""


def source_scores(source: Any, columns: Sequence[str] = CHAIN_SCORES) -> pa.Table:
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
    missing = set(columns) - set(scores.column_names)
    if missing:
        raise TextcriticError(f"{path}: no column {sorted(missing)[0]!r}; it is not a file of such scores")
    return scores


def check_counts(scores: pa.Table, sample: Drawn) -> None:
    """Refuse scores of more or fewer documents than were drawn."""
    drawn = read_json(sample.counts).get("drawn")
    if drawn is not None and drawn != scores.num_rows:
        raise TextcriticError(
            f"{sample.scores}: {scores.num_rows} documents, but {sample.counts} says {drawn} were drawn; "
            "they belong to different samples: delete the scores and rerun the rule that makes them"
        )


def rejected_of(sample: Drawn, kept: int) -> dict[str, Any]:
    """What was drawn and is not in a sample, for samples whose scores are not of single documents.

    Columns: `rejected`, `rejected_share`, `rejected_by_reason`; `unfinished`, the texts that were kept although they
    had not ended.

    Args:
        sample: the sample.
        kept: the documents that were measured.

    Raises:
        TextcriticError: other counts than those of a sample, or of one with more or fewer documents.
    """
    said = read_json(sample.counts)
    if lacking := {"drawn", "kept", "rejected"} - set(said):
        raise TextcriticError(f"{sample.counts}: no {sorted(lacking)[0]!r} in it; draw the sample again")
    if said["kept"] != kept:
        raise TextcriticError(
            f"{sample.scores}: {kept} documents, but {sample.counts} says {said['kept']} were kept; "
            "they belong to different samples: delete the scores and rerun the rule that makes them"
        )
    rejected = sum(said["rejected"].values())
    columns = {"rejected": rejected, "rejected_share": rejected / max(said["drawn"], 1)}
    return columns | {
        "rejected_by_reason": reasons_in_words(said["rejected"]),
        "unfinished": said.get("unfinished", 0),
    }


def perplexity_of(path: Path | None) -> dict[str, Any]:
    """The perplexity columns of a sample's generator.

    Args:
        path: perplexity.json; None for samples that came from a file, whose columns are empty.
    """
    if path is None:
        return {}
    report = read_json(path)
    unit = report.get("unit", "tokens")
    columns: dict[str, Any] = {"ppl_unit": unit}
    try:
        for part in ("all", "body"):
            ppl, (low, high) = report[part]["ppl"], report[part]["ci95"] or (None, None)
            columns |= {f"ppl_{part}": np.inf if ppl is None else ppl, f"ppl_{part}_low": low, f"ppl_{part}_high": high}
            if ppl is None:
                impossible = report["zero_probability_tokens"]
                columns["ppl_infinite_because"] = f"{impossible:,} {unit} of the test text have probability 0"
    except (KeyError, TypeError, ValueError) as error:
        raise TextcriticError(f"{path}: no perplexity in it ({error}); delete it and rerun its rule") from error
    return columns


def add_seeds(table: pd.DataFrame, column: str) -> None:
    """Write the summary over the seeds of each group of samples into their rows.

    Args:
        table: with the key columns. It gets `seeds`, and `seeds_mean`, `seeds_sd` of those seeds that have a value; an
            infinite value makes the mean infinite, without a standard deviation.
        column: of the values.
    """
    for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False):
        values = group[column].dropna().tolist()
        table.loc[group.index, "seeds"] = len(group)
        if values:
            summary = seed_summary(values) if np.isfinite(values).all() else {}
            table.loc[group.index, ["seeds_mean", "seeds_sd"]] = summary.get("mean", np.inf), summary.get("sd")


def reasons_in_words(reasons: Mapping[str, int]) -> str:
    """`reason: n; ...`, as the tables hold them."""
    return "; ".join(f"{reason}: {n}" for reason, n in reasons.items())


def reasons_from_words(words: str) -> dict[str, int]:
    """The numbers that `reasons_in_words` wrote."""
    pairs = (part.rsplit(": ", 1) for part in words.split("; ") if part)
    return {reason: int(n) for reason, n in pairs}


def reasons_over_seeds(group: pd.DataFrame) -> dict[str, int]:
    """How many documents of all seeds of a sample were left out for each reason, the commonest first."""
    reasons: Counter[str] = Counter()
    for words in group["rejected_by_reason"]:
        reasons.update(reasons_from_words(words))
    return dict(reasons.most_common())
