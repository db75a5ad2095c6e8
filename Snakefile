"""textcritic: from raw text to the tables and figures of a study. `snakemake --cores 2` builds the demo."""

from snakemake.utils import min_version

min_version("9.20")


configfile: f"{workflow.current_basedir}/config/config.yaml"


include: "rules/common.smk"
include: "rules/start.smk"
include: "rules/targets.smk"
include: "rules/download.smk"
include: "rules/corpora.smk"
include: "rules/wikipedia.smk"
include: "rules/datasets.smk"
include: "rules/generators.smk"
include: "rules/fairseq.smk"
include: "rules/samples.smk"
include: "rules/titles.smk"
include: "rules/hsmm.smk"
include: "rules/latent.smk"
include: "rules/report.smk"
include: "rules/coherence.smk"  # from here on the kinds of experiment, each with its own jobs
include: "rules/statistics.smk"
include: "rules/process.smk"
include: "rules/parallel.smk"
include: "rules/topics.smk"
include: "rules/mixing.smk"
include: "rules/tendencies.smk"
include: "rules/tendency_measures.smk"
include: "rules/coreference.smk"
include: "rules/recitation.smk"
include: "rules/order.smk"
include: "rules/metrics.smk"
include: "rules/importance.smk"
include: "rules/intruders.smk"
include: "rules/people.smk"


for rule_file in project.rule_files():

    include: rule_file


include: "rules/papers.smk"


rule all:
    default_target: True
    input:
        of_studies(lambda study: [f"results/studies/{study.name}/report.html"]),


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
        of_studies(lambda study: [f"results/studies/{study.name}/report.html"]),
