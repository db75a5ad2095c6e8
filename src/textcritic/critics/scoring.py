"""Scores of documents under a transition critic: NLL of the likeliest chain, its expectation, and its rare transitions.

The posterior over titles is factorised over sections (paper, section 4), so expectations of the chain are exact.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.chains import Chains, ChainsLike, Steps
from textcritic.critics.scores import SCORES_SCHEMA, ChainScores, Rejected, reasons_of, scores_table
from textcritic.critics.transitions import TransitionCritic, usable_counts
from textcritic.errors import TextcriticError
from textcritic.values import Row

BLOCK_SECTIONS = 65_536

Matrix = npt.NDArray[np.float64]
PosteriorsLike: TypeAlias = Sequence[npt.NDArray[np.floating]] | pa.Array | pa.ChunkedArray


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

    Without a posterior the titles are certain: documents with an unknown title are rejected, as with gold titles, and
    `nll_soft` of the others equals `nll`.
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


def scored_transitions(scores: pa.Table, critic: TransitionCritic) -> npt.NDArray[np.int64]:
    """Transitions of the documents not rejected: int64 [V + 1, V + 1], laid out as `critic.counts`."""
    kept = Chains.of(scores["chain"].filter(pc.invert(scores["rejected"])))
    return usable_counts(kept, critic.titles, skip_unknown=True)[0]


def expected_transitions(
    posteriors: PosteriorsLike, critic: TransitionCritic, titles: Sequence[str] | None = None
) -> npt.NDArray[np.float64]:
    """Expected transitions under the posteriors: float64 [V + 1, V + 1]; arguments as in `score_posteriors`."""
    return expected_counts(_aligned(critic, posteriors, titles))


def unseen_transitions(scores: pa.Table, critic: TransitionCritic) -> list[Row]:
    """Transitions of probability 0 that the scored documents make, the commonest first: `from`, `to`, `count`."""
    counts = np.where(np.isinf(critic.log_probs), scored_transitions(scores, critic), 0)
    cells = sorted(zip(*np.nonzero(counts), strict=True), key=lambda cell: -counts[cell])
    return [{"from": critic.sources[i], "to": critic.targets[j], "count": int(counts[i, j])} for i, j in cells]


def is_unlikely(probability: Any, threshold: float) -> Any:
    """Whether steps have a probability below a threshold: a number, or an array of any shape.

    A probability that equals the threshold up to rounding, such as 1 of 100 counts, is not below it.
    """
    return probability < threshold * (1 - 1e-12)


@dataclass(frozen=True)
class TransitionErrors:
    """Transitions of probability below `threshold` under the critic.

    Attributes:
        transitions: the commonest first: `from`, `to`, `count`, `frequency` in percent of all transitions of the set,
            and `probability` under the critic.
        total: percent of all transitions that are errors.
        repetitions: percent of the errors that repeat a title (career -> career); None without errors.
        threshold: probability below which a transition is an error.
        steps: number of transitions of the set, begin and end included.
    """

    transitions: list[Row]
    total: float
    repetitions: float | None
    threshold: float
    steps: int


def transition_errors(scores: pa.Table, critic: TransitionCritic, threshold: float = 0.01) -> TransitionErrors:
    """Errors `P_c(z_m | z_{m-1}) < threshold` of the documents not rejected (paper, appendix E).

    Args:
        scores: a table of schema `SCORES_SCHEMA`.
        critic: the one that gave the scores.
        threshold: 0.01 in Table 12, 0.05 in Figure 4.

    Raises:
        TextcriticError: there are no transitions.
    """
    counts = scored_transitions(scores, critic)
    steps = int(counts.sum())
    if not steps:
        raise TextcriticError("transition errors: no document is left after rejection; at least one is needed")
    wrong = np.where(is_unlikely(np.exp(critic.log_probs), threshold), counts, 0)
    cells = sorted(zip(*np.nonzero(wrong), strict=True), key=lambda cell: (-wrong[cell], cell))
    transitions: list[Row] = [
        {
            "from": critic.sources[i],
            "to": critic.targets[j],
            "count": int(wrong[i, j]),
            "frequency": 100 * int(wrong[i, j]) / steps,
            "probability": float(np.exp(critic.log_probs[i, j])),
        }
        for i, j in cells
    ]
    errors = int(wrong.sum())
    repeated = int(np.trace(wrong[1:, :-1]))
    return TransitionErrors(
        transitions=transitions,
        total=100 * errors / steps,
        repetitions=100 * repeated / errors if errors else None,
        threshold=threshold,
        steps=steps,
    )


@dataclass(frozen=True, slots=True)
class Posteriors:
    """`q_m(title)` of all sections of a set of documents, one after the other.

    Attributes:
        probs: [sections, V], rows sum to 1 up to the rounding of the stored type.
        lengths: int64 [documents], sections per document.
    """

    probs: npt.NDArray[np.floating]
    lengths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, posteriors: PosteriorsLike, num_titles: int) -> "Posteriors":
        """From one [K, V] array a document, or from a `list<list<float>>` column of a table.

        Raises:
            TextcriticError: a row is not a distribution over `num_titles` titles.
        """
        if isinstance(posteriors, pa.Array | pa.ChunkedArray):
            flat = _from_column(posteriors, num_titles)
        else:
            arrays = [np.asarray(array) for array in posteriors]
            lengths = np.array([len(array) for array in arrays], dtype=np.int64)
            arrays = [array for array in arrays if len(array)]
            if widths := {array.shape[1] if array.ndim == 2 else 0 for array in arrays} - {num_titles}:
                raise _wrong_width(widths.pop(), num_titles)
            flat = cls(np.concatenate(arrays) if arrays else np.empty((0, num_titles)), lengths)
        sums = flat.probs.sum(axis=1, dtype=np.float64)
        fit = (np.abs(sums - 1) < 1e-3) & (flat.probs.min(axis=1, initial=0) >= 0)
        if len(bad := np.flatnonzero(~fit)):
            document = int(np.searchsorted(np.cumsum(flat.lengths), bad[0], side="right"))
            raise TextcriticError(
                f"posteriors: document {document + 1} has a section whose probabilities sum to {sums[bad[0]]:.6g} "
                "or are negative; they must be a distribution over the titles"
            )
        return flat

    def blocks(self) -> Iterator[tuple[slice, Matrix, npt.NDArray[np.int64]]]:
        """Runs of whole documents: their rows, `q` as float64 of sum 1 [sections, V], and index of first sections."""
        stops = np.cumsum(self.lengths)
        start = 0
        while start < len(self.lengths):
            offset = int(stops[start] - self.lengths[start])
            stop = max(start + 1, int(np.searchsorted(stops, offset + BLOCK_SECTIONS, side="right")))
            block = self.probs[offset : int(stops[stop - 1])].astype(np.float64)
            block /= block.sum(axis=1, keepdims=True)
            yield slice(start, stop), block, stops[start:stop] - self.lengths[start:stop] - offset
            start = stop


def expected_nll(posteriors: Posteriors, log_probs: Matrix) -> Matrix:
    """`sum_m sum_ij q_{m-1}(i) q_m(j) * -log P(j|i)`, begin and end included, in nats: [documents].

    Exact, not sampled: under a factorised posterior the expectation of a sum over neighbours needs the pairs only.
    A document whose posterior has mass on an impossible transition gets infinity; one without sections, 0.
    """
    impossible = np.isinf(log_probs)
    costs = np.where(impossible, 0.0, -log_probs)
    nll = _expectation(posteriors, costs)
    if impossible.any():
        nll[_expectation(posteriors, impossible.astype(np.float64)) > 0] = np.inf
    return nll


def expected_counts(posteriors: Posteriors) -> Matrix:
    """Expected number of times each transition occurs: float64 [V + 1, V + 1], laid out as a critic's counts."""
    num_titles = posteriors.probs.shape[1]
    counts = np.zeros((num_titles + 1, num_titles + 1))
    for rows, q, first in posteriors.blocks():
        lengths = posteriors.lengths[rows]
        inner = _inner(len(q), first, lengths)
        begins, ends = first[lengths > 0], (first + lengths - 1)[lengths > 0]
        counts[0, :-1] += q[begins].sum(axis=0)
        counts[1:, -1] += q[ends].sum(axis=0)
        counts[1:, :-1] += q[inner - 1].T @ q[inner]
    return counts


