"""Who is who: mentions of entities in articles, the resolvers that find them, and the chains that a critic reads."""

from textcritic.latents.resolvers.mention import (
    MENTIONS_SCHEMA,
    Mention,
    Resolved,
    Unresolved,
    iter_mentions,
    text_of,
    write_mentions,
)

__all__ = [
    "MENTIONS_SCHEMA",
    "Mention",
    "Resolved",
    "Unresolved",
    "iter_mentions",
    "text_of",
    "write_mentions",
]
