"""The synthetic study: a process that is known, sequences of it, and the criticism of models of these by the process.

Needs: an entry of the corpora registry with the extractor `process`; models of its sequences (rules/generators.smk for
transformers, rules/hsmm.smk) and their raw draws.
Makes: results/corpora/{corpus} with process.npz, its token streams, samples parsed into states, and results/scores.
"""


rule draw_process:
    """Draw a process from its recipe, and the sequences of each split from the process."""
    output:
        train="results/corpora/{corpus}/train.parquet",
        validation="results/corpora/{corpus}/validation.parquet",
        test="results/corpora/{corpus}/test.parquet",
        process="results/corpora/{corpus}/process.npz",
        statistics="results/corpora/{corpus}/statistics.json",
    log:
        "results/logs/draw_process/{corpus}.log",
    benchmark:
        "results/benchmarks/draw_process/{corpus}.tsv"
    wildcard_constraints:
        corpus=PROCESSES,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        spec=spec("corpora", "corpus", "extractor", "options"),
        version=stage("extract"),
    script:
        "../workflow/scripts/draw_process.py"


rule encode_process:
    """Turn sequences into token streams, a token a letter and one a delimiter."""
    input:
        articles=expand("results/corpora/{{corpus}}/{split}.parquet", split=SPLITS),
        process="results/corpora/{corpus}/process.npz",
    output:
        tokenizer=directory("results/encodings/{corpus}/{encoding}/tokenizer"),
        tokens=expand(
            "results/encodings/{{corpus}}/{{encoding}}/wo-title/{split}.{part}.npy",
            split=SPLITS,
            part=["tokens", "kinds"],
        ),
    log:
        "results/logs/encode_process/{corpus}/{encoding}.log",
    benchmark:
        "results/benchmarks/encode_process/{corpus}/{encoding}.tsv"
    wildcard_constraints:
        corpus=PROCESSES,
        encoding=SYMBOLS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        spec=spec("encodings", "encoding"),
        version=stage("encode"),
    script:
        "../workflow/scripts/encode_process.py"


rule parse_sequences:
    """Put the shards together and look the state of each sub-sequence up; what the process cannot emit is rejected."""
    input:
        shards=lambda w: paths.shares.files(DRAWN.format(**w), w),
        process="results/corpora/{corpus}/process.npz",
    output:
        kept=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        counts=f"{DRAWN}.json",
    log:
        "results/logs/parse_sequences/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/parse_sequences/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        corpus=PROCESSES,
        generator=registries.names("generators", kind=["causal", "hsmm"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime=minutes(10),
    params:
        spec=spec("decodings", "decoding"),
        version=stage("sample"),
    script:
        "../workflow/scripts/parse_sequences.py"


rule score_sequences:
    """Latent NLL of each sampled sequence under the process; those that are none are carried along with their reasons."""
    input:
        articles=f"{DRAWN}.parquet",
        rejected=f"{DRAWN}.rejected.parquet",
        process="results/corpora/{corpus}/process.npz",
    output:
        "results/scores/{critic}/{corpus}/samples/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.parquet",
    log:
        "results/logs/score_sequences/{critic}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.log",
    benchmark:
        "results/benchmarks/score_sequences/{critic}/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}.tsv"
    wildcard_constraints:
        corpus=PROCESSES,
        critic=registries.names("critics", kind=["process"]),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=4000,
        runtime=minutes(10),
    params:
        version=stage("process"),
    script:
        "../workflow/scripts/score_sequences.py"


use rule score_sequences as score_process_data with:
    input:
        articles="results/corpora/{corpus}/test.parquet",
        process="results/corpora/{corpus}/process.npz",
    output:
        "results/scores/{critic}/{corpus}/data/test.parquet",
    log:
        "results/logs/score_process_data/{critic}/{corpus}.log",
    benchmark:
        "results/benchmarks/score_process_data/{critic}/{corpus}.tsv"


use rule make_part_table as make_process_tables with:
    output:
        standing("process"),
    log:
        "results/logs/make_process_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_process_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("process"),
