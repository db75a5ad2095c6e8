"""Wikipedia dumps: pages, sections, clean text."""

from textcritic.corpora.wikipedia.extract import Shard, extract_shard, join_shards

__all__ = ["Shard", "extract_shard", "join_shards"]
