"""Measure documents by a function of the user's."""

from pathlib import Path

from textcritic import runlog
from textcritic.critics.own import score_own
from textcritic.experiments.metrics.plan import folders_of, metric_name
from textcritic.measures.own import load_metric

w, given, here = snakemake.wildcards, snakemake.input, Path.cwd()
with runlog.job(snakemake.log[0], f"measure {w.get('generator', 'real text')} {w.corpus}"):
    folders = folders_of(snakemake.params.folders, here)
    metric = load_metric(metric_name(w.metric), folders)
    score_own(metric, given.articles, snakemake.output[0], given.get("rejected"), given.train)
