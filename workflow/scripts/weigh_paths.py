"""Draw paths of each test sequence of a hidden semi-Markov model from a proposal, or take the likeliest; weigh them."""

from textcritic import runlog
from textcritic.generators.hsmm.weigh import Quality, Sequences, weigh_best_paths, weigh_paths
from textcritic.plan.entries import HsmmProposal
from textcritic.plan.shares import shards_of

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"weigh {w.generator}, {w.proposal}"):
    sequences = Sequences(given.model, given.tokens[0].removesuffix(".tokens.npy"), given.articles)
    quality = Quality.of(HsmmProposal.restore(snakemake.params.spec), float(w.get("temperature", 1)))
    if w.get("shard") is None:
        weigh_best_paths(sequences, quality, int(w.samples), snakemake.output[0], snakemake.threads)
    else:
        draws = (int(w.samples), int(w.seed), shards_of(w.shard))
        weigh_paths(sequences, quality, draws, snakemake.output[0], snakemake.threads)
