"""Samples of latent language models: texts with the states that were drawn with them.

Needs: a trained model (rules/latent.smk). A model without an end is given the lengths of texts of its train split.
Makes: results/samples/{corpus}/wo-title/{generator}/seed{seed}/{decoding}/draw{draw}.parquet, .rejected.parquet and .json;
the first has the columns of a corpus with structure.
"""


rule sample_latent:
    """Draw one shard of texts; a killed job goes on behind the last finished block of texts."""
    input:
        model=f"{MODEL}/model",
        knowledge=lambda w: paths.knowledge(w.corpus),
        lengths=lambda w: paths.lengths(w),
    output:
        f"{DRAWN}/shard{{shard}}.parquet",
    log:
        "results/logs/sample_latent/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.log",
    benchmark:
        "results/benchmarks/sample_latent/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}/shard{shard}.tsv"
    wildcard_constraints:
        corpus=WITH_STRUCTURE,
        setting="wo-title",
        generator=LATENT,
    priority: 5
    conda:
        "../envs/gpu.yaml"
    threads: of("generators", "generator", "threads")
    resources:
        gpu=of("generators", "generator", "gpu"),
        mem_mb=memory("generators", "generator"),
        runtime=lambda w, attempt: paths.shares.minutes(w, attempt),
    params:
        spec=spec("decodings", "decoding"),
        version=stage("sample"),
    script:
        "../workflow/scripts/sample_latent.py"


rule collect_latent:
    """Put the shards together; texts that did not end are rejected or kept, as the decoding says, and counted."""
    input:
        lambda w: paths.shares.files(DRAWN.format(**w), w),
    output:
        kept=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        counts=f"{DRAWN}.json",
    log:
        "results/logs/collect_latent/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/collect_latent/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        corpus=WITH_STRUCTURE,
        setting="wo-title",
        generator=LATENT,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="1h",
    params:
        spec=spec("decodings", "decoding"),
        version=stage("sample"),
    script:
        "../workflow/scripts/collect_latent.py"
