"""Measure how much of the validation and the test split of a corpus also occurs in its train split."""

from textcritic import runlog
from textcritic.critics.recitation import measure_overlap

with runlog.job(snakemake.log[0], f"what splits share {snakemake.wildcards.corpus}"):
    splits = {split: snakemake.input[split] for split in ("validation", "test")}
    measure_overlap(snakemake.input.train, splits, snakemake.output[0])
