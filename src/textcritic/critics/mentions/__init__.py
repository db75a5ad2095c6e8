"""The critic of chains of mentions: an n-gram model in which entities are relabelled inside each window."""

from textcritic.critics.mentions.chains import NO_ENTITY, SENTENCE, MentionChains
from textcritic.critics.mentions.discounts import DISCOUNTS, Discount
from textcritic.critics.mentions.model import FLOOR, MentionCritic
from textcritic.critics.mentions.scoring import MENTION_SCORES_SCHEMA, score_mentions
from textcritic.critics.mentions.windows import BOS, Windows, count_windows

__all__ = [
    "BOS",
    "DISCOUNTS",
    "FLOOR",
    "MENTION_SCORES_SCHEMA",
    "NO_ENTITY",
    "SENTENCE",
    "Discount",
    "MentionChains",
    "MentionCritic",
    "Windows",
    "count_windows",
    "score_mentions",
]
