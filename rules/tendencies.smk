"""Tendencies: count the words of real text, of draws from the train split, and of samples, in groups of documents.

Needs: a corpus of text, samples, and the file of stop words that the critic names, if it names one: one's own, or one
that rules/download.smk fetches. Makes: results/tendencies/{critic}/{corpus}, with data, draws and samples.
"""

from textcritic.options.tendencies import stop_word_files

TENDENCY_CRITICS = registries.names("critics", kind=["tendencies"])
COUNTED = "results/tendencies/{critic}/{corpus}"
# What is counted, behind the corpus: a split, a draw, or a sample.
COUNTED_TEXTS = rf"data/({'|'.join(SPLITS)})|draws/\d+|samples/[^/]+/[^/]+/seed\d+/[^/]+"


rule count_data_tendencies:
    """One shard of a split."""
    input:
        articles="results/corpora/{corpus}/{split}.parquet",
        stop_words=lambda w: stop_word_files(registries.entry("critics", w.critic)),
    output:
        temp(f"{COUNTED}/data/{{split}}/shard{{shard}}.npz"),
    log:
        "results/logs/count_data_tendencies/{critic}/{corpus}/{split}/shard{shard}.log",
    benchmark:
        "results/benchmarks/count_data_tendencies/{critic}/{corpus}/{split}/shard{shard}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TENDENCY_CRITICS,
        split="|".join(SPLITS),
    conda:
        "../envs/cpu.yaml"
    threads: of("critics", "critic", "threads")
    resources:
        mem_mb=of("critics", "critic", "mem_mb"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec(
            "critics",
            "critic",
            "kind",
            "tokenizer",
            "lower_case",
            "stop_words",
            "window",
            "longest_lag",
            "groups",
            "seed",
        ),
        shards=of("critics", "critic", "shards"),
        version=stage("topics"),  # of the kind tendencies, as soon as there is one
    script:
        "../workflow/scripts/count_tendencies.py"


use rule count_data_tendencies as count_sample_tendencies with:
    input:
        articles=f"{DRAWN}.parquet",
        stop_words=lambda w: stop_word_files(registries.entry("critics", w.critic)),
    output:
        temp(f"{COUNTED}/{SAMPLE}/shard{{shard}}.npz"),
    log:
        f"results/logs/count_sample_tendencies/{{critic}}/{{corpus}}/{SAMPLE}/shard{{shard}}.log",
    benchmark:
        f"results/benchmarks/count_sample_tendencies/{{critic}}/{{corpus}}/{SAMPLE}/shard{{shard}}.tsv"


use rule count_data_tendencies as count_draw_tendencies with:
    input:
        articles="results/corpora/{corpus}/train.parquet",
        like="results/corpora/{corpus}/test.parquet",
        stop_words=lambda w: stop_word_files(registries.entry("critics", w.critic)),
    output:
        temp(f"{COUNTED}/draws/{{draw}}/shard{{shard}}.npz"),
    log:
        "results/logs/count_draw_tendencies/{critic}/{corpus}/{draw}/shard{shard}.log",
    benchmark:
        "results/benchmarks/count_draw_tendencies/{critic}/{corpus}/{draw}/shard{shard}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TENDENCY_CRITICS,
        draw=r"\d+",
    params:
        draws=of("critics", "critic", "draws"),


rule merge_tendencies:
    """The shards of a split, a draw or a sample, put together."""
    input:
        lambda w: [
            f"{COUNTED.format(**w)}/{w.texts}/shard{number}.npz"
            for number in range(registries.entry("critics", w.critic)["shards"])
        ],
    output:
        f"{COUNTED}/{{texts}}.npz",
    log:
        "results/logs/merge_tendencies/{critic}/{corpus}/{texts}.log",
    benchmark:
        "results/benchmarks/merge_tendencies/{critic}/{corpus}/{texts}.tsv"
    wildcard_constraints:
        corpus=TEXTS,
        critic=TENDENCY_CRITICS,
        texts=COUNTED_TEXTS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=of("critics", "critic", "mem_mb"),
        runtime=of("critics", "critic", "runtime"),
    params:
        version=stage("topics"),  # of the kind tendencies, as soon as there is one
    script:
        "../workflow/scripts/merge_tendencies.py"
