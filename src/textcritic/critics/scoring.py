"""Scores of documents under a transition critic: NLL of the likeliest chain, its expectation, and their summaries."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.chains import Chains, ChainsLike, Steps
from textcritic.critics.soft import Posteriors, PosteriorsLike, expected_counts, expected_nll
from textcritic.critics.transitions import TransitionCritic, usable_counts
from textcritic.errors import TextcriticError

EMPTY = "empty chain"
UNTITLED = "section without title"

SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("nll", pa.float64()),
        ("steps", pa.int64()),
        ("nll_soft", pa.float64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
        ("chain", pa.list_(pa.string())),
        ("step_nll", pa.list_(pa.float64())),
    ]
)

Rejected = Sequence[tuple[str, str]]
Column = Literal["nll", "nll_soft"]


def score_chains(
    critic: TransitionCritic, ids: Sequence[str] | pa.Array, chains: ChainsLike, rejected: Rejected = ()
) -> pa.Table:
    """Score one chain of titles a document; `nll_soft` is null.

    A document of K sections has K + 1 steps. It is rejected, with the reason, if it has no sections or (mode "paper") a
    title that the critic does not know. In mode "as_released" the transitions next to such a title are left out of
    `nll`, `steps` and `step_nll` instead, and the document is rejected only if none remain. A rejected document has NaN
    for `nll` and 0 steps.

    Args:
        critic: fitted on the same titles.
        ids: [documents].
        chains: [documents] lists of titles, or a `list<string>` column.
        rejected: (id, why) of documents that could not even be parsed; they are appended.

    Returns:
        Table of schema `SCORES_SCHEMA`; NLL in nats, infinite where the critic gives a transition probability 0.
    """
    return _score(critic, ids, Chains.of(chains), None, rejected)


def score_posteriors(
    critic: TransitionCritic,
    ids: Sequence[str] | pa.Array,
    posteriors: PosteriorsLike,
    titles: Sequence[str] | None = None,
    rejected: Rejected = (),
) -> pa.Table:
    """Score posteriors over titles: `nll` of the MAP chain, and `nll_soft`, `-E_{z ~ q} log P_c(z)` (paper, section 2).

    Args:
        critic: fitted on the same titles.
        ids: [documents].
        posteriors: [documents] arrays [K, V] of `q_m(title)`, or a `list<list<float>>` column.
        titles: titles of the V columns, if not in the critic's order.
        rejected: as in `score_chains`.

    Raises:
        TextcriticError: classifier and critic know different titles, or a row is not a distribution.
    """
    flat = _aligned(critic, posteriors, titles)
    best = flat.probs.argmax(axis=1) if len(flat.probs) else np.empty(0, dtype=np.int64)
    encoded = pa.DictionaryArray.from_arrays(pa.array(best), pa.array(critic.titles, pa.string()))
    chains = Chains(encoded.dictionary_decode(), encoded, flat.lengths)
    return _score(critic, ids, chains, expected_nll(flat, critic.log_probs), rejected)


def score_latents(
    critic: TransitionCritic, latents: pa.Table, which: Literal["gold", "inferred"], rejected: Rejected = ()
) -> pa.Table:
    """Score a table of latents by its gold titles, or by its posterior (MAP and soft).

    Where there is no posterior the titles are certain: documents with an unknown one are rejected as by gold titles, of
    the others `nll_soft` equals `nll`.
    """
    ids = latents["id"].combine_chunks()
    if which == "gold":
        return score_chains(critic, ids, latents["gold"], rejected)
    if is_certain(latents):
        scores = score_chains(critic, ids, latents["inferred"], rejected)
        soft = pc.if_else(scores["rejected"], pa.scalar(None, pa.float64()), scores["nll"])
        return scores.set_column(scores.column_names.index("nll_soft"), SCORES_SCHEMA.field("nll_soft"), soft)
    return score_posteriors(critic, ids, latents["posterior"], posterior_titles(latents), rejected)


def is_certain(latents: pa.Table) -> bool:
    """Whether titles were given and not inferred, so that there is no posterior."""
    return "posterior" not in latents.column_names


def posterior_titles(latents: pa.Table) -> list[str]:
    """Titles of the posterior's columns, as the latents' schema metadata gives them."""
    try:
        return list(json.loads((latents.schema.metadata or {})[b"titles"]))
    except (KeyError, ValueError) as error:
        raise TextcriticError('latents: no "titles" in the schema metadata; rerun the rule that makes them') from error


def scores_table(
    ids: Sequence[str] | pa.Array,
    chains: Chains,
    num_steps: npt.NDArray[np.int64],
    step_nll: npt.NDArray[np.float64],
    reasons: pa.Array,
    soft: npt.NDArray[np.float64] | None = None,
    rejected: Rejected = (),
) -> pa.Table:
    """Put the scores of documents together; for critics whose scores are sums over the steps of a chain.

    Args:
        ids: [documents].
        chains: [documents].
        num_steps: [documents] steps that count; 0 for a rejected document, which has none.
        step_nll: [steps that count] nats, documents one after the other.
        reasons: [documents] why a document is rejected; null for one that is not (`reasons_of`).
        soft: [documents] expected NLL, nats; None: not known.
        rejected: as in `score_chains`.

    Returns:
        Table of schema `SCORES_SCHEMA`.

    Raises:
        TextcriticError: not one id a chain.
    """
    documents = len(chains.lengths)
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
        pa.nulls(documents, pa.float64()) if soft is None else pa.array(soft, mask=~usable),
        pa.array(~usable),
        reasons,
        pa.ListArray.from_arrays(_offsets(chains.lengths), chains.titles),
        pa.ListArray.from_arrays(_offsets(num_steps), pa.array(step_nll)),
    ]
    scored = pa.Table.from_arrays(columns, schema=SCORES_SCHEMA)
    return pa.concat_tables([scored, _unparsed(rejected)]) if rejected else scored


def reasons_of(chains: Chains, codes: npt.NDArray[np.int32], usable: npt.NDArray[np.bool_], what: str) -> pa.Array:
    """Why each document is rejected, null where it is not: the first unknown title (or other `what`) is named."""
    if usable.all():
        return pa.nulls(len(usable), pa.string())
    unknown = np.flatnonzero(codes < 0)
    owner = np.repeat(np.arange(len(usable)), chains.lengths)[unknown]
    rows, first = np.unique(owner, return_index=True)
    named = pc.binary_join_element_wise(f"unknown {what}: ", chains.titles.take(pa.array(unknown[first])), "")
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


def document_columns(scores: pa.Table, column: Column = "nll") -> npt.NDArray[np.float64]:
    """(NLL in nats, steps) of every document not rejected: [documents, 2], what `inference` resamples."""
    kept = scores.filter(pc.invert(scores["rejected"]))
    if not pc.sum(kept["steps"]).as_py():
        reasons = [f"{why}: {count}" for why, count in rejections(scores).items()] or ["there was none"]
        shown = "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more reasons" if len(reasons) > 5 else "")
        raise TextcriticError(f"scores: no document is left after rejection ({shown}); there is nothing to average")
    if kept[column].null_count:
        raise TextcriticError(f"scores: {column} is null; score posteriors, not gold titles, to have it")
    return np.column_stack([kept[column].to_numpy(), kept["steps"].to_numpy()]).astype(np.float64)


def rejections(scores: pa.Table) -> dict[str, int]:
    """How many documents were rejected for each reason, the commonest first."""
    whys = scores["why"].filter(scores["rejected"]).to_pylist()
    return dict(sorted(Counter(whys).items(), key=lambda pair: (-pair[1], pair[0])))


def scored_transitions(scores: pa.Table, critic: TransitionCritic) -> npt.NDArray[np.int64]:
    """Transitions of the documents not rejected: int64 [V + 1, V + 1], laid out as `critic.counts`."""
    kept = Chains.of(scores["chain"].filter(pc.invert(scores["rejected"])))
    return usable_counts(kept, critic.titles, skip_unknown=True)[0]


def expected_transitions(
    posteriors: PosteriorsLike, critic: TransitionCritic, titles: Sequence[str] | None = None
) -> npt.NDArray[np.float64]:
    """Expected transitions under the posteriors: float64 [V + 1, V + 1]; arguments as in `score_posteriors`."""
    return expected_counts(_aligned(critic, posteriors, titles))


def unseen_transitions(scores: pa.Table, critic: TransitionCritic) -> list[dict[str, Any]]:
    """Transitions of probability 0 that the scored documents make, the commonest first: `from`, `to`, `count`."""
    counts = np.where(np.isinf(critic.log_probs), scored_transitions(scores, critic), 0)
    cells = sorted(zip(*np.nonzero(counts), strict=True), key=lambda cell: -counts[cell])
    return [{"from": critic.sources[i], "to": critic.targets[j], "count": int(counts[i, j])} for i, j in cells]


def _aligned(critic: TransitionCritic, posteriors: PosteriorsLike, titles: Sequence[str] | None) -> Posteriors:
    """The posteriors with their columns in the critic's order."""
    names = list(critic.titles if titles is None else titles)
    if set(names) != set(critic.titles) or len(names) != len(critic.titles):
        odd = sorted(set(names) ^ set(critic.titles)) or names
        raise TextcriticError(
            f"posteriors: classifier and critic differ in titles ({odd[0]!r} is one); fit both on one train split"
        )
    flat = Posteriors.of(posteriors, len(names))
    if names == list(critic.titles):
        return flat
    return Posteriors(flat.probs[:, [names.index(title) for title in critic.titles]], flat.lengths)


def _score(
    critic: TransitionCritic,
    ids: Sequence[str] | pa.Array,
    chains: Chains,
    soft: npt.NDArray[np.float64] | None,
    rejected: Rejected,
) -> pa.Table:
    codes = chains.codes(critic.titles)
    steps = Steps.of(codes, chains.lengths, len(critic.titles))
    usable = steps.usable(skip_unknown=critic.mode == "as_released")
    step_nll = (0.0 - critic.log_probs).ravel().take(steps.cells_of(usable))  # a plain minus would write -0.0
    reasons = reasons_of(chains, codes, usable, "title")
    return scores_table(ids, chains, np.where(usable, steps.known, 0), step_nll, reasons, soft, rejected)


def _offsets(lengths: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))


def _unparsed(rejected: Rejected) -> pa.Table:
    rows = [
        {"id": name, "nll": math.nan, "steps": 0, "rejected": True, "why": why, "chain": [], "step_nll": []}
        for name, why in rejected
    ]
    return pa.Table.from_pylist(rows, schema=SCORES_SCHEMA)
