"""Documents of a few sentences, half of them with an intruder: a sentence of another document (Shen et al. 2021).

Needs: an entry of the corpora registry with the extractor `intruders`, and its base corpus; for a filter, predictions of
a detector on the candidates (rules/detectors.smk); for documents of generated text, samples of the base corpus' generators.
Makes: results/intruders/documents and candidates, and the corpus itself, results/corpora/{corpus}.
"""

from textcritic.experiments.intruders.jobs import IntruderPaths

cutting = IntruderPaths(registries)
INTRUDERS = registries.names("corpora", extractor=["intruders"])
CUT = "results/intruders/documents/{corpus}"
CANDIDATES = "results/intruders/candidates/{corpus}"


rule cut_documents:
    """The documents of a split of the base corpus, all of them coherent."""
    input:
        articles=lambda w: cutting.base_articles(w.corpus, w.split),
        later=lambda w: cutting.later_articles(w.corpus, w.split),
    output:
        documents=f"{CUT}/data/{{split}}.parquet",
        report=f"{CUT}/data/{{split}}.json",
    log:
        "results/logs/cut_documents/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/cut_documents/{corpus}/{split}.tsv"
    wildcard_constraints:
        corpus=INTRUDERS,
        split="|".join(SPLITS),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options"),
        version=stage("extract"),
    script:
        "../workflow/scripts/cut_documents.py"


use rule cut_documents as cut_samples with:
    input:
        articles=lambda w: f"{DRAWN}.parquet".format(**{**w, "corpus": cutting.base(w.corpus)}),
    output:
        documents=f"{CUT}/{SAMPLE}.parquet",
        report=f"{CUT}/{SAMPLE}.json",
    log:
        f"results/logs/cut_samples/{{corpus}}/{SAMPLE}.log",
    benchmark:
        f"results/benchmarks/cut_samples/{{corpus}}/{SAMPLE}.tsv"
    wildcard_constraints:
        corpus=INTRUDERS,


rule find_candidates:
    """Half of the documents, each with every sentence that could be its intruder."""
    input:
        documents=f"{CUT}/data/{{split}}.parquet",
    output:
        candidates=f"{CANDIDATES}/{{split}}.parquet",
        report=f"{CANDIDATES}/{{split}}.json",
    log:
        "results/logs/find_candidates/{corpus}/{split}.log",
    benchmark:
        "results/benchmarks/find_candidates/{corpus}/{split}.tsv"
    wildcard_constraints:
        corpus=INTRUDERS,
        split="|".join(SPLITS),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options"),
        version=stage("build"),
    script:
        "../workflow/scripts/find_candidates.py"


rule build_intruders:
    """One candidate for each attacked document, which the filter's detector misses if there is one; or a published file."""
    input:
        official=lambda w: cutting.official(w.corpus),
        documents=lambda w: cutting.built_of(w.corpus, f"documents/{w.corpus}/data", "parquet"),
        of_documents=lambda w: cutting.built_of(w.corpus, f"documents/{w.corpus}/data", "json"),
        candidates=lambda w: cutting.built_of(w.corpus, f"candidates/{w.corpus}", "parquet"),
        of_candidates=lambda w: cutting.built_of(w.corpus, f"candidates/{w.corpus}", "json"),
        predictions=lambda w: [file for split in SPLITS for file in cutting.filter_predictions(w.corpus, split)],
    output:
        expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        statistics="results/corpora/{corpus}/statistics.json",
    log:
        "results/logs/build_intruders/{corpus}.log",
    benchmark:
        "results/benchmarks/build_intruders/{corpus}.tsv"
    wildcard_constraints:
        corpus=INTRUDERS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options", "splits"),
        version=stage("build"),
    script:
        "../workflow/scripts/build_intruders.py"


include: "probes.smk"
include: "detectors.smk"
include: "intruder_tables.smk"
