"""Measure how much of a Latent PPL is errors of the resolver, on text in which people have marked coreference."""

from textcritic import runlog
from textcritic.critics.mentions.measure import MeasuredFiles, write_resolver_error
from textcritic.plan.entries import Annotations, Mentions, restore

w, p = snakemake.wildcards, snakemake.params
with runlog.job(
    snakemake.log[0], f"resolver error of {w.critic} on {w.annotation}", runlog.gpus_of(snakemake.resources)
):
    files = MeasuredFiles(snakemake.output.table, snakemake.output.summary, snakemake.input.get("model"))
    entries = Annotations.restore(p.annotation), Mentions.restore(p.spec), restore(p.resolver, "resolvers")
    write_resolver_error(*entries, files)
