"""Wikipedia dumps: pages, sections, lines, clean text."""

from textcritic.corpora.wikipedia.audit import audit_extraction
from textcritic.corpora.wikipedia.extract import Shard, extract_shard, join_shards
from textcritic.corpora.wikipedia.shuffle import build_lines

__all__ = ["Shard", "audit_extraction", "build_lines", "extract_shard", "join_shards"]
