"""What each disputed detail of the coherence critic does to the Latent PPL: one switch at a time, then all of them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.chains import Chains, ChainsLike
from textcritic.critics.scoring import expected_transitions, posterior_titles
from textcritic.critics.transitions import (
    AS_RELEASED_GRID,
    PAPER_GRID,
    TransitionCritic,
    choose_delta,
    count_transitions,
    num_targets,
    pooled_ppl,
    smoothed_log_probs,
    usable_counts,
)
from textcritic.errors import TextcriticError

Counts = npt.NDArray[Any]


@dataclass(frozen=True)
class _Setting:
    """One way to compute the number; the defaults are the paper's text."""

    grid: tuple[float, ...] = PAPER_GRID
    released_rows: bool = False
    skip_unknown: bool = False
    titles: str = "gold"
    soft: bool = False


def audit_transitions(
    train: ChainsLike, validation: ChainsLike, data: pa.Table, samples: Mapping[str, pa.Table]
) -> list[dict[str, Any]]:
    """Latent PPL of the data and of each sample under the paper's text and under each switch.

    Switches: `default` (grid of deltas without 0, rows over titles and end, documents with an unknown title rejected,
    gold titles for data and the classifier's MAP titles for samples); `smoothing` (the released grid 0, 1);
    `normalisation` (rows over the begin state too); `unknown titles` (skip the transition, keep the document);
    `titles` (inferred titles for data; for samples the titles that the model wrote, if it wrote any);
    `generated titles, unknown titles` (both of the last two, samples only); `posterior` (expectation instead of MAP);
    `all as released` (smoothing, normalisation and unknown titles). delta is chosen anew under each switch.

    Args:
        train: gold chains of the training split.
        validation: gold chains of the validation split.
        data: latents of the test split (columns id, gold, inferred, posterior; metadata `titles`).
        samples: latents of each sample, by name.

    Returns:
        Rows `switch`, `setting`, `source` ("data" or the sample's name), `latent_ppl` (None if infinite),
        `change_percent` against the source's default (None if either is infinite), `n` documents scored, `rejected`.
        A switch that a source cannot have (no gold titles, no posterior) has no row.

    Raises:
        TextcriticError: no training or validation chains, or a source of which no document can be scored by default.
    """
    chains = Chains.of(train)
    critic_counts = _Critic(chains.vocabulary(), chains, Chains.of(validation))
    rows: list[dict[str, Any]] = []
    for source, latents in {"data": data, **samples}.items():
        default: float | None = None
        for switch, words, setting in _switches(source == "data", latents):
            counts, scored, rejected = critic_counts.of_source(latents, setting)
            if not counts.any():
                if switch == "default":
                    raise TextcriticError(f"audit: no document of {source!r} can be scored ({rejected} rejected)")
                continue
            ppl = pooled_ppl(counts, critic_counts.log_probs(setting))
            value = ppl if math.isfinite(ppl) else None
            default = value if switch == "default" else default
            change = 100 * (value / default - 1) if value is not None and default is not None else None
            row = {"switch": switch, "setting": words, "source": source, "latent_ppl": value, "change_percent": change}
            rows.append({**row, "n": scored, "rejected": rejected})
    return rows


def _switches(is_data: bool, latents: pa.Table) -> Iterator[tuple[str, str, _Setting]]:
    """(switch, its setting in words, setting) for one source."""
    default = _Setting(titles="gold" if is_data else "inferred")
    has_gold = not is_data and Chains.of(latents["gold"]).titles.null_count < len(Chains.of(latents["gold"]).titles)
    skipped = "transition skipped"
    yield "default", "the paper's text", default
    yield "smoothing", "delta from {0, 1}", replace(default, grid=AS_RELEASED_GRID)
    yield "normalisation", "rows over V + 2 targets", replace(default, released_rows=True)
    yield "unknown titles", skipped, replace(default, skip_unknown=True)
    if is_data:
        yield "titles", "inferred", replace(default, titles="inferred")
    elif has_gold:
        yield "titles", "generated", replace(default, titles="gold")
        both = replace(default, titles="gold", skip_unknown=True)
        yield "generated titles, unknown titles", f"generated, {skipped}", both
    yield "posterior", "expectation", replace(default, titles="inferred", soft=True)
    released = replace(default, grid=AS_RELEASED_GRID, released_rows=True, skip_unknown=True)
    yield "all as released", "smoothing, normalisation, unknown titles", released


class _Critic:
    """Counts of the gold splits, from which the critic of any setting follows."""

    def __init__(self, titles: tuple[str, ...], train: Chains, validation: Chains) -> None:
        self.titles = titles
        self.train = count_transitions(train, titles)
        self.validation = validation
        if not self.train.any():
            raise TextcriticError("audit: train has no chains; at least one document with a section is needed")

    def log_probs(self, setting: _Setting) -> npt.NDArray[np.float64]:
        targets = num_targets(len(self.titles), "as_released" if setting.released_rows else "paper")
        held_out, _, _ = usable_counts(self.validation, self.titles, setting.skip_unknown)
        if not held_out.any():
            raise TextcriticError("audit: validation has no chain of known titles; at least one is needed")
        delta, _ = choose_delta([(self.train, held_out)], setting.grid, targets)
        return smoothed_log_probs(self.train, delta, targets)

    def of_source(self, latents: pa.Table, setting: _Setting) -> tuple[Counts, int, int]:
        """(Expected) transitions of a source, documents scored, documents rejected."""
        if not setting.soft:
            return usable_counts(Chains.of(latents[setting.titles]), self.titles, setting.skip_unknown)
        lengths = Chains.of(latents["inferred"]).lengths
        critic = TransitionCritic(self.titles, self.train, 1.0)
        counts = expected_transitions(latents["posterior"], critic, posterior_titles(latents))
        return counts, int((lengths > 0).sum()), int((lengths == 0).sum())
