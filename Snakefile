"""textcritic: from raw text to the tables and figures of a study. `snakemake --cores 2` builds the demo."""

from snakemake.utils import min_version

min_version("9.20")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "rules/common.smk"
include: "rules/download.smk"
include: "rules/corpora.smk"
include: "rules/wikipedia.smk"
include: "rules/generators.smk"
include: "rules/samples.smk"
include: "rules/given.smk"
include: "rules/coherence.smk"
include: "rules/hsmm.smk"
include: "rules/synthetic.smk"
include: "rules/topics.smk"
include: "rules/report.smk"
include: "rules/topic_report.smk"
include: "rules/papers.smk"


rule all:
    default_target: True
    input:
        of_studies(report_files),


rule data:
    input:
        of_studies(corpus_files),


rule train:
    input:
        of_studies(generator_files),


rule samples:
    input:
        of_studies(sample_files),


rule tables:
    input:
        of_studies(table_files),


rule figures:
    input:
        of_studies(figure_files),


rule report:
    input:
        of_studies(report_files),
