"""Measure how often the test notices exchanged pronouns in real text."""

import json

from textcritic import runlog
from textcritic.critics.mentions.power import measure_power
from textcritic.inference import PowerOptions
from textcritic.plan.entries import Mentions, restore

w, p = snakemake.wildcards, snakemake.params
with runlog.job(snakemake.log[0], f"power of {w.experiment} on {w.corpus}"):
    entries = Mentions.restore(p.spec), restore(p.resolver, "resolvers")
    options = PowerOptions(**json.loads(p.power))
    measure_power(snakemake.input.mentions, snakemake.input.critic, snakemake.output[0], entries, options)
