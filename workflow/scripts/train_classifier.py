"""Train a section classifier."""

from textcritic import runlog
from textcritic.latents.train import train_classifier
from textcritic.plan.spec import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"classifier {w.classifier}", runlog.gpus_of(snakemake.resources)):
    spec = restore(snakemake.params.spec, "classifiers")
    spec["training"]["checkpoint_seconds"] = snakemake.resources.checkpoint_seconds
    pretrained = snakemake.input.pretrained
    train_classifier(
        dict(zip(("train", "validation", "test"), snakemake.input.articles, strict=True)),
        snakemake.input.tokenizer or pretrained,
        {**spec, "init": {"folder": pretrained}} if pretrained else spec,
        snakemake.output.model,
        snakemake.output.accuracy,
        threads=snakemake.threads,
        version=snakemake.params.version,
    )
