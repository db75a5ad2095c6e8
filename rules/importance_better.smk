"""Better estimates of the same likelihoods: draws of several temperatures weighed together, and particle filters.

Needs: the shards of single temperatures (rules/importance.smk; of hidden semi-Markov models none), models, proposals.
Makes: results/weights/.../mixed/{temperatures}/k{samples}/{shard}.npz and .../particles{samples}.npz.
"""


wildcard_constraints:
    temperatures=r"\d+(\.\d+)?(-\d+(\.\d+)?)+",


PROPOSED = registries.names("generators", kind=["rnng", "entitynlm", "kglm"])
STEPWISE = registries.names("generators", kind=["entitynlm", "kglm"])


rule weigh_mixture:
    """Log weights of all draws of several temperatures, as draws from the mixture of them; log p is not computed again."""
    input:
        texts="results/corpora/{corpus}/test.parquet",
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
        proposal="results/proposals/{corpus}/{proposal}/seed{seed}/model",
        knowledge=lambda w: paths.knowledge(w.corpus),
        shards=lambda w: [
            f"results/weights/{WEIGHED}/t{temperature}/k{{samples}}/{{shard}}.npz".format(**w)
            for temperature in w.temperatures.split("-")
        ],
    output:
        f"results/weights/{WEIGHED}/mixed/{{temperatures}}/k{{samples}}/{{shard}}.npz",
    log:
        f"results/logs/weigh_mixture/{WEIGHED}/{{temperatures}}/k{{samples}}/{{shard}}.log",
    benchmark:
        f"results/benchmarks/weigh_mixture/{WEIGHED}/{{temperatures}}/k{{samples}}/{{shard}}.tsv"
    wildcard_constraints:
        generator=PROPOSED,
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
        "../workflow/scripts/weigh_mixture.py"


rule weigh_particles:
    """Log p of each test text by a particle filter, which draws states token by token and gives up on unlikely ones."""
    input:
        texts="results/corpora/{corpus}/test.parquet",
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
        proposal="results/proposals/{corpus}/{proposal}/seed{seed}/model",
        knowledge=lambda w: paths.knowledge(w.corpus),
    output:
        f"results/weights/{WEIGHED}/particles{{samples}}.npz",
    log:
        f"results/logs/weigh_particles/{WEIGHED}/particles{{samples}}.log",
    benchmark:
        f"results/benchmarks/weigh_particles/{WEIGHED}/particles{{samples}}.tsv"
    wildcard_constraints:
        generator=STEPWISE,
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
        "../workflow/scripts/weigh_particles.py"


rule weigh_mixed_paths:
    """Log weights of paths of a hidden semi-Markov model drawn at several temperatures, under the mixture of them."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        tokens=lambda w: paths.test_stream(w),
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
    output:
        f"results/weights/{WEIGHED}/mixed/{{temperatures}}/k{{samples}}/{{shard}}.npz",
    log:
        f"results/logs/weigh_mixed_paths/{WEIGHED}/{{temperatures}}/k{{samples}}/{{shard}}.log",
    benchmark:
        f"results/benchmarks/weigh_mixed_paths/{WEIGHED}/{{temperatures}}/k{{samples}}/{{shard}}.tsv"
    wildcard_constraints:
        generator=HSMMS,
    priority: 5
    conda:
        "../envs/cpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.weighing_minutes(w, attempt),
    params:
        spec=spec("proposals", "proposal"),
        version=stage("importance"),
    script:
        "../workflow/scripts/weigh_more_paths.py"


use rule weigh_mixed_paths as weigh_filtered_paths with:
    output:
        f"results/weights/{WEIGHED}/particles{{samples}}.npz",
    log:
        f"results/logs/weigh_filtered_paths/{WEIGHED}/particles{{samples}}.log",
    benchmark:
        f"results/benchmarks/weigh_filtered_paths/{WEIGHED}/particles{{samples}}.tsv"


include: "importance_own.smk"
