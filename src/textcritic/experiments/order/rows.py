"""The order of sentences in long format: evidence for the order of real text, and the weakest pairs of neighbours."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora import some_articles
from textcritic.corpora.intruders.sentences import split_sentences
from textcritic.critics import rejections
from textcritic.critics.order.own import own_order
from textcritic.critics.order.scoring import ORDER_SCHEMA
from textcritic.critics.order.sentences import Floats, Ints
from textcritic.critics.scores import groups_of
from textcritic.experiments.order.files import Documents, OrderFiles
from textcritic.inference import Groups
from textcritic.measures.material import Material
from textcritic.measures.measure import Scored
from textcritic.measures.own import Declared
from textcritic.measures.own_rows import Measured, measure_of, scored_of
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE, source_scores
from textcritic.plan.sources import KEYS, RUN

MOST_PAIRS = 5  # of each source
OWN = ("own", "own_low", "own_high")
COLUMNS = (
    "label", "ordered", "ci_low", "ci_high", "p_value", *OWN, "accuracy", "sentences", "documents", "rejected",
    "groups", "rejected_share", "rejected_by_reason", *RECIPE,
)  # fmt: skip
WHOLE = ("sentences", "documents", "groups", "rejected", "seeds")
ORDERED = measure_of(
    Declared(
        "Order of sentences",
        statistic="ratio",
        means="how much the order of its sentences is that of real text; 0 is random order",
    ),
    "ordered",
    section="values",
)
"""Evidence in 100 sentences: sums of (evidence, sentences) over documents."""
PAIR_COLUMNS = (
    "label", "rank", "article", "evidence", "accuracy", "sentence", "by", "before", "first", "second", "after"
)  # fmt: skip
PAIR_TEXT = ("article", "before", "first", "second", "after")


def order_rows(material: Material[OrderFiles]) -> pd.DataFrame:
    """How much order each source has, one row a source.

    Columns: those of `rows.source_rows`; `ordered`, nats in 100 sentences for the order of real text; `own`, the same
    for the order that its documents have in common, with its 95% interval; `accuracy`, the share of 20 random orders
    of a document with less evidence than its own, mean over documents; `sentences`; `scored.RECIPE`. Documents without
    two sentences in a section are left out.

    Raises:
        TextcriticError: a file is missing or damaged, or no real document has so many sentences.
    """
    return completed(source_rows(material, read_source, [ORDERED]), COLUMNS, [ORDERED], WHOLE)


def pair_rows(material: Material[OrderFiles]) -> pd.DataFrame:
    """The neighbours that belong together least in each source, of the first seed: one row for each.

    Columns: the keys; `label`; `rank` from 1; `article`; its `evidence` in 100 sentences and `accuracy`; `sentence`,
    the number of the first of the two in the article, from 1; `by`, nats in 100 sentences by which their evidence is
    above that of two random sentences of their passage; `first` and `second`, the two sentences; `before` and `after`,
    the sentences around them.
    """
    rows = []
    for real in material.files.data:
        for source in material.files.shown(real):
            start = material.start(source, seed=False)
            table = source_scores(source, ORDER_SCHEMA.names)
            kept = table.filter(pc.invert(table["rejected"]))
            chosen = kept.sort_by([("pair_evidence", "ascending"), ("id", "ascending")])[:MOST_PAIRS].to_pylist()
            articles = some_articles(source.articles, [one["id"] for one in chosen])
            for rank, one in enumerate(chosen, start=1):
                row = {"rank": rank, "article": one["id"], "accuracy": one["accuracy"], "sentence": one["pair"] + 1}
                row |= {"evidence": one["evidence"] / one["sentences"], "by": one["pair_evidence"]}
                texts = [section.text for section in articles[one["id"]].sections]
                rows.append(start | row | quoted(texts, one["pair"]))
    return pd.DataFrame(rows).reindex(columns=[*KEYS, *PAIR_COLUMNS]).astype(dict.fromkeys(RUN, "Int64"))


def quoted(sections: Sequence[str], number: int) -> dict[str, str]:
    """A sentence and the next one, with the sentences around them."""
    sentences = [sentence for text in sections for sentence in split_sentences(text)]
    around = ["", *sentences, ""]
    return dict(zip(("before", "first", "second", "after"), around[number : number + 4], strict=True))


def read_source(source: Documents, _: Scored | None) -> Scored:
    """One source, see `read_scored`."""
    return read_scored(source_scores(source, ORDER_SCHEMA.names))


def read_scored(scores: pa.Table) -> Scored:
    """One set of scores: (evidence, sentences) of its documents, and what they have in common."""
    kept = scores.filter(pc.invert(scores["rejected"]))
    pairs = np.column_stack([kept[name].to_numpy() for name in ("evidence", "sentences")]).astype(np.float64)
    groups = groups_of(scores)
    more: dict[str, object] = {"sentences": int(pairs[:, 1].sum())}
    if len(kept):
        own = kept["own"].to_numpy(zero_copy_only=False).astype(np.float64)
        more |= own_columns(own, pairs[:, 1].astype(np.int64), groups) | {"accuracy": pc.mean(kept["accuracy"]).as_py()}
    return scored_of(ORDERED, Measured.of_documents(pairs, groups, rejections(scores)), more)


def own_columns(own: Floats, counted: Ints, groups: Groups) -> dict[str, float | None]:
    """The columns `OWN`; None if all documents are of one group."""
    value, low, high = own_order(own, counted, groups)
    return {} if np.isnan(value) else dict(zip(OWN, (value, low, high), strict=True))
