"""Power of the test against real text: how often it notices that a share of the pronouns is wrong.

Half of the articles drawn stay as they are; in the other half a share of the pronouns is exchanged at random
(`latents.resolvers.exchange`). All of them are real text, so that whatever the test finds is due to the exchange.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.scoring import document_nll
from textcritic.errors import TextcriticError
from textcritic.files import write_table
from textcritic.inference import ALPHA, exp_ratio_of_sums, permutation_p_values, ratio_of_sums, share_interval
from textcritic.latents.resolvers.chains import ChainOptions
from textcritic.latents.resolvers.exchange import KINDS, Exchange
from textcritic.latents.resolvers.mention import MENTIONS_SCHEMA, iter_mentions
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.runlog import Progress

RESAMPLES = 999
VERSIONS = 10
"""Versions of each article with other pronouns exchanged, one of which a repetition draws."""
MOST = 8
"""Articles are drawn from at most so many times the largest number on a side; no more are changed and scored."""

POWER_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("share", pa.float64()),
        ("articles", pa.int64()),
        ("repetitions", pa.int64()),
        ("detected", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("latent_ppl", pa.float64()),
        ("exchanged", pa.float64()),
        ("documents", pa.int64()),
    ]
)
"""A row for each kind, share and number of articles; see `power_of`."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerOptions:
    """What is tried; the key `power` of a coreference experiment.

    Attributes:
        shares: of the pronouns that are exchanged; 0, nothing exchanged, is always tried too.
        articles: on each side of the test; more than half of the articles are not tried.
        repetitions: of each test, with other articles and other pronouns.
        seed: of the draws.
    """

    shares: Sequence[float]
    articles: Sequence[int]
    repetitions: int = 200
    seed: int = 1


def measure_power(
    mentions: str | os.PathLike[str],
    critic: str | os.PathLike[str],
    power: str | os.PathLike[str],
    entries: tuple[Mapping[str, Any], Mapping[str, Any]],
    options: PowerOptions,
) -> None:
    """The job: write the table of `power_of` for the test split of a corpus.

    Args:
        mentions: of the test split.
        critic: critic.npz, fitted on the train split.
        power: Parquet to write.
        entries: of the critics and of the resolvers registry, with their defaults.
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
        Table of schema `POWER_SCHEMA`: `detected`, the share of repetitions with p below `ALPHA`, with its 95%
        Clopper-Pearson interval `low`, `high`; `latent_ppl` of all changed versions together; `exchanged`, pronouns
        exchanged in an article, the mean; `documents`, articles that are drawn from. No rows where there are too few
        articles. A share of 0 is the check of the test's level, and the same for both kinds.

    Raises:
        TextcriticError: no repetitions, or what `MentionCritic.log_prob` and `chains_of_batches` raise.
    """
    if options.repetitions < 1:
        raise TextcriticError(f"power: {options.repetitions} repetitions; give at least 1")
    rng = np.random.default_rng(options.seed)
    exchange = Exchange.of(_at_most(MOST * max(options.articles, default=0), batches, rng), chains)
    documents = exchange.batch.num_rows
    sizes = [size for size in sorted(set(options.articles)) if 2 * size <= documents]
    shares = sorted({0.0, *options.shares}) if options.shares else []
    if not sizes or not shares:
        return POWER_SCHEMA.empty_table()
    real = _scored(critic, exchange.chained.chains)
    draws = {size: _Draws.of(documents, size, options.repetitions, rng) for size in sizes}
    progress = Progress("power", len(KINDS) * len(shares), "exchanges")
    rows = []
    for kind, share in product(KINDS, shares):
        changed, exchanged = exchange.chains(kind, share, VERSIONS, rng)
        scores = _scored(critic, changed).reshape(VERSIONS, documents, 2)
        for size, drawn in draws.items():
            others = scores[drawn.version, drawn.changed]
            p = permutation_p_values(real[drawn.kept], others, ratio_of_sums, RESAMPLES, options.seed)
            hits = int((p < ALPHA).sum())
            low, high = share_interval(hits, len(p))
            rows.append(
                {
                    **{"kind": kind, "share": share, "articles": size, "repetitions": len(p)},
                    **{"detected": hits / len(p), "low": float(low), "high": float(high)},
                    "latent_ppl": float(exp_ratio_of_sums(scores.sum(axis=(0, 1)))),
                    **{"exchanged": float(exchanged.mean()), "documents": documents},
                }
            )
        progress.advance()
    return pa.Table.from_pylist(rows, schema=POWER_SCHEMA)


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """Articles of each repetition, int64 [repetitions, n]: that stay, that change, and in which version."""

    kept: npt.NDArray[np.int64]
    changed: npt.NDArray[np.int64]
    version: npt.NDArray[np.int64]

    @classmethod
    def of(cls, documents: int, size: int, repetitions: int, rng: np.random.Generator) -> "_Draws":
        drawn = np.stack([rng.choice(documents, 2 * size, replace=False) for _ in range(repetitions)])
        return cls(drawn[:, :size], drawn[:, size:], rng.integers(0, VERSIONS, (repetitions, size)))


def _at_most(most: int, batches: Iterable[pa.RecordBatch], rng: np.random.Generator) -> list[pa.RecordBatch]:
    """That many articles at random, those that were rejected left out; all if there are not more."""
    table = pa.Table.from_batches(batches, schema=MENTIONS_SCHEMA)
    kept = np.flatnonzero(~table["rejected"].to_numpy())
    chosen = np.sort(rng.choice(kept, most, replace=False)) if len(kept) > most else kept
    return table.take(pa.array(chosen)).to_batches()


def _scored(critic: MentionCritic, chains: MentionChains) -> Array:
    """(nats, tokens) of each document: [documents, 2]."""
    return np.column_stack([document_nll(critic, chains), chains.lengths]).astype(np.float64)
