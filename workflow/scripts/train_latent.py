"""Train a latent language model, or a proposal of its states."""

from textcritic import runlog
from textcritic.generators.latent.train import Inputs, train_latent
from textcritic.plan.entries import restore
from textcritic.training.loop import Run

w, given = snakemake.wildcards, snakemake.input
name = w.get("generator") or w.proposal
with runlog.job(snakemake.log[0], f"train {name}", runlog.gpus_of(snakemake.resources)):
    entry = restore(snakemake.params.spec, snakemake.params.registry)
    run = Run(
        snakemake.output.model,
        snakemake.output.training,
        name,
        snakemake.threads,
        snakemake.params.version,
        snakemake.resources.checkpoint_seconds,
    )
    inputs = Inputs(train=given.train, validation=given.validation, knowledge=given.knowledge or None)
    train_latent(inputs, entry, int(w.seed), run)
