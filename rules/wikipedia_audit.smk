"""What the switches of the extraction from Wikipedia do: the parser, and formulas.

Needs: the dump of a corpus made from one. Makes: results/corpora/{corpus}/audit.json.
"""


rule audit_extraction:
    """The first articles of a dump, read by both parsers and with formulas or without."""
    input:
        lambda w: paths.corpus(w.corpus),
    output:
        "results/corpora/{corpus}/audit.json",
    log:
        "results/logs/audit_extraction/{corpus}.log",
    benchmark:
        "results/benchmarks/audit_extraction/{corpus}.tsv"
    wildcard_constraints:
        corpus=f"{DUMPS}|{LINES}",
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("corpora", "corpus"),
        runtime=of("corpora", "corpus", "runtime"),
    params:
        spec=spec("corpora", "corpus", "extractor", "options"),
        version=stage("extract"),
    script:
        "../workflow/scripts/audit_extraction.py"
