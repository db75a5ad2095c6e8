"""How each disputed detail of the coherence critic changes the Latent PPL: one switch at a time, then all of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.chains import Chains, ChainsLike
from textcritic.critics.scoring import expected_transitions, is_certain, posterior_titles
from textcritic.critics.transitions import (
    AS_RELEASED_GRID,
    PAPER_GRID,
    Mode,
    TransitionCritic,
    choose_delta,
    folds,
    num_targets,
    pooled_ppl,
    smoothed_log_probs,
    usable_counts,
)
from textcritic.errors import TextcriticError
from textcritic.values import JsonObject

DEFAULT = "default"

Pairs = Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]


@dataclass(frozen=True)
class _Setting:
    """One way to compute the number."""

    grid: tuple[float, ...]
    rows: Mode
    skip_unknown: bool
    titles: str
    soft: bool = False


def audit_transitions(
    critic: TransitionCritic, train: ChainsLike, data: pa.Table, samples: Mapping[str, pa.Table]
) -> list[JsonObject]:
    """Latent PPL of the data and of each sample under a critic and under each switch of one of its details.

    Switches: `default` (the critic as it was fitted; gold titles for data, the classifier's MAP titles for samples);
    `smoothing` (the released grid 0, 1); `normalisation` (rows over the begin state too); `unknown titles` (skip the
    transition, keep the document); `titles` (inferred titles for data; for samples the titles that the model wrote, if
    it wrote any); `generated titles, unknown titles` (both of the last two, samples only); `posterior` (expectation
    instead of MAP); `all as released` (smoothing, normalisation and unknown titles). For a critic whose mode is
    "as_released" the switches lead the other way, to the paper's text, and the last is `all as in the text`. If its
    grid, the rows or the use of unknown titles change, delta is chosen again by the same cross-validation.

    Args:
        critic: the fitted critic.
        train: gold chains of the train split, which the critic was fitted on.
        data: latents of the test split (columns id, gold, inferred, posterior; metadata `titles`).
        samples: latents of each sample, by name.

    Returns:
        Rows `switch`, `setting`, `source` ("data" or the sample's name), `latent_ppl` (None if infinite),
        `compared_with` (the switch that differs in this one detail: `titles` for the posterior of data, whose default
        is gold titles, else `default`; None for the default itself), `change_percent` against that row of the same
        source (None if either is infinite), `n` documents scored, `rejected` of the documents that have latents.
        A switch that a source cannot have (no gold titles, or given ones and so no posterior) has no row.

    Raises:
        TextcriticError: too few training chains to cross-validate, or a source without a document that the default can
            score.
    """
    pairs = list(folds(Chains.of(train), critic.titles, critic.counts))
    rows: list[JsonObject] = []
    for source, latents in {"data": data, **samples}.items():
        values: dict[str, float] = {}
        for switch, words, setting in _switches(critic, source == "data", latents):
            counts, scored, rejected = _of_source(critic, latents, setting)
            if not counts.any():
                if switch == DEFAULT:
                    raise TextcriticError(f"audit: no document of {source!r} can be scored ({rejected} rejected)")
                continue
            values[switch] = pooled_ppl(counts, _log_probs(critic, pairs, setting))
            base = "titles" if switch == "posterior" and source == "data" else DEFAULT
            row = {"switch": switch, "setting": words, "source": source, "latent_ppl": _finite(values[switch])}
            row |= {"compared_with": None, "change_percent": None}
            if switch != DEFAULT and base in values:
                change = 100 * (values[switch] / values[base] - 1)
                row |= {"compared_with": base, "change_percent": _finite(change)}
            rows.append({**row, "n": scored, "rejected": rejected})
    return rows


def _switches(critic: TransitionCritic, is_data: bool, latents: pa.Table) -> Iterator[tuple[str, str, _Setting]]:
    """(switch, its setting in words, setting) for one source, a switch after the one that it is compared with."""
    default = _own(critic, "gold" if is_data else "inferred")
    released = critic.mode == "as_released"
    grid = PAPER_GRID if released else AS_RELEASED_GRID
    rows: Mode = "paper" if released else "as_released"
    skip = not released
    unknown = "transition skipped" if skip else "document rejected"
    yield DEFAULT, "as released" if released else "the paper's text", default
    yield "smoothing", f"delta from {{{', '.join(f'{delta:g}' for delta in grid)}}}", replace(default, grid=grid)
    yield "normalisation", f"rows over V + {1 if released else 2} targets", replace(default, rows=rows)
    yield "unknown titles", unknown, replace(default, skip_unknown=skip)
    if not is_certain(latents):
        yield from _switches_of_titles(is_data, latents, default, skip, unknown)
    everything = replace(default, grid=grid, rows=rows, skip_unknown=skip)
    yield f"all as {'in the text' if released else 'released'}", "smoothing, normalisation, unknown titles", everything


def _switches_of_titles(
    is_data: bool, latents: pa.Table, default: _Setting, skip: bool, unknown: str
) -> Iterator[tuple[str, str, _Setting]]:
    if is_data:
        yield "titles", "inferred", replace(default, titles="inferred")
    elif Chains.of(latents["gold"]).vocabulary():
        written = replace(default, titles="gold")
        yield "titles", "generated", written
        yield "generated titles, unknown titles", f"generated, {unknown}", replace(written, skip_unknown=skip)
    yield "posterior", "expectation", replace(default, titles="inferred", soft=True)


def _own(critic: TransitionCritic, titles: str) -> _Setting:
    """The setting that a critic was fitted under."""
    grid = tuple(delta for delta, _ in critic.grid)
    return _Setting(grid, critic.mode, critic.mode == "as_released", titles)


def _log_probs(critic: TransitionCritic, pairs: Pairs, setting: _Setting) -> npt.NDArray[np.float64]:
    """Under one setting; `pairs` are the counts of the other folds and of each fold."""
    if replace(setting, soft=False) == _own(critic, setting.titles):
        return critic.log_probs
    targets = num_targets(len(critic.titles), setting.rows)
    delta, _ = choose_delta(pairs, setting.grid or (critic.delta,), targets)
    return smoothed_log_probs(critic.counts, delta, targets)


def _of_source(
    critic: TransitionCritic, latents: pa.Table, setting: _Setting
) -> tuple[npt.NDArray[np.number], int, int]:
    """(Expected) transitions of a source, documents scored, documents rejected."""
    if not setting.soft:
        return usable_counts(Chains.of(latents[setting.titles]), critic.titles, setting.skip_unknown)
    lengths = Chains.of(latents["inferred"]).lengths
    counts = expected_transitions(latents["posterior"], critic, posterior_titles(latents))
    return counts, int((lengths > 0).sum()), int((lengths == 0).sum())


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
