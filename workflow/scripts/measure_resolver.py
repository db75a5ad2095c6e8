"""Measure a resolver on text in which people have marked coreference."""

from textcritic import runlog
from textcritic.critics.mentions.measure import MeasuredFiles, write_quality
from textcritic.plan.entries import Annotations, restore

w, p = snakemake.wildcards, snakemake.params
with runlog.job(snakemake.log[0], f"measure {w.resolver} on {w.annotation}", runlog.gpus_of(snakemake.resources)):
    files = MeasuredFiles(snakemake.output.table, snakemake.output.summary, snakemake.input.get("model"))
    write_quality(Annotations.restore(p.annotation), restore(p.spec, "resolvers"), files)
