"""Look documents up in the train split of their corpus; carry along samples that did not parse."""

from textcritic import runlog
from textcritic.critics.recitation import IndexFiles, TrainIndex, cutting_of, score_recitation
from textcritic.plan.entries import restore

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"look up {w.get('generator', 'real text')} {w.corpus}"):
    cutting = cutting_of(restore(snakemake.params.spec, "critics"))
    index = TrainIndex.load(IndexFiles(given.suffixes, given.words, given.documents), cutting)
    score_recitation(index, given.articles, snakemake.output[0], given.get("rejected"))
