"""What a detector says of documents."""

from textcritic import runlog
from textcritic.critics.detectors.train import predict_documents

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"{w.detector} on {w.corpus}", runlog.gpus_of(snakemake.resources)):
    scorer = next(iter(given.scorer), None)  # other files of a critic are in the same folder
    predict_documents(given.model, given.documents, snakemake.output[0], scorer, snakemake.threads)
