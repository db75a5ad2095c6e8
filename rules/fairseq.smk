"""Generators of kind fairseq: translators of parallel corpora and language models of text, and their perplexity.

Needs: encoded pairs, or token streams, of the corpus; fairseq, which `textcritic install fairseq` installs.
Makes: results/generators/{corpus}/{setting}/{generator}/seed{seed}/model with training.json and perplexity.json.
"""


rule train_fairseq:
    """Train a model of fairseq on its GPUs; a killed job resumes from the `checkpoints` folder beside the model."""
    input:
        splits=lambda w: paths.encoded(w, ["train", "validation"]),
        tokenizer=paths.tokenizer,
    output:
        model=directory(f"{MODEL}/model"),
        training=f"{MODEL}/training.json",
    log:
        "results/logs/train_fairseq/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_fairseq/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        generator=registries.names("generators", kind=["fairseq"]),
    priority: 10
    conda:
        "../envs/fairseq.yaml"
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
        "../workflow/scripts/train_fairseq.py"


rule measure_fairseq:
    """Perplexity of a model of fairseq per token of the test split, the end of each text included."""
    input:
        split=lambda w: paths.encoded(w, ["test"]),
        model=f"{MODEL}/model",
    output:
        f"{MODEL}/perplexity.json",
    log:
        "results/logs/measure_fairseq/{corpus}/{setting}/{generator}/seed{seed}.log",
    benchmark:
        "results/benchmarks/measure_fairseq/{corpus}/{setting}/{generator}/seed{seed}.tsv"
    wildcard_constraints:
        generator=registries.names("generators", kind=["fairseq"]),
    conda:
        "../envs/fairseq.yaml"
    threads: side_by_side("generators", "generator")
    resources:
        gpu=one_gpu("generators", "generator"),
        mem_mb=memory("generators", "generator"),
        runtime="4h",
    params:
        spec=spec("generators", "generator"),
        version=stage("perplexity"),
    script:
        "../workflow/scripts/measure_fairseq.py"


include: "fairseq_samples.smk"
