"""Hidden semi-Markov language models of sequences of a known process, and samples drawn from them.

Needs: token streams of a corpus with the extractor `process` (rules/synthetic.smk).
Makes: results/generators/{corpus}/{setting}/{generator}/seed{seed}/model with training.json and perplexity.json; shards
of raw draws in results/samples.
"""

from textcritic.experiments.process.plan import steps


rule train_hsmm:
    """Train a hidden semi-Markov model; a killed job resumes from the `checkpoints` folder beside the model."""
    input:
        tokens=lambda w: paths.token_streams(w, ["train", "validation"]),
        tokenizer=paths.tokenizer,
    output:
        model=directory(f"{MODEL}/model"),
        training=f"{MODEL}/training.json",
    log:
        "results/logs/train_hsmm/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_hsmm/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        corpus=PROCESSES,
        setting="wo-title",
        generator=registries.names("generators", kind=["hsmm"]),
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
        spec=spec("generators", "generator"),
        version=stage("train"),
    script:
        "../workflow/scripts/train_hsmm.py"


rule measure_hsmm:
    """Perplexity of a hidden semi-Markov model per token of the test split, with and without the end of a sequence."""
    input:
        tokens=lambda w: paths.token_streams(w, ["test"]),
        model=f"{MODEL}/model",
    output:
        f"{MODEL}/perplexity.json",
    log:
        "results/logs/measure_hsmm/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/measure_hsmm/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        corpus=PROCESSES,
        setting="wo-title",
        generator=registries.names("generators", kind=["hsmm"]),
    conda:
        "../envs/gpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        gpu=of("generators", "generator", "gpu"),
        mem_mb=memory("generators", "generator"),
        runtime="4h",
    params:
        version=stage("perplexity"),
    script:
        "../workflow/scripts/measure_hsmm.py"


rule sample_hsmm:
    """Draw one shard of sequences from a hidden semi-Markov model."""
    input:
        model=f"{MODEL}/model",
    output:
        f"{DRAWN}/shard{{shard}}.parquet",
    log:
        "results/logs/sample_hsmm/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.log",
    benchmark:
        "results/benchmarks/sample_hsmm/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.tsv"
    wildcard_constraints:
        corpus=PROCESSES,
        setting="wo-title",
        generator=registries.names("generators", kind=["hsmm"]),
    priority: 5
    conda:
        "../envs/gpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.minutes(w, attempt),
    params:
        spec=spec("decodings", "decoding"),
        steps=lambda w: steps(w.corpus, registries),
        version=stage("sample"),
    script:
        "../workflow/scripts/sample_hsmm.py"
