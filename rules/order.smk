"""The order of sentences: fit a critic on the train split of a corpus, and score real text and samples by it.

Needs: a corpus of text, and samples. Makes: results/critics/{critic}/{corpus}/critic.npz, and scores of each document as
the other critics do.
"""

ORDER_CRITICS = registries.names("critics", kind=["order"])
ORDER_CRITIC = "results/critics/{critic}/{corpus}/critic.npz"


rule fit_order:
    """What the order of sentences of the train split has that random order has not; seconds for 1,000 documents."""
    input:
        "results/corpora/{corpus}/train.parquet",
    output:
        ORDER_CRITIC,
    log:
        "results/logs/fit_order/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/fit_order/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=ORDER_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        version=stage("order"),
    script:
        "../workflow/scripts/fit_order.py"


rule score_order_of_data:
    """How much of the order of real text each real document has, and its weakest pair of neighbours."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        critic=ORDER_CRITIC,
    output:
        "results/scores/{critic}/{corpus}/data/test.parquet",
    log:
        "results/logs/score_order_of_data/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/score_order_of_data/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=ORDER_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        version=stage("order"),
    script:
        "../workflow/scripts/score_order.py"


use rule score_order_of_data as score_order_of_sample with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        critic=ORDER_CRITIC,
    output:
        f"results/scores/{{critic}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/score_order_of_sample/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/score_order_of_sample/{{critic}}/{{corpus}}/{SAMPLE}.tsv"


use rule make_part_table as make_order_tables with:
    output:
        standing("order"),
    log:
        "results/logs/make_order_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_order_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("order"),
