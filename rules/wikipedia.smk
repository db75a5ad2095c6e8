"""Corpora of text that are made from dumps of a Wikipedia: the extraction, shared between jobs.

Needs: an entry of the corpora registry with the extractor `wikipedia` or `wikipedia-lines`, and the dump it names.
Makes: results/corpora/{corpus}/extracted.parquet and its report, from which rules/corpora.smk builds the corpus; of lines the
corpus itself: results/corpora/{corpus}/{split}.parquet and statistics.json.
"""


rule extract_wikipedia:
    """One shard of a dump to articles with sections; what the dump has no use for is counted."""
    input:
        lambda w: paths.corpus(w.corpus),
    output:
        articles=temp("results/corpora/{corpus}/shards/{shard}-of-{shards}.parquet"),
        report=temp("results/corpora/{corpus}/shards/{shard}-of-{shards}.json"),
    log:
        "results/logs/extract_wikipedia/{corpus}/{shard}-of-{shards}.log",
    benchmark:
        "results/benchmarks/extract_wikipedia/{corpus}/{shard}-of-{shards}.tsv"
    wildcard_constraints:
        corpus=DUMPS,
    conda:
        "../envs/cpu.yaml"
    threads: of("corpora", "corpus", "threads")
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options"),
        lemmatised=paths.lemmatised,
        version=stage("extract"),
    script:
        "../workflow/scripts/extract_wikipedia.py"


rule join_wikipedia:
    """The shards in order, each page once."""
    input:
        articles=dump_shards("parquet"),
        reports=dump_shards("json"),
    output:
        articles="results/corpora/{corpus}/extracted.parquet",
        # Kept while it is made anew: it says how many shards there are.
        report=update("results/corpora/{corpus}/extracted.json"),
    log:
        "results/logs/join_wikipedia/{corpus}.log",
    benchmark:
        "results/benchmarks/join_wikipedia/{corpus}.tsv"
    wildcard_constraints:
        corpus=DUMPS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        version=stage("extract"),
    script:
        "../workflow/scripts/join_wikipedia.py"


use rule extract_wikipedia as extract_lines with:
    output:
        # Kept: other splits need no other lines.
        articles="results/corpora/{corpus}/shards/{shard}-of-{shards}.parquet",
        report="results/corpora/{corpus}/shards/{shard}-of-{shards}.json",
    log:
        "results/logs/extract_lines/{corpus}/{shard}-of-{shards}.log",
    benchmark:
        "results/benchmarks/extract_lines/{corpus}/{shard}-of-{shards}.tsv"
    wildcard_constraints:
        corpus=LINES,


rule build_lines:
    """The lines of all shards in random order, split by number."""
    input:
        articles=dump_shards("parquet"),
        reports=dump_shards("json"),
    output:
        expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        statistics="results/corpora/{corpus}/statistics.json",
        report=update("results/corpora/{corpus}/extracted.json"),
    log:
        "results/logs/build_lines/{corpus}.log",
    benchmark:
        "results/benchmarks/build_lines/{corpus}.tsv"
    wildcard_constraints:
        corpus=LINES,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "splits"),
        version=stage("build"),
    script:
        "../workflow/scripts/build_lines.py"


use rule make_tokenizer as make_lines_tokenizer with:
    log:
        "results/logs/make_lines_tokenizer/{corpus}/{encoding}.log",
    benchmark:
        "results/benchmarks/make_lines_tokenizer/{corpus}/{encoding}.tsv"
    wildcard_constraints:
        corpus=LINES,
        encoding=WORDS,
    threads: 4
    resources:
        # Of some five million distinct words.
        mem_mb=48000,
        runtime="12h",


use rule encode_corpus as encode_lines with:
    log:
        "results/logs/encode_lines/{corpus}/{encoding}/{setting}.log",
    benchmark:
        "results/benchmarks/encode_lines/{corpus}/{encoding}/{setting}.tsv"
    wildcard_constraints:
        corpus=LINES,
        encoding=WORDS,
    threads: 4
    resources:
        # Lines change places once more, in files that a job with less memory would read again and again.
        mem_mb=32000,
        runtime="24h",


include: "wikipedia_audit.smk"
