"""Train or fine-tune a causal transformer."""

from textcritic import runlog
from textcritic.generators.train import Training, train_causal
from textcritic.plan.spec import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"train {w.generator} {w.setting}", runlog.gpus_of(snakemake.resources)):
    spec = restore(snakemake.params.spec, "generators")
    init = {"folder": snakemake.input.pretrained} if snakemake.input.pretrained else spec["init"]
    train, validation = (path.removesuffix(".tokens.npy") for path in snakemake.input.tokens[::2])
    train_causal(
        train,
        validation,
        snakemake.input.tokenizer,
        init,
        Training(**{**spec["training"], "checkpoint_seconds": snakemake.resources.checkpoint_seconds}),
        int(w.seed),
        snakemake.output.model,
        snakemake.output.training,
        threads=snakemake.threads,
        name=f"{w.generator} {w.setting}",
        version=snakemake.params.version,
        processes=max(1, runlog.gpus_of(snakemake.resources)),
    )
