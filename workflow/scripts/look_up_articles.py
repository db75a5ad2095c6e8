"""Look documents up in the train split of their corpus; carry along samples that did not parse."""

from textcritic import runlog
from textcritic.critics.recitation import IndexFiles, TrainIndex, score_recitation
from textcritic.plan.entries import Recitation

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"look up {w.get('generator', 'real text')} {w.corpus}"):
    files = IndexFiles(given.suffixes, given.words, given.documents)
    index = TrainIndex.load(files, Recitation.restore(snakemake.params.spec))
    score_recitation(index, given.articles, snakemake.output[0], given.get("rejected"))
