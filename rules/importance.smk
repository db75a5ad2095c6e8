"""Importance sampling: log weights of latent states drawn for each test text, of which every number of the kind is made.

Needs: a corpus with structure, models and proposals (rules/latent.smk); for the truth rules/importance_truth.smk.
Makes: results/weights. A shard has so many draws of each text; more shards are more draws, and change no other shard.
"""

WEIGHED = "{generator}/{proposal}/{corpus}/seed{seed}"


rule weigh_states:
    """Draw states of each test text from the proposal; write log p and log q of each. A killed job loses a minute at most."""
    input:
        texts="results/corpora/{corpus}/test.parquet",
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
        proposal="results/proposals/{corpus}/{proposal}/seed{seed}/model",
        knowledge=lambda w: paths.knowledge(w.corpus),
    output:
        f"results/weights/{WEIGHED}/t{{temperature}}/k{{samples}}/{{shard}}.npz",
    log:
        f"results/logs/weigh_states/{WEIGHED}/t{{temperature}}/k{{samples}}/{{shard}}.log",
    benchmark:
        f"results/benchmarks/weigh_states/{WEIGHED}/t{{temperature}}/k{{samples}}/{{shard}}.tsv"
    wildcard_constraints:
        generator=LATENT,
    priority: 5
    conda:
        "../envs/gpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        gpu=of("generators", "generator", "gpu"),
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.weighing_minutes(w, attempt),
    params:
        version=stage("importance"),
    script:
        "../workflow/scripts/weigh_states.py"


rule weigh_best:
    """The likeliest states of each test text by the proposal, each once, with log p of each: a strict bound."""
    input:
        texts="results/corpora/{corpus}/test.parquet",
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
        proposal="results/proposals/{corpus}/{proposal}/seed{seed}/model",
        knowledge=lambda w: paths.knowledge(w.corpus),
    output:
        f"results/weights/{WEIGHED}/beam{{samples}}.npz",
    log:
        f"results/logs/weigh_best/{WEIGHED}/beam{{samples}}.log",
    benchmark:
        f"results/benchmarks/weigh_best/{WEIGHED}/beam{{samples}}.tsv"
    wildcard_constraints:
        generator=LATENT,
    priority: 5
    conda:
        "../envs/gpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        gpu=of("generators", "generator", "gpu"),
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.weighing_minutes(w, attempt),
    params:
        version=stage("importance"),
    script:
        "../workflow/scripts/weigh_best.py"


rule weigh_exact:
    """Log p of each test text by a model without latent states."""
    input:
        texts="results/corpora/{corpus}/test.parquet",
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
    output:
        "results/weights/{generator}/{corpus}/seed{seed}/exact.npz",
    log:
        "results/logs/weigh_exact/{generator}/{corpus}/seed{seed}.log",
    benchmark:
        "results/benchmarks/weigh_exact/{generator}/{corpus}/seed{seed}.tsv"
    wildcard_constraints:
        generator=registries.names("generators", kind=["lstm"]),
    conda:
        "../envs/gpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        gpu=of("generators", "generator", "gpu"),
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.weighing_minutes(w, attempt),
    params:
        version=stage("importance"),
    script:
        "../workflow/scripts/weigh_exact.py"


use rule make_part_table as make_importance_tables with:
    output:
        standing("importance"),
    log:
        "results/logs/make_importance_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_importance_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("importance"),


include: "importance_truth.smk"
