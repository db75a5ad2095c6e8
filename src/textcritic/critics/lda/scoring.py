"""Latent NLL of documents under LDA as the table that every critic writes. It needs neither tomotopy nor torch."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from textcritic.critics.lda.posterior import Posterior
from textcritic.critics.scores import Rejected, rejected_rows
from textcritic.errors import TextcriticError

UNKNOWN = "no known word"
LDA_SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("nll", pa.float64()),
        ("steps", pa.int64()),
        ("tokens", pa.int64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
        ("group", pa.string()),
    ]
)


def score_lda(ids: Sequence[str] | pa.Array, posterior: Posterior, rejected: Rejected = ()) -> pa.Table:
    """Score documents by their posteriors.

    Latent NLL is `-E log Dirichlet(theta; alpha)`, nats, of a document, which is one step. It is that of a density: it
    may be below 0, and exp of it says nothing.

    Args:
        ids: [N].
        posterior: of N documents; one without a word of the vocabulary is rejected.
        rejected: (id, why) of documents that could not even be parsed; they are appended.

    Returns:
        Table of schema `LDA_SCORES_SCHEMA`, NLL in nats, NaN for a rejected document.

    Raises:
        TextcriticError: another number of ids than of documents.
    """
    if len(ids) != len(posterior.tokens):
        raise TextcriticError(f"scores: {len(ids)} ids for {len(posterior.tokens)} documents; give one a document")
    known = posterior.tokens > 0
    columns = [
        pa.array(ids, pa.string()),
        pa.array(posterior.nll),
        pa.array(known.astype(np.int64)),
        pa.array(posterior.tokens),
        pa.array(~known),
        pa.array(np.full(len(known), UNKNOWN), pa.string(), mask=known),
        pa.nulls(len(known), pa.string()),
    ]
    scored = pa.table(columns, schema=LDA_SCORES_SCHEMA)
    return pa.concat_tables([scored, rejected_rows(rejected, LDA_SCORES_SCHEMA, {"steps": 0, "tokens": 0})])
