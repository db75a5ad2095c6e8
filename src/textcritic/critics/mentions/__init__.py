"""The critic of chains of mentions: an n-gram model in which entities are relabelled inside each window."""

from textcritic.critics.mentions.alternatives import NEW_ENTITY, NONE, Expected, expected_tokens
from textcritic.critics.mentions.comparisons import MINIMUM, THRESHOLD, contributions, log_ratios, unlikely
from textcritic.critics.mentions.evidence import Evidence, evidence
from textcritic.critics.mentions.model import FLOOR, MentionCritic
from textcritic.critics.mentions.scoring import (
    MENTION_SCORES_SCHEMA,
    cross_fitted_nll,
    score_mentions,
)
from textcritic.critics.mentions.windows import BOS, Windows, count_windows, occurrences
from textcritic.latents.resolvers.mention_chains import NO_ENTITY, SENTENCE, MentionChains

__all__ = [
    "BOS",
    "FLOOR",
    "MENTION_SCORES_SCHEMA",
    "MINIMUM",
    "NEW_ENTITY",
    "NONE",
    "NO_ENTITY",
    "SENTENCE",
    "THRESHOLD",
    "Evidence",
    "Expected",
    "MentionChains",
    "MentionCritic",
    "Windows",
    "contributions",
    "count_windows",
    "cross_fitted_nll",
    "evidence",
    "expected_tokens",
    "log_ratios",
    "occurrences",
    "score_mentions",
    "unlikely",
]
