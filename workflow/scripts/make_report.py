"""Make the report of a study, and the manifest of what went into it."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_manifest, make_report

study = snakemake.wildcards.study
with runlog.job(snakemake.log[0], f"report {study}"):
    tables = Path(snakemake.input.tables[0]).parent
    command = snakemake.params.record["study"]["command"]
    make_manifest(
        snakemake.params.study,
        [path for path in snakemake.input if Path(path).is_file()],
        snakemake.output.manifest,
        snakemake.params.record,
        commands=[command or f"snakemake --cores 2 --config studies=\"['{study}']\""],
        repository=snakemake.params.repository,
    )
    make_report(
        snakemake.params.study,
        tables,
        snakemake.input.figures,
        snakemake.output.manifest,
        snakemake.output.report,
        # Empty where the study has no known process, or no topics.
        next(iter(snakemake.input.synthetic_figures), None),
        next(iter(snakemake.input.topic_figures), None),
        list(snakemake.input.part_figures),
    )
