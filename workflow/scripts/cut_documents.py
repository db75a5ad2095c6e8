"""Cut the articles of a split, or of a sample, into documents of a few sentences."""

from textcritic import runlog
from textcritic.corpora.intruders.cut import Wanted, cut_corpus
from textcritic.plan.entries import Corpus

with runlog.job(snakemake.log[0], f"cut {snakemake.input.articles}"):
    options = Corpus.restore(snakemake.params.spec).options.intruders
    split = snakemake.wildcards.get("split")
    most = getattr(options.documents, split) if split and options.documents else None
    wanted = Wanted(most, tuple(snakemake.input.later)) if split else Wanted()
    cut_corpus(snakemake.input.articles, snakemake.output.documents, snakemake.output.report, options, wanted)
