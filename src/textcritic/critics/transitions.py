"""The critic of section order: a first-order chain over titles with a begin and an end state (paper, section 4)."""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from textcritic.critics.chains import Chains, ChainsLike, Steps, pair_counts
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json

BEGIN, END = "<begin>", "<end>"
PAPER_GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
AS_RELEASED_GRID = (0.0, 1.0)
# Counts and probabilities are dense [V + 1, V + 1] tables; the paper's corpora have 27 to 96 titles.
MAX_TITLES = 5000
# Number of parts in the cross-validation, which chooses the smoothing.
FOLDS = 10

Mode = Literal["paper", "as_released"]
Counts = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TransitionCritic:
    """`P_c(z) = prod_m P(z_m | z_{m-1})` over section titles, estimated from gold titles by additive smoothing.

    A step is one transition; a chain of K sections has K + 1: begin -> first, ..., last -> end.

    `mode` "paper": `P(j|i) = (c_ij + delta) / (c_i + delta (V + 1))` over the V titles and the end state; a document
    with a title outside the V is rejected.
    `mode` "as_released": rows are normalised over V + 2 targets, the begin state being one of them although it is never
    reached, and a transition from or to an unknown title is skipped while the rest of the document counts.

    Attributes:
        titles: the V titles, in the order of rows 1..V and of columns 0..V-1.
        counts: int64 [V + 1, V + 1]; row 0 is the begin state, column V the end state.
        delta: pseudo-count added to every cell; 0 leaves unseen transitions with probability 0.
        grid: every delta tried, with its held-out Latent PPL (None: infinite, or not measured as it was the only one).
    """

    kind: ClassVar[str] = "transitions"

    titles: tuple[str, ...]
    counts: Counts
    delta: float
    mode: Mode = "paper"
    grid: tuple[tuple[float, float | None], ...] = ()

    @classmethod
    def fit(
        cls,
        train: ChainsLike,
        *,
        titles: Sequence[str] | None = None,
        mode: Mode = "paper",
        grid: Sequence[float] | None = None,
        seed: int = 1,
    ) -> Self:
        """Count the transitions of `train` and choose delta by cross-validation over `FOLDS` parts of it.

        The delta of the lowest Latent PPL on held-out parts is taken (ties: the larger one).

        Args:
            train: gold chains of titles.
            titles: the V titles; default: those of `train`, sorted.
            mode: see the class.
            grid: deltas to try; default `PAPER_GRID` or `AS_RELEASED_GRID`. A single delta is taken without a search.
            seed: of the random assignment of documents to folds.

        Raises:
            TextcriticError: no chains, a training title outside `titles`, a bad grid, or too few documents to
                cross-validate.
        """
        deltas = _checked_grid(grid if grid is not None else (PAPER_GRID if mode == "paper" else AS_RELEASED_GRID))
        chains = Chains.of(train)
        known = tuple(titles) if titles is not None else chains.vocabulary()
        counts = count_transitions(chains, known)
        if not counts.any():
            raise TextcriticError("train: no chains of sections; at least one document with a section is needed")
        if len(deltas) == 1:
            return cls(known, counts, deltas[0], mode, ((deltas[0], None),))
        delta, tried = choose_delta(folds(chains, known, counts, seed), deltas, num_targets(len(known), mode))
        return cls(known, counts, delta, mode, tried)

    @cached_property
    def log_probs(self) -> Matrix:
        """`log P(j | i)` in nats: [V + 1, V + 1], rows and columns as in `counts`; -inf where P is 0."""
        return smoothed_log_probs(self.counts, self.delta, num_targets(len(self.titles), self.mode))

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the rows."""
        return (BEGIN, *self.titles)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (*self.titles, END)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `critic.json`, whole or not at all."""
        value = {
            "kind": self.kind,
            "mode": self.mode,
            "delta": self.delta,
            "grid": [{"delta": delta, "held_out_latent_ppl": ppl} for delta, ppl in self.grid],
            "titles": list(self.titles),
            "counts": self.counts.tolist(),
        }
        write_json(path, value)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read `critic.json`.

        Raises:
            TextcriticError: the file is missing, truncated, or not a critic of transitions.
        """
        value = read_json(path)
        try:
            return cls(*_fields(value))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise TextcriticError(
                f"{path}: not a critic of transitions ({error}); delete it and rerun the rule that makes it"
            ) from error


def count_transitions(chains: ChainsLike | Chains, titles: Sequence[str]) -> Counts:
    """How often each transition occurs: int64 [V + 1, V + 1], row 0 = begin, column V = end; empty chains have none.

    Raises:
        TextcriticError: a title of `chains` is not among `titles`, or they are not distinct, or more than `MAX_TITLES`.
    """
    flat = Chains.of(chains)
    if len(set(titles)) != len(titles):
        raise TextcriticError("titles: the same title twice; give each once")
    if len(titles) > MAX_TITLES:
        raise TextcriticError(
            f"titles: {len(titles):,} different ones, and a transition critic takes at most {MAX_TITLES:,}; "
            "standardise the titles or drop documents with rare ones"
        )
    codes = flat.codes(titles)
    if len(unknown := np.flatnonzero(codes < 0)):
        raise TextcriticError(f"train: title {flat.titles[int(unknown[0])].as_py()!r} is not among the critic's titles")
    return pair_counts(codes, flat.lengths, len(titles))


def usable_counts(chains: Chains, titles: Sequence[str], skip_unknown: bool) -> tuple[Counts, int, int]:
    """Transitions that count in a score, the number of documents they come from, and the number of rejected ones.

    With `skip_unknown` only the transitions next to an unknown title are left out, and a document only if no transition
    remains; otherwise a document with an unknown title is left out.
    """
    steps = Steps.of(chains.codes(titles), chains.lengths, len(titles))
    usable = steps.usable(skip_unknown)
    return steps.counts(usable), int(usable.sum()), int((~usable).sum())


def num_targets(num_titles: int, mode: Mode) -> int:
    """Targets over which a row is normalised: titles and end ("paper"), and begin too ("as_released")."""
    return num_titles + (1 if mode == "paper" else 2)


def smoothed_log_probs(counts: Counts, delta: float, targets: int) -> Matrix:
    """`log((c_ij + delta) / (c_i + delta * targets))` in nats, -inf where the numerator is 0; same shape."""
    totals = counts.sum(axis=1, keepdims=True) + delta * targets
    with np.errstate(divide="ignore"):
        # A state that is never left has, with delta 0, no row of probabilities: 0 instead of 0/0.
        return np.log(counts + delta) - np.where(totals > 0, np.log(totals), 0.0)


def pooled_ppl(counts: npt.NDArray[np.number], log_probs: Matrix) -> float:
    """Latent PPL, `exp(sum NLL / sum steps)`, of a set with these transition counts; NaN if there are none."""
    seen = counts > 0
    steps = counts.sum()
    return float(np.exp(-(counts[seen] * log_probs[seen]).sum() / steps)) if steps else math.nan


def choose_delta(
    pairs: Iterable[tuple[Counts, Counts]], deltas: Sequence[float], targets: int
) -> tuple[float, tuple[tuple[float, float | None], ...]]:
    """The delta of the lowest Latent PPL, pooled over (training counts, held-out counts); ties go to the larger delta.

    Returns:
        delta, and every (delta, Latent PPL or None if infinite) in ascending order.
    """
    nll, steps = dict.fromkeys(deltas, 0.0), 0
    for train, held_out in pairs:
        cells = np.nonzero(held_out)
        weights, hits, totals = held_out[cells], train[cells], train.sum(axis=1)[cells[0]]
        steps += int(weights.sum())
        with np.errstate(divide="ignore"):
            for delta in deltas:
                row = totals + delta * targets
                log_prob = np.log(hits + delta) - np.where(row > 0, np.log(row), 0.0)
                nll[delta] -= float((weights * log_prob).sum())
    tried = [
        (delta, math.exp(nll[delta] / steps) if math.isfinite(nll[delta]) else math.inf) for delta in sorted(deltas)
    ]
    # Equal up to rounding is a tie.
    lowest = min(ppl for _, ppl in tried) * (1 + 1e-12)
    best = max(delta for delta, ppl in tried if ppl <= lowest)
    return best, tuple((delta, ppl if math.isfinite(ppl) else None) for delta, ppl in tried)


def folds(chains: Chains, titles: Sequence[str], counts: Counts, seed: int = 1) -> Iterable[tuple[Counts, Counts]]:
    """(counts of the other folds, counts of this fold), documents put into `FOLDS` of equal size at random.

    Raises:
        TextcriticError: fewer than two documents with sections.
    """
    steps = Steps.of(chains.codes(titles), chains.lengths, len(titles))
    rows = np.flatnonzero(chains.lengths > 0)
    if len(rows) < 2:
        raise TextcriticError("train: one document cannot be cross-validated; give a smoothing or more documents")
    parts = min(FOLDS, len(rows))
    fold_of = np.full(len(chains.lengths), -1)
    fold_of[rows] = np.random.default_rng(seed).permutation(len(rows)) % parts
    for fold in range(parts):
        held_out = steps.counts(fold_of == fold)
        yield counts - held_out, held_out


def _checked_grid(grid: Sequence[float]) -> tuple[float, ...]:
    deltas = tuple(sorted({float(delta) for delta in grid}))
    if not deltas or not all(math.isfinite(delta) and delta >= 0 for delta in deltas):
        raise TextcriticError(f"smoothing: {list(grid)} is not a grid; give one or more finite numbers from 0 upwards")
    return deltas


def _fields(value: object) -> tuple[tuple[str, ...], Counts, float, Mode, tuple[tuple[float, float | None], ...]]:
    """The attributes that `save` wrote; KeyError, TypeError or ValueError say what is wrong with `value`."""
    if not isinstance(value, dict) or value.get("kind") != TransitionCritic.kind:
        raise ValueError(f'its "kind" is not "{TransitionCritic.kind}"')
    titles, mode, delta = tuple(value["titles"]), value["mode"], float(value["delta"])
    if mode not in ("paper", "as_released"):
        raise ValueError(f'mode is {mode!r}, not "paper" or "as_released"')
    if not all(isinstance(title, str) for title in titles) or len(set(titles)) != len(titles):
        raise ValueError("its titles are not distinct strings")
    if not (math.isfinite(delta) and delta >= 0):
        raise ValueError(f"delta is {delta}, not a finite number from 0 upwards")
    counts = np.array(value["counts"])
    width = len(titles) + 1
    if counts.shape != (width, width) or counts.dtype.kind != "i" or counts.min() < 0:
        raise ValueError(f"its counts are not {width} x {width} whole numbers from 0 upwards")
    grid = tuple((point["delta"], point["held_out_latent_ppl"]) for point in value["grid"])
    return titles, counts.astype(np.int64), delta, mode, grid
