"""What people say, beside metrics: MAUVE, that is how much the points of a sample overlap with those of real text, and tables.

Needs: a corpus, samples of it, the model that embeds both; answers (files named in the study); scores and titles of section
order (rules/coherence.smk, rules/titles.smk). Makes: results/features, results/scores of critics of kind mauve, with histograms.
"""


rule embed_data:
    """A point for each document of a split of real text."""
    input:
        articles="results/corpora/{corpus}/{split}.parquet",
        model=paths.embedder,
    output:
        "results/features/{embedder}/{corpus}/data/{split}.npz",
    log:
        "results/logs/embed_data/{embedder}/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/embed_data/{embedder}/{corpus}/{split}.tsv"
    wildcard_constraints:
        split="train|validation|test",
        embedder=registries.names("embedders"),
    conda:
        "../envs/gpu.yaml"
    threads: of("embedders", "embedder", "threads")
    resources:
        gpu=of("embedders", "embedder", "gpu"),
        mem_mb=memory("embedders", "embedder"),
        runtime=of("embedders", "embedder", "runtime"),
    params:
        spec=spec("embedders", "embedder"),
        version=stage("people"),
    script:
        "../workflow/scripts/embed_articles.py"


use rule embed_data as embed_samples with:
    input:
        articles=f"{DRAWN}.parquet",
        model=paths.embedder,
    output:
        f"results/features/{{embedder}}/{{corpus}}/{SAMPLE}.npz",
    log:
        f"results/logs/embed_samples/{{embedder}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/embed_samples/{{embedder}}/{{corpus}}/{SAMPLE}.tsv"
    wildcard_constraints:
        embedder=registries.names("embedders"),


rule score_mauve:
    """MAUVE of a sample against the test split, with its interval and test."""
    input:
        real=paths.features("data/test"),
        other=paths.features(SAMPLE),
    output:
        f"results/scores/{{critic}}/{{corpus}}/{SAMPLE}.json",
    log:
        f"results/logs/score_mauve/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/score_mauve/{{critic}}/{{corpus}}/{SAMPLE}.tsv"
    wildcard_constraints:
        critic=registries.names("critics", kind=["mauve"]),
    conda:
        "../envs/mauve.yaml"
    threads: of("critics", "critic", "threads")
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec("critics", "critic"),
        version=stage("people"),
    script:
        "../workflow/scripts/score_mauve.py"


use rule score_mauve as score_mauve_of_data with:
    input:
        real=paths.features("data/test"),
        other=paths.second_features,
    output:
        "results/scores/{critic}/{corpus}/data/second.json",
    log:
        "results/logs/score_mauve_of_data/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/score_mauve_of_data/{critic}/{corpus}.tsv"


use rule make_part_table as make_people_tables with:
    output:
        standing("people"),
    log:
        "results/logs/make_people_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_people_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("people"),
