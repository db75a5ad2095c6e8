"""What every critic writes: a table with one row per document, from which Latent NLL and Latent PPL are computed.

This table is all that critics have in common. Every kind writes these columns:

- `id`, string: of the document.
- `nll`, float64: `T_c(x) = -E_{z ~ P_c(z|x)} log P_c(z)` in nats (paper, section 2); NaN if the document is rejected,
  infinite if the critic gives its latent probability 0.
- `rejected`, bool: whether the document has no latent and so no score.
- `why`, string: the reason, null if it is not rejected.
- `group`, string: of the documents that belong together with this one, which intervals and tests take as one; null: the
  document is alone. Critics leave it null; `with_groups` fills it in.

A critic whose latent is a chain (section titles, states of a known process) writes `SCORES_SCHEMA`, which adds `steps`
(transitions that count; 0 if rejected), `nll_soft` (the expectation under a classifier's posterior; null without one),
`chain` (the titles or states) and `step_nll` (nats of each step). The docstring of the critic says what one step is.
The topic model writes `critics.ctm.scoring.TOPIC_SCORES_SCHEMA`, which adds `nll_at_mean` and `words`; that of mentions
`critics.mentions.MENTION_SCORES_SCHEMA`, which adds `steps` (tokens), `people` and `mentions`.

Similar names: `measures.scored` reads these tables for the tables of a study; `measures.score` has the numbers of the
scorecard, one for each sample and measure; `api.scored` is for Python users.
"""

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.chains import Chains
from textcritic.errors import TextcriticError
from textcritic.files import read_table
from textcritic.inference import permutation_test, ratio_of_sums
from textcritic.values import Row

SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("nll", pa.float64()),
        ("steps", pa.int64()),
        ("nll_soft", pa.float64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
        ("group", pa.string()),
        ("chain", pa.list_(pa.string())),
        ("step_nll", pa.list_(pa.float64())),
    ]
)

EMPTY = "empty chain"
UNTITLED = "section without title"

Rejected = Sequence[tuple[str, str]]
Column = Literal["nll", "nll_soft"]


def unread(path: str | os.PathLike[str] | None) -> list[tuple[str, str]]:
    """(id, why) of the texts of a sample that did not parse, from the file of these; None: there are none."""
    table = None if path is None else read_table(path).select(["id", "why"])
    return [] if table is None else [(row["id"], row["why"]) for row in table.to_pylist()]


@dataclass(frozen=True, slots=True, eq=False)
class ChainScores:
    """Scores of documents that are sums over the steps of a chain.

    Attributes:
        chains: [documents].
        num_steps: int64 [documents], steps that count; 0 for a rejected document.
        step_nll: float64 [steps that count], nats, documents one after the other.
        reasons: [documents], why a document is rejected; null for one that is not (`reasons_of`).
        soft: float64 [documents], expected NLL, nats; None: not known.
    """

    chains: Chains
    num_steps: npt.NDArray[np.int64]
    step_nll: npt.NDArray[np.float64]
    reasons: pa.Array
    soft: npt.NDArray[np.float64] | None = None


def scores_table(ids: Sequence[str] | pa.Array, scores: ChainScores, rejected: Rejected = ()) -> pa.Table:
    """Put the scores of documents into a table of schema `SCORES_SCHEMA`.

    Args:
        ids: [documents].
        scores: of the documents.
        rejected: (id, why) of documents that could not even be parsed; they are appended.

    Raises:
        TextcriticError: the number of ids differs from that of the chains.
    """
    lengths, num_steps, step_nll = scores.chains.lengths, scores.num_steps, scores.step_nll
    documents = len(lengths)
    if len(ids) != documents:
        raise TextcriticError(f"scores: {len(ids)} ids for {documents} chains; give one a document")
    usable = num_steps > 0
    nll = np.full(documents, math.nan)
    if len(step_nll):
        nll[usable] = np.add.reduceat(step_nll, (np.cumsum(num_steps) - num_steps)[usable])
    columns = [
        pa.array(ids, pa.string()),
        pa.array(nll),
        pa.array(num_steps),
        pa.nulls(documents, pa.float64()) if scores.soft is None else pa.array(scores.soft, mask=~usable),
        pa.array(~usable),
        scores.reasons,
        pa.nulls(documents, pa.string()),
        pa.ListArray.from_arrays(_offsets(lengths), scores.chains.titles),
        pa.ListArray.from_arrays(_offsets(num_steps), pa.array(step_nll)),
    ]
    scored = pa.Table.from_arrays(columns, schema=SCORES_SCHEMA)
    without_chain = {"steps": 0, "chain": [], "step_nll": []}
    return pa.concat_tables([scored, rejected_rows(rejected, SCORES_SCHEMA, without_chain)]) if rejected else scored


