"""Checks of a critic of mentions: what each of its switches does, and how many wrong pronouns its test notices.

Needs: mentions (rules/mentions.smk); of the second, a fitted critic (rules/coreference.smk). Makes: results/variants,
the scores under every variant of a critic; and power/{corpus}.parquet of a coreference experiment.
"""

from textcritic.experiments.coreference.plan import mentions, resolver_spec


rule vary_data_mentions:
    """Latent NLL of each real document under every variant of a critic, each fitted on the train split."""
    input:
        train=lambda w: mentions(w.critic, w.corpus, "data/train", registries),
        mentions=lambda w: mentions(w.critic, w.corpus, "data/test", registries),
    output:
        "results/variants/{critic}/{corpus}/data/test.parquet",
    log:
        "results/logs/vary_data_mentions/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/vary_data_mentions/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=MENTION_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=minutes(10),
    params:
        spec=spec("critics", "critic", "kind", "resolver", "order", "discount", "chains"),
        resolver=lambda w: resolver_spec(w.critic, registries),
        version=stage("coreference"),
    script:
        "../workflow/scripts/vary_mentions.py"


use rule vary_data_mentions as vary_sample_mentions with:
    input:
        train=lambda w: mentions(w.critic, w.corpus, "data/train", registries),
        mentions=lambda w: mentions(w.critic, w.corpus, SAMPLE.format(**w), registries),
    output:
        f"results/variants/{{critic}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/vary_sample_mentions/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/vary_sample_mentions/{{critic}}/{{corpus}}/{SAMPLE}.tsv"


rule measure_power:
    """How often the test tells real text from real text in which a share of the pronouns is exchanged."""
    input:
        mentions=lambda w: experiment(w).real_mentions(w.corpus),
        critic=lambda w: experiment(w).fitted(w.corpus),
    output:
        "results/studies/{study}/{experiment}/power/{corpus}.parquet",
    log:
        "results/logs/measure_power/{study}/{experiment}/{corpus}.log",
    benchmark:
        "results/benchmarks/measure_power/{study}/{experiment}/{corpus}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("coreference"),
        corpus=TEXTS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="2h",
    params:
        spec=lambda w: experiment(w).chains_spec(),
        resolver=lambda w: resolver_spec(experiment(w).block.critic, registries),
        power=lambda w: experiment(w).block.power.spec(),
        version=stage("coreference"),
    script:
        "../workflow/scripts/measure_power.py"
