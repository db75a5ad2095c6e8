"""Turn one shard of a Wikipedia dump into articles with sections, or into lines."""

from textcritic import runlog
from textcritic.corpora.titles import require_wordnet
from textcritic.corpora.wikipedia import Shard, extract_shard
from textcritic.plan.checks.corpora import WIKIPEDIA_LINES
from textcritic.plan.entries import Corpus

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"extract {w.corpus} {w.shard}"):
    if snakemake.params.lemmatised:
        require_wordnet()
    corpus = Corpus.restore(snakemake.params.spec)
    extract_shard(
        Shard(list(snakemake.input), int(w.shard), int(w.shards), corpus.extractor == WIKIPEDIA_LINES),
        corpus.options,
        snakemake.output.articles,
        snakemake.output.report,
        workers=snakemake.threads,
    )
