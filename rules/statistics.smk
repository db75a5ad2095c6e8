"""Statistics of corpora: the tables of the experiments of kind corpora, and what splits share.

Needs: results/corpora/{corpus}/statistics.json and the splits. Makes: results/corpora/{corpus}/overlap.json, and tables of
results/studies.
"""


use rule make_part_table as make_corpora_tables with:
    output:
        standing("corpora"),
    log:
        "results/logs/make_corpora_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_corpora_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("corpora"),


rule measure_overlap:
    """What the validation and the test split share with the train split; its text is indexed, 40 bytes a word."""
    input:
        **{split: f"results/corpora/{{corpus}}/{split}.parquet" for split in SPLITS},
    output:
        "results/corpora/{corpus}/overlap.json",
    log:
        "results/logs/measure_overlap/{corpus}.log",
    benchmark:
        "results/benchmarks/measure_overlap/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        version=stage("corpora"),
    script:
        "../workflow/scripts/measure_overlap.py"
