"""Train a section classifier."""

from textcritic import runlog
from textcritic.latents.titles.train import train_classifier
from textcritic.plan.entries import restore
from textcritic.training.loop import Run

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"classifier {w.classifier}", runlog.gpus_of(snakemake.resources)):
    spec = restore(snakemake.params.spec, "classifiers")
    pretrained = snakemake.input.pretrained
    run = Run(
        snakemake.output.model,
        snakemake.output.accuracy,
        w.classifier,
        snakemake.threads,
        snakemake.params.version,
        snakemake.resources.checkpoint_seconds,
    )
    train_classifier(
        dict(zip(("train", "validation", "test"), snakemake.input.articles, strict=True)),
        snakemake.input.tokenizer or pretrained,
        {**spec, "init": {"folder": pretrained}} if pretrained else spec,
        run,
    )
