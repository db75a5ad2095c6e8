"""Make the manifest of a study: what it was made from."""

from textcritic import runlog
from textcritic.place import workflow_folder
from textcritic.report import make_manifest

study = snakemake.wildcards.study
with runlog.job(snakemake.log[0], f"manifest of {study}"):
    make_manifest(
        snakemake.params.record,
        snakemake.input,
        snakemake.output[0],
        commands=[snakemake.params.record["command"]],
        repository=workflow_folder(),
    )