def aligned_posteriors(latents: pa.Table, critic: TransitionCritic) -> "Posteriors":
    """The posteriors of a table of latents, columns in the critic's order; errors as `score_posteriors`."""
    return _aligned(critic, latents["posterior"], posterior_titles(latents))


def _aligned(critic: TransitionCritic, posteriors: PosteriorsLike, titles: Sequence[str] | None) -> "Posteriors":
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
    scores = ChainScores(chains, np.where(usable, steps.known, 0), step_nll, reasons, soft)
    return scores_table(ids, scores, rejected)


def _expectation(posteriors: Posteriors, costs: Matrix) -> Matrix:
    """Expected sum of `costs` [V + 1, V + 1] along each document's chain: [documents]."""
    total = np.zeros(len(posteriors.lengths))
    for rows, q, first in posteriors.blocks():
        lengths = posteriors.lengths[rows]
        inner = _inner(len(q), first, lengths)
        filled = lengths > 0
        # Each section adds the step into it, and the last one also the step to the end.
        per_section = np.empty(len(q))
        per_section[first[filled]] = q[first[filled]] @ costs[0, :-1]
        per_section[inner] = ((q[inner - 1] @ costs[1:, :-1]) * q[inner]).sum(axis=1)
        last = (first + lengths - 1)[filled]
        per_section[last] += q[last] @ costs[1:, -1]
        if len(q):
            total[rows][filled] = np.add.reduceat(per_section, first[filled])
    return total


def _inner(sections: int, first: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Index of every section that is not the first of its document."""
    is_inner = np.ones(sections, dtype=bool)
    is_inner[first[lengths > 0]] = False
    return np.flatnonzero(is_inner)


def _from_column(posteriors: pa.Array | pa.ChunkedArray, num_titles: int) -> Posteriors:
    column = posteriors.combine_chunks() if isinstance(posteriors, pa.ChunkedArray) else posteriors
    lengths = np.diff(column.offsets.to_numpy()).astype(np.int64)
    rows = column.flatten()
    widths = np.diff(rows.offsets.to_numpy())
    if len(widths) and (widths != num_titles).any():
        raise _wrong_width(int(widths[widths != num_titles][0]), num_titles)
    return Posteriors(rows.flatten().to_numpy(zero_copy_only=False).reshape(-1, num_titles), lengths)


def _wrong_width(width: int, num_titles: int) -> TextcriticError:
    return TextcriticError(
        f"posteriors: a section has {width} probabilities and the critic {num_titles} titles; "
        "fit the classifier and the critic on the same titles"
    )
