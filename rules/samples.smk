"""Samples: articles drawn from a generator, in shards, then parsed into the schema of a corpus.

Needs: a trained generator, or a file of articles. What does not parse or does not end is kept apart and counted.
Makes: results/samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.parquet, .rejected.parquet and .json.
"""


rule sample_causal:
    """Draw one shard of articles from a transformer; a killed job goes on behind the last finished article."""
    input:
        model=f"{MODEL}/model",
        openings=paths.openings,
    output:
        f"{DRAWN}/shard{{shard}}.parquet",
    log:
        "results/logs/sample_causal/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.log",
    benchmark:
        "results/benchmarks/sample_causal/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.tsv"
    wildcard_constraints:
        generator=registries.names("generators", kind=["causal"]),
    priority: 5
    conda:
        "../envs/gpu.yaml"
    threads: side_by_side("generators", "generator")
    resources:
        gpu=one_gpu("generators", "generator"),
        # Resources, unlike params, rerun nothing when they change.
        batch_size=of("decodings", "decoding", "batch_size"),
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.minutes(w, attempt),
    params:
        spec=spec("decodings", "decoding"),
        boundary=lambda w: registries.boundary(w.generator),
        context=lambda w: registries.entry("generators", w.generator).training.context,
        version=stage("sample"),
    script:
        "../workflow/scripts/sample_causal.py"


rule sample_ngram:
    """Draw one shard of articles from an n-gram model."""
    input:
        model=f"{MODEL}/model",
    output:
        f"{DRAWN}/shard{{shard}}.parquet",
    log:
        "results/logs/sample_ngram/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.log",
    benchmark:
        "results/benchmarks/sample_ngram/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        generator=registries.names("generators", kind=["ngram"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.minutes(w, attempt),
    params:
        spec=spec("decodings", "decoding"),
        version=stage("sample"),
    script:
        "../workflow/scripts/sample_ngram.py"


rule collect_samples:
    """Put the shards together and parse each text into titled sections."""
    input:
        lambda w: paths.shares.files(DRAWN.format(**w), w),
    output:
        kept=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        counts=f"{DRAWN}.json",
    log:
        "results/logs/collect_samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/collect_samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        generator=registries.names("generators", kind=["causal", "ngram", "fairseq"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime=minutes(20),
    params:
        spec=spec("decodings", "decoding"),
        version=stage("sample"),
    script:
        "../workflow/scripts/collect_samples.py"


rule import_samples:
    """Articles that somebody else's model wrote, from a file or a folder; with titles, standardised as the corpus' are."""
    input:
        lambda w: paths.samples(w.generator),
    output:
        kept=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        counts=f"{DRAWN}.json",
    log:
        "results/logs/import_samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/import_samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        generator=registries.names("generators", kind=["file"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        spec=lambda w: registries.spec("corpora", project.with_bases(w.corpus)[-1], "extractor", "titles", "normalise"),
        version=stage("sample"),
    script:
        "../workflow/scripts/import_samples.py"


rule audits:
    """Samples of costly audits, whether the configuration turns them on or not."""
    input:
        of_studies(audit_files),
