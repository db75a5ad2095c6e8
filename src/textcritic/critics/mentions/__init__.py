"""The critic of chains of mentions: an n-gram model in which entities are relabelled inside each window."""

from textcritic.critics.mentions.chains import NO_ENTITY, SENTENCE, MentionChains

__all__ = ["NO_ENTITY", "SENTENCE", "MentionChains"]
