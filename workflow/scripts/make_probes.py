"""Edit the documents of an intruder corpus by the linguistic probes."""

from textcritic import runlog
from textcritic.corpora.intruders.probes.edits import make_probes

with runlog.job(snakemake.log[0], f"probes {snakemake.wildcards.corpus}"):
    make_probes(snakemake.input[0], snakemake.output.documents, snakemake.output.counts, snakemake.params.documents)
