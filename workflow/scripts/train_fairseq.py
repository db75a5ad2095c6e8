"""Train a model of fairseq."""

from textcritic import runlog
from textcritic.generators.fairseq.train import Architecture, Splits, train_fairseq
from textcritic.plan.entries import Fairseq
from textcritic.training.loop import Run

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"train {w.generator} {w.setting}", runlog.gpus_of(snakemake.resources)):
    spec = Fairseq.restore(snakemake.params.spec)
    splits = [path.removesuffix(".tokens.npy") for path in snakemake.input.splits if not path.endswith(".kinds.npy")]
    run = Run(
        snakemake.output.model,
        snakemake.output.training,
        f"{w.generator} {w.setting}",
        snakemake.threads,
        snakemake.params.version,
        snakemake.resources.checkpoint_seconds,
    )
    train_fairseq(
        Splits(*splits, snakemake.input.tokenizer),
        Architecture(spec.architecture, spec.options),
        spec.training,
        int(w.seed),
        run,
        processes=max(1, runlog.gpus_of(snakemake.resources)),
    )
