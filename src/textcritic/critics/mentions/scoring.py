"""Scores of documents by their chains of mentions, and why a Latent PPL is what it is."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.windows import Ints
from textcritic.critics.scores import Rejected, rejected_rows
from textcritic.critics.transitions import FOLDS
from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.mention_chains import NO_ENTITY, MentionChains

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
        ("group", pa.string()),
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
        pa.nulls(len(lengths), pa.string()),
    ]
    others = {"steps": 0, "people": 0, "mentions": 0}
    return pa.concat_tables(
        [pa.table(columns, schema=MENTION_SCORES_SCHEMA), rejected_rows(rejected, MENTION_SCORES_SCHEMA, others)]
    )


def cross_fitted_nll(
    critic: MentionCritic, chains: MentionChains, folds: int = FOLDS, seed: int = 1
) -> npt.NDArray[np.float64]:
    """NLL of each document under a critic of the same kind that was fitted on the other folds, nats: [documents].

    Their sum estimates the entropy in `H(agg, prior) = H(agg) + KL(agg || prior)` (paper, section 2), where `agg` is
    the process of windows that the set is drawn from. The plug-in entropy of windows of five is far too low: most of
    them occur once. The expected sum is `H(agg)` plus the divergence of the fitted critics from `agg`, which falls as
    the set grows. So it is an upper bound of `H(agg)`, and the rest of the cross-entropy is a lower bound of the
    divergence. That rest can be below 0 if the critic, fitted on more text, models the set better than a part of the
    set does. Compare sets of equal size. With `as_released`, tokens that the other folds do not have cost 46 nats
    each; the other discounts give better bounds.

    Args:
        critic: gives the order and the discount of the critics.
        chains: of the set; documents without a token cost 0.
        folds: parts of the documents, at random, of equal size.
        seed: of the parts.

    Raises:
        TextcriticError: fewer than two documents with a token.
    """
    documents = np.flatnonzero(chains.lengths)
    if len(documents) < 2:
        raise TextcriticError(f"decomposition: {len(documents)} documents with mentions; at least two are needed")
    folds = min(folds, len(documents))
    fold_of = np.full(len(chains.lengths), -1)
    fold_of[documents] = np.random.default_rng(seed).permutation(len(documents)) % folds
    nll = np.zeros(len(chains.lengths))
    for fold in range(folds):
        others = MentionCritic.fit(chains.some(fold_of != fold), critic.order, critic.discount)
        nll[fold_of == fold] = document_nll(others, chains.some(fold_of == fold))
    return nll


def document_nll(critic: MentionCritic, chains: MentionChains) -> npt.NDArray[np.float64]:
    """Nats of each document: float64 [documents]; 0 for an empty one."""
    total = np.concatenate([[0.0], np.cumsum(-critic.log_prob(chains))])
    return total[chains.offsets[1:]] - total[chains.offsets[:-1]]


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
