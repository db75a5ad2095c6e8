"""Scores under every variant of a critic of mentions: what each of its switches does to the number.

A variant differs from the critic in one switch. It is fitted on the same train split and scores the same documents.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import groupby

import pyarrow as pa

from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.scoring import MENTION_SCORES_SCHEMA, score_mentions
from textcritic.critics.scores import rejected_rows
from textcritic.files import write_table
from textcritic.latents.resolvers.chains import Chained, read_chains
from textcritic.plan.checks.critics import DISCOUNTS
from textcritic.plan.entries import Mentions, Resolver
from textcritic.runlog import Progress

ITSELF = "itself"
"""What the critic as it is, is called among its variants."""
ORDERS = (2, 3, 4, 5, 6)
CHAINS: Mapping[str, tuple[object, ...]] = {
    "case": ("keep", "fold"),
    "sentence_marks": (True, False),
    "people": ("resolver", "as_released", "all"),
    "gender": ("majority", "none"),
    "left_out": ([],),
    "token": ("head", "first", "last"),
    "shared_token": ("last", "first", "all"),
}
"""The switches of chains, and what each can be."""
NOTHING_TO_FIT = "this variant has no chains to be fitted on"
VARIANTS_SCHEMA = pa.schema([pa.field("variant", pa.string()), *MENTION_SCORES_SCHEMA])


def variants_of(critic: Mentions) -> Iterator[tuple[str, Mentions]]:
    """Names and entries: a critic as it is, then its variants, but for the values of switches that it has already."""
    yield ITSELF, critic
    # Those with the same chains first, so that these are made once.
    for discount in DISCOUNTS:
        if discount != critic.discount:
            yield variant_name("discount", discount), critic.changed(discount=discount)
    for order in ORDERS:
        if order != critic.order:
            yield variant_name("order", order), critic.changed(order=order)
    for key, choices in CHAINS.items():
        for value in choices:
            if value != getattr(critic.chains, key):
                yield variant_name(key, value), critic.changed(chains={**critic.chains.plain(), key: value})


def variant_name(key: str, value: object) -> str:
    """What the variant with a value of a switch is called: `switch: value`."""
    return f"{key}: {'nothing' if value == [] else str(value).lower()}"


def vary_mentions(
    train: str | os.PathLike[str],
    mentions: str | os.PathLike[str],
    scores: str | os.PathLike[str],
    critic: Mentions,
    resolver: Resolver,
) -> None:
    """The job: write the scores of a file of mentions under every variant, a table of schema `VARIANTS_SCHEMA`.

    Args:
        train: mentions of the train split.
        mentions: of a corpus split or a sample.
        scores: to write.
        critic: the critic that is varied.
        resolver: the critic's.
    """
    variants = list(variants_of(critic))
    progress, tables = Progress("variants", len(variants), "variants"), []
    for options, alike in groupby(variants, key=lambda variant: chain_options(variant[1], resolver)):
        fitted_on, chained = read_chains(train, options), read_chains(mentions, options)
        for name, entry in alike:
            table = _scores(entry, fitted_on, chained)
            names = pa.array([name] * table.num_rows, pa.string())
            tables.append(table.add_column(0, VARIANTS_SCHEMA.field("variant"), names))
            progress.advance()
    write_table(scores, pa.concat_tables(tables))


def _scores(entry: Mentions, train: Chained, chained: Chained) -> pa.Table:
    if not len(train.chains.codes):
        others = {"steps": 0, "people": 0, "mentions": 0}
        unfit = [(name, NOTHING_TO_FIT) for name in chained.ids]
        return rejected_rows([*unfit, *chained.rejected], MENTION_SCORES_SCHEMA, others)
    critic = MentionCritic.fit(train.chains, entry.order, entry.discount)
    return score_mentions(critic, chained.ids, chained.chains, chained.rejected)
