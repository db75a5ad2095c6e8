"""Measures of one's own: a number of each document of real text and of samples, by a function of the user's.

Needs: a corpus of text, samples, and the function's module. Makes: results/scores/metrics/{module}.{function}.
"""

from textcritic.experiments.metrics.plan import FROM_MEMORY, digest

OWN_SCORES = "results/scores/metrics/{metric}/{corpus}"


rule measure_data_by_function:
    """One number of each real document; before training, as a fault of the function is seen here first."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        train="results/corpora/{corpus}/train.parquet",
    output:
        f"{OWN_SCORES}/data/test.parquet",
    log:
        "results/logs/measure_data_by_function/{metric}/{corpus}.log",
    benchmark:
        "results/benchmarks/measure_data_by_function/{metric}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        metric=rf"(?!{FROM_MEMORY}\.)[\w.]+",
    priority: 10
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="12h",
    params:
        source=lambda w: digest(w.metric, project.config, project.here),
        folders=project.config.metric_folders,
        version=stage("metrics"),
    script:
        "../workflow/scripts/measure_by_function.py"


use rule measure_data_by_function as measure_sample_by_function with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        train="results/corpora/{corpus}/train.parquet",
    output:
        f"{OWN_SCORES}/{SAMPLE}.parquet",
    log:
        f"results/logs/measure_sample_by_function/{{metric}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/measure_sample_by_function/{{metric}}/{{corpus}}/{SAMPLE}.tsv"


use rule make_part_table as make_metrics_tables with:
    output:
        standing("metrics"),
    log:
        "results/logs/make_metrics_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_metrics_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("metrics"),
