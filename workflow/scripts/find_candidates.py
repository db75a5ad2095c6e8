"""Find sentences that could be intruders in documents, and put each into its place."""

from textcritic import runlog
from textcritic.corpora.intruders.candidates import find_candidates
from textcritic.plan.entries import Corpus

with runlog.job(snakemake.log[0], f"find candidates for {snakemake.wildcards.corpus} {snakemake.wildcards.split}"):
    options = Corpus.restore(snakemake.params.spec).options.intruders
    find_candidates(snakemake.input.documents, snakemake.output.candidates, snakemake.output.report, options)
