"""Detectors of intruder sentences: train them on a corpus of documents with intruders, and ask them about others.

Needs: corpora with the extractor `intruders`; documents made of samples (results/intruders/documents); for pretrained
models results/raw/hub.
Makes: results/intruders/{detector}/{trained}/seed{detector_seed} with model, training.json, and predictions/{corpus}/...
"""

from textcritic.plan.detector_paths import DetectorPaths

detecting = DetectorPaths(registries)


wildcard_constraints:
    detector=registries.names("critics", kind=["detector"]),
    # The corpus of documents with intruders that a detector was trained on.
    trained=registries.names("corpora", extractor=["intruders"]),
    detector_seed=r"\d+",


# Its seed is not that of the generator whose samples it reads.
DETECTING = "results/intruders/{detector}/{trained}/seed{detector_seed}"


rule train_detector:
    """Train a detector, or choose its threshold; a killed job resumes from the `checkpoints` folder beside the model."""
    input:
        train="results/corpora/{trained}/train.parquet",
        validation="results/corpora/{trained}/validation.parquet",
        tokenizer=detecting.tokenizer,
        pretrained=detecting.pretrained,
        vectors=detecting.vectors,
        scorer=detecting.scorer,
    output:
        model=directory(f"{DETECTING}/model"),
        training=f"{DETECTING}/training.json",
    log:
        "results/logs/train_detector/{detector}/{trained}/seed{detector_seed}.log",
    benchmark:
        "results/benchmarks/train_detector/{detector}/{trained}/seed{detector_seed}.tsv"
    priority: 10
    conda:
        "../envs/gpu.yaml"
    threads: of("critics", "detector", "threads")
    resources:
        gpu=of("critics", "detector", "gpu"),
        mem_mb=memory("critics", "detector"),
        runtime=of("critics", "detector", "runtime"),
        # Resources, unlike params, rerun nothing when they change.
        checkpoint_seconds=detecting.checkpoint_seconds,
    params:
        spec=spec("critics", "detector"),
        made_with=detecting.made_with,
        version=stage("detect"),
    script:
        "../workflow/scripts/train_detector.py"


rule predict_documents:
    """What a detector says of the test documents of a corpus: of the one it was trained on, or of another."""
    input:
        documents="results/corpora/{corpus}/test.parquet",
        model=f"{DETECTING}/model",
        scorer=detecting.scorer,
    output:
        f"{DETECTING}/predictions/{{corpus}}/test.parquet",
    log:
        "results/logs/predict_documents/{detector}/{trained}/seed{detector_seed}/{corpus}.log",
    benchmark:
        "results/benchmarks/predict_documents/{detector}/{trained}/seed{detector_seed}/{corpus}.tsv"
    conda:
        "../envs/gpu.yaml"
    threads: of("critics", "detector", "threads")
    resources:
        gpu=of("critics", "detector", "gpu"),
        mem_mb=memory("critics", "detector"),
        runtime=minutes(60),
    params:
        version=stage("detect"),
    script:
        "../workflow/scripts/predict_documents.py"


use rule predict_documents as predict_probes with:
    input:
        documents="results/corpora/{corpus}/probes.parquet",
        model=f"{DETECTING}/model",
        scorer=detecting.scorer,
    output:
        f"{DETECTING}/predictions/{{corpus}}/probes.parquet",
    log:
        "results/logs/predict_probes/{detector}/{trained}/seed{detector_seed}/{corpus}.log",
    benchmark:
        "results/benchmarks/predict_probes/{detector}/{trained}/seed{detector_seed}/{corpus}.tsv"


use rule predict_documents as predict_originals with:
    input:
        documents="results/intruders/documents/{corpus}/data/test.parquet",
        model=f"{DETECTING}/model",
        scorer=detecting.scorer,
    output:
        f"{DETECTING}/predictions/{{corpus}}/data/test.parquet",
    log:
        "results/logs/predict_originals/{detector}/{trained}/seed{detector_seed}/{corpus}.log",
    benchmark:
        "results/benchmarks/predict_originals/{detector}/{trained}/seed{detector_seed}/{corpus}.tsv"


use rule predict_documents as predict_samples with:
    input:
        documents=f"results/intruders/documents/{{corpus}}/{SAMPLE}.parquet",
        model=f"{DETECTING}/model",
        scorer=detecting.scorer,
    output:
        f"{DETECTING}/predictions/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/predict_samples/{{detector}}/{{trained}}/seed{{detector_seed}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/predict_samples/{{detector}}/{{trained}}/seed{{detector_seed}}/{{corpus}}/{SAMPLE}.tsv"


use rule predict_documents as predict_candidates with:
    input:
        documents="results/intruders/candidates/{corpus}/{split}.parquet",
        model=f"{DETECTING}/model",
        scorer=detecting.scorer,
    output:
        f"{DETECTING}/predictions/{{corpus}}/candidates/{{split}}.parquet",
    log:
        "results/logs/predict_candidates/{detector}/{trained}/seed{detector_seed}/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/predict_candidates/{detector}/{trained}/seed{detector_seed}/{corpus}/{split}.tsv"
    wildcard_constraints:
        split="|".join(SPLITS),
