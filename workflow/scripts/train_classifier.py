"""Train a section classifier."""

from textcritic import runlog
from textcritic.latents.titles.train import train_classifier
from textcritic.plan.entries import TransformerClassifier
from textcritic.training.loop import Run

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"classifier {w.classifier}", runlog.gpus_of(snakemake.resources)):
    entry = TransformerClassifier.restore(snakemake.params.spec)
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
        entry.changed(init={"folder": str(pretrained)}) if pretrained else entry,
        run,
    )
