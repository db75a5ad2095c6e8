"""Readers for the tables and figures of coreference: scores, chains of mentions, the critic."""

from collections.abc import Sequence

import pyarrow as pa

from textcritic.critics.mentions import MentionCritic
from textcritic.critics.mentions.scoring import MENTION_SCORES_SCHEMA
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents, RealText
from textcritic.inference import Groups
from textcritic.latents.resolvers.chains import Chained, ChainOptions, read_chains
from textcritic.measures.scored import source_scores


def read_mention_scores(source: Documents) -> pa.Table:
    """The scores of a source, of schema `MENTION_SCORES_SCHEMA`; raises as `measures.scored.source_scores`."""
    return source_scores(source, MENTION_SCORES_SCHEMA.names)


def chained(source: Documents, files: CoreferenceFiles) -> Chained:
    """The chains of mentions of a source, as its critic reads them."""
    options = ChainOptions(**files.critic["chains"], language=files.resolver.get("language", "en"))
    return read_chains(source.mentions, options)


def groups_of_ids(source: Documents, ids: Sequence[str]) -> Groups:
    """The groups of some documents of a source, from its scores; None if no documents belong together."""
    scores = read_mention_scores(source)
    of = dict(zip(scores["id"].to_pylist(), scores["group"].to_pylist(), strict=True))
    groups = [of.get(document) for document in ids]
    return groups if any(groups) else None


def critic_of(real: RealText) -> MentionCritic:
    """The critic that was fitted on a corpus."""
    return MentionCritic.load(real.critic)
