"""Mixing: fit latent Dirichlet allocation on real text, draw the topic shares of real text and of samples, score them.

Needs: a corpus of text or of translations, and samples; its words are counted by rules/topics.smk. Makes: results/critics
and results/topics, and scores as the other critics do.
"""

MIXING_CRITIC = "results/critics/{critic}/{corpus}"


rule fit_lda:
    """Fit by collapsed Gibbs sampling. A killed job begins anew: the sampler's random numbers cannot be saved."""
    input:
        counts="results/bags/{critic}/{corpus}/train",
    output:
        critic=f"{MIXING_CRITIC}/critic.npz",
        training=f"{MIXING_CRITIC}/training.json",
    log:
        "results/logs/fit_lda/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/fit_lda/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=f"{TEXTS}|{PARALLEL}",
        critic=MIXING_CRITICS,
    priority: 10
    conda:
        "../envs/cpu.yaml"
    threads: of("critics", "critic", "threads")
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec(
            "critics",
            "critic",
            "kind",
            "topics",
            "beta",
            "alpha",
            "optimise_every",
            "burn_in",
            "iterations",
            "starts",
            "seed",
        ),
        version=stage("mixing"),
    script:
        "../workflow/scripts/fit_lda.py"


rule infer_data_mixing:
    """Draws from the posterior over topic shares of each real document, and its Latent NLL."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        vocabulary=f"{MIXING_CRITIC}/vocabulary.parquet",
        critic=f"{MIXING_CRITIC}/critic.npz",
    output:
        posteriors="results/topics/{critic}/{corpus}/data/test.npz",
        scores="results/scores/{critic}/{corpus}/data/test.parquet",
    log:
        "results/logs/infer_data_mixing/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/infer_data_mixing/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=f"{TEXTS}|{PARALLEL}",
        critic=MIXING_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec("critics", "critic", "kind", "posterior", "draws", "sweeps", "seed"),
        version=stage("mixing"),
    script:
        "../workflow/scripts/infer_mixing.py"


use rule infer_data_mixing as infer_sample_mixing with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        vocabulary=f"{MIXING_CRITIC}/vocabulary.parquet",
        critic=f"{MIXING_CRITIC}/critic.npz",
    output:
        posteriors=f"results/topics/{{critic}}/{{corpus}}/{SAMPLE}.npz",
        scores=f"results/scores/{{critic}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/infer_sample_mixing/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/infer_sample_mixing/{{critic}}/{{corpus}}/{SAMPLE}.tsv"


rule measure_mixing_power:
    """What is recovered of mixing in artificial languages, and from which rate and how many sentences on it is noticed."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        vocabulary=f"{MIXING_CRITIC}/vocabulary.parquet",
        critic=f"{MIXING_CRITIC}/critic.npz",
    output:
        power="results/mixing/{critic}/{corpus}.power.parquet",
        summary="results/mixing/{critic}/{corpus}.power.json",
    log:
        "results/logs/measure_mixing_power/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/measure_mixing_power/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=registries.names("corpora", extractor=["languages"]),
        critic=MIXING_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="2h",
    params:
        spec=spec("critics", "critic", "kind", "posterior", "draws", "sweeps", "seed"),
        corpus=spec("corpora", "corpus", "extractor", "options"),
        version=stage("mixing"),
    script:
        "../workflow/scripts/measure_mixing_power.py"


use rule make_part_table as make_mixing_tables with:
    output:
        standing("mixing"),
    log:
        "results/logs/make_mixing_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_mixing_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("mixing"),
