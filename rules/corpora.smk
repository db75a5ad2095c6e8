"""Corpora of text: from raw text to articles with sections, split train, validation and test.

Needs: an entry of the corpora registry, and the files it names.
Makes: results/corpora/{corpus}/{split}.parquet and statistics.json, for which `corpora/{corpus}` is a short target; token
streams in results/encodings.
"""

# Documents with intruder sentences are articles of text; they are made of those of another corpus.
# Of those of text, the ones made from a dump of a Wikipedia, by article or by line, those from data sets of the hub, all that
# are built of articles, and of these the ones that come from none of the former.
DUMPS = registries.names("corpora", extractor=["wikipedia"])
LINES = registries.names("corpora", extractor=["wikipedia-lines"])
HUB_DATASETS = registries.names("corpora", extractor=["hub-dataset"])
NO_ARTICLES = ["process", *SENTENCES, *STRUCTURED, "wikipedia-lines"]
ARTICLES = registries.names("corpora", others=True, extractor=NO_ARTICLES)
FILTERED = registries.names("corpora", others=True, extractor=[*NO_ARTICLES, "intruders"])
OTHER_TEXTS = registries.names(
    "corpora", others=True, extractor=[*NO_ARTICLES, "intruders", "wikipedia", "hub-dataset"]
)


rule extract_corpus:
    """Raw text to articles with sections, as they come; dumps and data sets of the hub: rules/{wikipedia,datasets}.smk."""
    input:
        lambda w: paths.corpus(w.corpus),
    output:
        articles="results/corpora/{corpus}/extracted.parquet",
        report="results/corpora/{corpus}/extracted.json",
    log:
        "results/logs/extract_corpus/{corpus}.log",
    benchmark:
        "results/benchmarks/extract_corpus/{corpus}.tsv"
    wildcard_constraints:
        corpus=OTHER_TEXTS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options", "normalise"),
        packages=lambda w: paths.corpus_packages(w.corpus),
        lemmatised=paths.lemmatised,
        version=stage("extract"),
    script:
        "../workflow/scripts/extract_corpus.py"


rule build_corpus:
    """Standardise titles, filter articles, split, and count what was left out."""
    input:
        articles="results/corpora/{corpus}/extracted.parquet",
        report="results/corpora/{corpus}/extracted.json",
        tokenizer=lambda w: paths.length_tokenizer(w.corpus),
    output:
        expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        "results/corpora/{corpus}/statistics.json",
    log:
        "results/logs/build_corpus/{corpus}.log",
    benchmark:
        "results/benchmarks/build_corpus/{corpus}.tsv"
    wildcard_constraints:
        corpus=FILTERED,
    conda:
        "../envs/cpu.yaml"
    threads: of("corpora", "corpus", "threads")
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "splits", "titles", "sections"),
        version=stage("build"),
    script:
        "../workflow/scripts/build_corpus.py"


rule make_tokenizer:
    """Train the encoding's tokenizer on the corpus, or copy a pretrained one."""
    input:
        train="results/corpora/{corpus}/train.parquet",
        pretrained=pretrained("encodings", "encoding"),
    output:
        directory("results/encodings/{corpus}/{encoding}/tokenizer"),
    log:
        "results/logs/make_tokenizer/{corpus}/{encoding}.log",
    benchmark:
        "results/benchmarks/make_tokenizer/{corpus}/{encoding}.tsv"
    wildcard_constraints:
        corpus=ARTICLES,
        encoding=WORDS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime=minutes(30),
    params:
        spec=spec("encodings", "encoding"),
        version=stage("encode"),
    script:
        "../workflow/scripts/make_tokenizer.py"


rule encode_corpus:
    """Lay articles out as text, with titles or without, and turn them into token streams."""
    input:
        articles=expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        tokenizer="results/encodings/{corpus}/{encoding}/tokenizer",
    output:
        expand(
            "results/encodings/{{corpus}}/{{encoding}}/{{setting}}/{split}.{part}.npy",
            split=SPLITS,
            part=["tokens", "kinds"],
        ),
    log:
        "results/logs/encode_corpus/{corpus}/{encoding}/{setting}.log",
    benchmark:
        "results/benchmarks/encode_corpus/{corpus}/{encoding}/{setting}.tsv"
    wildcard_constraints:
        corpus=ARTICLES,
        encoding=WORDS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="4h",
    params:
        spec=spec("encodings", "encoding"),
        version=stage("encode"),
    script:
        "../workflow/scripts/encode_corpus.py"


# One corpus alone, as a target: `snakemake corpora/NAME`.
for name in registries.entries["corpora"]:

    rule:
        name:
            f"corpora/{name}"
        input:
            f"results/corpora/{name}/statistics.json",
