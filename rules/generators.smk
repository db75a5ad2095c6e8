"""Generators: language models trained on a corpus in a setting, and their perplexity on its test split.

Needs: the corpus and its token streams; for pretrained models results/raw/hub.
Makes: results/generators/{corpus}/{setting}/{generator}/seed{seed}/model with training.json and perplexity.json.
"""


rule train_causal:
    """Train or fine-tune a transformer on its GPUs; a killed job resumes from the `checkpoints` folder beside the model."""
    input:
        tokens=lambda w: paths.token_streams(w, ["train", "validation"]),
        tokenizer=paths.tokenizer,
        pretrained=pretrained("generators", "generator"),
    output:
        model=directory(f"{MODEL}/model"),
        training=f"{MODEL}/training.json",
    log:
        "results/logs/train_causal/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_causal/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        generator=registries.names("generators", kind=["causal"]),
    priority: 10
    conda:
        "../envs/gpu.yaml"
    threads: side_by_side("generators", "generator")
    resources:
        gpu=of("generators", "generator", "gpu"),
        # More than one GPU are those of one node.
        nodes=1,
        mem_mb=memory("generators", "generator"),
        runtime=of("generators", "generator", "runtime"),
        # Resources, unlike params, rerun nothing when they change.
        checkpoint_seconds=lambda w: round(registries.entry("generators", w.generator).training.checkpoint_seconds),
    params:
        spec=spec("generators", "generator"),
        version=stage("train"),
    script:
        "../workflow/scripts/train_causal.py"


rule measure_perplexity:
    """Perplexity of a transformer per token of the test split, over all tokens and over body tokens."""
    input:
        tokens=lambda w: paths.token_streams(w, ["test"]),
        model=f"{MODEL}/model",
    output:
        f"{MODEL}/perplexity.json",
    log:
        "results/logs/measure_perplexity/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/measure_perplexity/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        generator=registries.names("generators", kind=["causal"]),
    conda:
        "../envs/gpu.yaml"
    threads: side_by_side("generators", "generator")
    resources:
        gpu=one_gpu("generators", "generator"),
        mem_mb=memory("generators", "generator"),
        runtime=minutes(60),
    params:
        spec=spec("generators", "generator"),
        windows=lambda w: registries.perplexity_windows(w.generator),
        version=stage("perplexity"),
    script:
        "../workflow/scripts/measure_perplexity.py"


rule fit_ngram:
    """Count n-grams of words, choose the mixture on validation, and measure perplexity on test."""
    input:
        expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
    output:
        model=directory(f"{MODEL}/model"),
        training=f"{MODEL}/training.json",
        perplexity=f"{MODEL}/perplexity.json",
    log:
        "results/logs/fit_ngram/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/fit_ngram/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        generator=registries.names("generators", kind=["ngram"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("generators", "generator"),
        runtime=of("generators", "generator", "runtime"),
    params:
        spec=spec("generators", "generator"),
        version=stage("train"),
    script:
        "../workflow/scripts/fit_ngram.py"
