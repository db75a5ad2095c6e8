"""Index the train split of a corpus, so that texts can be looked up in it."""

from textcritic import runlog
from textcritic.critics.recitation import IndexFiles, index_train
from textcritic.plan.entries import Recitation

w, made = snakemake.wildcards, snakemake.output
with runlog.job(snakemake.log[0], f"index {w.corpus}"):
    files = IndexFiles(made.suffixes, made.words, made.documents)
    index_train(snakemake.input[0], files, Recitation.restore(snakemake.params.spec))
