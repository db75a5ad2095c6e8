"""Topics: count words, fit a correlated topic model on real text, infer the topics of real text and of samples, score them.

Needs: a corpus of text, samples, and the file of stop words that the critic's vocabulary names, if it names one: one's
own, or one that rules/download.smk fetches. Makes: results/bags, results/critics and results/topics, and scores as the
other critics do.
"""

from textcritic.experiments.topics.plan import fitted_files, fitted_words, stop_words

TOPIC_MODELS = registries.names("critics", kind=["ctm"])
# Their words are counted in the same way; the rest of their jobs is in rules/mixing.smk.
MIXING_CRITICS = registries.names("critics", kind=["lda"])
TOPIC_CRITIC = "results/critics/{critic}/{corpus}"


rule count_words:
    """Choose the vocabulary on the train split, and count its words there."""
    input:
        articles="results/corpora/{corpus}/train.parquet",
        stop_words=lambda w: stop_words(w.critic, registries),
        words=lambda w: fitted_words(w.critic, registries),
    output:
        vocabulary=f"{TOPIC_CRITIC}/vocabulary.parquet",
        report=f"{TOPIC_CRITIC}/vocabulary.json",
        counts=directory("results/bags/{critic}/{corpus}/train"),
    log:
        "results/logs/count_words/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/count_words/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=f"{TEXTS}|{PARALLEL}",
        critic=f"{TOPIC_MODELS}|{MIXING_CRITICS}",
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="2h",
    params:
        # Nothing of the model itself, so that another number of topics counts nothing again.
        spec=spec("critics", "critic", "kind", "vocabulary", "fitted"),
        version=stage("topics"),
    script:
        "../workflow/scripts/count_words.py"


rule fit_topics:
    """Fit a correlated topic model from several starts; a killed job resumes from the `checkpoints` folder beside it."""
    input:
        counts="results/bags/{critic}/{corpus}/train",
        fitted=lambda w: fitted_files(w.critic, registries),
    output:
        critic=f"{TOPIC_CRITIC}/critic.npz",
        starts=f"{TOPIC_CRITIC}/starts.npz",
        training=f"{TOPIC_CRITIC}/training.json",
    log:
        "results/logs/fit_topics/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/fit_topics/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TOPIC_MODELS,
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
            "fitted",
            "topics",
            "starts",
            "seed",
            "iterations",
            "tolerance",
        ),
        version=stage("topics"),
    script:
        "../workflow/scripts/fit_topics.py"


rule infer_data_topics:
    """The posterior over topic coefficients of each real document, and its Latent NLL; both under every start too."""
    input:
        articles="results/corpora/{corpus}/test.parquet",
        vocabulary=f"{TOPIC_CRITIC}/vocabulary.parquet",
        critic=f"{TOPIC_CRITIC}/critic.npz",
        starts=f"{TOPIC_CRITIC}/starts.npz",
    output:
        topics="results/topics/{critic}/{corpus}/data/test.parquet",
        starts="results/topics/{critic}/{corpus}/data/test.starts.parquet",
        scores="results/scores/{critic}/{corpus}/data/test.parquet",
    log:
        "results/logs/infer_data_topics/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/infer_data_topics/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TOPIC_MODELS,
    conda:
        "../envs/cpu.yaml"
    # Seconds to minutes, whatever the fit takes.
    threads: at_most(4, "critics", "critic", "threads")
    resources:
        mem_mb=8000,
        runtime="2h",
    params:
        version=stage("topics"),
    script:
        "../workflow/scripts/infer_topics.py"


use rule infer_data_topics as infer_sample_topics with:
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        vocabulary=f"{TOPIC_CRITIC}/vocabulary.parquet",
        critic=f"{TOPIC_CRITIC}/critic.npz",
        starts=f"{TOPIC_CRITIC}/starts.npz",
    output:
        topics=f"results/topics/{{critic}}/{{corpus}}/{SAMPLE}.parquet",
        starts=f"results/topics/{{critic}}/{{corpus}}/{SAMPLE}.starts.parquet",
        scores=f"results/scores/{{critic}}/{{corpus}}/{SAMPLE}.parquet",
    log:
        f"results/logs/infer_sample_topics/{{critic}}/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/infer_sample_topics/{{critic}}/{{corpus}}/{SAMPLE}.tsv"


use rule make_part_table as make_topics_tables with:
    output:
        standing("topics"),
    log:
        "results/logs/make_topics_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_topics_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("topics"),


include: "topic_power.smk"
