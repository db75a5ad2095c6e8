"""Coherence: infer section titles from section texts, fit the critic of title transitions, score real text and samples.

Needs: a corpus, and samples. Makes: results/classifiers, results/latents, results/critics and results/scores.
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
        mem_mb=of("classifiers", "classifier", "mem_mb"),
        runtime=of("classifiers", "classifier", "runtime"),
        # Resources, unlike params, rerun nothing when they change.
        checkpoint_seconds=lambda w: round(project.entry("classifiers", w.classifier)["training"]["checkpoint_seconds"]),
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
        mem_mb=of("classifiers", "classifier", "mem_mb"),
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
        "results/latents/{classifier}/{corpus}/samples/{setting}/{generator}/seed{seed}/{decoding}.parquet",
    log:
        "results/logs/infer_sample_titles/{classifier}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}.log",
    benchmark:
        "results/benchmarks/infer_sample_titles/{classifier}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}.tsv"


rule fit_transitions:
    """Count title transitions in the train split and choose the smoothing on validation."""
    input:
        train="results/corpora/{corpus}/train.parquet",
        validation="results/corpora/{corpus}/validation.parquet",
    output:
        "results/critics/{critic}/{corpus}/critic.json",
    log:
        "results/logs/fit_transitions/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/fit_transitions/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=project.names("critics", kind=["transitions"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="1h",
    params:
        spec=spec("critics", "critic", "kind", "classifier", "mode", "smoothing"),
        version=stage("criticise"),
    script:
        "../workflow/scripts/fit_transitions.py"


rule score_data:
    """Latent NLL of each real document, with its gold titles and with inferred ones."""
    input:
        critic="results/critics/{critic}/{corpus}/critic.json",
        latents=lambda w: paths.latents(w.critic, w.corpus, "data/test"),
    output:
        gold="results/scores/{critic}/{corpus}/data/test-gold.parquet",
        inferred="results/scores/{critic}/{corpus}/data/test-inferred.parquet",
    log:
        "results/logs/score_data/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/score_data/{critic}/{corpus}.tsv"
    wildcard_constraints:
        critic=project.names("critics", kind=["transitions"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="1h",
    params:
        version=stage("criticise"),
    script:
        "../workflow/scripts/score_data.py"


rule score_samples:
    """Latent NLL of each sampled document; those that did not parse are carried along with their reasons."""
    input:
        critic="results/critics/{critic}/{corpus}/critic.json",
        latents=lambda w: paths.latents(w.critic, w.corpus, SAMPLE.format(**w)),
        rejected=f"{DRAWN}.rejected.parquet",
    output:
        "results/scores/{critic}/{corpus}/samples/{setting}/{generator}/seed{seed}/{decoding}.parquet",
    log:
        "results/logs/score_samples/{critic}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}.log",
    benchmark:
        "results/benchmarks/score_samples/{critic}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}.tsv"
    wildcard_constraints:
        critic=project.names("critics", kind=["transitions"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="1h",
    params:
        version=stage("criticise"),
    script:
        "../workflow/scripts/score_samples.py"
