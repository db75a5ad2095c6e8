"""Tendencies, measured: what real text has of each, and how far samples are from it.

Needs: the counts of rules/tendencies.smk. Makes: statistics (JSON) and curves (Parquet) beside them, and the tables.
"""

MEASURING = ("kind", "ranks", "resamples", "least", "seed")


rule measure_real_tendencies:
    """The test split by itself, and beside second draws of real text."""
    input:
        real=f"{COUNTED}/data/test.npz",
        draws=f"{COUNTED}/draws",
    output:
        statistics=f"{COUNTED}/data/test.json",
        curves=f"{COUNTED}/data/test.curves.parquet",
    log:
        "results/logs/measure_real_tendencies/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/measure_real_tendencies/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TENDENCY_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec("critics", "critic", *MEASURING),
        version=stage("tendencies"),
    script:
        "../workflow/scripts/measure_tendencies.py"


use rule measure_real_tendencies as compare_tendencies with:
    input:
        sample=f"{COUNTED}/{SAMPLE}.npz",
        real=f"{COUNTED}/data/test.npz",
        draws=f"{COUNTED}/draws",
    output:
        statistics=f"{COUNTED}/{SAMPLE}.json",
        curves=f"{COUNTED}/{SAMPLE}.curves.parquet",
    log:
        f"results/logs/compare_tendencies/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/compare_tendencies/{{critic}}/{{corpus}}/{SAMPLE}.tsv"


use rule make_part_table as make_tendencies_tables with:
    output:
        standing("tendencies"),
    log:
        "results/logs/make_tendencies_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_tendencies_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("tendencies"),
