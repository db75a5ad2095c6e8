"""Critics: fitted latent processes that score any corpus or sample, and the numbers computed from their scores."""

from textcritic.critics.audit import audit_transitions
from textcritic.critics.chains import Chains, Steps
from textcritic.critics.correction import Corrected, Evidence, corrected_ppl
from textcritic.critics.decomposition import Decomposition, decompose
from textcritic.critics.known_process import KnownProcess, audit_parsing, score_sequences
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
    TransitionErrors,
    expected_transitions,
    is_unlikely,
    score_chains,
    score_latents,
    score_posteriors,
    scored_transitions,
    transition_errors,
    unseen_transitions,
)
from textcritic.critics.transitions import AS_RELEASED_GRID, BEGIN, END, PAPER_GRID, TransitionCritic, count_transitions

__all__ = [
    "AS_RELEASED_GRID",
    "BEGIN",
    "END",
    "PAPER_GRID",
    "SCORES_SCHEMA",
    "Chains",
    "Corrected",
    "Decomposition",
    "Evidence",
    "KnownProcess",
    "Steps",
    "TransitionCritic",
    "TransitionErrors",
    "audit_parsing",
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
    "score_sequences",
    "scored_transitions",
    "transition_errors",
    "unseen_transitions",
    "with_groups",
]
