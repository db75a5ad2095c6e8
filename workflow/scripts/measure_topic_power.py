"""Measure how often the test notices words of another topic in real text."""

import json

from textcritic import runlog
from textcritic.critics.ctm.power import PowerFiles, measure_topic_power
from textcritic.inference import PowerOptions

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"power of {w.experiment} on {w.corpus}"):
    files = PowerFiles(given.articles, given.vocabulary, given.critic, snakemake.output[0])
    measure_topic_power(files, PowerOptions(**json.loads(snakemake.params.power)), threads=snakemake.threads)
