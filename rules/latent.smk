"""Latent language models: corpora of tokens with a structure behind them, the models, and proposals of their states.

Needs: entries of the corpora registry with the extractors `trees`, `mentions` and `links`.
Makes: results/corpora/{corpus}, with the folder `knowledge` for links; results/generators/{corpus}/wo-title/{generator}/seed{seed}
and results/proposals/{corpus}/{proposal}/seed{seed}, each with model and training.json.
"""

LATENT = registries.names("generators", kind=["rnng", "entitynlm", "kglm", "lstm"])
# Corpora of tokens with a structure behind them, and of these the ones with a knowledge graph.
WITH_STRUCTURE = registries.names("corpora", extractor=STRUCTURED)
LINKED = registries.names("corpora", extractor=["links"])
PROPOSAL = "results/proposals/{corpus}/{proposal}/seed{seed}"


rule build_structured:
    """Read texts with their structure, or draw them from what is known, and split them."""
    input:
        lambda w: paths.corpus(w.corpus),
    output:
        expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        statistics="results/corpora/{corpus}/statistics.json",
    log:
        "results/logs/build_structured/{corpus}.log",
    benchmark:
        "results/benchmarks/build_structured/{corpus}.tsv"
    wildcard_constraints:
        corpus=registries.names("corpora", extractor=["trees", "mentions"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options", "splits"),
        version=stage("extract"),
    script:
        "../workflow/scripts/build_structured.py"


use rule build_structured as build_linked with:
    output:
        expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        statistics="results/corpora/{corpus}/statistics.json",
        knowledge=directory("results/corpora/{corpus}/knowledge"),
    log:
        "results/logs/build_linked/{corpus}.log",
    benchmark:
        "results/benchmarks/build_linked/{corpus}.tsv"
    wildcard_constraints:
        corpus=LINKED,


rule train_latent:
    """Train a latent language model on texts with their states; a killed job resumes from `checkpoints` beside the model."""
    input:
        train="results/corpora/{corpus}/train.parquet",
        validation="results/corpora/{corpus}/validation.parquet",
        knowledge=lambda w: paths.knowledge(w.corpus),
    output:
        model=directory(f"{MODEL}/model"),
        training=f"{MODEL}/training.json",
    log:
        "results/logs/train_latent/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_latent/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        corpus=WITH_STRUCTURE,
        setting="wo-title",
        generator=LATENT,
    priority: 10
    conda:
        "../envs/gpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        gpu=of("generators", "generator", "gpu"),
        mem_mb=memory("generators", "generator"),
        runtime=of("generators", "generator", "runtime"),
        # Resources, unlike params, rerun nothing when they change.
        checkpoint_seconds=lambda w: round(registries.entry("generators", w.generator).training.checkpoint_seconds),
    params:
        registry="generators",
        spec=spec("generators", "generator"),
        version=stage("train"),
    script:
        "../workflow/scripts/train_latent.py"


rule train_proposal:
    """Train a proposal, which draws the states of a text, on texts with their states; resumes as `train_latent` does."""
    input:
        train="results/corpora/{corpus}/train.parquet",
        validation="results/corpora/{corpus}/validation.parquet",
        knowledge=lambda w: paths.knowledge(w.corpus),
    output:
        model=directory(f"{PROPOSAL}/model"),
        training=f"{PROPOSAL}/training.json",
    log:
        "results/logs/train_proposal/{corpus}/{proposal}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_proposal/{corpus}/{proposal}/seed{seed}.tsv"
    wildcard_constraints:
        corpus=WITH_STRUCTURE,
    priority: 10
    conda:
        "../envs/gpu.yaml"
    threads: of("proposals", "proposal", "threads")
    resources:
        gpu=of("proposals", "proposal", "gpu"),
        mem_mb=memory("proposals", "proposal"),
        runtime=of("proposals", "proposal", "runtime"),
        checkpoint_seconds=lambda w: round(registries.entry("proposals", w.proposal).training.checkpoint_seconds),
    params:
        registry="proposals",
        spec=spec("proposals", "proposal"),
        version=stage("train"),
    script:
        "../workflow/scripts/train_latent.py"


include: "latent_samples.smk"
