"""Log p of each test text by a model without latent states, or by one whose states can all be summed."""

from textcritic import runlog

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"weigh {w.generator}", runlog.gpus_of(snakemake.resources)):
    if given.get("texts"):
        from textcritic.generators.latent.weigh import Weighed, weigh_exact

        weigh_exact(Weighed(texts=given.texts, model=given.model), snakemake.output[0], snakemake.threads)
    else:
        from textcritic.generators.hsmm.weigh import Sequences, weigh_whole

        prefix = given.tokens[0].removesuffix(".tokens.npy")
        weigh_whole(Sequences(given.model, prefix, given.articles), snakemake.output[0], snakemake.threads)
