"""Errors of the resolver apart from errors of the writer: the same texts with gold chains and with resolved ones.

A Latent PPL of samples is that of the resolver's chains. Annotated text has gold chains too, which shows the effect of
the resolver: a critic is fitted on gold chains, another on resolved ones, and each scores both kinds of chains of
documents that it was not fitted on. All four Latent PPLs are of the same human text.
"""

from itertools import product

import numpy as np
import pyarrow as pa

from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.scoring import document_nll
from textcritic.errors import TextcriticError
from textcritic.inference import Interval, bootstrap_interval, exp_ratio_of_sums
from textcritic.inference.statistics import Array
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.plan.checks.critics import Discount
from textcritic.values import JsonObject

KINDS = ("gold", "resolved")
"""Of chains, and of critics by what they were fitted on."""
FOLDS = 10
CELLS = tuple(product(KINDS, KINDS))
"""(fitted on, scored)."""
DIFFERENCES = {
    "chains_under_gold": (("gold", "resolved"), ("gold", "gold")),
    "chains_under_resolved": (("resolved", "resolved"), ("resolved", "gold")),
    "critics_on_gold": (("resolved", "gold"), ("gold", "gold")),
    "critics_on_resolved": (("resolved", "resolved"), ("gold", "resolved")),
    "all_resolved_or_all_gold": (("resolved", "resolved"), ("gold", "gold")),
}
"""Differences of two cells, the first minus the second, by name."""


def resolver_error(
    gold: MentionChains,
    resolved: MentionChains,
    order: int = 5,
    discount: Discount = "kneser-ney",
    folds: int = FOLDS,
    seed: int = 1,
) -> pa.Table:
    """Score gold and resolved chains of each document by critics fitted on those of the other folds.

    Args:
        gold: chains of the mentions that people marked, a document each.
        resolved: chains of the same documents, in the same order, by a resolver.
        order: of the critics.
        discount: of the critics.
        folds: parts of the documents, at random, of equal size; at most as many as documents.
        seed: of the folds.

    Returns:
        A row a document: `fold`; `nll_{fitted}_{scored}` in nats and `steps_{scored}` in tokens, for each of `CELLS`.

    Raises:
        TextcriticError: the two are not of equally many documents, or there are fewer than two.
    """
    documents = len(gold.lengths)
    if len(resolved.lengths) != documents or documents < 2 or folds < 2:
        raise TextcriticError(
            f"resolver error: {documents} gold chains, {len(resolved.lengths)} resolved ones, {folds} folds; give both "
            "chains of at least two documents, and at least two folds"
        )
    chains = dict(zip(KINDS, (gold, resolved), strict=True))
    fold_of = np.random.default_rng(seed).permutation(documents) % min(folds, documents)
    nll = {cell: np.zeros(documents) for cell in CELLS}
    for fold in range(fold_of.max() + 1):
        inside = fold_of == fold
        for fitted in KINDS:
            critic = MentionCritic.fit(chains[fitted].some(~inside), order, discount)
            for scored in KINDS:
                held_out = chains[scored].some(inside)
                nll[fitted, scored][inside] = document_nll(critic, held_out)
    return pa.table(
        {
            "fold": fold_of,
            **{f"nll_{fitted}_{scored}": nll[fitted, scored] for fitted, scored in CELLS},
            **{f"steps_{kind}": chains[kind].lengths for kind in KINDS},
        }
    )


def error_summary(table: pa.Table, resamples: int = 10_000, seed: int = 1) -> JsonObject:
    """Latent PPL of each cell and the differences between cells, with intervals over documents.

    A difference is of Latent PPLs of the same documents; each resample draws documents once for both of its cells.

    Args:
        table: of `resolver_error`.
        resamples: of the bootstrap.
        seed: of the bootstrap.

    Returns:
        `documents`; `latent_ppl` {`{fitted}_{scored}`: {value, low, high}}; `differences` {name: the same}, see
        `DIFFERENCES`.
    """

    def columns(*cells: tuple[str, str]) -> Array:
        names = [name for fitted, scored in cells for name in (f"nll_{fitted}_{scored}", f"steps_{scored}")]
        return np.column_stack([table[name].to_numpy() for name in names]).astype(np.float64)

    def shown(interval: Interval) -> dict[str, float | None]:
        return {"value": interval.estimate, "low": interval.low, "high": interval.high}

    return {
        "documents": table.num_rows,
        "latent_ppl": {
            "_".join(cell): shown(bootstrap_interval(columns(cell), exp_ratio_of_sums, resamples, seed=seed))
            for cell in CELLS
        },
        "differences": {
            name: shown(bootstrap_interval(columns(*cells), _difference, resamples, seed=seed))
            for name, cells in DIFFERENCES.items()
        },
    }


def _difference(sums: Array) -> Array:
    return exp_ratio_of_sums(sums[..., :2]) - exp_ratio_of_sums(sums[..., 2:])
