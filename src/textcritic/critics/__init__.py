"""Critics: fitted latent processes that score any corpus or sample, and the numbers computed from their scores.

A name is loaded when it is first used: every start of Snakemake reads options that are defined in this package, and
loads neither numpy nor pyarrow for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textcritic.critics.audit import audit_transitions
    from textcritic.critics.chains import Chains, Steps
    from textcritic.critics.correction import Evidence, corrected_ppl
    from textcritic.critics.decomposition import decompose
    from textcritic.critics.scores import (
        SCORES_SCHEMA,
        document_columns,
        groups_of,
        latent_nll,
        latent_ppl,
        p_value_of,
        rejections,
        with_groups,
    )
    from textcritic.critics.scoring import (
        expected_transitions,
        is_unlikely,
        score_chains,
        score_latents,
        score_posteriors,
        scored_transitions,
        transition_errors,
        unseen_transitions,
    )
    from textcritic.critics.transitions import (
        AS_RELEASED_GRID,
        BEGIN,
        END,
        PAPER_GRID,
        TransitionCritic,
        count_transitions,
    )

__all__ = [
    "AS_RELEASED_GRID",
    "BEGIN",
    "END",
    "PAPER_GRID",
    "SCORES_SCHEMA",
    "Chains",
    "Evidence",
    "Steps",
    "TransitionCritic",
    "audit_transitions",
    "corrected_ppl",
    "count_transitions",
    "decompose",
    "document_columns",
    "expected_transitions",
    "groups_of",
    "is_unlikely",
    "latent_nll",
    "latent_ppl",
    "p_value_of",
    "rejections",
    "score_chains",
    "score_latents",
    "score_posteriors",
    "scored_transitions",
    "transition_errors",
    "unseen_transitions",
    "with_groups",
]

# The names of each module.
LATER = {
    "audit": "audit_transitions",
    "chains": "Chains Steps",
    "correction": "Evidence corrected_ppl",
    "decomposition": "decompose",
    "scores": "SCORES_SCHEMA document_columns groups_of latent_nll latent_ppl p_value_of rejections with_groups",
    "scoring": (
        "expected_transitions is_unlikely score_chains score_latents score_posteriors scored_transitions "
        "transition_errors unseen_transitions"
    ),
    "transitions": "AS_RELEASED_GRID BEGIN END PAPER_GRID TransitionCritic count_transitions",
}


def __getattr__(name: str) -> Any:
    for module, names in LATER.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
