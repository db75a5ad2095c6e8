"""A check of the proposals, on texts that the models draw: is the state that a model drew found by its proposal?

Needs: models and proposals (rules/latent.smk, rules/hsmm.smk).
Makes: results/weights/.../own{texts}/k{samples}/drawn.npz with exact.npz.
"""


wildcard_constraints:
    texts=r"\d+",


OWN = (
    f"results/weights/{WEIGHED}/own{{texts}}/k{{samples}}/drawn.npz",
    f"results/weights/{WEIGHED}/own{{texts}}/k{{samples}}/exact.npz",
)


rule weigh_own_texts:
    """Draw texts from the model with their states; weigh states from the proposal, and those that the model drew."""
    input:
        texts="results/corpora/{corpus}/test.parquet",
        model="results/generators/{corpus}/wo-title/{generator}/seed{seed}/model",
        proposal="results/proposals/{corpus}/{proposal}/seed{seed}/model",
        knowledge=lambda w: paths.knowledge(w.corpus),
    output:
        *OWN,
    log:
        f"results/logs/weigh_own_texts/{WEIGHED}/own{{texts}}/k{{samples}}.log",
    benchmark:
        f"results/benchmarks/weigh_own_texts/{WEIGHED}/own{{texts}}/k{{samples}}.tsv"
    wildcard_constraints:
        generator=PROPOSED,
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
        "../workflow/scripts/weigh_own_texts.py"


use rule weigh_mixed_paths as weigh_own_paths with:
    output:
        *OWN,
    log:
        f"results/logs/weigh_own_paths/{WEIGHED}/own{{texts}}/k{{samples}}.log",
    benchmark:
        f"results/benchmarks/weigh_own_paths/{WEIGHED}/own{{texts}}/k{{samples}}.tsv"
