"""Train or fine-tune a causal transformer."""

from textcritic import runlog
from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries import Causal
from textcritic.training.loop import Run

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"train {w.generator} {w.setting}", runlog.gpus_of(snakemake.resources)):
    spec = Causal.restore(snakemake.params.spec)
    init = {"folder": snakemake.input.pretrained} if snakemake.input.pretrained else spec.init.plain()
    train, validation = (path.removesuffix(".tokens.npy") for path in snakemake.input.tokens[::2])
    run = Run(
        snakemake.output.model,
        snakemake.output.training,
        f"{w.generator} {w.setting}",
        snakemake.threads,
        snakemake.params.version,
        snakemake.resources.checkpoint_seconds,
    )
    train_causal(
        Encoded(train, validation, snakemake.input.tokenizer),
        init,
        spec.training,
        int(w.seed),
        run,
        processes=max(1, runlog.gpus_of(snakemake.resources)),
    )
