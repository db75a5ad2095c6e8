"""Paths of a hidden semi-Markov model: from a proposal at several temperatures, by a particle filter, of own texts."""

from textcritic import runlog
from textcritic.generators.hsmm.weigh import (
    Quality,
    Sequences,
    weigh_filtered_paths,
    weigh_mixed_paths,
    weigh_own_paths,
)
from textcritic.plan.entries import HsmmProposal
from textcritic.plan.shares import shards_of

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"weigh {w.generator}, {w.proposal}"):
    sequences = Sequences(given.model, given.tokens[0].removesuffix(".tokens.npy"), given.articles)
    entry = HsmmProposal.restore(snakemake.params.spec)
    if w.get("texts") is not None:
        draws = (int(w.samples), int(w.seed), int(w.texts))
        weigh_own_paths(sequences, Quality.of(entry, 1.0), draws, tuple(snakemake.output), snakemake.threads)
    elif w.get("temperatures") is None:
        draws = (int(w.samples), int(w.seed))
        weigh_filtered_paths(sequences, Quality.of(entry, 1.0), draws, snakemake.output[0], snakemake.threads)
    else:
        qualities = [Quality.of(entry, float(temperature)) for temperature in w.temperatures.split("-")]
        draws = (int(w.samples), int(w.seed), shards_of(w.shard))
        weigh_mixed_paths(sequences, qualities, draws, snakemake.output[0], snakemake.threads)
