"""Importance sampling where the truth is known: log weights, likeliest paths and the exact log p of hidden semi-Markov models.

Needs: a known process (rules/process.smk), its models (rules/hsmm.smk), and the rules of rules/importance.smk.
Makes: results/weights, in the same form.
"""

HSMMS = registries.names("generators", kind=["hsmm"])


rule weigh_paths:
    """The same of a hidden semi-Markov model, whose proposals are made from its own tables."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        tokens=lambda w: paths.test_stream(w),
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
    output:
        f"results/weights/{WEIGHED}/t{{temperature}}/k{{samples}}/{{shard}}.npz",
    log:
        f"results/logs/weigh_paths/{WEIGHED}/t{{temperature}}/k{{samples}}/{{shard}}.log",
    benchmark:
        f"results/benchmarks/weigh_paths/{WEIGHED}/t{{temperature}}/k{{samples}}/{{shard}}.tsv"
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
        "../workflow/scripts/weigh_paths.py"


use rule weigh_paths as weigh_best_paths with:
    output:
        f"results/weights/{WEIGHED}/beam{{samples}}.npz",
    log:
        f"results/logs/weigh_best_paths/{WEIGHED}/beam{{samples}}.log",
    benchmark:
        f"results/benchmarks/weigh_best_paths/{WEIGHED}/beam{{samples}}.tsv"


use rule weigh_exact as weigh_whole with:
    input:
        articles="results/corpora/{corpus}/test.parquet",
        tokens=lambda w: paths.test_stream(w),
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
    log:
        "results/logs/weigh_whole/{generator}/{corpus}/seed{seed}.log",
    benchmark:
        "results/benchmarks/weigh_whole/{generator}/{corpus}/seed{seed}.tsv"
    wildcard_constraints:
        generator=HSMMS,


include: "importance_better.smk"
