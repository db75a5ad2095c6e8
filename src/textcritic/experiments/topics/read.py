"""Reads the scores and the posteriors of one source of topics."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.ctm.scoring import TOPIC_SCORES_SCHEMA, posterior_moments
from textcritic.errors import TextcriticError
from textcritic.experiments.topics.files import Documents
from textcritic.files import read_table
from textcritic.measures.scored import source_scores

Matrix = npt.NDArray[np.float64]
Moments = tuple[Matrix, Matrix]
"""Means and variances of documents, both [documents, K-1]."""


@dataclass(frozen=True, slots=True, eq=False)
class OfStart:
    """The documents of one source that have words, under the model of another start of the fit.

    Attributes:
        nll, nll_at_mean: [documents], nats.
        moments: means and variances, both [documents, K-1].
    """

    nll: Matrix
    nll_at_mean: Matrix
    moments: Moments


def read_topic_scores(source: Documents) -> pa.Table:
    """The scores of one source; raises as `measures.scored.source_scores`."""
    return source_scores(source, TOPIC_SCORES_SCHEMA.names)


def read_starts(source: Documents) -> list[OfStart]:
    """One source under the models of the other starts, in their order; none if there was one start only.

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    table = read_table(source.of_starts)
    missing = {"start", "words", "mean", "variance", "nll", "nll_at_mean"} - set(table.column_names)
    if missing:
        raise TextcriticError(f"{source.of_starts}: no column {sorted(missing)[0]!r}; it is not a file of starts")
    starts = []
    for start in sorted(pc.unique(table["start"]).to_pylist()):
        rows = table.filter(pc.equal(table["start"], start))
        starts.append(OfStart(rows["nll"].to_numpy(), rows["nll_at_mean"].to_numpy(), posterior_moments(rows)))
    return starts


def read_posteriors(source: Documents) -> Moments:
    """Means and variances of the documents of one source that have words, both [documents, K-1].

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    table = read_table(source.posteriors)
    missing = {"words", "mean", "variance"} - set(table.column_names)
    if missing:
        raise TextcriticError(f"{source.posteriors}: no column {sorted(missing)[0]!r}; it is not a file of posteriors")
    return posterior_moments(table)
