"""Coreference by a pretrained model: what rules/coreference.smk does by rules or from files, on a GPU.

Needs: a corpus of text, samples, and the model of the resolver (rules/download.smk). Makes: results/mentions.
"""


use rule resolve_data_mentions as infer_data_mentions with:
    input:
        articles="results/corpora/{corpus}/{split}.parquet",
        model=resolver_model,
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
        mem_mb=of("resolvers", "resolver", "mem_mb"),
        runtime=of("resolvers", "resolver", "runtime"),


use rule infer_data_mentions as infer_sample_mentions with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        model=resolver_model,
    output:
        f"results/mentions/{{resolver}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/infer_sample_mentions/{{resolver}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/infer_sample_mentions/{{resolver}}/{{corpus}}/{SAMPLE}.tsv"
