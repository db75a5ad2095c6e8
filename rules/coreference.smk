"""Coreference: fit a critic of the chains of mentions of real text, score real text and samples; the tables.

Needs: a corpus of text and samples. The files that are included here find the mentions, check the critic and measure
the resolver. Makes: results/critics, and scores as the other critics do.
"""

from textcritic.experiments.coreference.plan import mentions, resolver_spec


include: "mentions.smk"


MENTION_CRITICS = registries.names("critics", kind=["mentions"])
MENTION_CRITIC = "results/critics/{critic}/{corpus}"


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
        mem_mb=memory("critics", "critic"),
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
        articles="results/corpora/{corpus}/test.parquet",
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
        mem_mb=memory("critics", "critic"),
        runtime=minutes(10),
    params:
        spec=spec("critics", "critic", "kind", "resolver", "chains"),
        resolver=lambda w: resolver_spec(w.critic, registries),
        version=stage("coreference"),
    script:
        "../workflow/scripts/score_mentions.py"


use rule score_data_mentions as score_sample_mentions with:
    input:
        mentions=lambda w: mentions(w.critic, w.corpus, SAMPLE.format(**w), registries),
        articles=f"{DRAWN}.parquet",
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


include: "mention_checks.smk"
include: "resolvers.smk"
