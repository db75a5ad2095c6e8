"""Tendencies: count the words of real text, of draws from the train split, and of samples; measure and compare them.

Needs: a corpus of text, samples, and the file of stop words that the critic names, if it names one: one's own, or one
that rules/download.smk fetches. Makes: results/tendencies/{critic}/{corpus}, with data, draws and samples: counts, and
of each its statistics (JSON) and curves (Parquet). Where the critic has several shards, jobs share the counting.
"""

from textcritic.critics.tendencies.options import counted_articles, shard_paths, stop_word_files

TENDENCY_CRITICS = registries.names("critics", kind=["tendencies"])
ONE_JOB = registries.names("critics", kind=["tendencies"], shards=[1])
COUNTED = "results/tendencies/{critic}/{corpus}"
# What is counted, behind the corpus: a split or a sample.
COUNTED_TEXTS = rf"data/({'|'.join(SPLITS)})|samples/[^/]+/[^/]+/seed\d+/[^/]+/draw\d+"
COUNTING = ("kind", "tokenizer", "lower_case", "words", "stop_words", "window", "longest_lag", "groups", "seed")


rule count_tendencies:
    """A split or a sample, in one job."""
    input:
        articles=lambda w: counted_articles(w.corpus, w.texts),
        stop_words=lambda w: stop_word_files(registries.entry("critics", w.critic)),
    output:
        f"{COUNTED}/{{texts}}.npz",
    log:
        "results/logs/count_tendencies/{critic}/{corpus}/{texts}.log",
    benchmark:
        "results/benchmarks/count_tendencies/{critic}/{corpus}/{texts}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=ONE_JOB,
        texts=COUNTED_TEXTS,
    conda:
        "../envs/cpu.yaml"
    threads: of("critics", "critic", "threads")
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=minutes(15),
    params:
        spec=spec("critics", "critic", *COUNTING),
        shards=of("critics", "critic", "shards"),
        version=stage("tendencies"),
    script:
        "../workflow/scripts/count_tendencies.py"


use rule count_tendencies as count_tendencies_shard with:
    output:
        temp(f"{COUNTED}/shards/{{texts}}/{{shard}}.npz"),
    log:
        "results/logs/count_tendencies_shard/{critic}/{corpus}/{texts}/{shard}.log",
    benchmark:
        "results/benchmarks/count_tendencies_shard/{critic}/{corpus}/{texts}/{shard}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TENDENCY_CRITICS,
        texts=COUNTED_TEXTS,


rule merge_tendencies:
    """The shards of a split or of a sample, put together."""
    input:
        lambda w: shard_paths(registries.entry("critics", w.critic), f"{COUNTED.format(**w)}/shards/{w.texts}", ".npz"),
    output:
        f"{COUNTED}/{{texts}}.npz",
    log:
        "results/logs/merge_tendencies/{critic}/{corpus}/{texts}.log",
    benchmark:
        "results/benchmarks/merge_tendencies/{critic}/{corpus}/{texts}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=f"(?!({ONE_JOB})/)({TENDENCY_CRITICS})",
        texts=COUNTED_TEXTS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        version=stage("tendencies"),
    script:
        "../workflow/scripts/merge_tendencies.py"


use rule count_tendencies as draw_tendencies with:
    input:
        articles="results/corpora/{corpus}/train.parquet",
        like="results/corpora/{corpus}/test.parquet",
        stop_words=lambda w: stop_word_files(registries.entry("critics", w.critic)),
    output:
        directory(f"{COUNTED}/draws"),
    log:
        "results/logs/draw_tendencies/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/draw_tendencies/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=ONE_JOB,
    params:
        draws=of("critics", "critic", "draws"),


use rule draw_tendencies as draw_tendencies_shard with:
    output:
        temp(directory(f"{COUNTED}/shards/draws/{{shard}}")),
    log:
        "results/logs/draw_tendencies_shard/{critic}/{corpus}/{shard}.log",
    benchmark:
        "results/benchmarks/draw_tendencies_shard/{critic}/{corpus}/{shard}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TENDENCY_CRITICS,


use rule merge_tendencies as merge_draws with:
    input:
        lambda w: shard_paths(registries.entry("critics", w.critic), f"{COUNTED.format(**w)}/shards/draws"),
    output:
        directory(f"{COUNTED}/draws"),
    log:
        "results/logs/merge_draws/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/merge_draws/{critic}/{corpus}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=f"(?!({ONE_JOB})/)({TENDENCY_CRITICS})",
