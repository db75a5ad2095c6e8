"""Make the manifest of a study: what it was made from."""

from textcritic import runlog
from textcritic.report import make_manifest

study = snakemake.wildcards.study
with runlog.job(snakemake.log[0], f"manifest of {study}"):
    command = snakemake.params.record["study"]["command"]
    make_manifest(
        snakemake.params.record,
        snakemake.input,
        snakemake.output[0],
        commands=[command or f"snakemake --cores 2 --config studies=\"['{study}']\""],
        repository=snakemake.params.repository,
    )
