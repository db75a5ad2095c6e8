"""Draw the topic shares of documents under LDA, and score them; carry along samples that did not parse."""

from textcritic import runlog
from textcritic.critics.lda.job import InferFiles, infer_mixing
from textcritic.plan.entries import Lda

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"mixing {w.get('generator', 'of real text')} {w.corpus}"):
    files = InferFiles(
        articles=snakemake.input.articles,
        vocabulary=snakemake.input.vocabulary,
        critic=snakemake.input.critic,
        posteriors=snakemake.output.posteriors,
        scores=snakemake.output.scores,
        rejected=snakemake.input.get("rejected"),
    )
    infer_mixing(files, Lda.restore(snakemake.params.spec))
