"""Coreference: find who is who in real text and in samples, fit a critic of the chains of mentions, score them.

Needs: a corpus of text, samples, and what the resolver reads: a pretrained model (rules/download.smk), files of
mentions, or nothing. Makes: results/mentions, results/critics and scores as the other critics do.
"""

from textcritic.experiments.coreference.plan import given_mentions, mentions, resolver_spec

# Resolvers made of rules or of files, and those that are a pretrained model.
RULED = registries.names("resolvers", others=True, kind=["neural"])
NEURAL = registries.names("resolvers", kind=["neural"])
MENTION_CRITICS = registries.names("critics", kind=["mentions"])
MENTION_CRITIC = "results/critics/{critic}/{corpus}"


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
        mem_mb=of("resolvers", "resolver", "mem_mb"),
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


rule fit_mentions:
    """Count the n-grams of the chains of the train split."""
    input:
        mentions=lambda w: mentions(w.critic, w.corpus, "data/train", registries),
    output:
        critic=f"{MENTION_CRITIC}/critic.npz",
        training=f"{MENTION_CRITIC}/training.json",
    log:
        "results/logs/fit_mentions/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/fit_mentions/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=MENTION_CRITICS,
    conda:
        "../envs/cpu.yaml"
    threads: of("critics", "critic", "threads")
    resources:
        mem_mb=of("critics", "critic", "mem_mb"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec("critics", "critic", "kind", "resolver", "order", "discount", "chains"),
        resolver=lambda w: resolver_spec(w.critic, registries),
        version=stage("coreference"),
    script:
        "../workflow/scripts/fit_mentions.py"


rule score_data_mentions:
    """Latent NLL of the chain of mentions of each real document."""
    input:
        mentions=lambda w: mentions(w.critic, w.corpus, "data/test", registries),
        critic=f"{MENTION_CRITIC}/critic.npz",
    output:
        "results/scores/{critic}/{corpus}/data/test.parquet",
    log:
        "results/logs/score_data_mentions/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/score_data_mentions/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=MENTION_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=of("critics", "critic", "mem_mb"),
        runtime="1h",
    params:
        spec=spec("critics", "critic", "kind", "resolver", "chains"),
        resolver=lambda w: resolver_spec(w.critic, registries),
        version=stage("coreference"),
    script:
        "../workflow/scripts/score_mentions.py"


use rule score_data_mentions as score_sample_mentions with:
    input:
        mentions=lambda w: mentions(w.critic, w.corpus, SAMPLE.format(**w), registries),
        critic=f"{MENTION_CRITIC}/critic.npz",
    output:
        f"results/scores/{{critic}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/score_sample_mentions/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/score_sample_mentions/{{critic}}/{{corpus}}/{SAMPLE}.tsv"


use rule make_part_table as make_coreference_tables with:
    output:
        standing("coreference"),
    log:
        "results/logs/make_coreference_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_coreference_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("coreference"),
