"""Scores of documents by their chains of mentions."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from textcritic.critics.mentions.chains import NO_ENTITY, MentionChains
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.windows import Ints
from textcritic.critics.scores import Rejected, rejected_rows
from textcritic.errors import TextcriticError

EMPTY = "no mentions"
MENTION_SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("nll", pa.float64()),
        ("steps", pa.int64()),
        ("people", pa.int64()),
        ("mentions", pa.int64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
    ]
)


def score_mentions(
    critic: MentionCritic, ids: Sequence[str] | pa.Array, chains: MentionChains, rejected: Rejected = ()
) -> pa.Table:
    """Score documents.

    A document without a single token is rejected. One of sentence marks alone is scored; its `people` are 0.

    Args:
        critic: fitted on real chains.
        ids: [documents].
        chains: of the documents.
        rejected: (id, why) of documents that have no chain; they are appended.

    Returns:
        Table of schema `MENTION_SCORES_SCHEMA`, what all critics write (`critics.scores`) and: `steps`, tokens, 0 if
        rejected; `people`, distinct entities; `mentions`, tokens that are no sentence marks.

    Raises:
        TextcriticError: the number of ids differs from that of the documents.
    """
    lengths = chains.lengths
    if len(ids) != len(lengths):
        raise TextcriticError(f"scores: {len(ids)} ids for {len(lengths)} chains; give one a document")
    scored = lengths > 0
    nll = np.full(len(lengths), math.nan)
    starts = chains.offsets[:-1][scored]
    if len(starts):
        nll[scored] = np.add.reduceat(-critic.log_prob(chains), starts)
    columns = [
        pa.array(ids, pa.string()),
        pa.array(nll),
        pa.array(lengths),
        pa.array(people_of(chains)),
        pa.array(_sums(chains.entities != NO_ENTITY, chains)),
        pa.array(~scored),
        pa.array(np.full(len(lengths), EMPTY), pa.string(), mask=scored),
    ]
    others = {"steps": 0, "people": 0, "mentions": 0}
    return pa.concat_tables(
        [pa.table(columns, schema=MENTION_SCORES_SCHEMA), rejected_rows(rejected, MENTION_SCORES_SCHEMA, others)]
    )


def people_of(chains: MentionChains) -> Ints:
    """Distinct entities of each document: int64 [documents]."""
    document = np.repeat(np.arange(len(chains.lengths)), chains.lengths)
    some = chains.entities != NO_ENTITY
    entity, document = chains.entities[some], document[some]
    order = np.lexsort((entity, document))
    entity, document = entity[order], document[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (entity[1:] != entity[:-1]) | (document[1:] != document[:-1])
    return np.bincount(document[first], minlength=len(chains.lengths))


def _sums(values: np.ndarray, chains: MentionChains) -> Ints:
    """Sums over the tokens of each document: int64 [documents]."""
    cumulative = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return cumulative[chains.offsets[1:]] - cumulative[chains.offsets[:-1]]
