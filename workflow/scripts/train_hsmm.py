"""Train a hidden semi-Markov language model."""

from textcritic import runlog
from textcritic.generators.hsmm.train import train_hsmm
from textcritic.generators.train import Encoded
from textcritic.plan.entries import Hsmm
from textcritic.training.loop import Run

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"train {w.generator}", runlog.gpus_of(snakemake.resources)):
    entry = Hsmm.restore(snakemake.params.spec)
    train, validation = (path.removesuffix(".tokens.npy") for path in snakemake.input.tokens[::2])
    run = Run(
        snakemake.output.model,
        snakemake.output.training,
        w.generator,
        snakemake.threads,
        snakemake.params.version,
        snakemake.resources.checkpoint_seconds,
    )
    encoded = Encoded(train, validation, snakemake.input.tokenizer)
    train_hsmm(encoded, entry, int(w.seed), run)
