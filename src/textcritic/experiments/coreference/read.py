"""What the tables and figures of coreference read: scores, chains of mentions, the critic."""

from typing import Any

import pyarrow as pa

from textcritic.critics.mentions import MentionCritic
from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.scoring import MENTION_SCORES_SCHEMA
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents, RealText
from textcritic.files import read_table
from textcritic.latents.resolvers.chains import Chained, read_chains
from textcritic.report.names import data_keys, sample_keys


def source_keys(source: Documents) -> dict[str, Any]:
    """The key columns of a row about real text or a sample."""
    return data_keys(source.corpus) if isinstance(source, RealText) else sample_keys(source)


def read_mention_scores(source: Documents) -> pa.Table:
    """The scores of a source, of schema `MENTION_SCORES_SCHEMA`.

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    scores = read_table(source.scores)
    if scores.schema.names != MENTION_SCORES_SCHEMA.names:
        raise TextcriticError(f"{source.scores}: not scores of mentions; delete it and rerun the rule that makes it")
    return scores


def chained(source: Documents, files: CoreferenceFiles) -> Chained:
    """The chains of mentions of a source, as its critic reads them."""
    return read_chains(source.mentions, chain_options(files.critic, files.resolver))


def critic_of(real: RealText) -> MentionCritic:
    """The critic that was fitted on a corpus."""
    return MentionCritic.load(real.critic)
