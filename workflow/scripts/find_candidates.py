"""Find sentences that could be intruders in documents, and put each into its place."""

from textcritic import runlog
from textcritic.corpora.intruders.candidates import find_candidates
from textcritic.plan.entries import restore

with runlog.job(snakemake.log[0], f"find candidates for {snakemake.wildcards.corpus} {snakemake.wildcards.split}"):
    spec = restore(snakemake.params.spec, "corpora")
    find_candidates(
        snakemake.input.documents,
        snakemake.output.candidates,
        snakemake.output.report,
        spec["options"]["intruders"],
    )
