"""Cut the articles of a split, or of a sample, into documents of a few sentences."""

from textcritic import runlog
from textcritic.corpora.intruders.cut import cut_corpus
from textcritic.plan.spec import restore

with runlog.job(snakemake.log[0], f"cut {snakemake.input.articles}"):
    spec = restore(snakemake.params.spec, "corpora")
    cut_corpus(
        snakemake.input.articles,
        snakemake.output.documents,
        snakemake.output.report,
        spec["options"]["intruders"],
    )
