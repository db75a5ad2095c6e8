"""Power of the test of topics: how many documents of real text with words of another topic it notices.

Needs: a corpus and a topic model that is fitted on it (rules/topics.smk). Makes: power/{corpus}.parquet of a topics
experiment.
"""


rule measure_topic_power:
    """How often the test tells real text from real text in which a share of the documents has words of another topic."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        vocabulary=lambda w: f"{experiment(w).fitted(w.corpus)}/vocabulary.parquet",
        critic=lambda w: f"{experiment(w).fitted(w.corpus)}/critic.npz",
    output:
        "results/studies/{study}/{experiment}/power/{corpus}.parquet",
    log:
        "results/logs/measure_topic_power/{study}/{experiment}/{corpus}.log",
    benchmark:
        "results/benchmarks/measure_topic_power/{study}/{experiment}/{corpus}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("topics"),
        corpus=TEXTS,
    conda:
        "../envs/cpu.yaml"
    # Seconds to minutes: documents are drawn from a few hundred.
    threads: 2
    resources:
        mem_mb=8000,
        runtime="2h",
    params:
        power=lambda w: experiment(w).block.power.spec(),
        version=stage("topics"),
    script:
        "../workflow/scripts/measure_topic_power.py"
