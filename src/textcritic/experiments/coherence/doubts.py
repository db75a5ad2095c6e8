"""What makes the Latent PPL of every source doubtful: section titles that a classifier infers wrongly."""

import math
from collections.abc import Mapping

import pandas as pd

from textcritic.experiments.coherence.audit import CORRECTION
from textcritic.experiments.coherence.files import DATA_GOLD, DATA_INFERRED, CoherenceFiles
from textcritic.files import read_json
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import number, percent

FACTOR = 1.25
"""By how much the Latent PPL of real text may change with inferred titles before every value is in doubt."""


def warnings(rows: pd.DataFrame, accuracies: Mapping[str, float], audit: pd.DataFrame) -> tuple[str, ...]:
    """A sentence for each corpus whose real text has another Latent PPL by inferred titles than by its own.

    Args:
        rows: as `rows.coherence_rows` makes them.
        accuracies: by corpus, the share of test sections on which the classifier is right.
        audit: as `audit.audit_rows` makes them.
    """
    said = []
    several = rows["corpus"].nunique() > 1
    for corpus in rows["corpus"].unique():
        inferred, gold = of_real(rows, corpus)
        if gold is None or not _far(inferred, gold):
            continue
        where = f" on {corpus_name(corpus)}" if several else ""
        right = accuracies.get(corpus)
        often = "" if right is None else f", which is right on {percent(right)} of the test sections"
        said.append(
            f"Inferred titles change the Latent PPL of real text{where} from {number(gold)} (its own titles) to "
            f"{number(inferred)}. They come from the section classifier{often}. The values of samples mix the order of "
            f"sections with such errors, too. {_advice(audit, corpus, gold)}"
        )
    return tuple(said)


def of_real(rows: pd.DataFrame, corpus: str) -> tuple[float, float | None]:
    """Latent PPL of a corpus' real text with inferred titles, and with its own (None where titles are given)."""
    values = rows[rows["corpus"] == corpus].set_index("source")["latent_ppl"]
    return float(values[DATA_INFERRED]), float(values[DATA_GOLD]) if DATA_GOLD in values.index else None


def accuracies(experiment: CoherenceFiles) -> dict[str, float]:
    """The share of test sections on which each corpus' classifier is right; nothing where titles are given."""
    return {
        data.corpus: float(read_json(data.accuracy)["test"]["accuracy"])
        for data in experiment.data
        if data.accuracy is not None
    }


def _advice(audit: pd.DataFrame, corpus: str, gold: float) -> str:
    """What to go by instead: the corrected values, where they are right on real text."""
    row = audit[(audit["corpus"] == corpus) & (audit["source"] == DATA_GOLD) & (audit["switch"] == CORRECTION)]
    if len(row) and not _far(float(row["latent_ppl"].iloc[0]), gold):
        value = number(float(row["latent_ppl"].iloc[0]))
        return (
            f"Go by the values that are corrected for them, in the audit under “{CORRECTION}”: they give {value} for "
            "real text."
        )
    advice = "Give the titles of the samples, or train a better classifier, before you rank samples by these values."
    return f"{advice} The audit’s correction is too uncertain here." if len(row) else advice


def _far(one: float, other: float) -> bool:
    if math.isinf(one) or math.isinf(other):
        return math.isinf(one) != math.isinf(other)
    return abs(math.log(one / other)) > math.log(FACTOR)
