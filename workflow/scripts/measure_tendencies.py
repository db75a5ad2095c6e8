"""Measure the tendencies of real text, or of a sample compared with it."""

from textcritic import runlog
from textcritic.critics.tendencies.measure import measure_counts
from textcritic.plan.entries import Tendencies

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"tendencies of {w.get('generator', 'real text')} {w.corpus}"):
    entry = Tendencies.restore(snakemake.params.spec)
    measure_counts(given.real, given.draws, given.get("sample"), entry).write(*snakemake.output)
