"""The scores of documents whose order of sentences was judged, as a table."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from textcritic.critics.order.arrangements import arranged
from textcritic.critics.order.critic import OrderCritic, accuracies, weakest_pairs
from textcritic.critics.order.own import own_evidence
from textcritic.critics.order.sentences import Sentences
from textcritic.inference import Groups

TOO_SHORT = "fewer than two sentences in a section"
ORDER_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("evidence", pa.float64()),
        ("sentences", pa.int64()),
        ("own", pa.float64()),
        ("accuracy", pa.float64()),
        ("pair", pa.int64()),
        ("pair_evidence", pa.float64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
        ("group", pa.string()),
    ]
)
"""One row per document. All columns but `id`, `rejected`, `why` and `group` are null where a document is rejected.

- `evidence`: evidence for the order of real text, nats times 100; its sum over the sum of `sentences` is the measure.
- `sentences`: how many sentences have neighbours in their section.
- `own`: evidence by the other documents of the same set, see `own.own_evidence`; null if the set is one group.
- `accuracy`: the share of 20 random orders that have less evidence.
- `pair`, `pair_evidence`: the two neighbours that belong together least: the number of the first one in its document,
  from 0, and by how much, see `critic.weakest_pairs`.
"""


def score_documents(critic: OrderCritic, ids: Sequence[str], sentences: Sentences, groups: Groups = None) -> pa.Table:
    """Score documents: schema `ORDER_SCHEMA`; one without two sentences in a section is rejected.

    Args:
        critic: fitted on other documents.
        ids: of the documents.
        sentences: of them.
        groups: of them.
    """
    documents = arranged(sentences, critic.vocabulary)
    weights, empty = critic.weights, sentences.counted == 0
    group_of = [None] * len(ids) if groups is None else list(groups)
    of_set = np.flatnonzero(~empty)
    own = np.full(len(ids), math.nan)
    own[of_set] = own_evidence(
        documents.found[of_set], documents.counted[of_set], critic.shape, [group_of[n] for n in of_set]
    )
    pair, by = weakest_pairs(sentences, documents, weights)
    columns = [
        pa.array(ids, pa.string()),
        pa.array(documents.found @ weights, mask=empty),
        pa.array(documents.counted, mask=empty),
        pa.array(own, mask=np.isnan(own)),
        pa.array(accuracies(sentences, documents, weights), mask=empty),
        pa.array(pair, mask=empty),
        pa.array(by, mask=empty),
        pa.array(empty),
        pa.array(np.full(len(ids), TOO_SHORT), pa.string(), mask=~empty),
        pa.array(group_of, pa.string()),
    ]
    return pa.table(columns, schema=ORDER_SCHEMA)
