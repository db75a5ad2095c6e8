"""Section titles: infer them from section texts by a classifier, or take those that the text comes with.

Needs: a corpus, and samples. Makes: results/classifiers and results/latents, which rules/coherence.smk scores. Given titles
are those of the setting w-title: nothing is trained and nothing inferred.
"""


rule train_classifier:
    """Train the section classifier on the train split; accuracy and confidence on validation and test."""
    input:
        articles=expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        tokenizer=paths.classifier_tokenizer,
        pretrained=pretrained("classifiers", "classifier"),
    output:
        model=directory("results/classifiers/{corpus}/{classifier}/model"),
        accuracy="results/classifiers/{corpus}/{classifier}/accuracy.json",
    log:
        "results/logs/train_classifier/{corpus}/{classifier}.log",
    benchmark:
        "results/benchmarks/train_classifier/{corpus}/{classifier}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
    priority: 10
    conda:
        "../envs/gpu.yaml"
    threads: of("classifiers", "classifier", "threads")
    resources:
        gpu=of("classifiers", "classifier", "gpu"),
        mem_mb=memory("classifiers", "classifier"),
        runtime=of("classifiers", "classifier", "runtime"),
        # Resources, unlike params, rerun nothing when they change.
        checkpoint_seconds=lambda w: round(registries.entry("classifiers", w.classifier).training.checkpoint_seconds),
    params:
        spec=spec("classifiers", "classifier"),
        version=stage("classify"),
    script:
        "../workflow/scripts/train_classifier.py"


rule infer_data_titles:
    """The posterior over titles for each section of real text."""
    input:
        articles="results/corpora/{corpus}/{split}.parquet",
        model="results/classifiers/{corpus}/{classifier}/model",
    output:
        "results/latents/{classifier}/{corpus}/data/{split}.parquet",
    log:
        "results/logs/infer_data_titles/{classifier}/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/infer_data_titles/{classifier}/{corpus}/{split}.tsv"
    conda:
        "../envs/gpu.yaml"
    threads: of("classifiers", "classifier", "threads")
    resources:
        gpu=of("classifiers", "classifier", "gpu"),
        mem_mb=memory("classifiers", "classifier"),
        runtime="4h",
    params:
        spec=spec("classifiers", "classifier"),
        version=stage("classify"),
    script:
        "../workflow/scripts/infer_titles.py"


use rule infer_data_titles as infer_sample_titles with:
    input:
        articles=f"{DRAWN}.parquet",
        model="results/classifiers/{corpus}/{classifier}/model",
    output:
        "results/latents/{classifier}/{corpus}/samples/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.parquet",
    log:
        "results/logs/infer_sample_titles/{classifier}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/infer_sample_titles/{classifier}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"


rule take_data_titles:
    """The titles of each article of real text."""
    input:
        "results/corpora/{corpus}/{split}.parquet",
    output:
        "results/latents/{given}/{corpus}/data/{split}.parquet",
    log:
        "results/logs/take_data_titles/{given}/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/take_data_titles/{given}/{corpus}/{split}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="1h",
    params:
        version=stage("classify"),
    script:
        "../workflow/scripts/take_titles.py"


use rule take_data_titles as take_sample_titles with:
    input:
        f"{DRAWN}.parquet",
    output:
        "results/latents/{given}/{corpus}/samples/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.parquet",
    log:
        "results/logs/take_sample_titles/{given}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/take_sample_titles/{given}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
