"""Mentions: find who is who in real text and in samples.

Needs: a corpus of text, samples, and what the resolver reads: a pretrained model (rules/download.smk), files of
mentions, or nothing. Makes: results/mentions/{resolver}/{corpus}/data/{split}.parquet, and the same of samples.
"""

from textcritic.experiments.coreference.plan import given_mentions
from textcritic.plan.paths import hub_folder

# Resolvers made of rules or of files, and those that are a pretrained model.
RULED = registries.names("resolvers", others=True, kind=["neural"])
NEURAL = registries.names("resolvers", kind=["neural"])


rule resolve_data_mentions:
    """The mentions of each real article of a split, and which of them are of the same person."""
    input:
        articles="results/corpora/{corpus}/{split}.parquet",
        given=lambda w: given_mentions(w.resolver, registries),
    output:
        "results/mentions/{resolver}/{corpus}/data/{split}.parquet",
    log:
        "results/logs/resolve_data_mentions/{resolver}/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/resolve_data_mentions/{resolver}/{corpus}/{split}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        resolver=RULED,
        split="train|test",
    conda:
        "../envs/cpu.yaml"
    threads: of("resolvers", "resolver", "threads")
    resources:
        mem_mb=memory("resolvers", "resolver"),
        runtime=of("resolvers", "resolver", "runtime"),
    params:
        spec=spec("resolvers", "resolver"),
        version=stage("coreference"),
    script:
        "../workflow/scripts/resolve_mentions.py"


use rule resolve_data_mentions as resolve_sample_mentions with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        given=lambda w: given_mentions(w.resolver, registries),
    output:
        f"results/mentions/{{resolver}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/resolve_sample_mentions/{{resolver}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/resolve_sample_mentions/{{resolver}}/{{corpus}}/{SAMPLE}.tsv"


use rule resolve_data_mentions as infer_data_mentions with:
    input:
        articles="results/corpora/{corpus}/{split}.parquet",
        model=lambda w: hub_folder(registries.entry("resolvers", w.resolver).model),
    log:
        "results/logs/infer_data_mentions/{resolver}/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/infer_data_mentions/{resolver}/{corpus}/{split}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        resolver=NEURAL,
        split="train|test",
    conda:
        "../envs/gpu.yaml"
    resources:
        gpu=of("resolvers", "resolver", "gpu"),
        mem_mb=memory("resolvers", "resolver"),
        runtime=of("resolvers", "resolver", "runtime"),


use rule infer_data_mentions as infer_sample_mentions with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        model=lambda w: hub_folder(registries.entry("resolvers", w.resolver).model),
    output:
        f"results/mentions/{{resolver}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/infer_sample_mentions/{{resolver}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/infer_sample_mentions/{{resolver}}/{{corpus}}/{SAMPLE}.tsv"
