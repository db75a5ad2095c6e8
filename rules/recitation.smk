"""Recitation: index the train split of a corpus, and look up in it what real text and samples have word for word.

Needs: a corpus of text, and samples. Makes: results/critics/{critic}/{corpus}, the index, and scores of each document as
the other critics do.
"""

RECITATION_CRITICS = registries.names("critics", kind=["recitation"])
TRAIN_INDEX = "results/critics/{critic}/{corpus}"


rule index_train:
    """The words of the train split in a suffix array: some 40 bytes a word in memory, 8 on the disk."""
    input:
        "results/corpora/{corpus}/train.parquet",
    output:
        suffixes=f"{TRAIN_INDEX}/suffixes.npz",
        words=f"{TRAIN_INDEX}/words.parquet",
        documents=f"{TRAIN_INDEX}/documents.parquet",
    log:
        "results/logs/index_train/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/index_train/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=RECITATION_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec("critics", "critic"),
        version=stage("recitation"),
    script:
        "../workflow/scripts/index_train.py"


rule look_up_data:
    """Which n-grams of each real document stand in the train split, and its longest passage that does."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        suffixes=f"{TRAIN_INDEX}/suffixes.npz",
        words=f"{TRAIN_INDEX}/words.parquet",
        documents=f"{TRAIN_INDEX}/documents.parquet",
    output:
        "results/scores/{critic}/{corpus}/data/test.parquet",
    log:
        "results/logs/look_up_data/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/look_up_data/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=RECITATION_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec("critics", "critic"),
        version=stage("recitation"),
    script:
        "../workflow/scripts/look_up_articles.py"


use rule look_up_data as look_up_sample with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        suffixes=f"{TRAIN_INDEX}/suffixes.npz",
        words=f"{TRAIN_INDEX}/words.parquet",
        documents=f"{TRAIN_INDEX}/documents.parquet",
    output:
        f"results/scores/{{critic}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/look_up_sample/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/look_up_sample/{{critic}}/{{corpus}}/{SAMPLE}.tsv"


use rule make_part_table as make_recitation_tables with:
    output:
        standing("recitation"),
    log:
        "results/logs/make_recitation_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_recitation_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("recitation"),
