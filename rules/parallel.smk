"""Parallel corpora: sentences with their translations, split by sentence, and their encodings.

Needs: an entry of the corpora registry with the extractor `parallel`, `catalogues` or `languages`.
Makes: results/corpora/{corpus}/{split}.parquet and statistics.json; results/encodings/{corpus}/{encoding} with the
tokenizer and the encoded pairs of each split.
"""


rule build_parallel:
    """Sentences and translations from files, message catalogues or a seed, tokenised, split and counted."""
    input:
        lambda w: paths.parallel(w.corpus),
    output:
        expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        statistics="results/corpora/{corpus}/statistics.json",
    log:
        "results/logs/build_parallel/{corpus}.log",
    benchmark:
        "results/benchmarks/build_parallel/{corpus}.tsv"
    wildcard_constraints:
        corpus=PARALLEL,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options", "splits"),
        packages=lambda w: paths.corpus_packages(w.corpus),
        version=stage("extract"),
    script:
        "../workflow/scripts/build_parallel.py"


rule make_subwords:
    """Learn byte-pair encoding inside words on both sides of the train split."""
    input:
        train="results/corpora/{corpus}/train.parquet",
    output:
        directory("results/encodings/{corpus}/{encoding}/tokenizer"),
    log:
        "results/logs/make_subwords/{corpus}/{encoding}.log",
    benchmark:
        "results/benchmarks/make_subwords/{corpus}/{encoding}.tsv"
    wildcard_constraints:
        corpus=PARALLEL,
        encoding=SUBWORDS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=16000,
        runtime="2h",
    params:
        spec=spec("encodings", "encoding"),
        version=stage("encode"),
    script:
        "../workflow/scripts/make_subwords.py"


rule encode_parallel:
    """Turn sentences and translations into tokens, a pair for each translation."""
    input:
        articles=expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        tokenizer="results/encodings/{corpus}/{encoding}/tokenizer",
    output:
        expand("results/encodings/{{corpus}}/{{encoding}}/pairs/{split}.npz", split=SPLITS),
    log:
        "results/logs/encode_parallel/{corpus}/{encoding}.log",
    benchmark:
        "results/benchmarks/encode_parallel/{corpus}/{encoding}.tsv"
    wildcard_constraints:
        corpus=PARALLEL,
        encoding=SUBWORDS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=16000,
        runtime="2h",
    params:
        spec=spec("encodings", "encoding"),
        version=stage("encode"),
    script:
        "../workflow/scripts/encode_parallel.py"
