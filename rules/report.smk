"""A study's outputs: tables, figures, the report and its manifest.

Needs: scores of real text and of every source of the study. Makes: results/studies/{study}.
Tables and figures of known processes, and those of topics (rules/topic_report.smk), have rules of their own, which need
nothing else of the study.
"""

TABLES = StudyFiles.TABLES
SYNTHETIC = StudyFiles.SYNTHETIC
WITH_PROCESS = "|".join(study for study in project.studies if project.processes(study)) or "(?!)"


rule make_tables:
    """Every table as CSV (tidy, full precision), LaTeX and HTML, with the published values beside ours."""
    input:
        lambda w: StudyFiles(paths, w.study).coherence_inputs(),
        published=lambda w: StudyFiles(paths, w.study).published(),
    output:
        expand("results/studies/{{study}}/tables/{table}.csv", table=TABLES),
        expand("results/studies/{{study}}/tables/{table}.{suffix}", table=StudyFiles.SHEETS, suffix=["tex", "html"]),
    log:
        "results/logs/make_tables/{study}.log",
    benchmark:
        "results/benchmarks/make_tables/{study}.tsv"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).coherence(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_tables.py"


rule make_synthetic_tables:
    """The tables of a study's known processes as CSV (tidy, full precision), LaTeX and HTML."""
    input:
        lambda w: StudyFiles(paths, w.study).synthetic_inputs(),
        published=lambda w: StudyFiles(paths, w.study).published(),
    output:
        expand("results/studies/{{study}}/tables/{table}.{suffix}", table=SYNTHETIC, suffix=["csv", "tex", "html"]),
    log:
        "results/logs/make_synthetic_tables/{study}.log",
    benchmark:
        "results/benchmarks/make_synthetic_tables/{study}.tsv"
    wildcard_constraints:
        study=WITH_PROCESS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).synthetic(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_synthetic_tables.py"


rule make_figures:
    """Every figure as SVG and PDF."""
    input:
        lambda w: StudyFiles(paths, w.study).coherence_inputs(),
        coherence="results/studies/{study}/tables/coherence.csv",
    output:
        directory("results/studies/{study}/figures"),
    log:
        "results/logs/make_figures/{study}.log",
    benchmark:
        "results/benchmarks/make_figures/{study}.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).coherence(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_figures.py"


rule make_synthetic_figures:
    """The figures of a study's known processes as SVG and PDF."""
    input:
        lambda w: StudyFiles(paths, w.study).synthetic_inputs(),
    output:
        directory("results/studies/{study}/synthetic-figures"),
    log:
        "results/logs/make_synthetic_figures/{study}.log",
    benchmark:
        "results/benchmarks/make_synthetic_figures/{study}.tsv"
    wildcard_constraints:
        study=WITH_PROCESS,
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).synthetic(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_synthetic_figures.py"


rule make_report:
    """The self-contained report.html, and the manifest of what went into it."""
    input:
        lambda w: StudyFiles(paths, w.study).inputs(),
        published=lambda w: StudyFiles(paths, w.study).published(),
        tables=rules.make_tables.output,
        figures="results/studies/{study}/figures",
        part_tables=lambda w: StudyFiles(paths, w.study).part_tables(),
        part_figures=lambda w: StudyFiles(paths, w.study).part_figures(),
        synthetic_tables=lambda w: StudyFiles(paths, w.study).synthetic_tables(),
        synthetic_figures=lambda w: StudyFiles(paths, w.study).synthetic_figures(),
        topic_tables=lambda w: StudyFiles(paths, w.study).topic_tables(),
        topic_figures=lambda w: StudyFiles(paths, w.study).topic_figures(),
    output:
        report="results/studies/{study}/report.html",
        manifest="results/studies/{study}/manifest.json",
    log:
        "results/logs/make_report/{study}.log",
    benchmark:
        "results/benchmarks/make_report/{study}.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).description(),
        record=lambda w: project.describe(w.study),
        repository=workflow.basedir,
        version=stage("report"),
    script:
        "../workflow/scripts/make_report.py"
