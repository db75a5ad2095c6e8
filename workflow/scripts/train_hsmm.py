"""Train a hidden semi-Markov language model."""

from textcritic import runlog
from textcritic.critics.hsmm.text import Settings
from textcritic.critics.hsmm.train import train_hsmm
from textcritic.plan.spec import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"train {w.generator}", runlog.gpus_of(snakemake.resources)):
    spec = restore(snakemake.params.spec, "generators")
    train, validation = (path.removesuffix(".tokens.npy") for path in snakemake.input.tokens[::2])
    train_hsmm(
        train,
        validation,
        snakemake.input.tokenizer,
        Settings.from_entry(spec),
        int(w.seed),
        snakemake.output.model,
        snakemake.output.training,
        threads=snakemake.threads,
        name=w.generator,
        version=snakemake.params.version,
        checkpoint_seconds=snakemake.resources.checkpoint_seconds,
    )
