"""Given titles: where text comes with section titles that a critic may read as they are, nothing is inferred.

Needs: a corpus, and samples in the setting w-title. Makes: results/latents, which rules/coherence.smk scores.
"""


rule take_data_titles:
    """The titles of each article of real text."""
    input:
        "results/corpora/{corpus}/{split}.parquet",
    output:
        "results/latents/{given}/{corpus}/data/{split}.parquet",
    log:
        "results/logs/take_data_titles/{given}/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/take_data_titles/{given}/{corpus}/{split}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="1h",
    params:
        version=stage("classify"),
    script:
        "../workflow/scripts/take_titles.py"


use rule take_data_titles as take_sample_titles with:
    input:
        f"{DRAWN}.parquet",
    output:
        "results/latents/{given}/{corpus}/samples/{setting}/{generator}/seed{seed}/{decoding}.parquet",
    log:
        "results/logs/take_sample_titles/{given}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}.log",
    benchmark:
        "results/benchmarks/take_sample_titles/{given}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}.tsv"
