"""Coherence: fit the critic of title transitions on real text, score real text and samples; the experiment's tables.

Needs: a corpus, and the titles of its sections and of samples (rules/titles.smk). Makes: results/critics, results/scores.
"""

from textcritic.experiments.coherence.plan import latents


rule fit_transitions:
    """Count title transitions in the train split and choose the smoothing there, by cross-validation."""
    input:
        train="results/corpora/{corpus}/train.parquet",
    output:
        "results/critics/{critic}/{corpus}/critic.json",
    log:
        "results/logs/fit_transitions/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/fit_transitions/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=registries.names("critics", kind=["transitions"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime=minutes(10),
    params:
        spec=spec("critics", "critic", "kind", "classifier", "mode", "smoothing"),
        version=stage("coherence"),
    script:
        "../workflow/scripts/fit_transitions.py"


rule score_data:
    """Latent NLL of each real document, with its gold titles and with inferred ones."""
    input:
        critic="results/critics/{critic}/{corpus}/critic.json",
        latents=lambda w: latents(w.critic, w.corpus, "data/test", registries),
        articles="results/corpora/{corpus}/test.parquet",
    output:
        gold="results/scores/{critic}/{corpus}/data/test-gold.parquet",
        inferred="results/scores/{critic}/{corpus}/data/test-inferred.parquet",
    log:
        "results/logs/score_data/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/score_data/{critic}/{corpus}.tsv"
    wildcard_constraints:
        critic=registries.names("critics", kind=["transitions"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime=minutes(10),
    params:
        version=stage("coherence"),
    script:
        "../workflow/scripts/score_data.py"


rule score_samples:
    """Latent NLL of each sampled document; those that did not parse are carried along with their reasons."""
    input:
        critic="results/critics/{critic}/{corpus}/critic.json",
        latents=lambda w: latents(w.critic, w.corpus, SAMPLE.format(**w), registries),
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
    output:
        "results/scores/{critic}/{corpus}/samples/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.parquet",
    log:
        "results/logs/score_samples/{critic}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/score_samples/{critic}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        critic=registries.names("critics", kind=["transitions"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime=minutes(10),
    params:
        version=stage("coherence"),
    script:
        "../workflow/scripts/score_samples.py"


use rule make_part_table as make_coherence_tables with:
    output:
        standing("coherence"),
    log:
        "results/logs/make_coherence_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_coherence_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("coherence"),
