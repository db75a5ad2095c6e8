"""Power of the test against real text: how often it notices that a share of the pronouns is wrong.

Half of the articles drawn stay as they are; in the other half a share of the pronouns is exchanged at random
(`latents.resolvers.exchange`). All of them are real text, so whatever the test finds is due to the exchange.
"""

import os
from collections.abc import Iterable
from itertools import product

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.scoring import document_nll
from textcritic.critics.power import power_table
from textcritic.files import write_table
from textcritic.inference import PowerDraws, PowerOptions, exp_ratio_of_sums, noticed
from textcritic.latents.resolvers.chains import ChainOptions
from textcritic.latents.resolvers.exchange import KINDS, Exchange
from textcritic.latents.resolvers.mention import MENTIONS_SCHEMA, iter_mentions
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.plan.entries import Mentions, Resolver
from textcritic.runlog import Progress

VERSIONS = 10
"""Versions of each article with different pronouns exchanged; each repetition draws one."""

LATENT_PPL, EXCHANGED = pa.field("latent_ppl", pa.float64()), pa.field("exchanged", pa.float64())
"""Further columns of the table."""

Array = npt.NDArray[np.float64]


def measure_power(
    mentions: str | os.PathLike[str],
    critic: str | os.PathLike[str],
    power: str | os.PathLike[str],
    entries: tuple[Mentions, Resolver],
    options: PowerOptions,
) -> None:
    """The job: write the table of `power_of` for the test split of a corpus.

    Args:
        mentions: of the test split.
        critic: critic.npz, fitted on the train split.
        power: Parquet to write.
        entries: of the critic and of its resolver.
        options: what is tried.
    """
    chains = chain_options(*entries)
    write_table(power, power_of(MentionCritic.load(critic), iter_mentions(mentions), chains, options))


def power_of(
    critic: MentionCritic, batches: Iterable[pa.RecordBatch], chains: ChainOptions, options: PowerOptions
) -> pa.Table:
    """How often a permutation test of log Latent PPL notices exchanged pronouns.

    In each repetition 2n articles are drawn without replacement: n stay as they are, and of the other n a random one of
    `VERSIONS` versions with exchanged pronouns is taken. The articles of a repetition are the same for all kinds and
    shares. The intervals are over repetitions: they hold for these articles and this critic.

    Args:
        critic: fitted on other articles.
        batches: of articles with their mentions, schema `MENTIONS_SCHEMA`.
        chains: the switches of the critic's chains.
        options: what is tried.

    Returns:
        Table of schema `POWER_SCHEMA` with two more columns: `latent_ppl` of all changed versions together;
        `exchanged`, pronouns exchanged in an article, the mean. No rows where there are too few articles. A share of 0
        is the check of the test's level, and the same for both kinds.

    Raises:
        TextcriticError: no repetitions, or what `MentionCritic.log_prob` and `chains_of_batches` raise.
    """
    rng = np.random.default_rng(options.seed)
    exchange = Exchange.of(_some(options, batches, rng), chains)
    documents = exchange.batch.num_rows
    sizes, shares = options.sizes(documents), options.tried()
    if not sizes or not shares:
        return power_table([], LATENT_PPL, EXCHANGED)
    real = _scored(critic, exchange.chained.chains)
    draws = {size: PowerDraws.of(documents, size, options.repetitions, VERSIONS, rng) for size in sizes}
    progress = Progress("power", len(KINDS) * len(shares), "exchanges")
    rows = []
    for kind, share in product(KINDS, shares):
        changed, exchanged = exchange.chains(kind, share, VERSIONS, rng)
        scores = _scored(critic, changed).reshape(VERSIONS, documents, 2)
        for size, drawn in draws.items():
            detected = noticed(real[drawn.kept], scores[drawn.version, drawn.changed], seed=options.seed)
            rows.append(
                {
                    **{"kind": kind, "share": share, "articles": size, "repetitions": options.repetitions, **detected},
                    "latent_ppl": float(exp_ratio_of_sums(scores.sum(axis=(0, 1)))),
                    **{"exchanged": float(exchanged.mean()), "documents": documents},
                }
            )
        progress.advance()
    return power_table(rows, LATENT_PPL, EXCHANGED)


def _some(options: PowerOptions, batches: Iterable[pa.RecordBatch], rng: np.random.Generator) -> list[pa.RecordBatch]:
    """The articles that are drawn from; none that were rejected."""
    table = pa.Table.from_batches(batches, schema=MENTIONS_SCHEMA)
    kept = np.flatnonzero(~table["rejected"].to_numpy())
    return table.take(pa.array(kept[options.some(len(kept), rng)])).to_batches()


def _scored(critic: MentionCritic, chains: MentionChains) -> Array:
    """(nats, tokens) of each document: [documents, 2]."""
    return np.column_stack([document_nll(critic, chains), chains.lengths]).astype(np.float64)
