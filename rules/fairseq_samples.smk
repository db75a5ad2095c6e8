"""Samples of fairseq's models: translations of the test sentences of a parallel corpus, and articles of text.

Needs: a model of rules/fairseq.smk, or a file of translations. What is empty or does not end is kept apart and counted.
Makes: results/samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.parquet, .rejected.parquet and .json.
"""


rule sample_fairseq:
    """Make one shard of translations; a killed job goes on behind the last finished one."""
    input:
        model=f"{MODEL}/model",
        sentences="results/corpora/{corpus}/test.parquet",
    output:
        f"{DRAWN}/shard{{shard}}.parquet",
    log:
        "results/logs/sample_fairseq/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.log",
    benchmark:
        "results/benchmarks/sample_fairseq/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.tsv"
    wildcard_constraints:
        corpus=PARALLEL,
        setting="wo-title",
        generator=registries.names("generators", kind=["fairseq"]),
    priority: 5
    conda:
        "../envs/fairseq.yaml"
    threads: side_by_side("generators", "generator")
    resources:
        gpu=one_gpu("generators", "generator"),
        # Resources, unlike params, rerun nothing when they change.
        batch_size=of("decodings", "decoding", "batch_size"),
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.minutes(w, attempt),
    params:
        spec=spec("decodings", "decoding"),
        version=stage("sample"),
    script:
        "../workflow/scripts/sample_fairseq.py"


use rule sample_fairseq as sample_fairseq_text with:
    input:
        model=f"{MODEL}/model",
    log:
        "results/logs/sample_fairseq_text/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.log",
    benchmark:
        "results/benchmarks/sample_fairseq_text/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        generator=registries.names("generators", kind=["fairseq"]),


rule collect_translations:
    """Put the shards together and make an article of each translation."""
    input:
        shards=lambda w: paths.shares.files(DRAWN.format(**w), w),
        sentences="results/corpora/{corpus}/test.parquet",
    output:
        kept=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        counts=f"{DRAWN}.json",
    log:
        "results/logs/collect_translations/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/collect_translations/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        corpus=PARALLEL,
        setting="wo-title",
        generator=registries.names("generators", kind=["fairseq"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime=minutes(10),
    params:
        spec=spec("decodings", "decoding"),
        version=stage("sample"),
    script:
        "../workflow/scripts/collect_translations.py"


rule import_translations:
    """Translations of the test sentences that somebody else's model made, from a file or a folder."""
    input:
        given=lambda w: paths.samples(w.generator),
        sentences="results/corpora/{corpus}/test.parquet",
    output:
        kept=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        counts=f"{DRAWN}.json",
    log:
        "results/logs/import_translations/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/import_translations/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        corpus=PARALLEL,
        setting="wo-title",
        generator=registries.names("generators", kind=["file"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        version=stage("sample"),
    script:
        "../workflow/scripts/import_translations.py"
