"""Corpora of text that are made from data sets of the Hugging Face hub.

Needs: an entry of the corpora registry with the extractor `hub-dataset`, and the entry of the datasets registry it names.
Makes: results/raw/datasets/{dataset}, fetched where `snakemake` runs; results/corpora/{corpus}/extracted.parquet and its
report, without a network, from which rules/corpora.smk builds the corpus.
"""


localrules:
    download_dataset,


rule download_dataset:
    """The files of one commit of a data set."""
    input:
        lambda w: refused(project.missing.why("datasets", w.dataset), w.dataset),
    output:
        directory("results/raw/datasets/{dataset}"),
    log:
        "results/logs/download_dataset/{dataset}.log",
    conda:
        "../envs/controller.yaml"
    resources:
        in_turn=0,
    params:
        spec=spec("datasets", "dataset"),
    script:
        "../workflow/scripts/download_dataset.py"


rule extract_dataset:
    """The rows of a data set to articles with sections, as they come."""
    input:
        lambda w: paths.corpus(w.corpus),
    output:
        articles="results/corpora/{corpus}/extracted.parquet",
        report="results/corpora/{corpus}/extracted.json",
    log:
        "results/logs/extract_dataset/{corpus}.log",
    benchmark:
        "results/benchmarks/extract_dataset/{corpus}.tsv"
    wildcard_constraints:
        corpus=HUB_DATASETS,
    conda:
        "../envs/datasets.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options"),
        dataset=lambda w: paths.dataset_spec(w.corpus),
        lemmatised=paths.lemmatised,
        version=stage("extract"),
    script:
        "../workflow/scripts/extract_dataset.py"
