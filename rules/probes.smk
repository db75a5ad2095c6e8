"""Linguistic probes: documents of an intruder corpus with one sentence edited, so that it fits less (Shen et al. 2021, section 7).

Needs: the test split of a corpus with the extractor `intruders`. Makes: results/corpora/{corpus}/probes.parquet, documents
that detectors read as any others, and probes.json, which counts edits and refusals.
"""


rule make_probes:
    """Edit the intruder, or a sentence of a coherent document, in eight ways; what cannot be edited is counted by reason."""
    input:
        "results/corpora/{corpus}/test.parquet",
    output:
        documents="results/corpora/{corpus}/probes.parquet",
        counts="results/corpora/{corpus}/probes.json",
    log:
        "results/logs/make_probes/{corpus}.log",
    benchmark:
        "results/benchmarks/make_probes/{corpus}.tsv"
    wildcard_constraints:
        corpus=registries.names("corpora", extractor=["intruders"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime="1h",
    params:
        documents=lambda w: registries.entry("corpora", w.corpus).probes.documents,
        version=stage("build"),
    script:
        "../workflow/scripts/make_probes.py"
