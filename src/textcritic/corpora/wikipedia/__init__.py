"""Wikipedia dumps: pages, sections, clean text."""

from textcritic.corpora.wikipedia.extract import extract_shard
from textcritic.corpora.wikipedia.join import join_shards

__all__ = ["extract_shard", "join_shards"]
