"""Train a model of fairseq."""

from textcritic import runlog
from textcritic.generators.fairseq.job import FairseqTraining
from textcritic.generators.fairseq.train import Architecture, Splits, train_fairseq
from textcritic.plan.entries import restore
from textcritic.training.loop import Run

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"train {w.generator} {w.setting}", runlog.gpus_of(snakemake.resources)):
    spec = restore(snakemake.params.spec, "generators")
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
        Architecture(spec["architecture"], spec["options"]),
        FairseqTraining.from_entry(spec),
        int(w.seed),
        run,
        processes=max(1, runlog.gpus_of(snakemake.resources)),
    )