def rejected_rows(rejected: Rejected, schema: pa.Schema, others: Row) -> pa.Table:
    """Rows of documents that could not be parsed.

    Args:
        rejected: (id, why).
        schema: of the critic's scores.
        others: values of the columns that only this kind of critic has; a column without a value is null.
    """
    rows = [{"id": name, "nll": math.nan, "rejected": True, "why": why, **others} for name, why in rejected]
    return pa.Table.from_pylist(rows, schema=schema)


def with_groups(scores: pa.Table, groups: pa.Table) -> pa.Table:
    """Scores with the group of each document.

    Args:
        scores: of any critic.
        groups: `id` and `group` of the documents, see `corpora.article_groups`; a document that is not there is alone.
    """
    group = groups["group"].take(pc.index_in(scores["id"], value_set=groups["id"].combine_chunks()))
    return scores.set_column(scores.column_names.index("group"), scores.schema.field("group"), group)


def groups_of(scores: pa.Table) -> list[str | None] | None:
    """The group of every document not rejected, as `inference` takes it; None where all are alone."""
    groups = scores["group"].filter(pc.invert(scores["rejected"]))
    return None if groups.null_count == len(groups) else groups.to_pylist()


def reasons_of(chains: Chains, codes: npt.NDArray[np.int32], usable: npt.NDArray[np.bool_], what: str) -> pa.Array:
    """Why each document is rejected, null where it is not: the first unknown title (or other `what`) is named."""
    if usable.all():
        return pa.nulls(len(usable), pa.string())
    unknown = np.flatnonzero(codes < 0)
    owner = np.repeat(np.arange(len(usable)), chains.lengths)[unknown]
    rows, first = np.unique(owner, return_index=True)
    titles = chains.titles.take(pa.array(unknown[first]))
    titles = pc.if_else(pc.equal(titles, ""), "(empty)", titles)
    named = pc.binary_join_element_wise(f"unknown {what}: ", titles, "")
    texts = pa.concat_arrays([pa.array([EMPTY]), pc.fill_null(named, UNTITLED)])
    choice = np.zeros(len(usable), dtype=np.int64)
    choice[rows] = 1 + np.arange(len(rows))
    return texts.take(pa.array(choice, mask=usable))


def latent_ppl(scores: pa.Table, column: Column = "nll") -> float:
    """Latent PPL, `exp(sum NLL / sum steps)`, pooled over the documents not rejected; infinity is possible.

    Raises:
        TextcriticError: every document was rejected (the reasons are counted).
    """
    nll, steps = document_columns(scores, column).sum(axis=0)
    return math.exp(nll / steps) if nll < math.inf else math.inf


def latent_nll(scores: pa.Table, column: Column = "nll") -> float:
    """Latent NLL, the mean over the documents not rejected, in nats a document; errors as `latent_ppl`."""
    return float(document_columns(scores, column)[:, 0].mean())


def p_value_of(first: pa.Table, second: pa.Table, resamples: int) -> float | None:
    """Permutation p-value of the difference in log Latent PPL; None if one of them is infinite."""
    one, two = document_columns(first), document_columns(second)
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        return None
    return permutation_test(one, two, ratio_of_sums, resamples=resamples).p


def document_columns(scores: pa.Table, column: Column = "nll") -> npt.NDArray[np.float64]:
    """(NLL in nats, steps) of every document not rejected: [documents, 2], what `inference` resamples."""
    kept = scores.filter(pc.invert(scores["rejected"]))
    if not pc.sum(kept["steps"]).as_py():
        raise nothing_left(rejections(scores))
    if kept[column].null_count:
        raise TextcriticError(f"scores: {column} is null; score posteriors, not gold titles, to have it")
    return np.column_stack([kept[column].to_numpy(), kept["steps"].to_numpy()]).astype(np.float64)


def rejections(scores: pa.Table) -> dict[str, int]:
    """How many documents were rejected for each reason, the commonest first."""
    whys = scores["why"].filter(scores["rejected"]).to_pylist()
    return dict(sorted(Counter(whys).items(), key=lambda pair: (-pair[1], pair[0])))


def _offsets(lengths: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))


def nothing_left(rejected: Mapping[str, int]) -> TextcriticError:
    """What is to be raised where every document of a set was rejected; the reasons are counted."""
    reasons = [f"{why}: {count}" for why, count in rejected.items()] or ["there was none"]
    shown = "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more reasons" if len(reasons) > 5 else "")
    return TextcriticError(f"scores: no document is left after rejection ({shown}); there is nothing to average")
